/*
 * engine.c: operations and holds; see engine.h.
 *
 * The rule: a step changes state and queues what must be told; nothing that
 * belongs to the user runs inside it.
 */
#include "engine/engine.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/math.h"
#include "kind/kind.h"

#define TABLE_SIZE_FIRST 64
#define RENEW_BATCH_MAX 1000

int hf__engine_open(struct engine *e, int64_t now_us)
{
    e->now_us = now_us;
    e->pending_us = TIME_NEVER;
    e->table_size = TABLE_SIZE_FIRST;
    e->table = hf__alloc_zero(e->alloc, e->table_size * sizeof *e->table);
    return e->table ? HF_OK : HF_NOMEM;
}

/* ---- operations ------------------------------------------------------- */

void hf__op_append(struct op **head, struct op **tail, struct op *op)
{
    op->next = NULL;
    if (*tail)
        (*tail)->next = op;
    else
        *head = op;
    *tail = op;
}

/* Those behind another of the same holder are a ring, so that a hold need only
 * know the last. */
void hf__pending_append(struct slot *s, struct op *op)
{
    struct op *last = s->pending_last;
    op->next = last ? last->next : op;
    if (last) last->next = op;
    s->pending_last = op;
}

/* Remove the one behind `before`. */
static void pending_unlink(struct slot *s, struct op *before)
{
    struct op *op = before->next;
    before->next = op->next;
    if (s->pending_last == op) s->pending_last = before == op ? NULL : before;
}

static void op_enlist(struct engine *e, struct op *op)
{
    op->all_prev = NULL;
    op->all_next = e->all;
    if (e->all) e->all->all_prev = op;
    e->all = op;
    e->ops_len++;
    if (op->complete) e->ops_async++;
}

static void op_delist(struct engine *e, struct op *op)
{
    if (op->all_prev)
        op->all_prev->all_next = op->all_next;
    else
        e->all = op->all_next;
    if (op->all_next) op->all_next->all_prev = op->all_prev;
    e->ops_len--;
    if (op->complete) e->ops_async--;
}

/* What is said of a status if nothing else explains it.  Who has a ticket may
 * have a wrong one. */
static const char *status_text(const struct op *op, int status)
{
    if (op->type == OP_TYPE_TICKET_RELEASE && status == HF_LOST)
        return "nothing was released: the hold that is there is not this "
               "ticket's: its own was taken away, or the ticket is wrong";
    return hf_status_text(status);
}

void hf__op_finish(struct engine *e, struct op *op, int status,
                   const char *text)
{
    assert(!op->finished);
    op->slot = NULL;
    if (hf__host_takes(e, op, status, text)) {
        hf__op_append(&e->ready_head, &e->ready_tail, op);
        return;
    }
    op->finished = 1;
    op->status = status;
    if (status == HF_OK) memset(&op->err, 0, sizeof op->err); /* of refusals */
    if (op->race && status == HF_OK) op->race->is_won = e->race_is_won = 1;
    if (status != HF_OK) {
        hf__error_set(&op->err, status, "%s%s",
                      op->type == OP_TYPE_LIST ? "list: " : "",
                      text ? text : status_text(op, status));
        const struct node *n = hf__node_of(e, op->entry, 0);
        if ((status == HF_UNAVAILABLE || status == HF_DENIED)
            && hf__conf_of(e, op->entry)->nodes == 1) {
            op->err.node = n->is_host ? -1 : n->index;
            op->err.sys_errno = n->last_error.sys_errno;
        }
    }
    hf__host_told(e, op);
    op_delist(e, op);
    hf__op_append(&e->done_head, &e->done_tail, op);
}

struct op *hf__engine_take_done(struct engine *e)
{
    struct op *list = e->done_head;
    e->done_head = e->done_tail = NULL;
    return list;
}

/* The tokens of this host and of the store cannot be compared. */
uint64_t hf__slot_fence(const struct slot *s)
{
    return s->entry->is_host ? 0 : (uint64_t)s->hold.fence;
}

static void grant_fill(const struct slot *s, struct grant *g)
{
    g->fence = hf__slot_fence(s);
    g->guarantee = s->entry->is_host ? HF_GUARANTEE_LOCAL : HF_GUARANTEE_STORE;
    g->count = s->hold.count;
}

/* The sentence for a status that came from a hold. */
static const char *slot_text(struct engine *e, const struct slot *s, int status,
                             char *buf, size_t size)
{
    const struct hf_error *last = &hf__node_of(e, s->entry, 0)->last_error;
    int is_of_members = s->hold.conf->nodes > 1;
    if (s->hold.late && (status == HF_UNAVAILABLE || status == HF_TIMEOUT)) {
        snprintf(buf, size,
                 "a lease of %lld ms is too short: it was granted, and nearly "
                 "over when the answers came",
                 (long long)(s->hold.lease_us / US_PER_MS));
        return buf;
    }
    if (status == HF_TIMEOUT && is_of_members && hf__members_are_short(e)) {
        hf__members_text(e, HF_UNAVAILABLE, buf, size);
        return buf;
    }
    if (is_of_members
        && (status == HF_UNAVAILABLE || status == HF_INVALID
            || status == HF_CONFLICT)) {
        hf__members_text(e, status, buf, size);
        return buf;
    }
    if (status == last->status && last->text[0]) return last->text;
    snprintf(buf, size, "%s", hf_status_text(status));
    return buf;
}

/* The wait was over within some round trips, and nothing is known to be wrong:
 * that is neither a silence of the members nor another holder.  A hold that
 * failed to be entered again goes on, and is not DONE. */
static int is_unasked(const struct engine *e, const struct slot *s,
                      const struct op *op, int status)
{
    const struct hold *h = &s->hold;
    int is_alone = !s->entry->turn || s->entry->turn == s;
    int64_t short_us = 4 * h->conf->rtt_us + RENEW_US_MIN;
    return (status == HF_UNAVAILABLE || status == HF_TIMEOUT)
           && op->type == OP_TYPE_ACQUIRE && h->state == HOLD_DONE
           && op->deadline_us <= e->now_us && op->wait_us <= short_us
           && is_alone && !h->placed && !h->outwaited && h->conf->nodes > 1
           && hf__members_may_answer(e);
}

/* The next of this holder may go; all of them if the hold is over. */
static void pending_go(struct engine *e, struct slot *s)
{
    while (s->pending_last) {
        struct op *next = s->pending_last->next;
        pending_unlink(s, s->pending_last);
        next->slot = NULL;
        hf__op_append(&e->ready_head, &e->ready_tail, next);
        if (s->hold.state != HOLD_DONE) break;
    }
}

static void slot_finish(struct engine *e, struct slot *s,
                        const struct hold_out *out)
{
    char buf[HF_ERROR_TEXT_MAX], cause[HF_ERROR_TEXT_MAX];
    struct op *op = s->op;
    s->op = NULL;
    if (!op) return;
    if (out->status == HF_OK) {
        grant_fill(s, &op->grant);
        if (op->grant.replicas) s->replicas = (uint16_t)op->grant.replicas;
        if (op->handle) {
            s->pins++;
            op->granted = s;
        }
        op->released.count = s->hold.count;
        hf__op_finish(e, op, HF_OK, NULL);
    } else if (is_unasked(e, s, op, out->status)) {
        op->released.count = 0;
        hf__op_finish(e, op, HF_TIMEOUT,
                      "no time to ask: the wait was over before enough members "
                      "had answered");
        op->err.unasked = 1;
    } else {
        /* What a node said to this very operation explains it best. */
        int said = op->err.status;
        if (said == HF_TAKEN && out->status == HF_TIMEOUT) said = HF_TIMEOUT;
        int is_caused = op->err.text[0] && said == out->status;
        if (s->hold.conf->nodes > 1 && said == HF_UNAVAILABLE)
            is_caused = 0; /* one node's word explains nothing */
        snprintf(cause, sizeof cause, "%s", op->err.text);
        op->released.count = 0;
        hf__op_finish(
            e, op, out->status,
            is_caused ? cause : slot_text(e, s, out->status, buf, sizeof buf));
    }
    pending_go(e, s);
}

/* ---- holds ------------------------------------------------------------ */

static void send_all(struct engine *e, struct slot *s,
                     const struct hold_send *send)
{
    const struct hold_conf *conf = s->hold.conf;
    for (int node = 0; node < conf->nodes; node++) {
        if (!(send->nodes >> node & 1)) continue;
        struct request *r = hf__request_new(e);
        if (!r) {
            /* As good as a request that never left; the lease ends it. */
            struct reply rep = {.verdict = V_UNSENT, .status = HF_NOMEM};
            struct hold_event ev = {.type = EV_REPLY,
                                    .op = send->op,
                                    .round = send->round,
                                    .node = node,
                                    .reply = &rep};
            hf__slot_step(e, s, &ev);
            continue;
        }
        hf__kind_shape(r, &s->hold, send);
        r->kind = s->entry->kind;
        r->permits = s->permits;
        if (send->op == OP_PROPOSE && s->op) r->capacity = s->op->capacity;
        r->seen_us = s->seen_us;
        if (r->flags & REQ_QUORUM) r->group = e->group;
        r->name = s->entry->name;
        r->name_len = s->entry->name_len;
        r->info = e->info;
        r->user = s;
        r->user_kind = USER_SLOT;
        hf__slot_owner(e, s, r->owner);
        if (send->op == OP_RELEASE && hf__turn_is_hushed(e, s))
            r->flags |= REQ_HUSHED;
        s->requests++;
        r->node = (uint16_t)node;
        if (send->op == OP_RELEASE && conf->down >> node & 1)
            hf__again_add(e, &e->nodes[node], r);
        else
            hf__request_send(e, hf__node_of(e, s->entry, node), r);
    }
}

static void notice_add(struct engine *e, struct slot *s, int state)
{
    if (!s->notices) {
        s->notice_next = NULL;
        if (e->notice_tail)
            e->notice_tail->notice_next = s;
        else
            e->notice_head = s;
        e->notice_tail = s;
    }
    if (state == HF_STATE_HELD)
        s->notices &= (unsigned char)~(1u << HF_STATE_AT_RISK);
    s->notices |= (unsigned char)(1u << state);
}

/* Free it when it is over and nobody refers to it. */
void hf__slot_let_go(struct engine *e, struct slot *s)
{
    if (s->hold.state != HOLD_DONE || s->requests || s->notices || s->op
        || s->pins)
        return;
    assert(!s->pending_last && s->entry->turn != s);
    hf__slot_free(e, s);
}

void hf__slot_unpin(struct engine *e, struct slot *s)
{
    assert(s->pins > 0);
    s->pins--;
    hf__slot_let_go(e, s);
}

void hf__slot_step(struct engine *e, struct slot *s, struct hold_event *ev)
{
    struct hold_out out;
    enum hold_state before = s->hold.state;
    ev->now_us = e->now_us;
    ev->nodes_now_us =
        s->entry->is_host ? hf__host_now(e) : hf__engine_nodes_now(e);
    ev->random = hf__engine_random(e);
    if (ev->type == EV_RELEASE) hf__turn_leave(s);
    s->hold.crowded = s->entry->crowded != 0;
    s->requests++; /* stays until the step is over */
    hf__hold_step(&s->hold, ev, &out);
    e->waiting += s->hold.state == HOLD_WAITING;
    e->waiting -= before == HOLD_WAITING;
    for (int i = 0; i < out.sends; i++) send_all(e, s, &out.send[i]);
    if (s->hold.state == HOLD_RELEASING || s->hold.state == HOLD_DONE)
        hf__slot_unlink(s);
    if (out.risk_untold) notice_add(e, s, HF_STATE_AT_RISK);
    if (out.notice) notice_add(e, s, out.notice);
    if (out.finished) slot_finish(e, s, &out);
    if (s->hold.state == HOLD_DONE) pending_go(e, s);
    hf__heap_set(&e->heap, &s->timer, hf__hold_due(&s->hold));
    if (before != s->hold.state) hf__turn_update(e, s, before);
    if (out.watch) hf__watch_want(e, s);
    s->requests--;
    hf__slot_let_go(e, s);
}

/* ---- beginning and ending ---------------------------------------------- */

void hf__engine_begin(struct engine *e, struct op *op, int64_t now_us)
{
    e->now_us = now_us;
    op->finished = 0;
    op->slot = NULL;
    op->spoken = 0;
    int waits = op->type == OP_TYPE_ACQUIRE || op->type == OP_TYPE_NAP;
    op->deadline_us =
        waits && op->wait_us > 0 ? now_us + op->wait_us : TIME_NEVER;
    op->until_us = op->type == OP_TYPE_RELEASE && op->wait_us > 0
                       ? now_us + op->wait_us
                       : TIME_NEVER;
    e->pending_us = min64(e->pending_us, op->until_us);
    op_enlist(e, op);
    hf__op_begin(e, op);
    hf__engine_drain(e);
}

static void op_fail(struct engine *e, struct op *op, int status);

/* Each is ended once; ending one may start or end others. */
static void races_end(struct engine *e)
{
    struct op *op = e->all;
    e->race_is_won = 0;
    while (op) {
        if (op->finished || !op->race || !op->race->is_won) {
            op = op->all_next;
            continue;
        }
        op->race = NULL;
        op_fail(e, op, HF_CANCELLED);
        op = e->all;
    }
}

void hf__engine_drain(struct engine *e)
{
    while (e->ready_head) {
        struct op *op = e->ready_head;
        e->ready_head = op->next;
        if (!e->ready_head) e->ready_tail = NULL;
        e->pending_us = min64(e->pending_us, op->until_us);
        hf__op_begin(e, op);
    }
    if (e->race_is_won) races_end(e);
}

static int op_is_pending(struct op *op)
{
    return op->slot && op->slot->op != op;
}

static void pending_remove(struct slot *s, struct op *op)
{
    struct op *before = s->pending_last;
    while (before->next != op) before = before->next;
    pending_unlink(s, before);
}

static void op_fail(struct engine *e, struct op *op, int status)
{
    if (op->finished || (!op->slot && op->type != OP_TYPE_NAP)) return;
    if (!op->slot || op_is_pending(op)) {
        if (op->slot) pending_remove(op->slot, op);
        hf__op_finish(e, op, status, NULL);
        return;
    }
    struct hold_event ev = {.type = EV_FAIL, .status = status};
    hf__slot_step(e, op->slot, &ev);
    hf__engine_drain(e);
}

void hf__engine_fail(struct engine *e, struct op *op, int status,
                     int64_t now_us)
{
    e->now_us = now_us;
    /* What was not even asked for would stay held. */
    if (op->type == OP_TYPE_RELEASE && op_is_pending(op)) return;
    op_fail(e, op, status);
}

/* It was sent, and is repeated without its caller. */
static void release_tick(struct engine *e, struct op *op)
{
    if (op->until_us > e->now_us) {
        e->pending_us = min64(e->pending_us, op->until_us);
        return;
    }
    struct hold_event ev = {.type = EV_FAIL, .status = HF_TIMEOUT};
    hf__slot_step(e, op->slot, &ev);
}

/* End those whose wait is over before they came to their turn; the waits for
 * releases; and naps. */
static void pending_tick(struct engine *e)
{
    e->pending_us = TIME_NEVER;
    for (struct op *op = e->all, *next; op; op = next) {
        next = op->all_next;
        if (op->type == OP_TYPE_RELEASE) {
            if (op->slot && !op_is_pending(op)) release_tick(e, op);
            continue;
        }
        if (op->type != OP_TYPE_NAP && !op_is_pending(op)) continue;
        if (op->deadline_us > e->now_us) {
            e->pending_us = min64(e->pending_us, op->deadline_us);
            continue;
        }
        if (op->slot) pending_remove(op->slot, op);
        hf__op_finish(e, op, HF_TIMEOUT, NULL);
    }
}

/* ---- time ------------------------------------------------------------- */

/* Renewals that are due soon go along with one that is due now. */
static void renew_along(struct engine *e, int64_t period_us)
{
    int64_t horizon = e->now_us + period_us / 10;
    for (int i = 0; i < RENEW_BATCH_MAX; i++) {
        struct slot *s = (struct slot *)hf__heap_top(&e->heap);
        if (!s || s->timer.due_us > horizon || s->timer.due_us <= e->now_us
            || !hf__hold_is_renewable(&s->hold)
            || s->hold.renew_at_us != s->timer.due_us)
            return;
        struct hold_event ev = {.type = EV_RENEW};
        hf__slot_step(e, s, &ev);
    }
}

void hf__engine_tick(struct engine *e, int64_t now_us)
{
    e->now_us = now_us;
    hf__nodes_tick(e);
    for (;;) {
        struct slot *s = (struct slot *)hf__heap_top(&e->heap);
        if (!s || s->timer.due_us > now_us) break;
        struct hold_event ev = {.type = EV_TIMER};
        int64_t period_us =
            hf__hold_is_renewable(&s->hold) ? hf__hold_period_us(&s->hold) : 0;
        hf__slot_step(e, s, &ev);
        if (period_us) renew_along(e, period_us);
    }
    hf__watch_sweep(e);
    if (e->pending_us <= now_us) pending_tick(e);
    hf__engine_drain(e);
}

/* Of several nodes the slowest answer when nobody waits for them any more.  To
 * read that is left to whoever asks next, if he comes soon: waking a thread for
 * it costs more than the lock. */
static int is_lull(const struct engine *e)
{
    return e->conf.nodes > 1 && e->ops_len == 0 && e->inflight > 0
           && e->pressing == 0 && e->now_us < e->sent_us + LULL_US;
}

/* When there may be answers that nobody has read, if callers come and go. */
int64_t hf__engine_lull_us(const struct engine *e)
{
    int64_t end = e->sent_us + LULL_US;
    return e->conf.nodes > 1 && e->now_us < end ? end : TIME_NEVER;
}

int64_t hf__engine_next_us(const struct engine *e)
{
    int64_t next = min64(hf__nodes_next_us(e), e->pending_us);
    if (is_lull(e)) next = min64(next, e->sent_us + LULL_US);
    struct timer *t = hf__heap_top(&e->heap);
    if (t && t->due_us < next) next = t->due_us;
    t = hf__heap_top(&e->lingers);
    if (t && t->due_us < next) next = t->due_us;
    return next;
}

/* Who holds locks wants to hear of a failover at once; but not between the
 * calls of who is busy, for waking a thread costs more than the lock.  This is
 * for the keeper: no caller has to listen. */
int hf__engine_is_to_listen(const struct engine *e)
{
    return e->is_kept && e->slots_len > 0 && e->fds_len > 0
           && e->now_us >= e->sent_us + LISTEN_US;
}

/* When the keeper is to look whether it shall listen.  No part of
 * hf__engine_next_us(): nobody is to wake it for this. */
int64_t hf__engine_listen_us(const struct engine *e)
{
    int64_t idle_us = e->sent_us + LISTEN_US;
    return e->fds_len > 0 && e->now_us < idle_us ? idle_us : TIME_NEVER;
}

int hf__engine_wants_poll(const struct engine *e)
{
    if (e->waiting > 0 || e->ops_async > 0) return 1;
    if (e->inflight > 0) return !is_lull(e);
    for (int i = 0; i < e->conf.nodes; i++)
        if (!e->nodes[i].up && e->fds_len > 0) return 1; /* connecting */
    return 0;
}

/* ---- telling ---------------------------------------------------------- */

const char *hf__slot_cause(struct engine *e, const struct slot *s, int state,
                           char *buf, size_t size)
{
    if (state == HF_STATE_HELD) return NULL;
    const char *cause = hf__hold_cause(&s->hold, state);
    if (!cause) cause = s->why;
    if (cause) return cause;
    return slot_text(e, s, hf__hold_why(&s->hold, state), buf, size);
}

static void event_fill(struct engine *e, const struct slot *s, int state,
                       struct hf_event *out)
{
    char buf[HF_ERROR_TEXT_MAX];
    const struct hold *h = &s->hold;
    out->struct_size = sizeof *out;
    out->state = state;
    out->status = hf__hold_why(h, state);
    out->holder = s->holder;
    out->hold = s->handle;
    out->fence = hf__slot_fence(s);
    out->valid_ms = state == HF_STATE_LOST || h->valid_us <= e->now_us
                        ? 0
                        : (h->valid_us - e->now_us) / US_PER_MS;
    memcpy(out->name, s->entry->name, s->entry->name_len + 1);
    out->name_len = s->entry->name_len;
    out->text[0] = '\0';
    const char *cause = hf__slot_cause(e, s, state, buf, sizeof buf);
    if (!cause) return;
    size_t size = sizeof out->text;
    int len = snprintf(out->text, size, "%s", cause);
    if (len >= (int)size) hf__text_cut(out->text, size);
}

/* AT_RISK before LOST, each once.  1 if `out` was filled; `about` is pinned if
 * it has ears, and NULL if it has none. */
int hf__engine_take_notice(struct engine *e, struct hf_event *out,
                           struct slot **about, int64_t now_us)
{
    static const int order[] = {HF_STATE_HELD, HF_STATE_AT_RISK, HF_STATE_LOST};
    struct slot *s = e->notice_head;
    *about = NULL;
    if (!s) return 0;
    e->now_us = now_us;
    if (s->ears) {
        s->pins++;
        *about = s;
        for (struct hold_ear *ear = s->ears; ear; ear = ear->next)
            ear->is_due = 1;
    }
    for (int i = 0; i < 3; i++) {
        if (!(s->notices >> order[i] & 1)) continue;
        s->notices &= (unsigned char)~(1u << order[i]);
        event_fill(e, s, order[i], out);
        break;
    }
    if (!s->notices) {
        e->notice_head = s->notice_next;
        if (!e->notice_head) e->notice_tail = NULL;
        hf__slot_let_go(e, s);
    }
    return 1;
}

/* ---- tickets ---------------------------------------------------------- */

int hf__engine_detach(struct engine *e, struct slot *s, struct ticket *out,
                      int64_t now_us)
{
    struct hold_event ev = {.type = EV_FORGET};
    e->now_us = now_us;
    if (!s || s->op) return HF_NOT_OWNER;
    if (s->hold.state == HOLD_LOST) return s->hold.lost_status;
    if (s->hold.state != HOLD_HELD) return HF_NOT_OWNER;
    if (!(s->hold.flags & HOLD_DETACHED)) return HF_UNSUPPORTED;
    memset(out, 0, sizeof *out);
    hf__slot_owner(e, s, out->owner);
    out->secret = s->hold.secret;
    out->attempt = s->hold.attempt;
    out->number = s->hold.number;
    out->fence = s->hold.fence;
    out->permits = s->entry->kind == KIND_PERMIT ? s->permits : 0;
    hf__slot_step(e, s, &ev);
    return HF_OK;
}

/* ---- the end ---------------------------------------------------------- */

/* Fail what is under way, give back what is held; replies may still come. */
void hf__engine_shut(struct engine *e, int64_t now_us)
{
    e->now_us = now_us;
    for (struct op *op = e->all, *next; op; op = next) {
        next = op->all_next;
        op_fail(e, op, HF_CLOSED);
    }
    for (size_t i = 0; i < e->table_size; i++) {
        for (struct lock_entry *n = e->table[i]; n; n = n->hash_next) {
            for (struct slot *s = n->slots, *next; s; s = next) {
                struct hold_event ev = {.type = EV_RELEASE};
                next = s->next;
                if (s->hold.state != HOLD_HELD || s->op) continue;
                if (s->hold.flags & HOLD_DETACHED) ev.type = EV_FORGET;
                s->hold.count = 1;
                n->refs++;
                hf__slot_step(e, s, &ev);
                n->refs--;
            }
        }
    }
    e->closing = 1;
    hf__nodes_shut(e);
}

static void slot_drop(struct engine *e, struct slot *s)
{
    hf__slot_unlink(s);
    hf__ears_free(e, s);
    hf__heap_set(&e->heap, &s->timer, TIME_NEVER);
    hf__free(e->alloc, s->owner);
    hf__free(e->alloc, s->why);
    hf__free(e->alloc, s);
}

void hf__engine_close(struct engine *e)
{
    struct hf_event ev;
    struct slot *about;
    e->closing = 1;
    hf__nodes_close(e);
    while (hf__engine_take_notice(e, &ev, &about, e->now_us))
        if (about) hf__slot_unpin(e, about);
    /* Releases that were not answered are only known to the timers. */
    while (hf__heap_top(&e->heap))
        slot_drop(e, (struct slot *)hf__heap_top(&e->heap));
    for (size_t i = 0; e->table && i < e->table_size; i++) {
        while (e->table[i]) {
            struct lock_entry *n = e->table[i];
            while (n->slots) slot_drop(e, n->slots);
            e->table[i] = n->hash_next;
            hf__free(e->alloc, n);
        }
    }
    while (e->spare) {
        struct request *r = e->spare;
        e->spare = r->next;
        hf__free(e->alloc, r);
    }
    hf__heap_free(&e->heap, e->alloc);
    hf__heap_free(&e->lingers, e->alloc);
    hf__free(e->alloc, e->table);
    e->table = NULL;
}
