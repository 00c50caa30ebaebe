/*
 * clock.c: see clock.h.  One rule: a reading is never more exact than the time
 * that its write took.
 */
#include "backend/zookeeper/clock.h"

#include "backend/zookeeper/zookeeper.h"
#include "sys/clock.h"

#define DRIFT_PART 512 /* of the time since, by which two clocks may differ */

void hf__zookeeper_clock_read(struct backend_conn *c, int64_t sent_us,
                              int64_t stamp_ms)
{
    if (stamp_ms <= 0) return;
    c->clock = (struct zk_clock){.told_us = stamp_ms * US_PER_MS,
                                 .sent_us = sent_us,
                                 .heard_us = c->env->now(c->env)};
}

int64_t hf__zookeeper_clock_us(const struct backend_conn *c)
{
    const struct zk_clock *k = &c->clock;
    if (!k->told_us) return hf__clock_wall_us();
    return k->told_us + c->env->now(c->env) - k->heard_us;
}

int64_t hf__zookeeper_clock_low_us(const struct backend_conn *c,
                                   int64_t *slow_us)
{
    const struct zk_clock *k = &c->clock;
    int64_t drift_us = (c->env->now(c->env) - k->sent_us) / DRIFT_PART;
    /* The stamp is in whole milliseconds. */
    *slow_us = k->heard_us - k->sent_us + US_PER_MS + 2 * drift_us;
    return hf__zookeeper_clock_us(c) - drift_us;
}
