/*
 * hold_queue.c: waiting in the queue of the store, which gives the lock to the
 * waiter that has waited longest.
 *
 *   WAITING --poll--> TRYING --"wait"--> WAITING --handed, whole lease--> HELD
 *              ^                            |
 *              +------- handed, short ------+
 *
 * A poll is an ordinary proposal, under the same attempt and a higher number:
 * it keeps the place, and finds out what a lost message would have told.  What
 * was handed over for a moment only is had for its lease by a poll, and not
 * before that is granted.  The rule: what was handed over is taken at once only
 * if the store did so by the last number that was proposed, and for the whole
 * lease.  It counts from when that was sent, and nothing is on its way by which
 * the store could give it once more, with another token.
 */
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

/* Is it as good as the answer to the last proposal would be?  The store gave it
 * by that number and for all of the lease that was asked for, of which hardly
 * anything has passed. */
static int is_whole(const struct hold *h, const struct hold_event *ev)
{
    int64_t lease_us = hf__plan_lease_us(h, h->round_start_us);
    if (ev->number != h->number && !MUTATED(HANDED_LONG_AGO)) return 0;
    if (ev->lease_us < lease_us && !MUTATED(HANDED_SHORT)) return 0;
    return ev->now_us - h->round_start_us <= lease_us / 10
           && hf__keep_is_useful(h, ev->now_us);
}

/* Take what was handed over.  0: it must be asked for. */
int hf__queue_take(struct hold *h, const struct hold_event *ev,
                   struct hold_out *out)
{
    if (!is_whole(h, ev)) return 0;
    h->fence = ev->fence;
    h->granted = hf__round_all(h);
    h->refused = h->doubtful = 0;
    hf__ballot_saw(h->ballot, h->fence);
    hf__keep_granted(h, ev, out);
    return 1;
}
