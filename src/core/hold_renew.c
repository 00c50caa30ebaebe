/*
 * hold_renew.c: what the nodes say to a renewal, and healing the nodes that
 * have lost the hold.
 *
 *   a node that, in the round,
 *     has the hold, and was confirmed   votes
 *     has the hold, was not confirmed   is confirmed if the round is won
 *     does not have the hold            is healed if the round is won
 *
 * The rule: a vote counts only from a node that was confirmed when the round
 * began.  Counting a healed node at once would revive a hold that is lost.
 */
#include <assert.h>

#include "base/math.h"
#include "core/hold_parts.h"
#include "core/mutation.h"

/* These nodes have the hold, for at least as long as valid_us says. */
static void node_confirm(struct hold *h, uint16_t nodes)
{
    assert(!(nodes & ~hf__round_all(h)));
    h->confirmed |= nodes;
    h->backing |= nodes;
}

static void node_doubt(struct hold *h, uint16_t nodes)
{
    h->confirmed &= ~nodes;
    h->backing &= ~nodes;
    h->joining &= ~nodes;
}

static void renew_won(struct hold *h, const struct hold_event *ev,
                      struct hold_out *out)
{
    assert(h->state == HOLD_HELD && h->round_open && h->round_renews);
    assert(hf__round_count(h->granted) >= h->conf->quorum);
    h->round_open = 0;
    h->round_won = 1;
    h->pauses = 0;
    h->shaken = 0;
    h->backing = h->granted;
    node_confirm(h, h->healed);
    hf__keep_valid_set(h, ev->now_us);
    hf__keep_schedule(h);
    /* Near its cap it stays AT_RISK. */
    if (h->at_risk && ev->now_us < hf__hold_risk_us(h)) {
        h->at_risk = 0;
        out->notice = HF_STATE_HELD;
    }
    hf__round_heal(h, h->gone | h->taken, ev, out);
    if (h->wish != WISH_NONE) hf__hold_finish(h, out, HF_OK);
}

/* The user's change was not confirmed.  A fixed lease is not renewed unless the
 * user asks for it; only a lower count is still sent to the nodes. */
void hf__change_failed(struct hold *h, struct hold_out *out, int status)
{
    assert(h->state == HOLD_HELD && h->wish != WISH_NONE);
    if (!(h->flags & HOLD_KEEP) && h->wish != WISH_LEAVE) {
        h->round_open = 0;
        h->renew_at_us = TIME_NEVER;
    }
    hf__hold_finish(h, out, status);
}

/* Some answers are missing: ask again soon, so that there is time for several
 * tries before the end. */
static void renew_failed(struct hold *h, const struct hold_event *ev,
                         struct hold_out *out)
{
    assert(h->state == HOLD_HELD && h->round_open);
    int shift = h->pauses < 6 ? h->pauses : 6;
    int64_t pause = (5 * US_PER_MS) << shift;
    int64_t most = h->valid_us == TIME_NEVER
                       ? US_PER_S
                       : max64((h->valid_us - ev->now_us) / 8, US_PER_MS);
    if (pause > most) pause = most;
    h->pauses = (uint16_t)(shift + 1);
    h->round_open = 0;
    h->renew_at_us = ev->now_us + pause - (int64_t)(ev->random % 1000);
    if (h->wish != WISH_NONE && hf__round_is_barred(h))
        hf__change_failed(h, out, h->fail_status);
}

/* Does the node have something else under this name, or nothing? */
static int is_not_ours(const struct reply *r)
{
    if (MUTATED(REFUSAL_UNHEARD)) return 0;
    return r->verdict == V_ABSENT || r->verdict == V_OTHER
           || (r->verdict == V_ERROR && r->status == HF_CONFLICT);
}

static void not_ours_count(struct hold *h, const struct hold_event *ev)
{
    uint16_t node = NODE(ev->node);
    h->refused |= node;
    if (!MUTATED(GONE_CONFIRMED)) node_doubt(h, node);
    if (ev->reply->verdict == V_ABSENT)
        h->gone |= node;
    else
        h->taken |= node;
}

static void vote_count(struct hold *h, const struct hold_event *ev)
{
    uint16_t node = NODE(ev->node);
    const struct reply *r = ev->reply;
    assert(h->round_open && h->round_renews && ev->node < h->conf->nodes);
    if (r->verdict == V_GRANTED
        && (h->confirmed & node || MUTATED(HEAL_COUNTS))) {
        h->granted |= node;
    } else if (r->verdict == V_GRANTED) {
        h->refused |= node;
        h->healed |= node;
    } else if (is_not_ours(r)) {
        not_ours_count(h, ev);
    } else {
        h->doubtful |= node;
        h->fail_status = (int8_t)r->status;
        if (hf_status_advice(r->status) == HF_ADVICE_FIX) h->barred |= node;
    }
}

static void round_decide(struct hold *h, const struct hold_event *ev,
                         struct hold_out *out)
{
    if (hf__round_count(h->granted) >= h->conf->quorum) {
        if ((ev->now_us < h->valid_us || MUTATED(LATE_RENEWAL))
            && (h->flags & HOLD_ETERNAL
                || hf__round_lease_end_us(h) > ev->now_us))
            renew_won(h, ev, out);
        return;
    }
    int not_ours = hf__round_count(h->gone | h->taken);
    if (h->conf->nodes - not_ours < h->conf->quorum && !MUTATED(HEAL_COUNTS))
        hf__keep_lose(h, h->taken ? HF_LOST : HF_EXPIRED, ev->now_us, out);
    else if (hf__round_is_impossible(h))
        renew_failed(h, ev, out);
}

/* An answer to a round that was won without this node. */
static void late_reply(struct hold *h, const struct hold_event *ev,
                       struct hold_out *out)
{
    assert(h->round_won && !h->round_open);
    if (ev->reply->verdict == V_GRANTED) {
        node_confirm(h, NODE(ev->node));
    } else if (is_not_ours(ev->reply)) {
        not_ours_count(h, ev);
        hf__round_heal(h, NODE(ev->node), ev, out);
    }
}

/* A grant that came after the quorum, or the answer of a node that was healed:
 * the node is confirmed. */
static void propose_reply(struct hold *h, const struct hold_event *ev,
                          struct hold_out *out)
{
    if (ev->reply->verdict != V_GRANTED) return;
    if (h->round_won && !h->round_open) node_confirm(h, NODE(ev->node));
    if (!MUTATED(HEAL_COUNTS) || !h->round_open) return;
    h->refused &= (uint16_t)~NODE(ev->node);
    h->gone &= (uint16_t)~NODE(ev->node);
    h->granted |= NODE(ev->node);
    round_decide(h, ev, out);
}

/* A grant of this hold that came after a later round began: it does not count
 * in that round. */
static int is_late_vote(const struct hold *h, const struct hold_event *ev)
{
    return ev->verb == VERB_PROPOSE && ev->reply->verdict == V_GRANTED
           && (int32_t)(ev->round - h->grant_round) >= 0;
}

void hf__renew_reply(struct hold *h, const struct hold_event *ev,
                     struct hold_out *out)
{
    uint16_t node = NODE(ev->node);
    if (ev->round != h->round) {
        if (is_late_vote(h, ev)) h->joining |= node;
        return;
    }
    if (ev->verb == VERB_PROPOSE) {
        propose_reply(h, ev, out);
        return;
    }
    if (ev->verb != VERB_RENEW || !h->round_renews) return;
    if ((h->granted | h->refused | h->doubtful) & node) return;
    if (!h->round_open) {
        if (h->round_won) late_reply(h, ev, out);
        return;
    }
    vote_count(h, ev);
    if (MUTATED(HEAL_COUNTS) && is_not_ours(ev->reply))
        hf__round_heal(h, node, ev, out);
    round_decide(h, ev, out);
}

/* The clock of a node was set, and its lease may have ended there.  If less
 * than a quorum is left, another client may be granted the lock as well.  A
 * node that missed the last round does not count: its lease ends before
 * valid_us. */
void hf__renew_step(struct hold *h, const struct hold_event *ev,
                    struct hold_out *out)
{
    uint16_t node = NODE(ev->node);
    int said_since = h->granted & node && h->round_start_us > ev->since_us;
    if (said_since) return;
    node_doubt(h, node);
    if (h->granted & node) {
        h->granted &= ~node;
        h->doubtful |= node;
    }
    if (h->round_open && hf__round_is_impossible(h)) renew_failed(h, ev, out);
    if (hf__round_count(h->backing) >= h->conf->quorum || h->shaken) return;
    h->shaken = 1;
    if (!h->at_risk) out->notice = HF_STATE_AT_RISK;
    h->at_risk = 1;
}
