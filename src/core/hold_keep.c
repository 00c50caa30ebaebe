/*
 * hold_keep.c: keeping the lock: when to renew, AT_RISK, LOST.
 *
 *            renew_at            valid - margin      valid
 *   HELD ------|--- tries ... -------|- AT_RISK -------|- LOST
 *
 * The rule: validity counts from the start of the round that a quorum answered,
 * the round must be over before the old validity ends, and a hold that is lost
 * never comes back to life.
 */
#include <assert.h>

#include "base/math.h"
#include "core/hold_parts.h"
#include "core/mutation.h"

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
    assert(hf__round_count(h->granted) >= h->conf->quorum || MUTATED(MINORITY));
    if (h->flags & HOLD_ONCE) {
        h->round_open = 0;
        hf__hold_finish(h, out, HF_OK);
        hf__hold_move(h, HOLD_DONE);
        return;
    }
    hf__keep_begin(h, h->round_start_us, ev->now_us);
    hf__valid_set(h, ev->now_us);
    h->confirmed = h->backing = h->granted;
    h->grant_round = h->round;
    h->round_open = 0;
    h->round_won = 1;
    h->at_risk = 0;
    h->pauses = 0;
    h->lost_status = HF_OK;
    hf__renew_plan(h);
    renew_spread(h, ev->random);
    hf__pass_open(h, ev->now_us);
    hf__hold_move(h, HOLD_HELD);
    hf__hold_finish(h, out, HF_OK);
}

void hf__keep_lose(struct hold *h, int status, int64_t now_us,
                   struct hold_out *out)
{
    assert(h->state == HOLD_HELD);
    assert(status == HF_EXPIRED || status == HF_LOST);
    h->lost_status = (int16_t)status;
    h->round_open = 0;
    hf__round_release(h, hf__round_all(h), now_us, out);
    out->notice = HF_STATE_LOST;
    hf__hold_move(h, HOLD_LOST);
    if (h->op != HOLD_OP_NONE) hf__hold_finish(h, out, status);
}

/* The watchdog's own renewal: held back while the hold is not fed. */
static void renew_fed(struct hold *h, int64_t now_us, struct hold_out *out)
{
    assert(!h->round_open);
    h->starved = h->op == HOLD_OP_NONE && !hf__keep_is_fed(h, now_us);
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
    if (h->op != HOLD_OP_NONE && ev->now_us >= h->op_deadline_us)
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
        if (h->op != HOLD_OP_NONE) hf__hold_finish(h, out, ev->status);
        break;
    default:
        break;
    }
}

int hf__hold_is_renewable(const struct hold *h)
{
    return h->state == HOLD_HELD && h->op == HOLD_OP_NONE && !h->round_open
           && h->renew_at_us != TIME_NEVER && !h->at_risk && !h->starved;
}
