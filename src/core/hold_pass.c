/*
 * hold_pass.c: handing the lock to the next holder of this process.
 *
 *   from: HELD --yield--> DONE          to: IN_LINE --inherit--> HELD
 *
 * The nodes see one hold all the time, the chain: one owner, one attempt, one
 * lease.  The rule: the grant that began the chain has reserved a block of
 * tokens; each holder gets the next token, no token is used twice, and a hold
 * that has ended, or soon will, is not handed on.
 */
#include <assert.h>

#include "core/hold_parts.h"
#include "core/mutation.h"

/* How many tokens a proposal reserves.  None where no holder would use them,
 * and none with a number that is ahead of the nodes' clock: when a node forgets
 * its counter it goes on from its clock, with tokens below those. */
void hf__pass_ask(struct hold *h, int64_t nodes_now_us)
{
    assert(h->conf->handover >= 0 && h->conf->handover <= HANDOVER_MAX);
    unsigned apart = HOLD_SHARED | HOLD_DETACHED | HOLD_QUEUES;
    int is_alone = h->flags & apart || !h->crowded;
    int is_ahead = h->number > nodes_now_us;
    h->block = is_alone || is_ahead ? 0 : (uint16_t)h->conf->handover;
}

void hf__pass_open(struct hold *h, int64_t now_us)
{
    assert(h->reserve == 0); /* no chain is open */
    if (h->wish != WISH_ACQUIRE) h->block = 0;
    h->chain_us = now_us;
    h->reserve = h->block;
    if (h->block > 0) hf__ballot_saw(h->ballot, h->fence + h->block);
}

int64_t hf__hold_passes(const struct hold *h)
{
    return h->state < HOLD_HELD ? 0 : h->block - h->reserve;
}

int64_t hf__pass_number(const struct hold *h, int64_t number)
{
    int64_t end = h->fence + h->reserve;
    assert(h->reserve <= h->block);
    if (h->block == 0 || MUTATED(BLOCK_UNRELEASED)) return number;
    return end > number ? end : number;
}

/* Is enough of the lease left to be worth handing over? */
static int is_fresh(const struct hold *h, int64_t now_us)
{
    if (h->valid_us == TIME_NEVER || MUTATED(PASS_LATE)) return 1;
    return !h->at_risk && h->valid_us - now_us >= h->lease_us / 2;
}

/* Has a node told a number above those of this chain?  Then another client may
 * have the lock by now. */
static int is_overtaken(const struct hold *h)
{
    return h->ballot->seen > h->fence + h->reserve;
}

static int chain_is_open(const struct hold *h, int64_t now_us)
{
    return h->state == HOLD_HELD && h->wish == WISH_NONE && h->count == 1
           && !h->round_open && h->reserve > 0 && !is_overtaken(h)
           && now_us - h->chain_us < h->conf->handover_us
           && is_fresh(h, now_us);
}

/* Do both want the same hold?  A hold with a longest hold or with feeding is
 * not handed over. */
static int is_alike(const struct hold *from, const struct hold *to)
{
    const struct hold_plan *plan = to->plan;
    int64_t renew_us = plan ? plan->renew_us : 0;
    if (plan && (plan->max_hold_us || plan->feed_us)) return 0;
    return from->flags == to->flags && from->lease_us == to->lease_us
           && from->renew_ms == renew_us / US_PER_MS && !from->max_hold_ms
           && !from->feed_ms;
}

int hf__hold_may_pass(const struct hold *from, const struct hold *to,
                      int64_t now_us)
{
    assert(from != to && from->ballot == to->ballot); /* of one lock */
    return to->state == HOLD_IN_LINE && to->wish == WISH_ACQUIRE && !to->one_try
           && now_us < to->op_deadline_us && chain_is_open(from, now_us)
           && is_alike(from, to);
}

void hf__pass_yield(struct hold *h, struct hold_out *out)
{
    assert(h->state == HOLD_HELD && h->wish == WISH_NONE && h->count == 1);
    h->wish = WISH_RELEASE;
    h->count = 0;
    hf__hold_finish(h, out, HF_OK);
    hf__hold_move(h, HOLD_DONE);
}

/* What the nodes know is copied from the other hold; what the user waits for is
 * this hold's own. */
void hf__pass_inherit(struct hold *h, const struct hold_event *ev,
                      struct hold_out *out)
{
    const struct hold own = *h;
    assert(own.state == HOLD_IN_LINE && own.wish == WISH_ACQUIRE);
    assert(ev->from->state == HOLD_HELD && ev->from->wish == WISH_NONE);
    assert(ev->fence == ev->from->fence + 1 && ev->from->reserve > 0);
    *h = *ev->from;
    h->state = own.state;
    h->wish = own.wish;
    h->op_deadline_us = own.op_deadline_us;
    h->one_try = own.one_try;
    h->watched = own.watched;
    h->watch_asked = own.watch_asked;
    h->fence = MUTATED(TOKEN_REUSED) ? ev->from->fence : ev->fence;
    h->reserve--;
    hf__hold_move(h, HOLD_HELD);
    hf__hold_finish(h, out, HF_OK);
}
