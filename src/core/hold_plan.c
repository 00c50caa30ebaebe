/*
 * hold_plan.c: what an acquire planned for its hold: how often it is renewed,
 * when it must end, and whether it must be fed.
 *
 * The rule: the round that was granted decides when the hold must end, and
 * nothing changes that; a hold that is not fed in time is not renewed.
 */
#include <assert.h>

#include "base/math.h"
#include "core/hold_parts.h"
#include "core/mutation.h"

static uint32_t plan_ms(int64_t us)
{
    assert(us >= 0);
    return (uint32_t)min64(us / US_PER_MS, UINT32_MAX);
}

static int64_t plan_cap_us(const struct hold_plan *plan, int64_t start_us)
{
    assert(!plan || plan->max_hold_us >= 0);
    return plan && plan->max_hold_us ? start_us + plan->max_hold_us
                                     : TIME_NEVER;
}

/* A grant of which little is left is of no use to its holder. */
int hf__keep_is_useful(const struct hold *h, int64_t now_us)
{
    assert(h->state == HOLD_TRYING || h->state == HOLD_WAITING);
    if (h->flags & HOLD_ONCE) return 1;
    int64_t cap_us = plan_cap_us(h->plan, h->round_start_us);
    if (cap_us != TIME_NEVER && cap_us - now_us <= h->plan->max_hold_us / 10)
        return 0;
    return h->flags & HOLD_ETERNAL
           || hf__round_lease_end_us(h) - now_us >= h->lease_us / 10;
}

/* The lease to ask for in a round that begins now: no more than what is left
 * until the cap, so that no waiter waits for a dead holder beyond it; but
 * long enough that a node with the slowest clock keeps it until then. 
 * Attached holds have no cap. */
int64_t hf__plan_lease_us(const struct hold *h, int64_t now_us)
{
    int64_t cap_us = TIME_NEVER;
    if (h->state == HOLD_HELD)
        cap_us = h->cap_us;
    else if (h->op == HOLD_OP_ACQUIRE)
        cap_us = plan_cap_us(h->plan, now_us);
    if (cap_us == TIME_NEVER || h->flags & HOLD_ETERNAL) return h->lease_us;
    int64_t left_us = max64(cap_us - now_us, 0);
    int64_t drift_us = part64(left_us, h->conf->drift_ppm);
    return min64(h->lease_us, left_us + 2 * drift_us + 2 * DRIFT_FLOOR_US);
}

/* Change the union in struct hold from what getting the lock needs to what
 * keeping it needs. */
void hf__keep_begin(struct hold *h, int64_t start_us, int64_t now_us)
{
    static const struct hold_plan nothing;
    assert(h->state == HOLD_TRYING || h->state == HOLD_WAITING);
    const struct hold_plan *plan = h->plan ? h->plan : &nothing;
    int64_t cap_us = plan_cap_us(plan, start_us);
    uint32_t renew_ms = plan_ms(plan->renew_us);
    uint32_t feed_ms = plan_ms(plan->feed_us);
    h->max_hold_ms = plan_ms(plan->max_hold_us);
    h->renew_at_us = TIME_NEVER;
    h->cap_us = cap_us;
    h->fed_us = now_us; /* the acquire counts as feeding */
    h->renew_ms = renew_ms;
    h->feed_ms = feed_ms;
    h->starved = h->timed_out = h->shaken = h->late = 0;
}

int hf__keep_is_fed(const struct hold *h, int64_t now_us)
{
    if (!h->feed_ms || MUTATED(UNFED_RENEWED)) return 1;
    return now_us - h->fed_us <= h->feed_ms * US_PER_MS;
}

int64_t hf__hold_period_us(const struct hold *h)
{
    int64_t lease_us = hf__round_lease_us(h);
    int64_t period_us = h->renew_ms ? h->renew_ms * US_PER_MS : lease_us / 3;
    return min64(period_us, lease_us / 2);
}

int64_t hf__hold_risk_us(const struct hold *h)
{
    if (h->valid_us == TIME_NEVER) return TIME_NEVER;
    int64_t lease_us = hf__round_lease_us(h);
    int64_t margin = max64(lease_us / 100, 2 * h->conf->rtt_us);
    margin = max64(margin, MARGIN_FLOOR_US);
    if (h->max_hold_ms) lease_us = min64(lease_us, h->max_hold_ms * US_PER_MS);
    return h->valid_us - min64(margin, lease_us / 3);
}

const char *hf__hold_cause(const struct hold *h, int state)
{
    if (state == HF_STATE_LOST && !h->timed_out) return NULL;
    if (state != HF_STATE_AT_RISK && state != HF_STATE_LOST) return NULL;
    if (h->starved) return "not fed in time: it was not renewed";
    if (h->shaken && state == HF_STATE_AT_RISK)
        return "a node's clock was set forward: too few nodes are sure to "
               "have it";
    if (h->valid_us < h->cap_us) return NULL;
    return state == HF_STATE_LOST ? "its longest hold is over"
                                  : "its longest hold is nearly over";
}
