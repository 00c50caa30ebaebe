/*
 * hold_round.c: asking all nodes at once, and counting.
 *
 * The rule: a lost answer counts as "not granted" when deciding whether the
 * lock is held, and as "maybe granted" when deciding where to release.
 */
#include <assert.h>

#include "base/math.h"
#include "core/hold_parts.h"
#include "core/mutation.h"

uint16_t hf__round_all(const struct hold *h)
{
    assert(h->conf->nodes >= 1 && h->conf->nodes <= NODES_MAX);
    return (uint16_t)(BIT(h->conf->nodes) - 1);
}

int hf__round_count(uint32_t nodes)
{
    int n = 0;
    for (; nodes; nodes &= nodes - 1) n++;
    return n;
}

int hf__round_is_impossible(const struct hold *h)
{
    int out = hf__round_count(h->refused | h->doubtful);
    return h->conf->nodes - out < h->conf->quorum;
}

/* Too few nodes are left that do not refuse for good to make a quorum. */
int hf__round_is_barred(const struct hold *h)
{
    return h->conf->nodes - hf__round_count(h->barred) < h->conf->quorum;
}

uint16_t hf__round_maybe_ours(const struct hold *h)
{
    if (MUTATED(DOUBT_FORGOTTEN)) return h->granted;
    if (MUTATED(EARLIER_FORGOTTEN)) return hf__round_all(h) & ~h->refused;
    return (hf__round_all(h) & ~h->refused) | h->earlier;
}

/* A renewal without an answer may still arrive, even after a later renewal that
 * asked for a longer lease: count on no more than it would leave. */
int64_t hf__round_lease_us(const struct hold *h)
{
    return h->doubt_lease_us < h->lease_us ? h->doubt_lease_us : h->lease_us;
}

int64_t hf__round_lease_end_us(const struct hold *h)
{
    /* A node counts the lease from when the request arrives, which is no
     * earlier than when it was sent.  Counting from the send keeps a slow
     * network from making the lease longer here than at the node. */
    int64_t lease_us = hf__round_lease_us(h);
    int64_t drift = part64(lease_us, h->conf->drift_ppm);
    if (MUTATED(NO_DRIFT_MARGIN)) return h->round_start_us + lease_us;
    return h->round_start_us + lease_us - drift - DRIFT_FLOOR_US;
}

static struct hold_send *send_add(struct hold *h, struct hold_out *out,
                                  enum verb op, uint32_t nodes)
{
    assert(out->sends < HOLD_SENDS_MAX && nodes != 0);
    struct hold_send *s = &out->send[out->sends++];
    s->verb = op;
    s->nodes = nodes;
    s->round = h->round;
    s->attempt = h->attempt;
    s->ballot = h->number;
    s->count = h->count;
    s->lease_us = h->lease_us;
    s->deadline_us = s->wanted_us = TIME_NEVER;
    s->until_us = TIME_NEVER;
    return s;
}

static void renewal_doubt(struct hold *h)
{
    int answered = (h->granted | h->refused) == hf__round_all(h);
    if (h->round_renews && !answered && !MUTATED(SHORTENED_UNSEEN)
        && h->round_lease_us < h->doubt_lease_us)
        h->doubt_lease_us = h->round_lease_us;
}

static void round_open(struct hold *h, int64_t now_us, int renews)
{
    renewal_doubt(h);
    h->round++;
    h->round_start_us = now_us;
    h->round_lease_us = h->lease_us;
    if (h->longest_us < h->lease_us || MUTATED(RELEASE_HASTY))
        h->longest_us = h->lease_us;
    h->round_renews = renews != 0;
    h->granted = h->refused = h->doubtful = h->gone = h->taken = 0;
    h->heard = h->healed = h->barred = 0;
    h->round_won = 0;
    h->busy = h->silent = h->stale = h->woken = h->nomem = 0;
    h->round_open = 1;
}

/* How long to wait for an answer to a proposal.  One node of several must not
 * keep the others waiting: a small part of the lease, but at least some round
 * trips. */
static int64_t propose_limit_us(const struct hold *h)
{
    int64_t limit = h->conf->timeout_us;
    if (h->conf->nodes == 1) return limit;
    int64_t tenth = max64(h->lease_us / 10, 2 * h->conf->rtt_us);
    return min64(min64(limit, PROPOSE_US_MAX), tenth);
}

/* Ask the nodes that may vote.  If they are too few for a quorum, nothing is
 * sent. */
void hf__round_propose(struct hold *h, const struct hold_event *ev,
                       struct hold_out *out)
{
    uint16_t all = hf__round_all(h);
    uint32_t voters = all & ~h->conf->unsettled;
    assert(h->state == HOLD_TRYING && h->wish == WISH_ACQUIRE);
    round_open(h, ev->now_us, 0);
    h->busy_ttl_us = -1;
    h->busy_poll_us = 0;
    h->refused = (uint16_t)(all & ~voters);
    if (hf__round_is_impossible(h)) {
        h->refused = all; /* no node is asked, so none has granted it */
        return;
    }
    h->number = hf__ballot_next(h->ballot, ev->nodes_now_us);
    h->block = 0;
    if (h->conf->handover) hf__pass_ask(h, ev->nodes_now_us);
    struct hold_send *s = send_add(h, out, VERB_PROPOSE, voters);
    s->block = h->block;
    s->lease_us = hf__keep_lease_us(h, ev->now_us);
    s->deadline_us = ev->now_us + propose_limit_us(h);
    s->wanted_us = min64(h->op_deadline_us, h->answer_by_us);
}

/* Healing is an ordinary proposal, with a number of its own: a late copy of it
 * is refused as any other. */
void hf__round_heal(struct hold *h, uint32_t nodes, const struct hold_event *ev,
                    struct hold_out *out)
{
    assert(h->state == HOLD_HELD && !(nodes & ~hf__round_all(h)));
    nodes &= ~(h->conf->unsettled | h->conf->down);
    if (!nodes || h->flags & HOLD_ETERNAL) return;
    struct hold_send *s = send_add(h, out, VERB_PROPOSE, nodes);
    s->ballot = hf__ballot_next(h->ballot, ev->nodes_now_us);
    s->lease_us = hf__keep_lease_us(h, ev->now_us);
    s->deadline_us = ev->now_us + propose_limit_us(h);
}

/* The token that the node has for this hold; 0: do not compare.  The node does
 * not know of hand-overs within the process.  Members of a quorum need not have
 * the same number: a healed member has its own, and the ballots keep late
 * proposals out. */
static int64_t fence_at_node(const struct hold *h)
{
    if (h->conf->nodes > 1 || MUTATED(FENCE_UNNAMED)) return 0;
    return h->fence - hf__hold_passes(h);
}

void hf__round_renew(struct hold *h, int64_t now_us, struct hold_out *out)
{
    int64_t limit = h->conf->timeout_us;
    assert(h->state == HOLD_HELD || h->state == HOLD_TRYING
           || MUTATED(RELEASE_RENEWED));
    assert(h->count >= 1);
    if (h->state == HOLD_HELD && h->valid_us < h->cap_us) {
        /* Leave time for two more tries before the end.  But at least some
         * round trips, because a link that is given up is given up for all
         * locks; and only if a try can put off the end. */
        int64_t third = (h->valid_us - now_us) / 3;
        int64_t least = 4 * h->conf->rtt_us + RENEW_US_MIN;
        if (third < limit) limit = third;
        if (limit < least) limit = least;
    }
    h->confirmed |= h->joining;
    h->joining = 0;
    round_open(h, now_us, 1);
    /* A shorter lease counts from the moment it is asked for. */
    if (h->state == HOLD_HELD && h->valid_us > hf__round_lease_end_us(h)
        && !(h->flags & HOLD_ETERNAL) && !MUTATED(SHORTENED_UNSEEN))
        h->valid_us = hf__round_lease_end_us(h);
    uint32_t down = h->conf->down;
    if (h->conf->nodes - hf__round_count(down) < h->conf->quorum) down = 0;
    h->doubtful = (uint16_t)down; /* not asked: they cannot be reached */
    struct hold_send *s =
        send_add(h, out, VERB_RENEW, hf__round_all(h) & ~down);
    s->fence = fence_at_node(h);
    s->lease_us = hf__keep_lease_us(h, now_us);
    s->deadline_us = now_us + limit;
}

void hf__round_release(struct hold *h, uint32_t nodes, int64_t now_us,
                       struct hold_out *out)
{
    assert(!(nodes & ~hf__round_all(h)));
    if (nodes == 0 || h->flags & HOLD_LOOKS) return;
    struct hold_send *s = send_add(h, out, VERB_RELEASE, nodes);
    /* The largest number that was ever proposed, so that no late proposal of
     * this client is granted after the release.  A reader names its own number
     * only: other readers may hold the lock at the same time. */
    s->ballot = h->flags & HOLD_SHARED ? h->number
                                       : max64(h->ballot->proposed, h->number);
    s->ballot = hf__pass_number(h, s->ballot);
    if (MUTATED(RELEASE_NUMBERLESS)) s->ballot = 0;
    s->deadline_us = now_us + h->conf->timeout_us;
    /* Repeat it until the lease must have ended.  A renewal that is still on
     * its way may begin the lease anew; and a poll the time for which the store
     * keeps a place. */
    int64_t kept_us = h->longest_us;
    if (h->flags & HOLD_QUEUES) kept_us = max64(kept_us, PLACE_US);
    s->until_us = h->valid_us == TIME_NEVER ? now_us + h->conf->patience_us
                                            : now_us + 2 * kept_us;
}
