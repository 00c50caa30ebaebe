/*
 * ops.c: how operations begin and end.
 *
 * The rule: one operation at a time works on a hold; other operations of the
 * same holder wait behind it.
 */
#include "engine/ops.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "base/math.h"
#include "engine/direct.h"
#include "engine/engine.h"
#include "engine/guards.h"
#include "engine/seats.h"
#include "engine/stats.h"
#include "engine/host.h"
#include "engine/locks.h"
#include "engine/voter.h"
#include "engine/voter_text.h"
#include "engine/nodes.h"
#include "engine/handover.h"
#include "engine/stocks.h"
#include "engine/tallies.h"
#include "engine/values.h"
#include "kind/kind.h"

/* ---- lists, and the end ------------------------------------------------ */

void hf__op_append(struct op **head, struct op **tail, struct op *op)
{
    op->next = NULL;
    if (*tail)
        (*tail)->next = op;
    else
        *head = op;
    *tail = op;
}

/* The operations that wait behind another one of their holder are a ring, so
 * that a hold need only know the last. */
void hf__pending_append(struct seat *s, struct op *op)
{
    struct op *last = s->pending_last;
    op->next = last ? last->next : op;
    if (last) last->next = op;
    s->pending_last = op;
}

/* Remove the operation behind `before`. */
static void pending_unlink(struct seat *s, struct op *before)
{
    struct op *op = before->next;
    before->next = op->next;
    if (s->pending_last == op) s->pending_last = before == op ? NULL : before;
}

void hf__pending_remove(struct seat *s, struct op *op)
{
    struct op *before = s->pending_last;
    while (before->next != op) before = before->next;
    pending_unlink(s, before);
}

void hf__pending_go(struct engine *e, struct seat *s)
{
    while (s->pending_last) {
        struct op *next = s->pending_last->next;
        pending_unlink(s, s->pending_last);
        next->seat = NULL;
        hf__op_append(&e->ready_head, &e->ready_tail, next);
        if (s->hold.state != HOLD_DONE) break;
    }
}

void hf__op_enlist(struct engine *e, struct op *op)
{
    op->all_prev = NULL;
    op->all_next = e->all;
    if (e->all) e->all->all_prev = op;
    e->all = op;
    e->ops_len++;
    if (op->complete) e->ops_async++;
    if (op->entry) op->entry->refs++;
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
    if (op->entry) hf__entry_unref(e, op->entry);
}

/* The text of a status that nothing else explains. */
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
    op->seat = NULL;
    if (e->host && hf__host_takes(e, op, status, text)) {
        hf__op_append(&e->ready_head, &e->ready_tail, op);
        return;
    }
    op->finished = 1;
    op->status = status;
    hf__stats_ended(e, op, status);
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
    if (op->named) hf__host_told(e, op);
    op_delist(e, op);
    hf__op_append(&e->done_head, &e->done_tail, op);
}

int hf__op_is_pending(const struct op *op)
{
    return op->seat && op->seat->op != op;
}

void hf__op_fail(struct engine *e, struct op *op, int status)
{
    if (op->finished || (!op->seat && op->type != OP_TYPE_NAP)) return;
    if (!op->seat || hf__op_is_pending(op)) {
        if (op->seat) hf__pending_remove(op->seat, op);
        hf__op_finish(e, op, status, NULL);
        return;
    }
    struct hold_event ev = {.type = EV_FAIL, .status = status};
    hf__seat_step(e, op->seat, &ev);
    hf__engine_drain(e);
}

/* ---- beginning -------------------------------------------------------- */

static int is_one_try(const struct op *op)
{
    return op->wait_us == 0 || op->tries_once;
}

static unsigned hold_flags(const struct engine *e, const struct op *op)
{
    unsigned flags = hf__kind(op->entry->kind)->hold_flags;
    if (!(op->flags & (HF_ACQUIRE_FIXED | HF_ACQUIRE_DETACHED)))
        flags |= HOLD_KEEP;
    if (op->flags & HF_ACQUIRE_DETACHED) flags |= HOLD_DETACHED;
    if (op->flags & HF_ACQUIRE_UPGRADE) flags |= HOLD_UPGRADE;
    /* A caller that does not wait keeps no place; and this host has no
     * queue. */
    int is_queued = op->order != HF_ORDER_ANY
                    || (hf__caps_of(e, op->entry) & HF_CAP_IN_ORDER
                        && op->entry->kind == KIND_PLAIN);
    if (is_queued && !op->entry->is_host) flags |= HOLD_QUEUES;
    if (is_one_try(op)) flags &= ~HOLD_QUEUES;
    if (op->order == HF_ORDER_WRITERS) flags |= HOLD_WRITERS;
    if (op->tries_once) flags |= HOLD_ONE_TRY;
    if (op->lease_any) flags |= HOLD_LEASE_ANY;
    /* A hold that must be fed needs an end, for when it is not. */
    if (hf__caps_of(e, op->entry) & HF_CAP_KERNEL && flags & HOLD_KEEP
        && !op->plan.feed_us)
        flags |= HOLD_ETERNAL;
    return flags;
}

static int is_held_here(const struct engine *e, const struct seat *s)
{
    return s && s->hold.state == HOLD_HELD && e->now_us < s->hold.valid_us;
}

static void acquire_new(struct engine *e, struct op *op)
{
    struct lock_entry *entry = op->entry;
    unsigned flags = hold_flags(e, op);
    int alone = is_one_try(op) || flags & (HOLD_SHARED | HOLD_QUEUES);
    const struct hf_error *refusal = NULL;
    if (!entry->is_host && e->conf.nodes > 1) {
        hf__voters_want(e);
        refusal = hf__voters_refusal(e);
    }
    if (refusal) {
        hf__op_finish(e, op, refusal->status, refusal->text);
        return;
    }
    if (is_one_try(op) && !(flags & (HOLD_SHARED | HOLD_MANY))
        && is_held_here(e, entry->turn)) {
        hf__op_finish(e, op, HF_TAKEN, NULL);
        return;
    }
    struct seat *s = hf__seat_new(e, entry, op->holder);
    if (!s) {
        hf__op_finish(e, op, HF_NOMEM, NULL);
        return;
    }
    struct hold_event ev = {.type = EV_ACQUIRE,
                            .flags = flags,
                            .wait_us = op->wait_us,
                            .lease_us = op->lease_us,
                            .plan = &op->plan};
    if (!hf__nodes_are_ready(e, entry))
        ev.flags |= HOLD_BLIND;
    else if (alone || hf__turn_is_open(entry, flags, op->permits))
        ev.flags |= HOLD_MAY_TRY;
    /* The watch that is on does not tell of hand-overs. */
    if (hf__is_handed_over(entry, flags) && !entry->queues)
        s->hold.watched = s->hold.watch_asked = 0;
    if (s->hold.conf->handover) s->chain_owner = hf__handover_owner(e, op);
    s->permits = (int32_t)op->permits;
    s->op = op;
    op->seat = s;
    hf__seat_step(e, s, &ev);
}

static int is_getting(const struct seat *s)
{
    enum hold_state state = s->hold.state;
    return state == HOLD_IN_LINE || state == HOLD_TRYING
           || state == HOLD_WAITING;
}

/* Let the operation wait for the one that its holder has under way.  But a
 * caller must not block on an acquire that may take for ever, unless it is an
 * acquire that waits itself. */
static void op_queue(struct engine *e, struct seat *s, struct op *op)
{
    if (is_getting(s) && op->flags & HF_ACQUIRE_NO_REENTRY) {
        hf__op_finish(e, op, HF_INVALID, "this holder is acquiring it already");
        return;
    }
    if (is_getting(s) && op->type != OP_TYPE_ACQUIRE && !op->complete) {
        hf__op_finish(e, op, HF_NOT_OWNER, "still being acquired");
        return;
    }
    if (is_getting(s) && op->type == OP_TYPE_ACQUIRE && is_one_try(op)) {
        hf__op_finish(e, op, HF_TAKEN, "still being acquired");
        return;
    }
    e->pending_us = min64(e->pending_us, op->deadline_us);
    op->seat = s;
    hf__pending_append(s, op);
}

/* A lease longer than the members' markers know of would outlive a
 * quarantine. */
static int is_too_long(struct engine *e, struct op *op, const struct seat *s)
{
    char text[HF_ERROR_TEXT_MAX];
    int64_t most = s->hold.conf->lease_max_us;
    if (most && op->lease_us > most && op->lease_any) op->lease_us = most;
    if (!most || op->lease_us <= most) return 0;
    hf__voters_text(e, HF_INVALID, text, sizeof text);
    hf__op_finish(e, op, HF_INVALID, text);
    return 1;
}

/* The same holder's hold of the same name as another kind, or NULL. */
static struct seat *held_as(struct engine *e, const struct op *op,
                            enum lock_kind kind)
{
    const struct lock_entry *entry = op->entry;
    struct lock_entry *there = hf__entry_find_at(e, entry->is_host, kind,
                                                 entry->name, entry->name_len);
    return there ? hf__seat_find(there, op->holder) : NULL;
}

/* The same holder's hold of the other side of a read/write lock, or NULL. */
static struct seat *other_side(struct engine *e, const struct op *op)
{
    assert(op->entry); /* every acquire has one */
    enum lock_kind kind = op->entry->kind;
    if (kind != KIND_READ && kind != KIND_WRITE) return NULL;
    return held_as(e, op, kind == KIND_WRITE ? KIND_READ : KIND_WRITE);
}

/* Where a plain lock and the sides of its name are one kernel lock, a holder
 * that has one of them would wait for itself to get the other. */
static int is_same_kernel_lock(struct engine *e, const struct op *op)
{
    static const enum lock_kind sides[] = {KIND_READ, KIND_WRITE};
    enum lock_kind kind = op->entry->kind;
    if (!(hf__caps_of(e, op->entry) & HF_CAP_KERNEL)) return 0;
    if (kind == KIND_READ || kind == KIND_WRITE)
        return is_held_here(e, held_as(e, op, KIND_PLAIN));
    for (int i = 0; kind == KIND_PLAIN && i < 2; i++)
        if (is_held_here(e, held_as(e, op, sides[i]))) return 1;
    return 0;
}

/* Why this acquire would wait for its own holder, or NULL.  A holder that
 * reads, or is about to, and asks to write would wait for itself; so would a
 * holder that asks to write and then to read before that is granted. */
static const char *self_wait(struct engine *e, const struct op *op)
{
    const struct seat *s = other_side(e, op);
    if (is_same_kernel_lock(e, op))
        return "this holder has it as another kind, and would wait for itself: "
               "release that first";
    if (!s || op->flags & HF_ACQUIRE_UPGRADE) return NULL;
    if (op->entry->kind == KIND_WRITE && is_held_here(e, s))
        return "this holder reads it, and would wait for itself: try to "
               "upgrade, or release that first";
    if (!is_getting(s)) return NULL;
    return op->entry->kind == KIND_WRITE
               ? "this holder is about to read it, and would wait for itself"
               : "this holder is about to write it: read it after that";
}

static void acquire_start(struct engine *e, struct op *op, struct seat *s)
{
    const char *why = s && s->hold.state != HOLD_LOST ? NULL : self_wait(e, op);
    if (why) {
        hf__op_finish(e, op, HF_INVALID, why);
        return;
    }
    if (s && op->flags & HF_ACQUIRE_NO_REENTRY && is_held_here(e, s)) {
        hf__op_finish(e, op, HF_INVALID,
                      "this holder has it already: release that first");
        return;
    }
    if (s && op->flags & HF_ACQUIRE_NO_REENTRY && s->hold.state == HOLD_HELD) {
        /* Its lease has ended, and its timer has not run yet. */
        struct hold_event ev = {.type = EV_TIMER};
        hf__seat_step(e, s, &ev);
    }
    if (s && s->hold.state == HOLD_LOST) {
        struct hold_event ev = {.type = EV_FORGET};
        hf__seat_step(e, s, &ev);
        s = NULL;
    }
    if (!s) {
        acquire_new(e, op);
        return;
    }
    if (op->flags & HF_ACQUIRE_DETACHED && !(s->hold.flags & HOLD_DETACHED)) {
        hf__op_finish(e, op, HF_UNSUPPORTED,
                      "this holder has it undetached: release that first");
        return;
    }
    if (!hf__kind(op->entry->kind)->reenters) {
        hf__op_finish(e, op, HF_INVALID,
                      "this holder has permits already: use another holder");
        return;
    }
    if (is_too_long(e, op, s)) return;
    if (s->hold.count >= HOLD_COUNT_MAX) {
        hf__op_finish(e, op, HF_INVALID, "held too many times");
        return;
    }
    struct hold_event ev = {.type = EV_ENTER,
                            .flags = hold_flags(e, op),
                            .lease_us = op->lease_us,
                            .plan = &op->plan};
    s->op = op;
    op->seat = s;
    hf__seat_step(e, s, &ev);
}

static void attach_start(struct engine *e, struct op *op)
{
    hf__voters_want(e);
    struct seat *s = hf__seat_new(e, op->entry, op->holder);
    char *owner = s ? hf__strdup(e->alloc, op->ticket.owner) : NULL;
    if (!owner) {
        if (s) hf__seat_free(e, s);
        hf__op_finish(e, op, HF_NOMEM, NULL);
        return;
    }
    s->owner = owner;
    s->attached = 1;
    struct hold_event ev = {.type = EV_ATTACH,
                            .flags = HOLD_DETACHED
                                     | (op->lease_any ? HOLD_LEASE_ANY : 0),
                            .attempt = op->ticket.attempt,
                            .fence = op->ticket.fence,
                            .lease_us = op->lease_us};
    s->op = op;
    op->seat = s;
    s->hold.secret = op->ticket.secret;
    s->hold.number = op->ticket.number;
    s->permits = (int32_t)op->ticket.permits;
    hf__seat_step(e, s, &ev);
}

static void change_start(struct engine *e, struct op *op, struct seat *s)
{
    enum hold_state state = s ? s->hold.state : HOLD_IDLE;
    if (state != HOLD_HELD && state != HOLD_LOST) {
        /* The target was lost, and its holder has acquired it anew since. */
        int lost = op->target && s ? s->hold.lost_status : HF_OK;
        hf__op_finish(e, op, lost != HF_OK ? lost : HF_NOT_OWNER, NULL);
        return;
    }
    if (op->type == OP_TYPE_EXTEND && is_too_long(e, op, s)) return;
    if (op->type == OP_TYPE_RELEASE && hf__handover_try(e, s, op)) return;
    struct hold_event ev = {.type = op->type == OP_TYPE_EXTEND ? EV_EXTEND
                                                               : EV_RELEASE,
                            .lease_us = op->lease_us};
    s->op = op;
    op->seat = s;
    hf__seat_step(e, s, &ev);
}

/* Is its wait over?  Otherwise wait_us becomes what is left of it. */
static int is_late(struct engine *e, struct op *op)
{
    if (op->deadline_us == TIME_NEVER) return 0;
    op->wait_us = op->deadline_us - e->now_us;
    return op->wait_us <= 0;
}

void hf__op_begin(struct engine *e, struct op *op)
{
    struct seat *s = op->target;
    if (op->undo && hf__host_undo(e, op)) return;
    if (e->host && hf__host_route(e, op)) return;
    /* The handle is closed by the release, so its callback is not told any
     * more, even if other references keep the hold for a while. */
    if (s && op->type == OP_TYPE_RELEASE) hf__listener_remove(e, s, op->hold);
    if (!s && op->entry) s = hf__seat_find(op->entry, op->holder);
    if (e->closing) {
        hf__op_finish(e, op, HF_CLOSED, NULL);
        return;
    }
    if (is_late(e, op)) {
        hf__op_finish(e, op, HF_TIMEOUT, NULL);
        return;
    }
    int direct = op->type == OP_TYPE_TICKET_RELEASE
                 || op->type == OP_TYPE_INSPECT || op->type == OP_TYPE_BREAK
                 || op->type == OP_TYPE_LIST;
    if (op->type == OP_TYPE_NAP) {
        e->pending_us = min64(e->pending_us, op->deadline_us);
    } else if (op->value) {
        hf__values_start(e, op);
    } else if (op->guard) {
        hf__guards_start(e, op);
    } else if (op->tally) {
        hf__tallies_start(e, op);
    } else if (op->stock || op->ledger) {
        hf__stocks_start(e, op);
    } else if (direct) {
        hf__direct_start(e, op);
    } else if (s && s->op) {
        op_queue(e, s, op);
    } else if (op->type == OP_TYPE_ACQUIRE) {
        acquire_start(e, op, s);
    } else if (op->type == OP_TYPE_ATTACH) {
        attach_start(e, op);
    } else {
        change_start(e, op, s);
    }
}
