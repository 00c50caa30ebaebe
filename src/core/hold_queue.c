/*
 * hold_queue.c: waiting in the queue of the store, which gives the lock to the
 * waiter that has waited longest.
 *
 *   WAITING --poll--> TRYING --"wait"--> WAITING --handed, whole lease--> HELD
 *              ^                            |
 *              +------- handed, short ------+
 *
 * A poll is an ordinary proposal, under the same attempt and a higher number:
 * it keeps the place, and finds out what a lost message would have told.  If
 * the lock was handed over for a short time only, one more poll asks for the
 * whole lease, and the lock is held when that is granted.  The rule: a lock
 * that was handed over is held at once only if the store names the last number
 * that was proposed, and gives the whole lease.  The lease then counts from
 * that proposal, and no other proposal is on its way that the store could grant
 * with another token.
 */
#include <assert.h>

#include "core/hold_parts.h"
#include "core/mutation.h"

/* The attempt is given up: may the store know of it?  A proposal that is on its
 * way may arrive after the release (`unsure`). */
int hf__queue_is_known(struct hold *h)
{
    uint32_t said = h->granted | h->refused;
    int is_asked = h->state == HOLD_TRYING && h->round_open;
    assert(h->flags & HOLD_QUEUES);
    if (is_asked && said != hf__round_all(h)) h->unsure = 1;
    if (MUTATED(PLACE_KEPT) && h->state == HOLD_WAITING) return 0;
    return h->placed || h->unsure || (is_asked && hf__round_maybe_ours(h));
}

/* Is the hand-over one to this attempt? */
int hf__queue_is_handed(const struct hold *h, const struct hold_event *ev)
{
    assert(ev->type == EV_HANDED);
    return h->flags & HOLD_QUEUES && h->wish == WISH_ACQUIRE
           && ev->attempt == h->attempt;
}

/* Is the hand-over as good as a grant of the last proposal?  The store names
 * the number of that proposal and gives the whole lease, and hardly any of
 * the lease has passed. */
static int is_whole(const struct hold *h, const struct hold_event *ev)
{
    int64_t lease_us = hf__keep_lease_us(h, h->round_start_us);
    if (ev->number != h->number && !MUTATED(HANDED_LONG_AGO)) return 0;
    if (ev->lease_us < lease_us && !MUTATED(HANDED_SHORT)) return 0;
    return ev->now_us - h->round_start_us <= lease_us / 10
           && hf__keep_is_useful(h, ev->now_us);
}

/* Hold what was handed over.  0: one more proposal is needed. */
int hf__queue_take(struct hold *h, const struct hold_event *ev,
                   struct hold_out *out)
{
    assert(hf__queue_is_handed(h, ev));
    if (!is_whole(h, ev)) return 0;
    h->fence = ev->fence;
    h->granted = hf__round_all(h);
    h->refused = h->doubtful = 0;
    hf__ballot_saw(h->ballot, h->fence);
    hf__keep_granted(h, ev, out);
    return 1;
}
