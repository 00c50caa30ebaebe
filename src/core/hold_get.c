/*
 * hold_get.c: getting the lock: queued, trying, waiting.
 *
 *   IN_LINE --turn--> TRYING --quorum--> HELD
 *                     |  ^
 *               busy  v  | message, holder's time over, pause over
 *                    WAITING
 *
 * The rule: an attempt that is given up is released wherever it may have been
 * granted, and the next attempt has a fresh id, so that a late packet of one
 * attempt can neither make nor undo the grant of another.  A wait in the
 * store's queue is one attempt, which asks many times and is given up once, at
 * the end.
 */
#include <assert.h>

#include "base/math.h"
#include "core/hold_parts.h"
#include "core/mutation.h"

/* Set until when an answer is waited for.  Once the store has answered, a wait
 * survives a restart of the store.  A client that is patient waits until the
 * caller's own deadline.  Nodes that are known to be settled later are waited
 * for.  A call that does not wait has one patience in all, whatever the nodes
 * answer: missing replicas, or a clock that is off, may refuse it for ever. */
static void patience_begin(struct hold *h, int64_t now_us)
{
    /* Later, answer_by_us is the memory of renew_at_us. */
    assert(h->state < HOLD_HELD);
    int64_t patience = h->conf->patience_us;
    if (h->hasty) {
        if (h->answer_by_us == TIME_NEVER) h->answer_by_us = now_us + patience;
        return;
    }
    now_us = max64(now_us, h->conf->settle_us);
    if (h->conf->is_patient && h->wish == WISH_ACQUIRE)
        h->answer_by_us = PATIENCE_ENDLESS;
    else
        h->answer_by_us = now_us + (h->answered ? 5 * patience : patience);
}

static void try_failed(struct hold *h, const struct hold_event *ev,
                       struct hold_out *out);

/* A lease longer than the members' markers know of would outlive a
 * quarantine. */
static int lease_fits(struct hold *h)
{
    int64_t most = h->conf->lease_max_us;
    if (most && h->lease_us > most && h->flags & HOLD_LEASE_ANY)
        h->lease_us = most;
    return !most || h->lease_us <= most;
}

/* A fresh attempt: the client's next number; for a detached hold the hash of a
 * new secret. */
static void attempt_begin(struct hold *h)
{
    h->attempt = ++h->conf->attempts;
    if (!(h->flags & HOLD_DETACHED)) return;
    uint64_t n = MUTATED(TICKET_REUSED) ? 1 : h->attempt;
    h->secret = hf__ticket_secret(h->conf->ticket_seed, n);
    h->attempt = hf__ticket_attempt(h->secret);
}

static void try_begin(struct hold *h, const struct hold_event *ev,
                      struct hold_out *out)
{
    assert(h->wish == WISH_ACQUIRE && !h->round_open);
    if (!lease_fits(h)) {
        hf__get_abandon(h, HF_INVALID, ev->now_us, out);
        return;
    }
    if (h->answer_by_us == TIME_NEVER) patience_begin(h, ev->now_us);
    int is_kept = MUTATED(ATTEMPT_REUSED) || h->flags & HOLD_QUEUES;
    if (!is_kept || !h->attempt) attempt_begin(h);
    h->reballots = 0;
    h->confirmed = h->earlier = h->joining = 0;
    hf__hold_move(h, HOLD_TRYING);
    hf__round_propose(h, ev, out);
    if (hf__round_is_impossible(h)) try_failed(h, ev, out);
}

static void pause_count(struct hold *h)
{
    if (h->pauses < UINT16_MAX) h->pauses++;
}

/* Exponential, with full jitter: two clients that split the votes must not ask
 * again at the same moment.  Fixed pauses made livelocks in the simulator. */
static int64_t backoff_us(struct hold *h, uint64_t random)
{
    static const struct hold_backoff apart = {HF_BACKOFF_JITTER, 2,
                                              BACKOFF_US_MIN, BACKOFF_US_MAX};
    int64_t pause = hf__backoff_us(&apart, h->pauses, random);
    pause_count(h);
    return pause;
}

/* The pauses that the user wants instead of wake-ups; or NULL. */
static const struct hold_backoff *spin_of(const struct hold *h)
{
    return h->plan && h->plan->backoff.kind != HF_BACKOFF_NONE
               ? &h->plan->backoff
               : NULL;
}

/* How long to sleep if no message comes. */
static int64_t busy_pause_us(struct hold *h, const struct hold_event *ev)
{
    static const struct hold_backoff poll = {HF_BACKOFF_EXPONENTIAL, 2,
                                             POLL_US_MIN, POLL_US_MAX};
    const struct hold_backoff *spin = spin_of(h);
    int64_t pause = SLEEP_US_MAX;
    if (spin) {
        pause = hf__backoff_us(spin, h->pauses, ev->random);
        pause_count(h);
    } else if (!h->watched || h->silent) {
        pause = hf__backoff_us(&poll, h->pauses, 0);
        pause -= (int64_t)(ev->random % (uint64_t)(pause / 4));
        pause_count(h);
    }
    if (h->busy_poll_us > 0) pause = min64(pause, h->busy_poll_us);
    if (h->busy_ttl_us < 0) return pause;
    return min64(pause, h->busy_ttl_us + US_PER_MS);
}

void hf__get_abandon(struct hold *h, int status, int64_t now_us,
                     struct hold_out *out)
{
    assert(h->state < HOLD_HELD && h->wish != WISH_NONE);
    int is_queued = h->flags & HOLD_QUEUES && hf__queue_is_known(h);
    if (h->state == HOLD_TRYING && h->wish == WISH_ACQUIRE && !is_queued)
        hf__round_release(h, hf__round_maybe_ours(h), now_us, out);
    if (is_queued) hf__round_release(h, hf__round_all(h), now_us, out);
    h->round_open = 0;
    hf__hold_finish(h, out, status);
    hf__hold_move(h, HOLD_DONE);
}

static void queue_begin(struct hold *h, int64_t now_us)
{
    h->in_line_us = now_us;
    hf__hold_move(h, HOLD_IN_LINE);
}

void hf__get_begin(struct hold *h, const struct hold_event *ev,
                   struct hold_out *out)
{
    int64_t now_us = ev->now_us;
    assert(h->state == HOLD_IDLE && h->wish == WISH_ACQUIRE);
    h->hasty = ev->wait_us == 0;
    h->one_try = h->hasty || ev->flags & HOLD_ONE_TRY;
    h->op_deadline_us = ev->wait_us > 0 ? now_us + ev->wait_us : TIME_NEVER;
    if (MUTATED(WAIT_UNBOUNDED)) h->op_deadline_us = TIME_NEVER;
    h->answer_by_us = TIME_NEVER;
    if (ev->flags & HOLD_BLIND) patience_begin(h, now_us);
    h->fail_status = HF_UNAVAILABLE;
    if (ev->flags & HOLD_MAY_TRY)
        try_begin(h, ev, out);
    else
        queue_begin(h, now_us);
}

/* With several nodes, clients that split the votes wake each other when they
 * release their grants: each asks again after a random pause. */
static void wake_up(struct hold *h, const struct hold_event *ev,
                    struct hold_out *out)
{
    int stands_back = ev->type == EV_WAKE && ev->wait_us > 0;
    assert(h->state == HOLD_WAITING);
    if (h->conf->nodes == 1 && !stands_back) {
        try_begin(h, ev, out);
        return;
    }
    int64_t soon_us =
        ev->now_us + (stands_back ? ev->wait_us : backoff_us(h, ev->random));
    h->pause_until_us = min64(h->pause_until_us, soon_us);
}

/* No quorum this time: try again at once, later, or give up. */
static void try_failed(struct hold *h, const struct hold_event *ev,
                       struct hold_out *out)
{
    int64_t now_us = ev->now_us;
    assert(h->state == HOLD_TRYING && h->wish == WISH_ACQUIRE);
    if (h->stale && h->reballots < REBALLOTS_MAX) {
        h->reballots++;
        h->earlier = hf__round_maybe_ours(h);
        hf__round_propose(h, ev, out);
        if (hf__round_is_impossible(h)) try_failed(h, ev, out);
        return;
    }
    if (hf__round_is_barred(h) && !h->busy && !h->stale) {
        hf__get_abandon(h, h->fail_status, now_us, out);
        return;
    }
    if (h->nomem && h->conf->nodes > 1) {
        /* Without memory for a release the grants may stay until their lease
         * ends: another try would find the lock taken by this client. */
        hf__get_abandon(h, HF_NOMEM, now_us, out);
        return;
    }
    if (h->busy && h->one_try) {
        hf__get_abandon(h, HF_TAKEN, now_us, out);
        return;
    }
    if (h->hasty && h->conf->settle_us > now_us + h->conf->patience_us) {
        hf__get_abandon(h, HF_UNAVAILABLE, now_us, out);
        return;
    }
    if (!(h->flags & HOLD_QUEUES))
        hf__round_release(h, hf__round_maybe_ours(h), now_us, out);
    h->round_open = 0;
    int look_again = h->woken && h->busy;
    if (h->busy) {
        h->answer_by_us = TIME_NEVER;
        h->pause_until_us = now_us + busy_pause_us(h, ev);
        if (!h->watch_asked && !spin_of(h)) {
            h->watch_asked = 1;
            out->watch = 1;
        }
    } else {
        h->pause_until_us = now_us + backoff_us(h, ev->random);
        if (h->conf->settle_us > now_us) patience_begin(h, now_us);
    }
    hf__hold_move(h, HOLD_WAITING);
    if (look_again) wake_up(h, ev, out);
}

/* Count a node that failed.  A node that refuses for good (HF_ADVICE_FIX), or
 * that took away what was waited for (HF_LOST), is barred; the acquire gives up
 * when too few other nodes are left for a quorum. */
static void failure_count(struct hold *h, const struct hold_event *ev)
{
    int status = ev->reply->status;
    h->outwaited = 0;
    if (hf_status_advice(status) == HF_ADVICE_FIX || status == HF_LOST)
        h->barred |= NODE(ev->node);
    if (status == HF_NOMEM) h->nomem = 1;
    int is_final = h->conf->nodes == 1 || hf__round_is_barred(h);
    h->fail_status = (int8_t)(is_final ? status : HF_UNAVAILABLE);
}

/* Would a higher number be granted?  It helps against a node's counter, and
 * against its clock unless that is ahead of the others': then the node refuses
 * every number. */
static int higher_helps(const struct hold *h, const struct hold_event *ev)
{
    const struct reply *r = ev->reply;
    return r->counter >= h->number || !r->node_us
           || ev->nodes_now_us >= r->node_us - h->conf->window_us;
}

/* Was the proposal granted by a node that may not vote any more, perhaps
 * since this very reply?  Its clock seems to have been set forward, and
 * another lease may have ended too early there.  A renewal still counts: it
 * found this hold. */
static int is_no_vote(const struct hold *h, const struct hold_event *ev)
{
    return h->conf->nodes > 1 && h->wish == WISH_ACQUIRE
           && h->conf->unsettled & BIT(ev->node) && !MUTATED(SUSPECT_VOTES);
}

static void vote_count(struct hold *h, const struct hold_event *ev)
{
    const struct reply *r = ev->reply;
    uint16_t node = NODE(ev->node);
    assert(h->round_open && ev->node < h->conf->nodes);
    switch (r->verdict) {
    case V_GRANTED:
        if (is_no_vote(h, ev)) {
            h->doubtful |= node; /* so that it is released there */
            break;
        }
        h->granted |= node;
        if (h->wish == WISH_ACQUIRE)
            h->fence = h->conf->request_flags & REQ_SERVER_FENCE
                               && !MUTATED(FENCE_PROPOSED)
                           ? r->fence
                           : h->number;
        break;
    case V_BUSY:
        h->late = 0;
        h->placed = 1;
        h->refused |= node;
        h->busy = 1;
        if (r->silent) h->silent = 1;
        h->busy_poll_us = r->poll_us;
        if (r->ttl_us >= 0
            && (h->busy_ttl_us < 0 || r->ttl_us < h->busy_ttl_us))
            h->busy_ttl_us = r->ttl_us;
        break;
    case V_STALE:
        h->refused |= node;
        if (higher_helps(h, ev)) h->stale = 1;
        break;
    case V_ABSENT:
        h->refused |= node;
        h->gone |= node;
        break;
    case V_OTHER:
        h->refused |= node;
        h->taken |= node;
        break;
    case V_UNSETTLED:
        h->refused |= node;
        break;
    case V_ERROR:
    case V_UNSENT:
        h->refused |= node;
        failure_count(h, ev);
        break;
    case V_UNKNOWN:
        h->doubtful |= node;
        h->unsure = 1;
        failure_count(h, ev);
        break;
    }
    if (r->verdict <= V_OTHER) h->heard |= node;
    if (r->verdict <= V_OTHER && hf__round_count(h->heard) >= h->conf->quorum) {
        h->answered = 1;
        /* What a ticket waits for is a majority's word, not a holder. */
        if (h->wish != WISH_ATTACH) patience_begin(h, ev->now_us);
    }
}

/* The renewal that checks a ticket failed.  Nothing was proposed, so nothing is
 * released. */
static void attach_failed(struct hold *h, const struct hold_event *ev,
                          struct hold_out *out)
{
    assert(h->state == HOLD_TRYING && h->wish == WISH_ATTACH);
    int not_ours = hf__round_count(h->taken | h->gone);
    if (h->conf->nodes - not_ours < h->conf->quorum) {
        hf__get_abandon(h, h->taken ? HF_LOST : HF_EXPIRED, ev->now_us, out);
        return;
    }
    if (hf__round_is_barred(h)) {
        hf__get_abandon(h, h->fail_status, ev->now_us, out);
        return;
    }
    h->round_open = 0;
    h->pause_until_us = ev->now_us + backoff_us(h, ev->random);
    hf__hold_move(h, HOLD_WAITING);
}

/* A grant from before the node's clock was set may be gone already. */
static void try_step(struct hold *h, const struct hold_event *ev,
                     struct hold_out *out)
{
    uint16_t node = NODE(ev->node);
    if (!h->round_open || !(h->granted & node)
        || h->round_start_us > ev->since_us)
        return;
    h->granted &= ~node;
    h->doubtful |= node;
    if (hf__round_is_impossible(h) && h->wish == WISH_ACQUIRE)
        try_failed(h, ev, out);
    else if (hf__round_is_impossible(h))
        attach_failed(h, ev, out);
}

static void in_trying(struct hold *h, const struct hold_event *ev,
                      struct hold_out *out)
{
    /* If it cannot be taken at once, the answer that is awaited decides.  That
     * may be from before the hand-over: `woken` then makes it ask again. */
    if (ev->type == EV_HANDED && hf__queue_is_handed(h, ev)) {
        if (!hf__queue_take(h, ev, out)) h->woken = 1;
        return;
    }
    if (ev->type == EV_STEP) try_step(h, ev, out);
    if (ev->type == EV_WAKE && !MUTATED(WOKEN_FORGOTTEN)) h->woken = 1;
    if (ev->type == EV_WATCHED && ev->status == HF_OK) h->woken = 1;
    if (ev->type != EV_REPLY || ev->verb == VERB_RELEASE
        || ev->round != h->round || !h->round_open)
        return;
    if ((h->granted | h->refused | h->doubtful) & BIT(ev->node)) return;
    vote_count(h, ev);
    int quorum = h->conf->quorum - (MUTATED(MINORITY) && h->conf->nodes > 1);
    if (MUTATED(HALF)) quorum = (h->conf->nodes + 1) / 2;
    if (hf__round_count(h->granted) >= quorum) {
        if (hf__keep_is_useful(h, ev->now_us)) {
            hf__keep_granted(h, ev, out);
            return;
        }
        /* Too late to be of use: release it, or ask once more. */
        h->doubtful |= h->granted;
        h->granted = 0;
        h->late = h->placed = 1;
    }
    if (!hf__round_is_impossible(h)) return;
    if (h->wish == WISH_ATTACH)
        attach_failed(h, ev, out);
    else
        try_failed(h, ev, out);
}

/* A ticket is checked by a renewal.  A member must have told the longest lease
 * before. */
void hf__get_attach(struct hold *h, const struct hold_event *ev,
                    struct hold_out *out)
{
    if (h->conf->nodes > 1 && !h->conf->lease_max_us) {
        h->pause_until_us = ev->now_us + backoff_us(h, ev->random);
        if (h->state != HOLD_WAITING) hf__hold_move(h, HOLD_WAITING);
    } else if (!lease_fits(h)) {
        hf__get_abandon(h, HF_INVALID, ev->now_us, out);
    } else {
        hf__hold_move(h, HOLD_TRYING);
        hf__round_renew(h, ev->now_us, out);
    }
}

static void try_again(struct hold *h, const struct hold_event *ev,
                      struct hold_out *out)
{
    if (h->wish == WISH_ATTACH)
        hf__get_attach(h, ev, out);
    else
        try_begin(h, ev, out);
}

/* Queue as if it had not asked so far. */
static void queue_again(struct hold *h, int64_t now_us)
{
    h->answer_by_us = TIME_NEVER;
    queue_begin(h, now_us);
}

static void in_waiting(struct hold *h, const struct hold_event *ev,
                       struct hold_out *out)
{
    int wake = ev->type == EV_WAKE || ev->type == EV_WATCHED;
    if (MUTATED(WAKE_IGNORED)) wake = 0;
    if (ev->type == EV_HANDED && hf__queue_is_handed(h, ev)) {
        if (!hf__queue_take(h, ev, out)) try_begin(h, ev, out);
    } else if (ev->type == EV_BACK) {
        queue_again(h, ev->now_us);
    } else if (wake && h->wish == WISH_ACQUIRE) {
        wake_up(h, ev, out);
    } else if (ev->type == EV_TIMER && ev->now_us >= h->pause_until_us) {
        try_again(h, ev, out);
    }
}

/* From now on it waits for its turn only; with HOLD_BLIND: it is known when
 * enough members may vote. */
static void queue_ready(struct hold *h, const struct hold_event *ev)
{
    h->in_line_us = ev->now_us;
    if (ev->flags & HOLD_BLIND)
        patience_begin(h, ev->now_us);
    else
        h->answer_by_us = TIME_NEVER;
}

/* Did it queue in this process for nearly all of its wait?  Then the time-
 * out is not the store's silence. */
static int is_outwaited(const struct hold *h, int64_t now_us)
{
    int64_t left_us = max64(h->op_deadline_us - now_us, 0);
    return h->answer_by_us == TIME_NEVER && left_us < TURN_LATE_US
           && left_us < now_us - h->in_line_us;
}

/* It may contend: now, or after a pause that lets other processes go first. */
static void turn_begin(struct hold *h, const struct hold_event *ev,
                       struct hold_out *out)
{
    assert(h->wish == WISH_ACQUIRE && !h->round_open);
    h->outwaited = is_outwaited(h, ev->now_us) ? 1 : 0;
    if (ev->wait_us <= 0 && ev->now_us < h->op_deadline_us) {
        try_begin(h, ev, out);
        return;
    }
    h->pause_until_us = ev->now_us + ev->wait_us;
    hf__hold_move(h, HOLD_WAITING);
}

void hf__get_event(struct hold *h, const struct hold_event *ev,
                   struct hold_out *out)
{
    int is_word = ev->type == EV_WAKE || ev->type == EV_WATCHED;
    if (is_word && spin_of(h)) return;
    if (ev->type == EV_WATCHED) {
        h->watched = ev->status == HF_OK;
        h->pauses = 0;
    }
    if (ev->type == EV_FAIL) {
        if (MUTATED(CANCEL_IGNORED) && ev->status == HF_CANCELLED) return;
        hf__get_abandon(h, ev->status, ev->now_us, out);
        return;
    }
    if (ev->type == EV_TIMER && ev->now_us >= h->op_deadline_us) {
        int had_holder =
            h->answered || h->outwaited || h->answer_by_us == TIME_NEVER;
        hf__get_abandon(h, had_holder ? HF_TIMEOUT : h->fail_status, ev->now_us,
                        out);
        return;
    }
    if (ev->type == EV_TIMER && ev->now_us >= h->answer_by_us) {
        hf__get_abandon(h, h->fail_status, ev->now_us, out);
        return;
    }
    switch (h->state) {
    case HOLD_IN_LINE:
        if (ev->type == EV_READY) queue_ready(h, ev);
        if (ev->type == EV_TURN) turn_begin(h, ev, out);
        if (ev->type == EV_INHERIT) hf__pass_inherit(h, ev, out);
        break;
    case HOLD_TRYING:
        in_trying(h, ev, out);
        break;
    case HOLD_WAITING:
        in_waiting(h, ev, out);
        break;
    default:
        assert(0);
        break;
    }
}
