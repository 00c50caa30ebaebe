/*
 * direct.c: operations without a hold: INSPECT, BREAK, LIST, TICKET_RELEASE.
 *
 * One server is asked once.  Of a quorum all nodes are asked, except for LIST,
 * and the majority decides the answer.  The rule: an operation is over when the
 * last node has answered, because its memory belongs to its caller.
 */
#include "engine/direct.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/math.h"
#include "core/mutation.h"
#include "core/round.h"
#include "engine/engine.h"
#include "engine/guards.h"
#include "engine/seats.h"
#include "engine/host.h"
#include "engine/locks.h"
#include "engine/voter_text.h"
#include "engine/nodes.h"
#include "engine/ops.h"
#include "engine/stocks.h"
#include "engine/tallies.h"
#include "engine/values.h"

static struct request *direct_request(struct engine *e, struct op *op)
{
    static const enum verb ops[] = {
        [OP_TYPE_TICKET_RELEASE] = VERB_RELEASE,
        [OP_TYPE_INSPECT] = VERB_INSPECT,
        [OP_TYPE_BREAK] = VERB_BREAK,
        [OP_TYPE_LIST] = VERB_LIST,
    };
    struct request *r = hf__request_new(e);
    if (!r) return NULL;
    r->verb = ops[op->type];
    r->flags = hf__conf_of(e, op->entry)->request_flags;
    if (op->entry) {
        r->kind = op->entry->kind;
        r->name = op->entry->name;
        r->name_len = op->entry->name_len;
    } else if (op->pattern) {
        r->name = op->pattern;
        r->name_len = strlen(op->pattern);
    }
    struct seat *s = op->entry ? hf__seat_find(op->entry, op->holder) : NULL;
    if (s && hf__seat_chain(s) && s->hold.state == HOLD_HELD)
        hf__seat_owner(e, s, r->owner);
    else
        hf__owner_text(e, op->holder, r->owner);
    if (op->type == OP_TYPE_TICKET_RELEASE) {
        snprintf(r->owner, sizeof r->owner, "%s", op->ticket.owner);
        r->attempt = op->ticket.attempt;
        /* A mistyped number must not raise a counter: it is used only once a
         * node has compared the secret. */
        r->ballot = op->forbids ? op->ticket.number : 0;
        r->flags |= REQ_DETACHED;
    }
    r->cursor = op->cursor;
    if (s && s->hold.state == HOLD_HELD && op->type == OP_TYPE_INSPECT)
        r->attempt = s->hold.attempt;
    hf__direct_bound(e, op, r);
    r->user = op;
    r->user_kind = USER_OP;
    return r;
}

/* How long to wait for one answer, and for how long to ask: not beyond the
 * caller's wait, if it has one.  But at least for some round trips: a link that
 * is given up is given up for all locks. */
void hf__direct_bound(struct engine *e, const struct op *op, struct request *r)
{
    int64_t rtt_us = hf__conf_of(e, op->entry)->rtt_us, most = TIME_NEVER;
    if (op->wait_us > 0) most = max64(op->wait_us, 4 * rtt_us + RENEW_US_MIN);
    r->deadline_us = e->now_us + min64(e->conf.timeout_us, most);
    r->until_us = e->now_us + min64(e->conf.patience_us, most);
}

struct request *hf__direct_request(struct engine *e, struct op *op)
{
    struct request *r = hf__request_new(e);
    if (!r) {
        hf__op_finish(e, op, HF_NOMEM, NULL);
        return NULL;
    }
    r->lease_us = op->lease_us;
    r->deadline_us = e->now_us + e->conf.timeout_us;
    r->until_us = e->now_us + e->conf.patience_us;
    r->user = op;
    r->user_kind = USER_OP;
    return r;
}

static void quorum_start(struct engine *e, struct op *op)
{
    char text[HF_ERROR_TEXT_MAX];
    uint32_t nodes = (BIT(e->conf.nodes) - 1) & ~e->conf.down;
    if (op->type == OP_TYPE_LIST) /* one at a time */
        nodes &= op->only ? op->only : ~nodes + 1;
    op->asked = op->heard = op->done = op->gone = op->taken = 0;
    op->agree = op->forbids = 0;
    for (int i = 0; i < e->conf.nodes; i++) {
        struct request *r = nodes >> i & 1 ? direct_request(e, op) : NULL;
        if (!r) continue;
        op->asked |= BIT(i);
        hf__request_send(e, &e->nodes[i], r);
    }
    if (op->asked) return;
    if (nodes) {
        hf__op_finish(e, op, HF_NOMEM, NULL);
        return;
    }
    hf__voters_text(e, HF_UNAVAILABLE, text, sizeof text);
    hf__op_finish(e, op, HF_UNAVAILABLE, text);
}

void hf__direct_start(struct engine *e, struct op *op)
{
    if (hf__conf_of(e, op->entry)->nodes > 1) {
        quorum_start(e, op);
        return;
    }
    struct request *r = direct_request(e, op);
    if (r)
        hf__request_send(e, hf__node_of(e, op->entry, 0), r);
    else
        hf__op_finish(e, op, HF_NOMEM, NULL);
}

static void rows_give(struct op *op, const struct reply *rep)
{
    for (size_t i = 0; i < rep->rows_len; i++)
        op->on_row(&rep->rows[i], op->on_row_user);
    op->cursor = rep->cursor;
}

static int reply_status(const struct engine *e, const struct reply *rep)
{
    if (rep->verdict == V_ABSENT) return HF_EXPIRED;
    if (rep->verdict == V_OTHER) return HF_LOST;
    if (rep->verdict == V_GRANTED) return HF_OK;
    return e->closing ? HF_CLOSED : rep->status;
}

/* ---- what a quorum says ------------------------------------------------ */

static int is_same_holder(const struct hf_info *a, const struct hf_info *b)
{
    return a->locked == b->locked && !strcmp(a->owner, b->owner);
}

static uint64_t holder_hash(const struct hf_info *info)
{
    return info->locked ? hash64(info->owner, strlen(info->owner)) | 1 : 0;
}

static void info_show(struct op *op, int node, const struct hf_info *info)
{
    *op->info = *info;
    op->info->node = node;
}

/* Boyer-Moore majority vote among the nodes that name a holder: the holder that
 * more than half of them name is left in the end.  Nodes that say "free" do not
 * vote: whether too few nodes name the holder is asked when all were heard, in
 * whatever order they answered. */
static void info_weigh(struct op *op, int node, const struct reply *rep)
{
    const struct hf_info *info = rep->info;
    int is_first = !(op->done & (op->done - 1));
    uint64_t fence = is_first ? 0 : op->info->fence;
    op->look->said[node] = holder_hash(info);
    op->look->token[node] = info->locked ? rep->fence : 0;
    op->look->since_ms[node] = info->since_ms;
    if (is_first || (info->locked && op->agree == 0)) info_show(op, node, info);
    if (info->locked) op->agree += is_same_holder(op->info, info) ? 1 : -1;
    if (info->fence > fence) fence = info->fence;
    op->info->fence = fence; /* the highest; info_name_token() names the
                              * holder's */
}

/* Can a majority agree with what was found, if all nodes that were not heard
 * do? */
static int info_is_decided(const struct engine *e, const struct op *op)
{
    uint64_t hash = holder_hash(op->info);
    int nodes = e->conf.nodes - hf__round_count(op->done);
    for (int i = 0; i < e->conf.nodes; i++)
        nodes += (op->done >> i & 1) && op->look->said[i] == hash;
    return nodes >= e->conf.quorum;
}

/* Did this node name the holder that was found, with a token? */
static int is_telling_token(const struct op *op, int node, uint64_t hash)
{
    return op->done >> node & 1 && op->look->said[node] == hash
           && op->look->token[node] > 0;
}

static int token_count(const struct engine *e, const struct op *op,
                       int64_t token)
{
    uint64_t hash = holder_hash(op->info);
    int n = 0;
    for (int i = 0; i < e->conf.nodes; i++)
        n += is_telling_token(op, i, hash) && op->look->token[i] == token;
    return n;
}

/* The holder's token is the one that most nodes tell; of two that equally many
 * tell, the lower.  The others differ because a node that was healed has a
 * higher number, and a node may have kept an older hold of the same owner. */
static int64_t token_find(const struct engine *e, const struct op *op)
{
    uint64_t hash = holder_hash(op->info);
    int64_t best = 0;
    int best_count = 0;
    for (int i = 0; i < e->conf.nodes; i++) {
        if (!is_telling_token(op, i, hash)) continue;
        int count = token_count(e, op, op->look->token[i]);
        if (count < best_count
            || (count == best_count && op->look->token[i] > best))
            continue;
        best = op->look->token[i];
        best_count = count;
    }
    return best;
}

/* The token after hand-overs in this process, which no node knows; 0 if this
 * process does not hold the lock in that way. */
static int64_t token_passed(const struct engine *e, const struct op *op)
{
    char owner[OWNER_LEN_MAX];
    const struct seat *s = op->entry ? op->entry->turn : NULL;
    if (!s || !hf__seat_chain(s) || s->hold.state != HOLD_HELD) return 0;
    hf__seat_owner(e, s, owner);
    return strcmp(owner, op->info->owner) ? 0 : s->hold.fence;
}

/* What one store says.  Its counter was raised by waiters that left and by
 * other readers, so the token is the number that came with the holder. */
static void info_take(const struct engine *e, struct op *op,
                      const struct reply *rep)
{
    *op->info = *rep->info;
    if (op->info->locked && rep->fence > 0 && !MUTATED(ASK_COUNTER))
        op->info->fence = (uint64_t)max64(rep->fence, token_passed(e, op));
}

/* Take the holder's token, not a number of a client that only tried; and the
 * earliest time since when a node that tells this token says it is held. */
static void info_name_token(const struct engine *e, struct op *op)
{
    uint64_t hash = holder_hash(op->info);
    int64_t token = op->info->locked ? token_find(e, op) : 0;
    int64_t since_ms = INT64_MAX;
    if (!token) return;
    for (int i = 0; i < e->conf.nodes; i++)
        if (is_telling_token(op, i, hash) && op->look->token[i] == token)
            since_ms = min64(since_ms, op->look->since_ms[i]);
    op->info->since_ms = since_ms;
    op->info->fence = (uint64_t)max64(token, token_passed(e, op));
}

/* The number of nodes that answered, and that say what was found. */
static void info_count(const struct engine *e, struct op *op)
{
    uint64_t hash = holder_hash(op->info);
    op->info->nodes = e->conf.nodes;
    op->info->nodes_heard = hf__round_count(op->done);
    op->info->nodes_agree = 0;
    for (int i = 0; i < e->conf.nodes; i++)
        if (op->done >> i & 1 && op->look->said[i] == hash)
            op->info->nodes_agree++;
}

/* No majority can have granted it: it is free. */
static void info_free(struct hf_info *info)
{
    uint64_t fence = info->fence;
    int64_t now_ms = info->now_ms;
    *info = (struct hf_info){
        .ttl_ms = -2, .waiters = -1, .fence = fence, .now_ms = now_ms};
}

static void vote_note(struct engine *e, struct op *op, const struct request *r,
                      const struct reply *rep)
{
    uint32_t node = BIT(r->node);
    op->heard |= node;
    if (rep->verdict == V_GRANTED) op->done |= node;
    if (rep->verdict == V_ABSENT) op->gone |= node;
    if (rep->verdict == V_OTHER) op->taken |= node;
    if (rep->verdict != V_GRANTED) {
        hf__error_set(&op->err, reply_status(e, rep), "%s",
                      rep->text ? rep->text : "");
        return;
    }
    if (op->info && rep->info && r->verb == VERB_INSPECT)
        info_weigh(op, r->node, rep);
    if (r->verb == VERB_BREAK && rep->info && rep->info->locked)
        op->was_locked = 1;
    if (r->verb == VERB_LIST) rows_give(op, rep);
}

/* A ticket does not say which nodes had the lock.  If the nodes that gave it
 * back and the nodes that do not have it are a majority together, the remaining
 * nodes are too few for a lock.  The case that a majority never had it is
 * decided before this is asked: LOST or EXPIRED. */
static int is_given_back(const struct engine *e, const struct op *op)
{
    uint32_t without = op->done | op->gone | op->taken;
    return op->type == OP_TYPE_TICKET_RELEASE && op->done
           && hf__round_count(without) >= e->conf.quorum;
}

static int votes_status(const struct engine *e, const struct op *op)
{
    int quorum = op->type == OP_TYPE_LIST ? 1 : e->conf.quorum;
    if (hf__round_count(op->done) >= quorum) return HF_OK;
    int not_ours = hf__round_count(op->gone | op->taken);
    if (e->conf.nodes - not_ours < quorum)
        return op->taken ? HF_LOST : HF_EXPIRED;
    if (is_given_back(e, op)) return HF_OK;
    if (e->closing) return HF_CLOSED;
    int is_telling = hf_status_advice(op->err.status) == HF_ADVICE_FIX
                     || op->err.status == HF_NOMEM;
    return is_telling ? op->err.status : HF_UNAVAILABLE;
}

/* A proposal to a node that has not granted it may still be on its way, and
 * would keep the lock there until the lease ends: once the secret is known to
 * be right, release it there by its number as well.  1 if answers are awaited.
 */
static int late_forbid(struct engine *e, struct op *op)
{
    uint32_t nodes = op->gone;
    if (op->type != OP_TYPE_TICKET_RELEASE || op->forbids || !op->done
        || e->closing)
        return 0;
    op->forbids = 1;
    op->asked = op->heard = 0;
    for (int i = 0; i < e->conf.nodes; i++) {
        struct request *r = nodes >> i & 1 ? direct_request(e, op) : NULL;
        if (!r) continue;
        r->until_us = r->deadline_us; /* asked once: it was released already */
        op->asked |= BIT(i);
        hf__request_send(e, &e->nodes[i], r);
    }
    return op->asked != 0;
}

static void quorum_answered(struct engine *e, struct op *op,
                            const struct request *r, const struct reply *rep)
{
    char text[HF_ERROR_TEXT_MAX];
    vote_note(e, op, r, rep);
    if (op->heard != op->asked || late_forbid(e, op)) return;
    int status = votes_status(e, op);
    if (op->info && op->type == OP_TYPE_INSPECT && status == HF_OK) {
        if (!info_is_decided(e, op) && !MUTATED(ASK_UNDECIDED))
            info_free(op->info);
        info_name_token(e, op);
        info_count(e, op);
    }
    if (status == HF_UNAVAILABLE)
        hf__voters_text(e, status, text, sizeof text);
    else
        snprintf(text, sizeof text, "%s", op->err.text);
    int has_text = status == HF_UNAVAILABLE
                   || (status == op->err.status && text[0] != '\0');
    hf__op_finish(e, op, status, has_text ? text : NULL);
}

void hf__direct_answered(struct engine *e, struct op *op,
                         const struct request *r, const struct reply *rep)
{
    if (op->value) {
        hf__values_answered(e, op, r, rep);
        return;
    }
    if (op->guard) {
        hf__guards_answered(e, op, r, rep);
        return;
    }
    if (op->stock || op->ledger) {
        hf__stocks_answered(e, op, rep);
        return;
    }
    if (op->tally) {
        hf__tallies_answered(e, op, rep);
        return;
    }
    if (hf__conf_of(e, op->entry)->nodes > 1) {
        quorum_answered(e, op, r, rep);
        return;
    }
    int status = reply_status(e, rep);
    if (status == HF_OK && rep->info && op->info) info_take(e, op, rep);
    if (status == HF_OK && r->verb == VERB_BREAK && rep->info)
        op->was_locked = rep->info->locked && !MUTATED(BREAK_BLIND);
    if (status == HF_OK && r->verb == VERB_LIST) rows_give(op, rep);
    if (status != HF_OK && r->verb == VERB_LIST) op->cursor = rep->cursor;
    hf__op_finish(e, op, status, rep->text);
}
