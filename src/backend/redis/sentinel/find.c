/*
 * find.c: where the primary is.
 *
 * One rule: of two answers the one of the higher epoch counts, because a
 * Sentinel that was cut off still names the old primary; and a server is used
 * only once it has said itself that it is a primary.
 */
#include <stdio.h>
#include <string.h>

#include "backend/redis/inner/inner.h"
#include "backend/redis/sentinel/ask.h"
#include "backend/redis/sentinel/sentinel.h"
#include "base/error.h"
#include "base/math.h"

static int64_t now_us(const struct sentinel *s)
{
    return s->env->now(s->env);
}

static int is_same(const struct master *a, const struct master *b)
{
    return a->port == b->port && !strcmp(a->host, b->host);
}

/* Where the connection leads, or is about to lead. */
static const struct master *aim(const struct sentinel *s)
{
    if (s->is_wanted) return &s->wanted;
    return s->is_led ? &s->at : NULL;
}

static int is_newer(const struct sentinel *s, const struct master *m)
{
    const struct master *now = aim(s);
    if (!now || m->epoch > now->epoch) return 1;
    if (s->is_up) return 0;
    /* Accept an equal epoch (0 if it may not be asked), and after some time any
     * epoch: new Sentinels count from the beginning. */
    return m->epoch == now->epoch || now_us(s) - s->down_us > EPOCH_KEPT_US;
}

static void timer_set(struct sentinel *s)
{
    hf__redis_inner_timer(&s->inners, s->is_wanted ? now_us(s) : s->ask_us);
}

void hf__redis_sentinel_heard(struct sentinel *s, const struct master *m)
{
    const struct master *now = aim(s);
    if (now && is_same(now, m)) {
        s->confirmed_us = now_us(s);
        if (s->is_wanted)
            s->wanted.epoch = max64(s->wanted.epoch, m->epoch);
        else
            s->at.epoch = max64(s->at.epoch, m->epoch);
        return;
    }
    if (!is_newer(s, m)) return;
    /* Not from inside a callback: the connection itself may be calling. */
    s->wanted = *m;
    s->is_wanted = 1;
    s->confirmed_us = now_us(s);
    timer_set(s);
}

/* ---- no Sentinel knows ---- */

static int failure_of(const struct sentinel *s, struct hf_error *err)
{
    int unknown = 0, refused = -1, silent = -1;
    for (int i = 0; i < s->seeds_len; i++) {
        const struct hf_error *e = &s->seeds[i].err;
        if (e->status == MASTER_UNKNOWN && strstr(e->text, "no such master"))
            unknown++;
        else if (hf_status_advice(e->status) == HF_ADVICE_FIX)
            refused = i;
        else if (e->status != HF_OK)
            silent = i;
    }
    if (unknown > 0)
        return hf__error_set(err, HF_INVALID,
                             "%s: no master of the name \"%.60s\": %d of %d "
                             "Sentinels say so, the others do not answer",
                             s->where, s->name, unknown, s->seeds_len);
    int i = refused >= 0 ? refused : silent;
    if (i < 0) return HF_OK;
    const struct hf_error *e = &s->seeds[i].err;
    hf__error_set(err, e->status,
                  "%s: no Sentinel tells where the primary is: "
                  "%.120s",
                  s->where, e->text);
    err->sys_errno = e->sys_errno;
    return err->status;
}

/* A connection that was never led has no error of its own to tell. */
static void leaderless_tell(struct sentinel *s)
{
    struct hf_error err;
    for (int i = 0; i < s->seeds_len; i++)
        if (s->seeds[i].is_asked) return;
    if (failure_of(s, &err) != HF_OK) hf__redis_leaderless(s->data.conn, &err);
}

void hf__redis_sentinel_judge(struct sentinel *s)
{
    if (!s->is_led && !s->is_wanted) leaderless_tell(s);
}

/* ---- asking ---- */

static void ask_plan(struct sentinel *s)
{
    int64_t pause = s->tries < ASKED_OFTEN ? ASK_US_MIN : ASK_US_MAX;
    s->tries++;
    s->ask_us = now_us(s) + pause / 2
                + (int64_t)(s->env->random(s->env) % (uint64_t)(pause / 2 + 1));
}

void hf__redis_sentinel_soon(struct sentinel *s)
{
    s->ask_us = min64(s->ask_us, now_us(s));
    timer_set(s);
}

void hf__redis_sentinel_link(struct sentinel *s, int up)
{
    int was_up = s->is_up;
    s->is_up = up != LINK_IS_DOWN;
    if (s->is_up) {
        s->ask_us = TIME_NEVER;
        s->tries = 0;
        hf__redis_seeds_trim(s);
    } else if (was_up) {
        s->down_us = now_us(s);
        s->ask_us = s->down_us;
    }
    timer_set(s);
}

static void move(struct sentinel *s)
{
    char line[HF_ERROR_TEXT_MAX];
    s->is_wanted = 0;
    if (hf__redis_lead(s->data.conn, s->wanted.host, s->wanted.port) != 0) {
        hf__redis_sentinel_soon(s);
        return;
    }
    s->at = s->wanted;
    if (s->is_led) {
        snprintf(line, sizeof line, "%s: the primary is now %.60s:%d", s->where,
                 s->at.host, s->at.port);
        s->env->log(s->env, HF_LOG_WARN, line);
    }
    s->is_led = 1;
    s->tries = 0;
}

void hf__redis_sentinel_timer(struct sentinel *s)
{
    if (s->is_wanted) move(s);
    if (s->ask_us <= now_us(s)) {
        s->ask_us = TIME_NEVER;
        hf__redis_seeds_ask(s);
        hf__redis_sentinel_judge(s); /* it may be that none could be opened */
        if (!s->is_up) ask_plan(s);
    }
    timer_set(s);
}
