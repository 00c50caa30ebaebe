/*
 * hold.c: the step of the hold machine.
 *
 *   IDLE -> IN_LINE -> TRYING <-> WAITING
 *                       |
 *                      HELD -> RELEASING -> DONE
 *                       |          |
 *                      LOST -------+
 *
 * The rule: the user waits for one operation at a time, and each is finished
 * exactly once.
 */
#include "core/hold.h"

#include <assert.h>
#include <string.h>

#include "base/math.h"
#include "core/hold_parts.h"
#include "core/mutation.h"

/* From a row's state, only these states may follow. */
static const uint32_t allowed[HOLD_NSTATES] = {
    [HOLD_IDLE] = BIT(HOLD_IN_LINE) | BIT(HOLD_TRYING) | BIT(HOLD_WAITING)
                  | BIT(HOLD_DONE),
    [HOLD_IN_LINE] =
        BIT(HOLD_TRYING) | BIT(HOLD_WAITING) | BIT(HOLD_HELD) | BIT(HOLD_DONE),
    [HOLD_TRYING] = BIT(HOLD_HELD) | BIT(HOLD_WAITING) | BIT(HOLD_DONE),
    [HOLD_WAITING] =
        BIT(HOLD_IN_LINE) | BIT(HOLD_TRYING) | BIT(HOLD_HELD) | BIT(HOLD_DONE),
    [HOLD_HELD] = BIT(HOLD_LOST) | BIT(HOLD_RELEASING) | BIT(HOLD_DONE),
    [HOLD_LOST] = BIT(HOLD_RELEASING) | BIT(HOLD_DONE),
    [HOLD_RELEASING] = BIT(HOLD_DONE),
    [HOLD_DONE] = 0,
};

void hf__hold_move(struct hold *h, enum hold_state next)
{
    (void)allowed; /* nothing reads it in a build without assertions */
    assert(allowed[h->state] & BIT(next));
    h->state = (uint8_t)next;
}

void hf__hold_finish(struct hold *h, struct hold_out *out, int status)
{
    assert(h->wish != WISH_NONE && !out->finished);
    out->finished = 1;
    out->status = status;
    /* A caller whose acquire failed will not release it. */
    if (h->wish == WISH_ENTER && status != HF_OK && !MUTATED(COUNT_KEPT))
        h->count--;
    h->wish = WISH_NONE;
    h->op_deadline_us = TIME_NEVER;
}

void hf__hold_init(struct hold *h, struct hold_conf *conf,
                   struct ballot *ballot)
{
    assert(conf->nodes >= 1 && conf->nodes <= NODES_MAX);
    /* Two quorums have a node in common. */
    assert(conf->quorum <= conf->nodes && 2 * conf->quorum > conf->nodes);
    memset(h, 0, sizeof *h);
    h->conf = conf;
    h->ballot = ballot;
    h->state = HOLD_IDLE;
    h->op_deadline_us = h->answer_by_us = TIME_NEVER;
    h->doubt_lease_us = TIME_NEVER;
    h->busy_ttl_us = -1;
}

static void op_begin(struct hold *h, enum wish op, int64_t deadline_us)
{
    assert(h->wish == WISH_NONE && op != WISH_NONE);
    h->wish = (uint8_t)op;
    h->op_deadline_us = deadline_us;
}

static uint16_t flags_kept(const struct hold_event *ev)
{
    return ev->flags & UINT16_MAX & ~(HOLD_MAY_TRY | HOLD_BLIND | HOLD_ONE_TRY);
}

static void acquire_begin(struct hold *h, const struct hold_event *ev,
                          struct hold_out *out)
{
    op_begin(h, WISH_ACQUIRE, TIME_NEVER);
    h->plan = ev->plan;
    h->flags = flags_kept(ev);
    h->lease_us = ev->lease_us;
    h->count = 1;
    hf__get_begin(h, ev, out);
}

static void attach_begin(struct hold *h, const struct hold_event *ev,
                         struct hold_out *out)
{
    op_begin(h, WISH_ATTACH, TIME_NEVER);
    h->flags = flags_kept(ev);
    h->lease_us = ev->lease_us;
    h->attempt = ev->attempt;
    h->fence = ev->fence;
    h->count = 1;
    h->fail_status = HF_UNAVAILABLE;
    h->answer_by_us = ev->now_us + h->conf->patience_us;
    hf__get_attach(h, ev, out);
}

/* Enter once more: the longer lease, the watchdog and the shorter period win;
 * the longest hold of the first acquire stays. */
static void held_enter(struct hold *h, const struct hold_event *ev)
{
    assert(h->count < HOLD_COUNT_MAX);
    h->count++;
    h->flags |= ev->flags & HOLD_KEEP;
    /* A detached hold has an end, also if it is entered again; and so has a
     * hold that must be fed. */
    if (!(h->flags & HOLD_DETACHED) && !h->feed_ms)
        h->flags |= ev->flags & HOLD_ETERNAL;
    if (ev->lease_us > h->lease_us) h->lease_us = ev->lease_us;
    int64_t renew_us = ev->plan ? ev->plan->renew_us : 0;
    if (renew_us && (!h->renew_ms || renew_us < h->renew_ms * US_PER_MS))
        h->renew_ms = (uint32_t)(renew_us / US_PER_MS);
    h->fed_us = ev->now_us;
    if (MUTATED(CAP_MOVED) && h->max_hold_ms)
        h->cap_us = ev->now_us + h->max_hold_ms * US_PER_MS;
}

/* Counts are sent as absolute numbers, so a repeated round, or a round that
 * overtakes another, leads to the same count. */
static void held_change(struct hold *h, const struct hold_event *ev,
                        struct hold_out *out, enum wish op)
{
    op_begin(h, op, ev->now_us + h->conf->patience_us);
    if (op == WISH_ENTER) {
        held_enter(h, ev);
    } else if (op == WISH_LEAVE) {
        h->count--;
    } else if (ev->lease_us > 0) {
        h->lease_us = ev->lease_us;
    }
    assert(h->count >= 1);
    h->starved = 0; /* the user's own renewal is never held back */
    hf__round_renew(h, ev->now_us, out);
}

static void release_begin(struct hold *h, const struct hold_event *ev,
                          struct hold_out *out)
{
    assert(h->state == HOLD_HELD || h->state == HOLD_LOST);
    assert(h->count == 1);
    op_begin(h, WISH_RELEASE, ev->now_us + h->conf->timeout_us);
    h->round_open = 0;
    h->granted = h->refused = h->doubtful = h->gone = h->taken = 0;
    hf__round_release(h, hf__round_all(h), ev->now_us, out);
    if (MUTATED(RELEASE_RENEWED) && h->flags & HOLD_KEEP) {
        hf__round_renew(h, ev->now_us, out);
        h->round--;
    }
    h->count = 0;
    hf__hold_move(h, HOLD_RELEASING);
}

static void in_held(struct hold *h, const struct hold_event *ev,
                    struct hold_out *out)
{
    switch (ev->type) {
    case EV_ENTER:
        held_change(h, ev, out, WISH_ENTER);
        break;
    case EV_EXTEND:
        held_change(h, ev, out, WISH_EXTEND);
        break;
    case EV_RELEASE:
        if (h->count > 1)
            held_change(h, ev, out, WISH_LEAVE);
        else
            release_begin(h, ev, out);
        break;
    case EV_YIELD:
        hf__pass_yield(h, out);
        break;
    case EV_FORGET:
        hf__hold_move(h, HOLD_DONE);
        break;
    default:
        hf__keep_event(h, ev, out);
        break;
    }
}

static void in_lost(struct hold *h, const struct hold_event *ev,
                    struct hold_out *out)
{
    if (ev->type == EV_RELEASE && h->count > 1) {
        h->count--;
        op_begin(h, WISH_LEAVE, TIME_NEVER);
        hf__hold_finish(h, out, h->lost_status);
    } else if (ev->type == EV_RELEASE) {
        release_begin(h, ev, out); /* some nodes may still have it */
        if (MUTATED(LOST_AGAIN)) out->notice = HF_STATE_LOST;
    } else if (ev->type == EV_ENTER || ev->type == EV_EXTEND) {
        op_begin(h, WISH_EXTEND, TIME_NEVER);
        hf__hold_finish(h, out, h->lost_status);
    } else if (ev->type == EV_FORGET) {
        hf__hold_move(h, HOLD_DONE);
    }
}

/* A node that never had the hold need not release it.  But a node that had it
 * must answer, if it can be reached, because it may know of another holder. */
static int release_is_over(const struct hold *h)
{
    uint32_t said = h->granted | h->gone | h->taken;
    uint32_t never = h->gone & ~h->confirmed;
    int is_denied = h->taken || h->gone & h->confirmed;
    if (hf__round_count(h->granted) >= h->conf->quorum) return 1;
    return h->granted && !is_denied && !(h->confirmed & ~said & ~h->conf->down)
           && hf__round_count(h->granted | never) >= h->conf->quorum;
}

/* The result of a release; HF_UNAVAILABLE until enough nodes have answered. */
static int release_verdict(const struct hold *h)
{
    if (release_is_over(h)) return h->lost_status;
    int not_ours = hf__round_count(h->gone | h->taken);
    if (h->conf->nodes - not_ours < h->conf->quorum)
        return h->taken ? HF_LOST : HF_EXPIRED;
    return HF_UNAVAILABLE;
}

static void in_releasing(struct hold *h, const struct hold_event *ev,
                         struct hold_out *out)
{
    int status = HF_UNAVAILABLE;
    int over = ev->type == EV_FAIL
               || (ev->type == EV_TIMER && ev->now_us >= h->op_deadline_us);
    if (ev->type == EV_FAIL) status = ev->status;
    if (ev->type == EV_REPLY && ev->verb == VERB_RELEASE
        && ev->round == h->round) {
        uint16_t node = NODE(ev->node);
        enum verdict v = ev->reply->verdict;
        /* While the lease cannot have ended, it was an earlier copy of this
         * release that freed it. */
        int by_us = ev->repeated && ev->now_us < h->valid_us;
        if (v == V_GRANTED || (by_us && (v == V_ABSENT || v == V_OTHER)))
            h->granted |= node;
        else if (v == V_ABSENT)
            h->gone |= node;
        else if (v == V_OTHER)
            h->taken |= node;
        else if (hf_status_advice(ev->reply->status) == HF_ADVICE_FIX)
            h->refused |= node;
        status = release_verdict(h);
        if (status == HF_UNAVAILABLE && hf__round_is_impossible(h))
            status = ev->reply->status; /* a repetition would not help */
        over = over || status != HF_UNAVAILABLE;
    }
    if (!over) return;
    int was_lost = status == HF_UNAVAILABLE && h->lost_status != HF_OK;
    hf__hold_finish(h, out, was_lost ? h->lost_status : status);
    hf__hold_move(h, HOLD_DONE);
}

static void in_idle(struct hold *h, const struct hold_event *ev,
                    struct hold_out *out)
{
    if (ev->type == EV_ACQUIRE)
        acquire_begin(h, ev, out);
    else if (ev->type == EV_ATTACH)
        attach_begin(h, ev, out);
}

/* What each node said is counted once, and only of nodes that there are. */
static void nodes_check(const struct hold *h)
{
    assert(!(h->granted & h->refused));
    assert(!(h->granted & h->doubtful) || h->state == HOLD_RELEASING
           || MUTATED(HEAL_COUNTS));
    assert(!((h->granted | h->refused | h->doubtful) & ~hf__round_all(h)));
    assert(!(h->confirmed & ~hf__round_all(h)));
    assert(!(h->backing & ~h->confirmed) || MUTATED(HEAL_COUNTS));
    (void)h;
}

/* The user waits for an operation exactly while the state says so. */
static void op_check(const struct hold *h, const struct hold_out *out)
{
    assert(h->state != HOLD_IDLE || h->wish == WISH_NONE);
    assert(h->state == HOLD_IDLE || h->state >= HOLD_HELD
           || h->wish == WISH_ACQUIRE || h->wish == WISH_ATTACH);
    assert(h->state != HOLD_RELEASING || h->wish == WISH_RELEASE);
    assert(h->state != HOLD_DONE || h->wish == WISH_NONE);
    assert(h->state != HOLD_LOST || h->wish == WISH_NONE);
    assert(!out->finished || h->wish == WISH_NONE);
    (void)h;
    (void)out;
}

static void hold_check(const struct hold *h, const struct hold_out *out)
{
    nodes_check(h);
    op_check(h, out);
    assert(h->count >= 0 && h->count <= HOLD_COUNT_MAX);
    assert(h->reserve <= h->block);
    assert(h->state != HOLD_WAITING || !h->round_open);
    assert(h->state != HOLD_HELD || h->count >= 1);
    assert(h->state != HOLD_HELD || h->valid_us <= h->cap_us
           || MUTATED(CAP_IGNORED));
    assert(h->state != HOLD_HELD || !h->starved || !h->round_open);
    assert(h->state != HOLD_LOST || h->lost_status != HF_OK);
    assert(out->sends <= HOLD_SENDS_MAX);
    (void)h;
    (void)out;
}

void hf__hold_step(struct hold *h, const struct hold_event *ev,
                   struct hold_out *out)
{
    assert(ev->type != EV_REPLY || ev->reply);
    assert(ev->node >= 0 && ev->node < NODES_MAX);
    memset(out, 0, sizeof *out);
    switch (h->state) {
    case HOLD_IDLE:
        in_idle(h, ev, out);
        break;
    case HOLD_IN_LINE:
    case HOLD_TRYING:
    case HOLD_WAITING:
        hf__get_event(h, ev, out);
        break;
    case HOLD_HELD:
        in_held(h, ev, out);
        break;
    case HOLD_LOST:
        in_lost(h, ev, out);
        break;
    case HOLD_RELEASING:
        in_releasing(h, ev, out);
        break;
    default:
        break;
    }
    hold_check(h, out);
}

static int64_t patience_due(const struct hold *h)
{
    return h->answer_by_us == PATIENCE_ENDLESS ? TIME_NEVER : h->answer_by_us;
}

int64_t hf__hold_due(const struct hold *h)
{
    switch (h->state) {
    case HOLD_IN_LINE:
    case HOLD_TRYING:
        return min64(h->op_deadline_us, patience_due(h));
    case HOLD_WAITING:
        return min64(h->pause_until_us,
                     min64(h->op_deadline_us, patience_due(h)));
    case HOLD_HELD: {
        int64_t due = h->at_risk ? h->valid_us : hf__hold_risk_us(h);
        if (!h->round_open && !h->starved) due = min64(due, h->renew_at_us);
        return min64(due, h->op_deadline_us);
    }
    case HOLD_RELEASING:
        return h->op_deadline_us;
    default:
        return TIME_NEVER;
    }
}

int hf__hold_view(const struct hold *h, int64_t now_us)
{
    if (h->state == HOLD_LOST) return HF_STATE_LOST;
    if (h->state != HOLD_HELD) return HF_STATE_NONE;
    if (now_us >= h->valid_us) return HF_STATE_LOST;
    if (h->shaken) return HF_STATE_AT_RISK;
    return now_us >= hf__hold_risk_us(h) ? HF_STATE_AT_RISK : HF_STATE_HELD;
}

int hf__hold_why(const struct hold *h, int state)
{
    if (state == HF_STATE_LOST) return h->lost_status;
    if (state != HF_STATE_AT_RISK) return HF_OK;
    if (h->shaken && !h->starved) return HF_UNAVAILABLE;
    if (hf__hold_cause(h, state)) return HF_EXPIRED;
    return h->flags & HOLD_KEEP ? HF_UNAVAILABLE : HF_EXPIRED;
}

int hf__release_is_open(const struct reply *reply)
{
    return reply->verdict == V_ERROR || reply->verdict == V_UNSENT
           || reply->verdict == V_UNKNOWN;
}
