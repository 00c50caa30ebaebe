/*
 * stats.h: what a client counts, for hf_client_stats().
 *
 * The rule: only the engine's steps count, and one thread at a time makes them;
 * so counting needs neither a lock nor an atomic.
 */
#ifndef HF_ENGINE_STATS_H
#define HF_ENGINE_STATS_H

#include "engine/engine.h"
#include "engine/op.h"
#include "engine/seats.h"
#include "engine/locks.h"
#include "kind/kind.h"

/* The bin of a time: how many bits it has. */
static inline int hf__stats_bin(int64_t us)
{
    int bin = 0;
    while (us > 0 && bin < HF_STATS_BINS - 1) {
        us >>= 1;
        bin++;
    }
    return bin;
}

static inline void hf__stats_time(uint64_t *sum, uint64_t bins[HF_STATS_BINS],
                                  int64_t us)
{
    if (us > 0) *sum += (uint64_t)us;
    bins[hf__stats_bin(us)]++;
}

/* Is the operation an acquire of a lock or a permit? */
static inline int hf__stats_has(const struct op *op)
{
    return op->type == OP_TYPE_ACQUIRE && op->entry
           && !(hf__kind(op->entry->kind)->hold_flags & HOLD_ONCE);
}

static inline void hf__stats_begun(struct engine *e, struct op *op)
{
    op->begun_us = e->now_us;
    if (hf__stats_has(op)) e->stats.waiting++;
}

/* An acquire that another one of its race has outrun is not counted as
 * failed. */
static inline void hf__stats_ended(struct engine *e, const struct op *op,
                                   int status)
{
    struct hf_stats *s = &e->stats;
    if (!hf__stats_has(op)) return;
    s->waiting--;
    if (status == HF_OK) {
        s->granted++;
        hf__stats_time(&s->wait_us, s->wait_bins,
                       hf__engine_heard_us(e) - op->begun_us);
    } else if (op->outrun) {
        return;
    } else if (status == HF_TAKEN) {
        s->taken++;
    } else if (status == HF_TIMEOUT) {
        s->timed_out++;
    } else if (status == HF_UNAVAILABLE) {
        s->unavailable++;
    } else if (status == HF_CANCELLED) {
        s->cancelled++;
    } else {
        s->failed++;
    }
}

static inline int hf__stats_is_renewing(const struct hold *h)
{
    return h->state == HOLD_HELD && h->round_open && h->round_renews;
}

static inline void hf__stats_held(struct engine *e, struct seat *seat,
                                  int is_held)
{
    struct hf_stats *s = &e->stats;
    s->held += is_held ? 1 : -1;
    if (is_held)
        seat->held_us = e->now_us;
    else
        hf__stats_time(&s->hold_us, s->hold_bins, e->now_us - seat->held_us);
}

/* After a step of a hold: count its changes.  `before` is its state before the
 * step, `renewing` whether a renewal was under way. */
static inline void hf__stats_stepped(struct engine *e, struct seat *seat,
                                     enum hold_state before, int renewing,
                                     const struct hold_out *out)
{
    struct hf_stats *s = &e->stats;
    const struct hold *h = &seat->hold;
    int is_held = h->state == HOLD_HELD;
    if (is_held != (before == HOLD_HELD)) hf__stats_held(e, seat, is_held);
    if (renewing && is_held && !h->round_open) {
        if (h->round_won) {
            s->renewed++;
            hf__stats_time(&s->renew_us, s->renew_bins,
                           e->now_us - h->round_start_us);
        } else {
            s->renew_failed++;
        }
    }
    s->at_risk += out->risk_untold || out->notice == HF_STATE_AT_RISK;
    s->lost += out->notice == HF_STATE_LOST;
}

#endif
