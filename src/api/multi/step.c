/*
 * multi/step.c: what a call on a set of locks asks next.
 *
 *                all taken
 *   ALL ------------------------------> OVER
 *    |  ^                                ^
 *    |  |        +-- refused for the     | failed for good
 *    v  | taken  v   third time          |
 *   UNDO --> ONE | ORDER --taken--> ORDER (the next)
 *    ^             |
 *    +-- its time is over
 *
 * The rule: whatever goes wrong, the next thing that is done is to give back
 * what was taken.  A call that waits for a lock holds no other lock of the set;
 * only after its third refusal does it hold the locks that come before that one
 * in the fixed order, and for a bounded time.
 */
#include "api/multi/multi.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/math.h"
#include "engine/locks.h"
#include "sys/clock.h"
#include "sys/random.h"

#define ROUNDS_MAX 2                     /* before names are taken in order */
#define ORDER_US_FIRST (200 * US_PER_MS) /* each wait then, at first */
#define ORDER_US_MOST (60 * US_PER_S)    /* and at most */

/* ---- asking -------------------------------------------------------------- */

/* What is left of its time; -1: no end. */
static int64_t left_us(const struct multi_call *c)
{
    return c->deadline_us == TIME_NEVER
               ? -1
               : max64(0, c->deadline_us - hf__clock_us());
}

static int is_one_try(const struct multi_call *c)
{
    return (c->options.flags & HF_ACQUIRE_TRY) != 0;
}

/* 1 if holds of this call may not be renewed while it waits: the waiting caller
 * pumps one client, and another client of the call may have no thread. */
static int is_unkept(const struct multi_call *c)
{
    for (size_t i = 0; i < c->clients_len && c->clients_len > 1; i++)
        if (c->clients[i].client->pump.own_loop) return 1;
    return 0;
}

static int64_t least_lease_us(const struct multi_call *c, const struct op *op)
{
    int64_t least = op->lease_us;
    for (size_t i = 0; i < c->len; i++)
        if (c->parts[i].is_held) least = min64(least, c->parts[i].op.lease_us);
    return least;
}

/* How long to wait for one lock while others are held.  Its holder may be
 * waiting for one of ours: the wait is bounded, and random so that two calls do
 * not keep colliding.  It is shorter than a lease that is not renewed. */
static int64_t order_wait_us(struct multi_call *c, const struct op *op)
{
    uint64_t random = 0;
    int64_t most = c->order_us;
    if (hf__random_bytes(&random, sizeof random) != 0)
        random = (uint64_t)hf__clock_us();
    if (op->flags & (HF_ACQUIRE_FIXED | HF_ACQUIRE_DETACHED) || is_unkept(c))
        most = min64(most, least_lease_us(c, op) / 4);
    if (op->plan.max_hold_us) most = min64(most, op->plan.max_hold_us / 4);
    return most / 2 + (int64_t)(random % (uint64_t)(most / 2 + 1));
}

static int acquire_ask(struct multi_call *c, struct multi_part *p)
{
    struct op *op = &p->op;
    int64_t wait_us = left_us(c);
    int status =
        hf__acquire_prepare(op, p->lock, &c->options, c->holder, &op->err);
    if (status != HF_OK) return status;
    op->stop = &c->stop;
    /* 0 would mean one try; this call waits, and its time is over. */
    op->wait_us = is_one_try(c) ? 0 : wait_us ? wait_us : 1;
    op->tries_once = c->phase == MULTI_ALL;
    c->bound_us = 0;
    if (c->phase == MULTI_ORDER) {
        int64_t bound_us = order_wait_us(c, op);
        if (wait_us < 0 || bound_us < wait_us) {
            op->wait_us = max64(bound_us, 1);
            c->bound_us = bound_us;
        }
    }
    p->is_asked = 1;
    return HF_OK;
}

/* Release a lock.  If the call's time is over, or it is cancelled, the release
 * is sent but not waited for: the engine repeats it. */
static void undo_ask(struct multi_call *c, struct multi_part *p)
{
    hf__call_init(&p->op, OP_TYPE_RELEASE, p->lock, c->holder);
    p->is_asked = 1;
    p->op.cancel = c->options.cancel;
    p->op.stop = &c->stop;
    if (c->deadline_us != TIME_NEVER) p->op.wait_us = max64(1, left_us(c));
}

static int is_wanted(const struct multi_call *c, size_t i)
{
    if (c->phase == MULTI_UNDO) return c->parts[i].is_held;
    if (c->phase == MULTI_ALL) return !c->parts[i].is_held;
    return i == c->at;
}

/* The call fails because of this lock: its error names the lock.  HF_CLOSED
 * does not: it is about the client, and the lock may be freed by now. */
static void call_fail(struct multi_call *c, int status,
                      const struct multi_part *p)
{
    struct hf_error *err = &c->seq.err;
    c->seq.status = status;
    *err = p->op.err;
    if (status != HF_CLOSED) hf__error_about(err, p->lock->entry->name);
}

/* Returns how many locks were asked for; 0 if the call has failed. */
static int phase_ask(struct multi_call *c, enum multi_phase phase)
{
    int asked = 0, status = HF_OK;
    c->phase = phase;
    for (size_t i = 0; i < c->len && status == HF_OK; i++) {
        struct multi_part *p = &c->parts[i];
        if (!is_wanted(c, i)) continue;
        if (phase == MULTI_UNDO)
            undo_ask(c, p);
        else
            status = acquire_ask(c, p);
        if (status == HF_OK)
            asked++;
        else
            call_fail(c, status, p);
    }
    if (status == HF_OK) return asked;
    for (size_t i = 0; i < c->len; i++) c->parts[i].is_asked = 0;
    return 0;
}

/* ---- what came of it ----------------------------------------------------- */

/* The first part that failed; one that failed for good comes before one that
 * was refused.  NULL if none failed. */
static struct multi_part *batch_take(struct multi_call *c)
{
    struct multi_part *failed = NULL;
    for (size_t i = 0; i < c->len; i++) {
        struct multi_part *p = &c->parts[i];
        if (!p->is_asked) continue;
        p->is_asked = 0;
        if (p->op.status == HF_OK) {
            p->is_held = 1;
            continue;
        }
        if (!failed
            || (failed->op.status == HF_TAKEN && p->op.status != HF_TAKEN))
            failed = p;
    }
    return failed;
}

static size_t held_count(const struct multi_call *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->len; i++) n += c->parts[i].is_held != 0;
    return n;
}

/* Give back what was taken, then go on with `next`. */
static int call_undo(struct multi_call *c, enum multi_phase next)
{
    c->next = next;
    if (held_count(c) > 0) return phase_ask(c, MULTI_UNDO);
    c->phase = next;
    return next == MULTI_OVER ? 0 : phase_ask(c, next);
}

static int call_give_up(struct multi_call *c, int status,
                        const struct multi_part *p)
{
    call_fail(c, status, p);
    return call_undo(c, MULTI_OVER);
}

static int call_time_out(struct multi_call *c, struct multi_part *p)
{
    hf__error_set(&p->op.err, HF_TIMEOUT, "%s", hf_status_text(HF_TIMEOUT));
    return call_give_up(c, HF_TIMEOUT, p);
}

/* Another holder has the lock at `at`: choose the lock to wait for, and how. */
static int call_again(struct multi_call *c, size_t at)
{
    if (c->phase == MULTI_ORDER) {
        c->order_us = min64(2 * c->order_us, ORDER_US_MOST);
        c->rounds = 0;
    }
    c->at = at;
    if (c->phase == MULTI_ORDER || ++c->rounds <= ROUNDS_MAX)
        return call_undo(c, MULTI_ONE);
    c->at = 0;
    return call_undo(c, MULTI_ORDER);
}

static int is_refusal(const struct multi_call *c, int status)
{
    if (is_one_try(c) || atomic_load(&c->stop)) return 0;
    /* HF_UNAVAILABLE: the bounded wait was too short for an answer, which is no
     * reason to give up either. */
    if (c->phase == MULTI_ORDER)
        return c->bound_us
               && (status == HF_TIMEOUT || status == HF_UNAVAILABLE);
    return c->phase == MULTI_ALL && status == HF_TAKEN;
}

static int call_refused(struct multi_call *c, struct multi_part *p)
{
    int status = p->op.status;
    if (!is_refusal(c, status)) {
        /* A try at the end of a wait fails as the wait does. */
        if (status == HF_TAKEN && !is_one_try(c))
            status = atomic_load(&c->stop) ? HF_CLOSED : HF_TIMEOUT;
        if (status != p->op.status)
            hf__error_set(&p->op.err, status, "%s", hf_status_text(status));
        return call_give_up(c, status, p);
    }
    if (left_us(c) != 0) return call_again(c, (size_t)(p - c->parts));
    return call_time_out(c, p);
}

/* All were acquired; the lease of the first may have ended meanwhile. */
static int call_granted(struct multi_call *c)
{
    for (size_t i = 0; i < c->len; i++) {
        struct multi_part *p = &c->parts[i];
        if (hf__lock_valid_ms(p->lock, c->holder) > 0) continue;
        if (!is_one_try(c) && left_us(c) != 0) return call_again(c, i);
        hf__error_set(&p->op.err, HF_EXPIRED,
                      "its lease ended before the others were acquired");
        return call_give_up(c, HF_EXPIRED, p);
    }
    c->seq.status = HF_OK;
    c->phase = MULTI_OVER;
    return 0;
}

static int acquired_step(struct multi_call *c)
{
    struct multi_part *failed = batch_take(c);
    if (failed) return call_refused(c, failed);
    if (held_count(c) == c->len) return call_granted(c);
    if (c->phase == MULTI_ORDER) c->at++;
    return phase_ask(c, c->phase == MULTI_ORDER ? MULTI_ORDER : MULTI_ALL);
}

static int undone_step(struct multi_call *c)
{
    for (size_t i = 0; i < c->len; i++)
        c->parts[i].is_asked = c->parts[i].is_held = 0;
    c->phase = c->next;
    if (c->next != MULTI_OVER && left_us(c) == 0)
        return call_time_out(c, &c->parts[c->at]);
    return c->next == MULTI_OVER ? 0 : phase_ask(c, c->next);
}

static int call_begin(struct multi_call *c)
{
    c->order_us = ORDER_US_FIRST;
    c->deadline_us = TIME_NEVER;
    if (c->options.wait_ms > 0)
        c->deadline_us = hf__clock_us() + c->options.wait_ms * US_PER_MS;
    return phase_ask(c, MULTI_ALL);
}

int hf__multi_step(struct multi_call *c)
{
    int asked = 0;
    switch (c->phase) {
    case MULTI_BEGIN:
        return call_begin(c);
    case MULTI_ALL:
    case MULTI_ONE:
    case MULTI_ORDER:
        asked = acquired_step(c);
        break;
    case MULTI_UNDO:
        asked = undone_step(c);
        break;
    case MULTI_OVER:
        break;
    }
    /* The next batch could not be asked for: the call fails, and gives back
     * what it holds. */
    if (!asked && c->phase != MULTI_OVER) asked = call_undo(c, MULTI_OVER);
    return asked;
}
