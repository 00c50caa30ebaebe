/*
 * hold_keep.c: keeping the lock: renewals, AT_RISK, LOST.
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

static void renew_plan(struct hold *h)
{
    /* What has no end is looked at all the same: its file may be gone. */
    h->renew_at_us = h->flags & HOLD_KEEP
                         ? h->round_start_us + hf__hold_period_us(h)
                         : TIME_NEVER;
}

/* Locks that were taken in a burst are not to be renewed in one: the first
 * renewal comes anywhere in the period but its first tenth, for most holds are
 * short. */
static void renew_spread(struct hold *h, uint64_t random)
{
    uint64_t most = (uint64_t)hf__hold_period_us(h) / 10 * 9;
    if (h->renew_at_us != TIME_NEVER)
        h->renew_at_us -= (int64_t)(random % (most + 1));
}

static void valid_set(struct hold *h, int64_t now_us)
{
    if (MUTATED(VALIDITY_FROM_REPLY)) h->round_start_us = now_us;
    h->valid_us =
        h->flags & HOLD_ETERNAL ? TIME_NEVER : hf__round_lease_end_us(h);
    if (!MUTATED(CAP_IGNORED) || h->state != HOLD_HELD)
        h->valid_us = min64(h->valid_us, h->cap_us);
    assert(h->valid_us > now_us);
}

void hf__keep_granted(struct hold *h, const struct hold_event *ev,
                      struct hold_out *out)
{
    hf__keep_begin(h, h->round_start_us, ev->now_us);
    valid_set(h, ev->now_us);
    h->confirmed = h->granted;
    h->round_open = 0;
    h->at_risk = 0;
    h->pauses = 0;
    h->lost_status = HF_OK;
    renew_plan(h);
    renew_spread(h, ev->random);
    hf__pass_open(h, ev->now_us);
    hf__hold_move(h, HOLD_HELD);
    hf__hold_finish(h, out, HF_OK);
}

void hf__keep_lose(struct hold *h, int status, int64_t now_us,
                   struct hold_out *out)
{
    h->lost_status = status;
    h->round_open = 0;
    hf__round_release(h, hf__round_all(h), now_us, out);
    out->notice = HF_STATE_LOST;
    hf__hold_move(h, HOLD_LOST);
    if (h->op != HOLD_OP_NONE) hf__hold_finish(h, out, status);
}

static void renew_won(struct hold *h, int64_t now_us, struct hold_out *out)
{
    h->round_open = 0;
    h->pauses = 0;
    valid_set(h, now_us);
    renew_plan(h);
    /* It may be as near to its cap as before. */
    if (h->at_risk && now_us < hf__hold_risk_us(h)) {
        h->at_risk = 0;
        out->notice = HF_STATE_HELD;
    }
    if (h->op != HOLD_OP_NONE) hf__hold_finish(h, out, HF_OK);
}

/* The user's change was not confirmed.  A fixed lease is not renewed behind his
 * back; only a lower count is still to be told. */
static void change_failed(struct hold *h, struct hold_out *out, int status)
{
    if (!(h->flags & HOLD_KEEP) && h->op != HOLD_OP_LEAVE) {
        h->round_open = 0;
        h->renew_at_us = TIME_NEVER;
    }
    hf__hold_finish(h, out, status);
}

/* Some answers are missing: ask again soon, more often than not three times
 * before the end. */
static void renew_failed(struct hold *h, const struct hold_event *ev,
                         struct hold_out *out)
{
    int shift = h->pauses < 6 ? h->pauses : 6;
    int64_t pause = (5 * US_PER_MS) << shift;
    int64_t most = h->valid_us == TIME_NEVER
                       ? US_PER_S
                       : max64((h->valid_us - ev->now_us) / 8, US_PER_MS);
    if (pause > most) pause = most;
    h->pauses = (uint16_t)(shift + 1);
    h->round_open = 0;
    h->renew_at_us = ev->now_us + pause - (int64_t)(ev->random % 1000);
    if (h->op != HOLD_OP_NONE
        && hf_status_advice(h->fail_status) == HF_ADVICE_FIX)
        change_failed(h, out, h->fail_status);
}

static void renew_reply(struct hold *h, const struct hold_event *ev,
                        struct hold_out *out)
{
    uint32_t node = BIT(ev->node);
    const struct reply *r = ev->reply;
    if (ev->op != OP_RENEW || ev->round != h->round || !h->round_open) return;
    if ((h->granted | h->refused | h->doubtful) & node) return;
    if (r->verdict == V_GRANTED) {
        /* Only a node that was ours when the round began may vote. */
        if (h->confirmed & node)
            h->granted |= node;
        else
            h->refused |= node;
    } else if (r->verdict == V_ABSENT || r->verdict == V_OTHER) {
        h->refused |= node;
        h->confirmed &= ~node;
        if (r->verdict == V_OTHER)
            h->taken |= node;
        else
            h->gone |= node;
    } else if (r->verdict == V_ERROR && r->status == HF_CONFLICT) {
        h->refused |= node; /* something else is stored there now */
        h->confirmed &= ~node;
        h->taken |= node;
    } else {
        h->doubtful |= node;
        h->fail_status = r->status;
    }
    if (hf__round_count(h->granted) >= h->conf->quorum) {
        if ((ev->now_us < h->valid_us || MUTATED(LATE_RENEWAL))
            && (h->flags & HOLD_ETERNAL
                || hf__round_lease_end_us(h) > ev->now_us))
            renew_won(h, ev->now_us, out);
        return;
    }
    int not_ours = hf__round_count(h->gone | h->taken);
    if (h->conf->nodes - not_ours < h->conf->quorum)
        hf__keep_lose(h, h->taken ? HF_LOST : HF_EXPIRED, ev->now_us, out);
    else if (hf__round_is_impossible(h))
        renew_failed(h, ev, out);
}

/* The watchdog's own renewal: held back from who is not fed. */
static void renew_fed(struct hold *h, int64_t now_us, struct hold_out *out)
{
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
        change_failed(h, out, HF_UNAVAILABLE);
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
    switch (ev->type) {
    case EV_REPLY:
        renew_reply(h, ev, out);
        break;
    case EV_TIMER:
        held_timer(h, ev, out);
        break;
    case EV_RENEW:
        if (hf__hold_is_renewable(h) && ev->now_us < h->valid_us)
            renew_fed(h, ev->now_us, out);
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
