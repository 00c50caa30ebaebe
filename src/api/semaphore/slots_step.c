/*
 * slots_step.c: one acquire of slots.
 *
 *   BEGIN -> GATE -> TRY -> RACE -> DONE -> OVER
 *              ^      |      |
 *              +---- BACK <--+
 *                     |      |
 *                     +------+--> UNDO ---> OVER
 *
 * The rule: only the holder of the collector waits for slots while it holds
 * others: two acquires that each held half of what both want would wait for
 * ever.  An acquire that has lost the collector releases its slots and begins
 * again.  An acquire of one slot holds nothing while it waits, and needs no
 * collector.
 */
#include "api/semaphore/slots.h"

#include "api/hold/set.h"
#include "base/error.h"
#include "base/math.h"
#include "sys/clock.h"

/* How often the holder of the collector checks that it still holds it. */
#define GATE_LOOK_US (2 * US_PER_S)

static int is_one_try(const struct slots_call *c)
{
    return (c->options.flags & HF_ACQUIRE_TRY) != 0;
}

/* What is left of the wait; -1: no end. */
static int64_t left_us(const struct slots_call *c)
{
    if (c->deadline_us == TIME_NEVER) return -1;
    return max64(c->deadline_us - hf__clock_us(), 1);
}

static int64_t held_count(const struct slots_call *c)
{
    int64_t n = 0;
    for (size_t i = 0; i < c->len; i++) n += c->parts[i].is_held;
    return n;
}

/* ---- asking -------------------------------------------------------------- */

static void acquire_ask(struct slots_call *c, struct slots_part *p)
{
    struct hf_acquire_options o = c->options;
    o.permits = 0;
    o.flags |= HF_ACQUIRE_NO_REENTRY; /* each slot is one permit */
    /* The collector keeps out other acquires of several slots for as long as
     * this one collects: the caller's limits are for the slots. */
    if (p == &c->collector) {
        o.lease_ms = 0;
        o.flags &= ~HF_ACQUIRE_FIXED;
        o.max_hold_ms = o.feed_ms = o.renew_ms = 0;
    }
    int status =
        hf__acquire_prepare(&p->op, p->lock, &o, c->holder, &p->op.err);
    if (status != HF_OK) { /* the options were checked: a fork since then */
        c->seq.status = status;
        c->seq.err = p->op.err;
        return;
    }
    p->op.wait_us = is_one_try(c) ? 0 : left_us(c);
    p->op.tries_once = c->phase == SLOTS_TRY;
    if (c->phase == SLOTS_RACE) p->op.race = &c->race;
    if (c->phase == SLOTS_RACE && c->want > 1)
        p->op.wait_us = p->op.wait_us < 0 ? GATE_LOOK_US
                                          : min64(p->op.wait_us, GATE_LOOK_US);
    p->is_asked = 1;
}

/* Release a slot or the collector.  The caller's deadline bounds only the wait
 * for the answer: the engine repeats the release. */
static void release_ask(struct slots_call *c, struct slots_part *p)
{
    hf__call_init(&p->op, OP_TYPE_RELEASE, p->lock, c->holder);
    if (c->deadline_us != TIME_NEVER) p->op.wait_us = left_us(c);
    p->is_held = 0;
    p->is_asked = 1;
}

static int collector_ask(struct slots_call *c)
{
    c->phase = SLOTS_COLLECTOR;
    acquire_ask(c, &c->collector);
    return c->collector.is_asked;
}

/* Try as many slots as are wanted; in the next batches as many as were tried
 * before, so that a few batches are enough. */
static int try_ask(struct slots_call *c)
{
    int64_t tried = 0, asked = 0;
    c->phase = SLOTS_TRY;
    for (size_t i = 0; i < c->len; i++) tried += c->parts[i].is_tried;
    int64_t most = max64(c->want - held_count(c), tried);
    for (size_t i = 0; i < c->len && asked < most; i++) {
        struct slots_part *p = &c->parts[(c->from + i) % c->len];
        if (p->is_held || p->is_tried) continue;
        acquire_ask(c, p);
        asked += p->is_asked;
    }
    return asked > 0;
}

static int race_ask(struct slots_call *c)
{
    int asked = 0;
    c->phase = SLOTS_RACE;
    c->race.is_won = 0;
    for (size_t i = 0; i < c->len; i++) {
        struct slots_part *p = &c->parts[(c->from + i) % c->len];
        if (p->is_held) continue;
        acquire_ask(c, p);
        asked += p->is_asked;
    }
    return asked > 0;
}

static int over(struct slots_call *c)
{
    c->phase = SLOTS_OVER;
    return 0;
}

/* Release everything; returns how much that is. */
static int release_all(struct slots_call *c)
{
    int asked = c->collector.is_held;
    if (asked) release_ask(c, &c->collector);
    for (size_t i = 0; i < c->len; i++) {
        if (!c->parts[i].is_held) continue;
        release_ask(c, &c->parts[i]);
        asked++;
    }
    return asked;
}

static int undo_ask(struct slots_call *c, int status,
                    const struct hf_error *err)
{
    c->phase = SLOTS_UNDO;
    c->seq.status = status;
    c->seq.err = *err;
    return release_all(c) ? 1 : over(c);
}

static int back_ask(struct slots_call *c)
{
    c->phase = SLOTS_BACK;
    return release_all(c);
}

/* Release the collector and the slots beyond those wanted: several may have
 * been granted at once. */
static int done_ask(struct slots_call *c)
{
    int64_t extra = held_count(c) - c->want;
    int asked = c->collector.is_held;
    c->phase = SLOTS_DONE;
    c->seq.status = HF_OK;
    if (asked) release_ask(c, &c->collector);
    for (size_t i = c->len; i-- > 0 && extra > 0;) {
        if (!c->parts[i].is_held) continue;
        release_ask(c, &c->parts[i]);
        extra--;
        asked++;
    }
    return asked ? 1 : over(c);
}

/* ---- what it has come to ------------------------------------------------- */

/* Take the answers of this batch.  Returns a failed operation, one with an
 * unusual status if there is one; NULL if none failed. */
static const struct op *batch_take(struct slots_call *c)
{
    const struct op *worst = NULL;
    for (size_t i = 0; i < c->len; i++) {
        struct slots_part *p = &c->parts[i];
        int status = p->op.status;
        if (!p->is_asked) continue;
        p->is_asked = 0;
        p->is_held = status == HF_OK;
        p->is_tried = status == HF_TAKEN;
        int is_usual = status == HF_TAKEN || status == HF_TIMEOUT
                       || status == HF_CANCELLED;
        if (!p->is_held && (!worst || !is_usual)) worst = &p->op;
    }
    return worst;
}

/* Forget the slots that were lost while others were waited for. */
static void held_check(struct slots_call *c)
{
    for (size_t i = 0; i < c->len; i++) {
        struct slots_part *p = &c->parts[i];
        if (!p->is_held) continue;
        p->is_held = hf__lock_valid_ms(p->lock, c->holder) > 0;
        if (!p->is_held) hf__lock_undo(p->lock, c->holder);
    }
}

static int is_refusal(int status)
{
    return status != HF_OK && status != HF_TAKEN;
}

static int tried(struct slots_call *c)
{
    const struct op *worst = batch_take(c);
    if (held_count(c) >= c->want) return done_ask(c);
    if (worst && is_refusal(worst->status))
        return undo_ask(c, worst->status, &worst->err);
    if (!is_one_try(c))
        return race_ask(c) ? 1 : undo_ask(c, c->seq.status, &c->seq.err);
    if (try_ask(c)) return 1;
    if (c->seq.status != HF_OK) return undo_ask(c, c->seq.status, &c->seq.err);
    struct hf_error err = {0};
    hf__error_set(&err, HF_TAKEN, "too few permits are free");
    return undo_ask(c, HF_TAKEN, &err);
}

/* 1 if only GATE_LOOK_US was over, not the caller's wait. */
static int is_to_look(const struct slots_call *c, int status)
{
    int has_time =
        c->deadline_us == TIME_NEVER || hf__clock_us() < c->deadline_us;
    return c->want > 1 && status == HF_TIMEOUT && has_time;
}

static int collector_is_lost(const struct slots_call *c)
{
    return c->want > 1 && hf__lock_valid_ms(c->collector.lock, c->holder) <= 0;
}

static int raced(struct slots_call *c)
{
    int64_t before = held_count(c);
    const struct op *worst = batch_take(c);
    int has_won = held_count(c) > before;
    if (!has_won && worst && !is_to_look(c, worst->status))
        return undo_ask(c, worst->status, &worst->err);
    held_check(c);
    if (held_count(c) >= c->want) return done_ask(c);
    if (collector_is_lost(c)) return back_ask(c);
    return race_ask(c) ? 1 : undo_ask(c, c->seq.status, &c->seq.err);
}

static int collector_answered(struct slots_call *c)
{
    struct slots_part *g = &c->collector;
    g->is_asked = 0;
    g->is_held = g->op.status == HF_OK;
    if (!g->is_held) return undo_ask(c, g->op.status, &g->op.err);
    return try_ask(c) ? 1 : undo_ask(c, c->seq.status, &c->seq.err);
}

/* Everything is released: begin again with the collector. */
static int backed(struct slots_call *c)
{
    for (size_t i = 0; i < c->len; i++)
        c->parts[i].is_asked = c->parts[i].is_tried = 0;
    c->collector.is_asked = 0;
    return collector_ask(c) ? 1 : over(c);
}

/* 0: the call is over. */
static int call_step(struct slots_call *c)
{
    switch (c->phase) {
    case SLOTS_BEGIN:
        if (c->want > 1 ? collector_ask(c) : try_ask(c)) return 1;
        return over(c);
    case SLOTS_COLLECTOR:
        return collector_answered(c);
    case SLOTS_TRY:
        return tried(c);
    case SLOTS_RACE:
        return raced(c);
    case SLOTS_BACK:
        return backed(c);
    default:
        return over(c);
    }
}

static void part_ask(struct slots_call *c, struct slots_part *p)
{
    if (p->is_asked) hf__sequence_ask(&c->seq, c->sem->client, &p->op);
}

void hf__slots_step(struct sequence *s)
{
    struct slots_call *c = (struct slots_call *)s;
    if (!call_step(c)) return;
    part_ask(c, &c->collector);
    for (size_t i = 0; i < c->len; i++) part_ask(c, &c->parts[i]);
}

void hf__slots_give(struct slots_call *c)
{
    hf_lock *locks[HF_SEMAPHORE_SLOTS_MAX];
    size_t n = 0;
    if (c->seq.status != HF_OK) {
        hf__set_cancel(c->set, c->sem->client);
        return;
    }
    for (size_t i = 0; i < c->len; i++)
        if (c->parts[i].is_held) locks[n++] = c->parts[i].lock;
    c->seq.status = hf__set_claim(c->set, c->sem->client, locks, c->holder,
                                  &c->hold, &c->seq.err);
}
