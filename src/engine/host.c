/*
 * host.c: the lock of this host that stands in for a store that is silent.
 *
 * The rule: the store is asked first, and this host only if the store did not
 * answer; but a holder that has a hold of this host works on that until it is
 * released, and until then the other holders of this client contend on this
 * host as well: no two of them have the store's lock and this host's at the
 * same time, unless one of them attaches a ticket or leads an election of that
 * name meanwhile.
 *
 * An operation that goes there has its entry changed for the host's; from then
 * on it is an operation like any other, on a store with one node.
 */
#include "engine/host.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "core/mutation.h"
#include "engine/engine.h"
#include "engine/seats.h"
#include "engine/locks.h"
#include "engine/nodes.h"
#include "engine/ops.h"

#define JOINED "another holder of this client has it there"

int64_t hf__host_now(const struct engine *e)
{
    const struct node *n = &e->host->node;
    return n->clock_known ? e->now_us + n->offset_us : 0;
}

static int may_go(const struct op *op)
{
    return op->fall != FALL_NEVER && op->entry && op->entry->kind == KIND_PLAIN
           && !op->target;
}

static struct lock_entry *entry_there(struct engine *e,
                                      const struct lock_entry *entry)
{
    if (!e->host || !e->host->is_open || entry->is_host) return NULL;
    return hf__entry_find_host(e, entry);
}

struct seat *hf__holder_seat(struct engine *e, struct lock_entry *entry,
                             uint64_t holder)
{
    struct lock_entry *there = entry_there(e, entry);
    struct seat *s = there ? hf__seat_find(there, holder) : NULL;
    return s ? s : hf__seat_find(entry, holder);
}

/* Does a holder have it, or is about to?  Holds that are lost or released do
 * not count. */
static int is_used(const struct lock_entry *entry)
{
    const struct seat *s = entry->seats;
    while (s
           && (s->hold.state == HOLD_LOST || s->hold.state == HOLD_RELEASING
               || s->hold.state == HOLD_DONE))
        s = s->next;
    return s != NULL;
}

/* Does a holder of this client have it?  A hold of `holder` (0: none) counts
 * even if its lease has ended, until the holder has been told. */
static int is_held(const struct engine *e, const struct lock_entry *entry,
                   uint64_t holder)
{
    const struct seat *s = entry->seats;
    while (s
           && (s->hold.state != HOLD_HELD
               || (s->hold.valid_us <= e->now_us && s->holder != holder)))
        s = s->next;
    return s != NULL;
}

/* ---- going there --------------------------------------------------------- */

static const char *why_of(const struct op *op)
{
    if (op->joined) return JOINED;
    return op->why ? op->why : hf_status_text(HF_UNAVAILABLE);
}

static void why_free(struct engine *e, struct op *op)
{
    hf__free(e->alloc, op->why);
    op->why = NULL;
}

/* Let the operation go on at `there`, whose reference it takes over. */
static void op_go(struct engine *e, struct op *op, struct lock_entry *there)
{
    op->named = op->entry;
    op->entry = there;
    op->fell_trying = op->wait_us == 0 || op->tries_once;
    op->spoken = 0;
    op->err = (struct hf_error){.node = -1};
    /* Its wait may be over by now: then it asks this host once. */
    if (op->deadline_us <= e->now_us) {
        op->deadline_us = TIME_NEVER;
        op->wait_us = 0;
    }
}

/* Its holder's hold there, or NULL; an acquire forgets a hold that is lost. */
static struct seat *own_find(struct engine *e, const struct op *op,
                             struct lock_entry *there)
{
    struct hold_event forget = {.type = EV_FORGET};
    struct seat *s = hf__seat_find(there, op->holder);
    if (!s || op->type != OP_TYPE_ACQUIRE || s->hold.state != HOLD_LOST
        || s->op)
        return s;
    hf__seat_step(e, s, &forget);
    return NULL;
}

/* Is the operation to be carried out there: because its holder has a hold
 * there, or because another holder does, with which it must contend? */
static int is_drawn(struct engine *e, struct op *op, struct lock_entry *there)
{
    if (op->type == OP_TYPE_INSPECT && op->fall != FALL_OWN_FIRST) return 0;
    op->joined = 0;
    if (own_find(e, op, there)) return 1;
    /* There are no tickets there; and while the store's lock is held, which its
     * holder enters once more, a grant of this host would not be kept. */
    if (op->type != OP_TYPE_ACQUIRE || op->flags & HF_ACQUIRE_DETACHED
        || is_held(e, op->entry, op->holder) || !is_used(there))
        return 0;
    op->joined = 1;
    return 1;
}

/* End the operation: neither the store nor this host can do it. */
static void host_refuse(struct engine *e, struct op *op,
                        const struct hf_error *err)
{
    char text[HF_ERROR_TEXT_MAX];
    int is_plain = err->status == HF_NOMEM || err->status == HF_CLOSED;
    snprintf(text, sizeof text, "%.120s; this host: %.120s", why_of(op),
             err->text);
    why_free(e, op);
    hf__op_finish(e, op, is_plain ? err->status : HF_UNAVAILABLE,
                  is_plain ? NULL : text);
}

/* The store was silent: go on at this host.  1: the operation has ended
 * instead. */
static int op_fall(struct engine *e, struct op *op)
{
    struct host *h = e->host;
    struct hf_error err = {.status = HF_NOMEM};
    op->falls = 0;
    int status = h->is_open || e->closing ? HF_OK : h->open(e, &err);
    if (status == HF_OK && !e->closing) h->is_open = 1;
    struct lock_entry *there =
        h->is_open ? hf__entry_get_host(e, op->entry) : NULL;
    if (there) {
        op->fell = 1;
        op_go(e, op, there);
        return 0;
    }
    if (e->closing) {
        why_free(e, op);
        return 0; /* hf__op_begin() ends it */
    }
    op->fall = FALL_NEVER;
    host_refuse(e, op, &err);
    return 1;
}

/* It went to this host because its own holder had a hold here, which is over by
 * now: it is treated like a new operation. */
static int is_free_again(struct engine *e, struct op *op)
{
    return op->named && op->type == OP_TYPE_ACQUIRE && !op->fell && !op->joined
           && !own_find(e, op, op->entry);
}

static void op_return(struct engine *e, struct op *op)
{
    struct lock_entry *there = op->entry;
    op->entry = op->named;
    op->named = NULL;
    hf__entry_unref(e, there);
}

int hf__host_route(struct engine *e, struct op *op)
{
    if (!may_go(op)) return 0;
    if (is_free_again(e, op)) op_return(e, op);
    if (op->named) return 0;
    if (op->falls) return op_fall(e, op);
    int is_of_hold = op->type == OP_TYPE_ACQUIRE || op->type == OP_TYPE_RELEASE
                     || op->type == OP_TYPE_EXTEND;
    if (!is_of_hold && op->type != OP_TYPE_INSPECT) return 0;
    struct lock_entry *there = entry_there(e, op->entry);
    if (!there) return 0;
    there->refs++;
    if (is_drawn(e, op, there))
        op_go(e, op, there);
    else
        hf__entry_unref(e, there);
    return 0;
}

/* ---- coming to an end ---------------------------------------------------- */

static int is_first_grant(const struct op *op, int status)
{
    return op->type == OP_TYPE_ACQUIRE && status == HF_OK
           && op->grant.count == 1;
}

/* Does the store answer, if only to refuse?  Then other clients may be granted
 * its lock. */
static int store_speaks(const struct engine *e, const struct op *op)
{
    int words = 0;
    for (uint32_t left = op->spoken; left; left &= left - 1) words++;
    return words >= e->conf.quorum && !MUTATED(HOST_EAGER);
}

static int is_to_fall(const struct engine *e, const struct op *op, int status)
{
    if (status != HF_UNAVAILABLE || store_speaks(e, op)) return 0;
    if (op->type == OP_TYPE_INSPECT) return 1;
    if (op->type != OP_TYPE_ACQUIRE || op->flags & HF_ACQUIRE_DETACHED)
        return 0;
    /* Not to enter the store's own hold once more. */
    const struct seat *s = hf__seat_find(op->entry, op->holder);
    return !s || (s->hold.state != HOLD_HELD && s->hold.state != HOLD_LOST);
}

static void host_warn(struct engine *e, const char *where, const char *what,
                      const char *why)
{
    char line[2 * HF_ERROR_TEXT_MAX];
    if (!e->log) return;
    snprintf(line, sizeof line, "%.100s: %s%s%.250s", where, what,
             *why ? ": " : "", why);
    e->log(e, HF_LOG_WARN, line);
}

static void store_heard(struct engine *e)
{
    struct host *h = e->host;
    if (!h->is_standing_in || e->answered_us <= h->stood_in_us) return;
    h->is_standing_in = 0;
    host_warn(e, h->store, "answers again", "");
}

/* It was granted by the store while another holder of this client uses the lock
 * of this host. */
static int is_joining(struct engine *e, const struct op *op)
{
    const struct lock_entry *there = entry_there(e, op->entry);
    return there && is_used(there) && !MUTATED(HOST_UNSEEN)
           && !hf__seat_find((struct lock_entry *)there, op->holder);
}

int hf__host_takes(struct engine *e, struct op *op, int status,
                   const char *text)
{
    if (!may_go(op) || e->closing) return 0;
    if (op->named) {
        /* An attached ticket may have brought the store's lock meanwhile, and
         * a hold that was there before is not given back by a silence. */
        op->undo = is_first_grant(op, status) && is_held(e, op->named, 0)
                   && !MUTATED(HOST_KEPT);
        return op->undo;
    }
    store_heard(e);
    op->undo = is_first_grant(op, status) && is_joining(e, op);
    op->falls = is_to_fall(e, op, status) != 0;
    if (op->falls) op->why = text ? hf__strdup(e->alloc, text) : NULL;
    return op->undo || op->falls;
}

int hf__host_undo(struct engine *e, struct op *op)
{
    char text[HF_ERROR_TEXT_MAX];
    struct hold_event release = {.type = EV_RELEASE};
    struct seat *s = op->granted, *kept = s;
    op->undo = 0;
    op->granted = NULL;
    if (!s) s = hf__seat_find(op->entry, op->holder);
    if (s && s->hold.state == HOLD_HELD && !s->op)
        hf__seat_step(e, s, &release);
    if (kept) hf__seat_unpin(e, kept);
    if (!op->named && !(op->flags & HF_ACQUIRE_DETACHED)) return 0;
    snprintf(text, sizeof text,
             op->named ? "%.150s; another holder of this client has the "
                         "store's lock by now"
                       : "detached: not on this host, and " JOINED,
             why_of(op));
    hf__op_finish(e, op, HF_UNAVAILABLE, text);
    return 1;
}

/* It failed at both: tell both reasons. */
static void both_told(struct op *op)
{
    char here[HF_ERROR_TEXT_MAX];
    snprintf(here, sizeof here, "%s", op->err.text);
    hf__error_set(&op->err, op->status, "%.110s; this host: %.120s", why_of(op),
                  here);
}

static void acquire_told(struct engine *e, struct op *op)
{
    struct host *h = e->host;
    if (op->status == HF_OK) {
        host_warn(e, op->entry->name, "held on this host only", why_of(op));
        hf__error_set(&op->err, HF_OK, "held on this host only: %.140s",
                      why_of(op));
        if (!op->fell) return;
        h->is_standing_in = 1;
        h->stood_in_us = e->now_us;
        return;
    }
    if (op->status == HF_TAKEN && !op->fell_trying) op->status = HF_TIMEOUT;
    if (op->status == HF_TAKEN || op->status == HF_TIMEOUT)
        hf__error_set(&op->err, op->status, "%s on this host: %.100s",
                      hf_status_text(op->status), why_of(op));
    else if (op->fell && hf_status_advice(op->status) == HF_ADVICE_FIX)
        both_told(op);
}

void hf__host_told(struct engine *e, struct op *op)
{
    assert(op->named);
    op_return(e, op);
    if (op->info) {
        op->info->guarantee = HF_GUARANTEE_LOCAL;
        op->info->fence = 0;
    }
    if (op->type == OP_TYPE_ACQUIRE && (op->fell || op->joined))
        acquire_told(e, op);
    why_free(e, op);
}
