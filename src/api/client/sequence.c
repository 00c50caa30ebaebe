/*
 * sequence.c: driving a run of steps, see sequence.h.
 *
 * The rule: all operations that a step asks of one client go out in one flush,
 * and those of its other clients before any answer is waited for.
 */
#include "api/client/sequence.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "base/math.h"
#include "holdfast/multi.h"
#include "holdfast/semaphore.h"

/* The slots of a semaphore and their gate, or the locks of a set. */
#define BATCH_MAX (HF_SEMAPHORE_SLOTS_MAX + 1)
_Static_assert(BATCH_MAX >= HF_MULTI_MAX, "a set of locks is one batch");

/* ---- for steps ----------------------------------------------------------- */

/* Until an operation is begun, the engine uses neither its `next` nor what its
 * callback is given: they are free for the list of what a step asks for. */
void hf__sequence_ask(struct sequence *s, hf_client *c, struct op *op)
{
    op->complete_data = c;
    op->complete_user = s;
    op->next = NULL;
    if (s->asked)
        s->asked_last->next = op;
    else
        s->asked = op;
    s->asked_last = op;
}

void hf__sequence_ask_any(struct sequence *s, hf_client *c, struct op *op)
{
    op->fall = FALL_IF_SILENT;
    hf__sequence_ask(s, c, op);
}

void hf__sequence_nap(struct sequence *s, hf_client *c, struct op *op,
                      int64_t us, hf_cancel *cancel)
{
    hf__call_init(op, OP_TYPE_NAP, NULL, 0);
    op->wait_us = max64(us, 1);
    op->cancel = cancel;
    hf__sequence_ask(s, c, op);
}

int hf__sequence_fail(struct sequence *s, int status, const char *format, ...)
{
    char text[HF_ERROR_TEXT_MAX];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    s->status = hf__error_set(&s->err, status, "%s", text);
    return status;
}

int hf__sequence_fail_as(struct sequence *s, const struct op *op)
{
    s->status = op->status;
    s->err = op->err;
    return op->status;
}

/* ---- what a step asked for ----------------------------------------------- */

/* What a step asked for, sorted by client.  It is a copy, because a started run
 * may be over, and its memory freed, once its last operation is begun. */
struct batch {
    size_t len;
    struct op *ops[BATCH_MAX];
    hf_client *clients[BATCH_MAX];
};

static hf_client *client_of(const struct op *op)
{
    return op->complete_data;
}

/* Take a step; returns how much it asked for. */
static size_t batch_take(struct sequence *s, struct batch *b)
{
    s->asked = NULL;
    s->step(s);
    b->len = 0;
    while (s->asked) {
        hf_client *c = client_of(s->asked);
        for (struct op **at = &s->asked; *at;) {
            struct op *op = *at;
            if (client_of(op) != c) {
                at = &op->next;
                continue;
            }
            *at = op->next;
            b->clients[b->len] = c;
            b->ops[b->len++] = op;
        }
    }
    return b->len;
}

/* How many, from `at` on, are of one client; 0 at the end. */
static size_t group_len(const struct batch *b, size_t at)
{
    size_t n = 0;
    while (at + n < b->len && b->clients[at + n] == b->clients[at]) n++;
    return n;
}

/* ---- for a caller that waits --------------------------------------------- */

static void batch_run(const struct batch *b)
{
    if (b->len == 1) {
        hf__pump_call(&b->clients[0]->pump, b->ops[0]);
        return;
    }
    for (size_t at = 0, n; (n = group_len(b, at)) > 0; at += n)
        hf__pump_enter_all(&b->clients[at]->pump, b->ops + at, n, n == b->len);
    for (size_t at = 0, n; (n = group_len(b, at)) > 0; at += n)
        hf__pump_wait_all(&b->clients[at]->pump, b->ops + at, n);
}

int hf__sequence_run(struct sequence *s, struct hf_error *err)
{
    struct batch b;
    while (batch_take(s, &b) > 0) batch_run(&b);
    if (s->status != HF_OK && err) *err = s->err;
    return s->status;
}

/* ---- started ------------------------------------------------------------- */

static void op_complete(struct op *op);

/* 1: it is on its way; 0: it asked for nothing. */
static int step_start(struct sequence *s)
{
    struct batch b;
    if (batch_take(s, &b) == 0) return 0;
    atomic_store(&s->left, b.len);
    for (size_t i = 0; i < b.len; i++) b.ops[i]->complete = op_complete;
    for (size_t at = 0, n; (n = group_len(&b, at)) > 0; at += n)
        hf__pump_start_all(&b.clients[at]->pump, b.ops + at, n);
    return 1;
}

/* Operations of several clients may be over at the same time: the last one
 * takes the next step. */
static void op_complete(struct op *op)
{
    struct sequence *s = op->complete_user;
    if (atomic_fetch_sub(&s->left, 1) != 1) return;
    if (!step_start(s)) s->over(s);
}

int hf__sequence_start(struct sequence *s, hf_client *c, struct hf_error *err)
{
    hf__call_enter(c); /* it must not be freed under the first step */
    int is_begun = 0;
    if (hf__client_is_closing(c))
        hf__sequence_fail(s, HF_CLOSED, "client: %s",
                          hf_status_text(HF_CLOSED));
    else
        is_begun = step_start(s);
    hf__call_leave(c);
    if (is_begun) return HF_OK;
    if (err) *err = s->err;
    return s->status;
}
