/*
 * hold_queue.c: waiting in the queue of the store, which gives the lock to who
 * has waited longest.
 *
 *   WAITING --poll--> TRYING --"wait"--> WAITING --handed--> HELD, for a moment
 *
 * A poll is an ordinary proposal, under the same attempt and a higher number:
 * it keeps the place, and finds out what a lost message would have told.  The
 * rule: what was handed over is taken only if the store did so by the last
 * number that was proposed.  It counts from when that was sent, and nothing is
 * on its way by which the store could give it once more, with another token.
 */
#include "base/math.h"
#include "core/hold_parts.h"
#include "core/mutation.h"

/* It is given up: may the store know of it?  What is on its way then may come
 * behind the release. */
int hf__queue_is_known(struct hold *h)
{
    uint32_t said = h->granted | h->refused;
    int is_asked = h->state == HOLD_TRYING && h->round_open;
    if (is_asked && said != hf__round_all(h)) h->unsure = 1;
    if (MUTATED(PLACE_KEPT) && h->state == HOLD_WAITING) return 0;
    return h->placed || h->unsure || (is_asked && hf__round_maybe_ours(h));
}

/* For this very attempt, which queues there. */
int hf__queue_is_handed(const struct hold *h, const struct hold_event *ev)
{
    return ev->type == EV_HANDED && h->flags & HOLD_QUEUES
           && h->op == HOLD_OP_ACQUIRE && ev->attempt == h->attempt;
}

/* Is so much left of what the store gave that it can be renewed before it is at
 * risk?  Then it is what the round is about. */
static int handoff_begin(struct hold *h, const struct hold_event *ev)
{
    int64_t lease_us = h->lease_us;
    if (ev->number != h->number && !MUTATED(HANDED_LONG_AGO)) return 0;
    /* A ticket may be made of it before it was renewed, and nobody would. */
    if (h->flags & HOLD_DETACHED) return 0;
    h->lease_us = min64(lease_us, ev->lease_us);
    h->handed = 1;
    h->valid_us = hf__round_lease_end_us(h);
    int64_t calm_us = hf__hold_risk_us(h) - ev->now_us;
    if (calm_us > 2 * h->conf->rtt_us && calm_us > h->lease_us / 8
        && hf__keep_is_useful(h, ev->now_us))
        return 1;
    h->lease_us = lease_us;
    h->valid_us = 0;
    return 0;
}

/* The store waits for a short time only: soon it is told how long we want it,
 * unless it is released before. */
static int64_t renew_us(const struct hold *h, int64_t now_us)
{
    int64_t calm_us = hf__hold_risk_us(h) - now_us;
    int64_t late_us = max64(calm_us - 2 * h->conf->rtt_us, 0);
    return now_us + min64(late_us / 2, HANDED_US);
}

/* Take what was handed over.  0: it must be asked for. */
int hf__queue_take(struct hold *h, const struct hold_event *ev,
                   struct hold_out *out)
{
    int64_t lease_us = h->lease_us;
    if (!handoff_begin(h, ev)) return 0;
    h->fence = ev->fence;
    h->granted = hf__round_all(h);
    h->refused = h->doubtful = 0;
    hf__ballot_saw(h->ballot, h->fence);
    hf__keep_granted(h, ev, out);
    h->lease_us = lease_us;
    h->handed = 1;
    if (h->state == HOLD_HELD && !MUTATED(HANDED_UNRENEWED))
        h->renew_at_us = renew_us(h, ev->now_us);
    return 1;
}
