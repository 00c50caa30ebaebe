/*
 * owner.c: a connection that is a part of another one, as a cluster's
 * node is.  One rule: without an owner nothing of this happens.
 */
#include "backend/redis/inner/owner.h"
#include "backend/redis/redis.h"
#include "base/math.h"

void hf__redis_adopt(struct backend_conn *c, const struct redis_owner *owner)
{
    c->owner = owner;
    c->is_sliced = 1;
    c->cmd.is_sliced = 1;
}

int hf__redis_ask(struct backend_conn *c, enum flight_kind kind)
{
    struct command *cmd = &c->cmd;
    int is_slots = kind == FLIGHT_SLOTS;
    if (c->main.state != LINK_UP) return -1;
    hf__redis_cmd_begin(cmd, is_slots ? "CLUSTER" : "PUBSUB");
    hf__redis_cmd_text(cmd, is_slots ? "SLOTS" : "SHARDNUMSUB");
    return hf__redis_link_push(&c->main, kind) ? 0 : -1;
}

static int is_owed(const struct link *l)
{
    if (l->state == LINK_DOWN || l->state == LINK_FAILED) return 0;
    return l->state != LINK_UP || l->flights.len > 0;
}

int64_t hf__redis_silence_us(const struct backend_conn *c)
{
    int64_t now = c->env->now(c->env), since = now;
    if (is_owed(&c->main)) since = min64(since, c->main.owed_us);
    if (is_owed(&c->sub)) since = min64(since, c->sub.owed_us);
    return now - since;
}

int hf__redis_asking(struct backend_conn *c, const struct request *req)
{
    if (!(req->priv & PRIV_ASKING)) return 0;
    hf__redis_cmd_begin(&c->cmd, "ASKING");
    return hf__redis_link_push(&c->main, FLIGHT_ASKING) ? 0 : -1;
}

int hf__redis_is_alone(const struct backend_conn *c, const struct request *req)
{
    return c->owner && (req->priv & PRIV_ALONE) != 0;
}

int hf__redis_is_taken_back(struct backend_conn *c, struct request *reqs,
                            const struct resp *v)
{
    /* With an owner there are no batches. */
    return c->owner && c->owner->refused(c, reqs, v);
}
