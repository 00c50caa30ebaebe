/*
 * sim_errand.c: one operation as its user sees it, from begin to callback.  The
 * rule: each has a time by which it must be over, and may be cancelled until
 * then.
 */
#include <string.h>

#include "sim/sim.h"

/* How long it may take at most, by the client's clock. */
static int64_t errand_limit(const struct sim *s, const struct errand *er)
{
    const struct knobs *k = &s->k;
    if (er->op.type != OP_TYPE_ACQUIRE || er->is_enter)
        return 2 * (k->timeout_us + k->patience_us) + MS;
    if (er->wait_us < 0) return TIME_NEVER;
    return er->wait_us > 0 ? er->wait_us + MS : 20 * k->patience_us + 100 * MS;
}

static void errand_late(struct sim *s, void *arg, uint64_t tag)
{
    struct errand *er = arg;
    struct sim_client *c = er->actor ? er->actor->client : NULL;
    if (!c || !c->alive || er->serial != tag) return;
    /* After a pause it may begin only then, behind another one. */
    int64_t slack_us = 2 * (s->k.timeout_us + s->k.patience_us);
    if (er->op.type == OP_TYPE_ACQUIRE && !er->is_enter)
        slack_us = er->wait_us == 0 ? errand_limit(s, er) : 5 * MS;
    if (c->paused_until_us && c->paused_until_us + slack_us > s->now_us) {
        sim_at(s, c->paused_until_us + slack_us, errand_late, er, tag);
        return;
    }
    check_in_time(er);
}

struct errand *errand_make(struct actor *a, enum op_type type)
{
    struct errand *er = a->errands[0].serial ? &a->errands[1] : &a->errands[0];
    struct sim *s = a->client->sim;
    memset(er, 0, sizeof *er);
    er->actor = a;
    er->serial = ++s->serials;
    er->begun_us = s->now_us;
    er->op.type = type;
    er->op.entry = a->entry;
    er->op.holder = a->holder;
    if (s->k.falls) er->op.fall = FALL_IF_SILENT;
    return er;
}

void errand_begin(struct errand *er)
{
    struct sim_client *c = er->actor->client;
    struct sim *s = c->sim;
    er->wait_us = er->op.wait_us;
    int64_t now_us = client_clock(c), limit = errand_limit(s, er);
    check_host_note(c);
    er->fence_floor = s->books[er->actor->name].done_max;
    if (limit != TIME_NEVER) {
        er->end_us = now_us + limit;
        sim_at(s, client_true_us(c, er->end_us) + MS, errand_late, er,
               er->serial);
    }
    sim_trace(s, "c%d.%d begins %d name %d wait %lld lease %lld", c->index,
              er->actor->index, (int)er->op.type, er->actor->name,
              (long long)er->op.wait_us, (long long)er->op.lease_us);
    hf__engine_begin(&c->engine, &er->op, now_us);
}

static void errand_cancel(struct sim *s, void *arg, uint64_t tag)
{
    struct errand *er = arg;
    struct sim_client *c = er->actor ? er->actor->client : NULL;
    if (!c || !c->alive || c->closing || er->serial != tag) return;
    if (client_is_paused(c)) {
        sim_at(s, c->paused_until_us + MS, errand_cancel, er, tag);
        return;
    }
    sim_trace(s, "c%d.%d cancels", c->index, er->actor->index);
    er->cancelled = 1;
    client_enter(c);
    hf__engine_fail(&c->engine, &er->op, HF_CANCELLED, client_clock(c));
    client_settle(c);
    if (er->serial == tag)
        sim_fail(s, "callbacks: c%d.%d: cancelled, and nothing came of it",
                 c->index, er->actor->index);
}

void errand_maybe_cancel(struct errand *er)
{
    struct sim *s = er->actor->client->sim;
    if (s->healed || !sim_chance(s, 10 * s->k.cancel_percent)) return;
    sim_at(s, s->now_us + sim_about(s, 10 * MS), errand_cancel, er, er->serial);
}
