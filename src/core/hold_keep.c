/*
 * hold_keep.c: keeping the lock: when to renew, AT_RISK, LOST.
 *
 *            renew_at            valid - margin      valid
 *   HELD ------|--- tries ... -------|- AT_RISK -------|- LOST
 *
 * The rule: validity counts from the start of the round that a quorum answered,
 * the round must be over before the old validity ends, and a hold that is lost
 * never comes back to life.  What the acquire planned (how often the hold is
 * renewed, when it must end, whether it must be fed) is decided by the round
 * that was granted, and nothing changes that; a hold that is not fed in time is
 * not renewed.
 */
#include <assert.h>

#include "base/math.h"
#include "core/hold_parts.h"
#include "core/mutation.h"

/* ---- what was planned ---------------------------------------------------- */

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
int64_t hf__keep_lease_us(const struct hold *h, int64_t now_us)
{
    int64_t cap_us = TIME_NEVER;
    if (h->state == HOLD_HELD)
        cap_us = h->cap_us;
    else if (h->wish == WISH_ACQUIRE)
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

void hf__keep_schedule(struct hold *h)
{
    /* A hold without an end is renewed as well: its file may be gone. */
    h->renew_at_us = h->flags & HOLD_KEEP
                         ? h->round_start_us + hf__hold_period_us(h)
                         : TIME_NEVER;
}

void hf__keep_valid_set(struct hold *h, int64_t now_us)
{
    if (MUTATED(VALIDITY_FROM_REPLY)) h->round_start_us = now_us;
    h->valid_us =
        h->flags & HOLD_ETERNAL ? TIME_NEVER : hf__round_lease_end_us(h);
    if (!MUTATED(CAP_IGNORED) || h->state != HOLD_HELD)
        h->valid_us = min64(h->valid_us, h->cap_us);
    assert(h->valid_us > now_us);
}

/* ---- held ---------------------------------------------------------------- */

/* Locks that were taken in a burst must not be renewed in a burst: the first
 * renewal comes at a random time of the period, except in its first tenth,
 * because most holds are short. */
static void renew_spread(struct hold *h, uint64_t random)
{
    uint64_t most = (uint64_t)hf__hold_period_us(h) / 10 * 9;
    if (h->renew_at_us != TIME_NEVER)
        h->renew_at_us -= (int64_t)(random % (most + 1));
}

void hf__keep_granted(struct hold *h, const struct hold_event *ev,
                      struct hold_out *out)
{
    assert(h->state == HOLD_TRYING || h->state == HOLD_WAITING);
    assert(hf__round_count(h->granted) >= h->conf->quorum || MUTATED(MINORITY)
           || MUTATED(HALF));
    if (h->flags & HOLD_ONCE) {
        h->round_open = 0;
        hf__hold_finish(h, out, HF_OK);
        hf__hold_move(h, HOLD_DONE);
        return;
    }
    hf__keep_begin(h, h->round_start_us, ev->now_us);
    hf__keep_valid_set(h, ev->now_us);
    h->confirmed = h->backing = h->granted;
    h->grant_round = h->round;
    h->round_open = 0;
    h->round_won = 1;
    h->at_risk = 0;
    h->pauses = 0;
    h->lost_status = HF_OK;
    hf__keep_schedule(h);
    renew_spread(h, ev->random);
    if (h->block > 0) hf__pass_open(h, ev->now_us);
    hf__hold_move(h, HOLD_HELD);
    hf__hold_finish(h, out, HF_OK);
}

void hf__keep_lose(struct hold *h, int status, int64_t now_us,
                   struct hold_out *out)
{
    assert(h->state == HOLD_HELD);
    assert(status == HF_EXPIRED || status == HF_LOST);
    h->lost_status = (int8_t)status;
    h->round_open = 0;
    hf__round_release(h, hf__round_all(h), now_us, out);
    out->notice = HF_STATE_LOST;
    hf__hold_move(h, HOLD_LOST);
    if (h->wish != WISH_NONE) hf__hold_finish(h, out, status);
}

/* The watchdog's own renewal: held back while the hold is not fed. */
static void renew_fed(struct hold *h, int64_t now_us, struct hold_out *out)
{
    assert(!h->round_open);
    h->starved = h->wish == WISH_NONE && !hf__keep_is_fed(h, now_us);
    if (!h->starved) hf__round_renew(h, now_us, out);
}

static void held_feed(struct hold *h, const struct hold_event *ev,
                      struct hold_out *out)
{
    if (!h->feed_ms || ev->now_us >= h->valid_us) return;
    h->fed_us = ev->now_us;
    if (!h->starved) return;
    h->starved = 0;
    assert(!h->round_open);
    hf__round_renew(h, ev->now_us, out);
}

/* The store may have lost an extension, but not the lock: take the end that was
 * found, if it is earlier.  It is never made later. */
static void held_found(struct hold *h, const struct hold_event *ev)
{
    int64_t drift = part64(ev->lease_us, h->conf->drift_ppm);
    int64_t end_us = ev->since_us + ev->lease_us - drift - DRIFT_FLOOR_US;
    h->valid_us = min64(h->valid_us, end_us);
}

static void held_timer(struct hold *h, const struct hold_event *ev,
                       struct hold_out *out)
{
    if (ev->now_us >= h->valid_us) {
        h->timed_out = 1;
        out->risk_untold = !h->at_risk && !MUTATED(RISK_SILENT);
        hf__keep_lose(h, HF_EXPIRED, ev->now_us, out);
        return;
    }
    if (h->wish != WISH_NONE && ev->now_us >= h->op_deadline_us)
        hf__change_failed(h, out, HF_UNAVAILABLE);
    if (!h->at_risk && ev->now_us >= hf__hold_risk_us(h)) {
        h->at_risk = 1;
        out->notice = MUTATED(RISK_SILENT) ? 0 : HF_STATE_AT_RISK;
    }
    if (ev->now_us >= h->renew_at_us && !h->round_open && !h->starved)
        renew_fed(h, ev->now_us, out);
}

void hf__keep_event(struct hold *h, const struct hold_event *ev,
                    struct hold_out *out)
{
    assert(h->state == HOLD_HELD);
    switch (ev->type) {
    case EV_REPLY:
        hf__renew_reply(h, ev, out);
        break;
    case EV_STEP:
        hf__renew_step(h, ev, out);
        break;
    case EV_TIMER:
        held_timer(h, ev, out);
        break;
    case EV_RENEW:
        if (hf__hold_is_renewable(h) && ev->now_us < h->valid_us)
            renew_fed(h, ev->now_us, out);
        break;
    case EV_CHECK:
        if (h->flags & HOLD_KEEP && !h->round_open && !h->starved
            && ev->now_us < h->valid_us)
            renew_fed(h, ev->now_us, out);
        break;
    case EV_FOUND:
        held_found(h, ev);
        break;
    case EV_GONE:
        hf__keep_lose(h, ev->status, ev->now_us, out);
        break;
    case EV_FEED:
        held_feed(h, ev, out);
        break;
    case EV_FAIL:
        if (h->wish != WISH_NONE) hf__hold_finish(h, out, ev->status);
        break;
    default:
        break;
    }
}

int hf__hold_is_renewable(const struct hold *h)
{
    return h->state == HOLD_HELD && h->wish == WISH_NONE && !h->round_open
           && h->renew_at_us != TIME_NEVER && !h->at_risk && !h->starved;
}
