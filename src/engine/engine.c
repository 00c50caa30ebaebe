/*
 * engine.c: the steps of all operations and holds of a client; see engine.h.
 *
 * The rule: a step changes state and queues what must be told; nothing that
 * belongs to the user runs inside it.
 */
#include "engine/engine.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/math.h"
#include "core/mutation.h"
#include "engine/heap.h"
#include "engine/seats.h"
#include "engine/stats.h"
#include "engine/locks.h"
#include "engine/voter.h"
#include "engine/nodes.h"
#include "engine/ops.h"
#include "sys/random.h"

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

/* ---- beginning and ending ---------------------------------------------- */

void hf__engine_begin(struct engine *e, struct op *op, int64_t now_us)
{
    e->now_us = now_us;
    op->finished = 0;
    op->seat = NULL;
    op->spoken = 0;
    int waits = op->type == OP_TYPE_ACQUIRE || op->type == OP_TYPE_NAP;
    op->deadline_us =
        waits && op->wait_us > 0 ? now_us + op->wait_us : TIME_NEVER;
    op->until_us = op->type == OP_TYPE_RELEASE && op->wait_us > 0
                       ? now_us + op->wait_us
                       : TIME_NEVER;
    e->pending_us = min64(e->pending_us, op->until_us);
    hf__stats_begun(e, op);
    hf__op_enlist(e, op);
    hf__op_begin(e, op);
    hf__engine_drain(e);
}

/* End the other operations of each race that was won.  Ending one may start or
 * end others, so the list is read from its beginning again. */
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
        op->outrun = 1;
        hf__op_fail(e, op, HF_CANCELLED);
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

void hf__engine_flush(struct engine *e)
{
    int again = 1;
    while (again) {
        again = 0;
        if (e->conf.nodes > 1) hf__voters_ask(e);
        for (struct node *n = NULL; (n = hf__node_next(e, n));) {
            if (!n->dirty) continue;
            n->dirty = 0;
            n->backend->flush(n->conn);
            again = 1;
        }
        again |= e->ready_head != NULL; /* an operation may send requests */
        hf__engine_drain(e);
    }
}

void hf__engine_fail(struct engine *e, struct op *op, int status,
                     int64_t now_us)
{
    e->now_us = now_us;
    /* A release that is not sent at all would leave the lock held. */
    if (op->type == OP_TYPE_RELEASE && hf__op_is_pending(op)) return;
    hf__op_fail(e, op, status);
}

/* End the caller's wait for a release; the request goes on without it. */
static void release_tick(struct engine *e, struct op *op)
{
    if (op->until_us > e->now_us) {
        e->pending_us = min64(e->pending_us, op->until_us);
        return;
    }
    struct hold_event ev = {.type = EV_FAIL, .status = HF_TIMEOUT};
    hf__seat_step(e, op->seat, &ev);
}

/* End the operations whose wait was over before the operation in front of them
 * was; the waits for releases; and naps. */
static void pending_tick(struct engine *e)
{
    e->pending_us = TIME_NEVER;
    for (struct op *op = e->all, *next; op; op = next) {
        next = op->all_next;
        if (op->type == OP_TYPE_RELEASE) {
            if (op->seat && !hf__op_is_pending(op)) release_tick(e, op);
            continue;
        }
        if (op->type != OP_TYPE_NAP && !hf__op_is_pending(op)) continue;
        if (op->deadline_us > e->now_us) {
            e->pending_us = min64(e->pending_us, op->deadline_us);
            continue;
        }
        if (op->seat) hf__pending_remove(op->seat, op);
        hf__op_finish(e, op, HF_TIMEOUT, NULL);
    }
}

/* ---- time ------------------------------------------------------------- */

/* Renewals that are due soon go along with one that is due now. */
static void renew_along(struct engine *e, int64_t period_us)
{
    int64_t horizon = e->now_us + period_us / 10;
    for (int i = 0; i < RENEW_BATCH_MAX; i++) {
        struct seat *s = (struct seat *)hf__heap_top(&e->heap);
        if (!s || s->timer.due_us > horizon || s->timer.due_us <= e->now_us
            || !hf__hold_is_renewable(&s->hold)
            || s->hold.renew_at_us != s->timer.due_us)
            return;
        struct hold_event ev = {.type = EV_RENEW};
        hf__seat_step(e, s, &ev);
    }
}

void hf__engine_tick(struct engine *e, int64_t now_us)
{
    e->now_us = now_us;
    hf__nodes_tick(e);
    for (;;) {
        struct seat *s = (struct seat *)hf__heap_top(&e->heap);
        if (!s || s->timer.due_us > now_us) break;
        struct hold_event ev = {.type = EV_TIMER};
        int64_t period_us =
            hf__hold_is_renewable(&s->hold) ? hf__hold_period_us(&s->hold) : 0;
        hf__seat_step(e, s, &ev);
        if (period_us) renew_along(e, period_us);
    }
    hf__watch_sweep(e);
    if (e->pending_us <= now_us) pending_tick(e);
    hf__engine_drain(e);
}

/* The slowest nodes of a quorum answer when no operation waits for them any
 * more.  For LULL_US those answers are left to the next caller that polls:
 * waking a thread to read them costs more than the lock. */
static int is_lull(const struct engine *e)
{
    return e->conf.nodes > 1 && e->ops_len == 0 && e->inflight > 0
           && e->pressing == 0 && e->now_us < e->sent_us + LULL_US;
}

/* When there may be unread answers although callers come and go. */
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

/* A client that holds locks is to hear of a failover at once; but not while its
 * calls follow each other closely, because waking a thread costs more than the
 * lock.  Only the keeper asks this: no caller has to listen. */
int hf__engine_is_to_listen(const struct engine *e)
{
    return e->is_kept && e->seats_len > 0 && e->fds_len > 0
           && e->now_us >= e->sent_us + LISTEN_US;
}

/* When the keeper is to look whether it shall listen.  This is no part of
 * hf__engine_next_us(), so no thread wakes the keeper for it. */
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

/* The median of the nodes' clocks: one wrong clock cannot move it far. */
int64_t hf__engine_nodes_now(const struct engine *e)
{
    int64_t known[NODES_MAX];
    int len = 0;
    for (int i = 0; i < e->conf.nodes; i++) {
        if (!e->nodes[i].clock_known) continue;
        int64_t offset = e->nodes[i].offset_us;
        int k = len++;
        for (; k > 0 && known[k - 1] > offset; k--) known[k] = known[k - 1];
        known[k] = offset;
    }
    return len ? e->now_us + known[len / 2] : 0;
}

uint64_t hf__engine_random(struct engine *e)
{
    return hf__random_next(&e->random);
}

/* ---- telling ---------------------------------------------------------- */

struct op *hf__engine_take_done(struct engine *e)
{
    struct op *list = e->done_head;
    e->done_head = e->done_tail = NULL;
    return list;
}

static void event_fill(struct engine *e, const struct seat *s, int state,
                       struct hf_event *out)
{
    char buf[HF_ERROR_TEXT_MAX];
    const struct hold *h = &s->hold;
    out->struct_size = sizeof *out;
    out->state = state;
    out->status = hf__hold_why(h, state);
    out->holder = s->holder;
    out->hold = s->handle;
    out->fence = hf__seat_fence(s);
    out->valid_ms = state == HF_STATE_LOST || h->valid_us <= e->now_us
                        ? 0
                        : (h->valid_us - e->now_us) / US_PER_MS;
    memcpy(out->name, s->entry->name, s->entry->name_len + 1);
    out->name_len = s->entry->name_len;
    out->text[0] = '\0';
    const char *cause = hf__seat_cause(e, s, state, buf, sizeof buf);
    if (!cause) return;
    size_t size = sizeof out->text;
    int len = snprintf(out->text, size, "%s", cause);
    if (len >= (int)size) hf__text_cut(out->text, size);
}

/* The next notice: AT_RISK before LOST, each once.  1 if `out` was filled.
 * `about` is the hold, pinned, if it has listeners; otherwise NULL. */
int hf__engine_take_notice(struct engine *e, struct hf_event *out,
                           struct seat **about, int64_t now_us)
{
    static const int order[] = {HF_STATE_HELD, HF_STATE_AT_RISK, HF_STATE_LOST};
    struct seat *s = e->notice_head;
    *about = NULL;
    if (!s) return 0;
    e->now_us = now_us;
    if (s->listeners) {
        s->pins++;
        *about = s;
        for (struct hold_listener *listener = s->listeners; listener;
             listener = listener->next)
            listener->is_due = 1;
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
        hf__seat_let_go(e, s);
    }
    return 1;
}

/* ---- tickets ---------------------------------------------------------- */

int hf__engine_detach(struct engine *e, struct seat *s, struct ticket *out,
                      int64_t now_us)
{
    struct hold_event ev = {.type = EV_FORGET};
    e->now_us = now_us;
    if (!s || s->op) return HF_NOT_OWNER;
    if (s->hold.state == HOLD_LOST) return s->hold.lost_status;
    if (s->hold.state != HOLD_HELD) return HF_NOT_OWNER;
    if (!(s->hold.flags & HOLD_DETACHED)) return HF_UNSUPPORTED;
    memset(out, 0, sizeof *out);
    hf__seat_owner(e, s, out->owner);
    out->secret = s->hold.secret;
    out->attempt = s->hold.attempt;
    out->number = s->hold.number;
    out->fence = s->hold.fence;
    out->permits = s->entry->kind == KIND_PERMIT ? s->permits : 0;
    hf__seat_step(e, s, &ev);
    return HF_OK;
}

/* ---- the end ---------------------------------------------------------- */

/* Fail the operations under way and release what is held; replies may still
 * come. */
void hf__engine_shut(struct engine *e, int64_t now_us)
{
    e->now_us = now_us;
    for (struct op *op = e->all, *next; op; op = next) {
        next = op->all_next;
        if (!MUTATED(CLOSE_SILENT)) hf__op_fail(e, op, HF_CLOSED);
    }
    for (size_t i = 0; i < e->table_size; i++) {
        for (struct lock_entry *n = e->table[i]; n; n = n->hash_next) {
            struct seat_walk walk;
            hf__walk_begin(e, &walk, n);
            for (struct seat *s; (s = hf__walk_next(e, &walk));) {
                struct hold_event ev = {.type = EV_RELEASE};
                if (s->hold.state != HOLD_HELD || s->op) continue;
                if (MUTATED(CLOSE_KEEPS)) continue;
                if (s->hold.flags & HOLD_DETACHED && !MUTATED(TICKET_CLOSED))
                    ev.type = EV_FORGET;
                s->hold.count = 1;
                n->refs++;
                hf__seat_step(e, s, &ev);
                n->refs--;
            }
        }
    }
    e->closing = 1;
    hf__nodes_shut(e);
}

static void seat_drop(struct engine *e, struct seat *s)
{
    hf__seat_unlink(e, s);
    hf__listeners_free(e, s);
    hf__heap_set(&e->heap, &s->timer, TIME_NEVER);
    if (s->attached) hf__free(e->alloc, s->owner);
    hf__free(e->alloc, s->why);
    hf__free(e->alloc, s);
}

void hf__engine_close(struct engine *e)
{
    struct hf_event ev;
    struct seat *about;
    e->closing = 1;
    hf__nodes_close(e);
    while (hf__engine_take_notice(e, &ev, &about, e->now_us))
        if (about) hf__seat_unpin(e, about);
    /* A hold whose release was not answered is only found by its timer. */
    while (hf__heap_top(&e->heap))
        seat_drop(e, (struct seat *)hf__heap_top(&e->heap));
    for (size_t i = 0; e->table && i < e->table_size; i++) {
        while (e->table[i]) {
            struct lock_entry *n = e->table[i];
            while (n->seats) seat_drop(e, n->seats);
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
