/*
 * call.c: a call as one operation of the engine: made, run, and its result
 * given to the caller.
 *
 * The rule: a call is made by a holder, the calling thread unless it says
 * otherwise; holders are numbers from one counter of the process, and none is
 * used twice, as the kernel's thread ids would be.
 */
#include <stdatomic.h>
#include <string.h>

#include "api/client/client.h"
#include "api/hold/handle.h"
#include "base/error.h"
#include "engine/seats.h"

static atomic_uint_fast64_t last_holder;
static _Thread_local uint64_t own_holder;

uint64_t hf_holder_new(void)
{
    return (uint64_t)atomic_fetch_add(&last_holder, 1) + 1;
}

uint64_t hf_holder_self(void)
{
    if (own_holder == 0) own_holder = hf_holder_new();
    return own_holder;
}

void hf__call_init(struct op *op, enum op_type type, const hf_lock *lock,
                   uint64_t holder)
{
    op->type = type;
    op->entry = lock ? lock->entry : NULL;
    op->holder = holder ? holder : hf_holder_self();
    op->fall = FALL_NEVER;
    op->named = NULL;
    op->why = NULL;
    op->falls = op->fell = op->joined = op->fell_trying = op->undo = 0;
    op->outrun = op->forbids = 0;
    op->target = NULL;
    op->handle = op->hold = NULL;
    op->granted = NULL;
    op->grant = (struct grant){0};
    op->flags = 0;
    op->order = HF_ORDER_ANY;
    op->permits = 1;
    op->capacity = 0;
    op->wait_us = 0;
    op->tries_once = 0;
    op->lease_us = 0;
    op->lease_any = 0;
    memset(&op->plan, 0, sizeof op->plan);
    op->pattern = NULL;
    op->cursor = 0;
    op->only = 0;
    op->value = NULL;
    op->guard = NULL;
    op->tally = NULL;
    op->stock = NULL;
    op->ledger = NULL;
    op->race = NULL;
    op->cancel = NULL;
    op->stop = NULL;
    op->look = NULL;
    op->info = NULL;
    op->was_locked = 0;
    op->on_row = NULL;
    op->complete = NULL;
    op->complete_data = NULL;
    op->err.status = HF_OK;
    op->err.node = -1;
    op->err.sys_errno = 0;
    op->err.text[0] = '\0';
    op->err.unasked = 0;
    memset(op->err.reserved, 0, sizeof op->err.reserved);
}

void hf__call_give(hf_client *c, struct op *op)
{
    hf_hold *handle = op->handle;
    if (!handle) return;
    op->handle = NULL;
    if (op->status != HF_OK) {
        hf__handle_cancel(handle, c);
        return;
    }
    struct grip g = {.client = c, .seat = op->granted};
    op->status = hf__handle_given(handle, c, &g, &op->hold, &op->err);
    op->granted = NULL;
}

int hf__call_wait(hf_client *c, struct op *op, struct hf_error *err)
{
    if (op->fall == FALL_NEVER) op->fall = FALL_IF_SILENT;
    hf__pump_call(&c->pump, op);
    hf__call_give(c, op);
    if (err && (op->status != HF_OK || op->err.text[0])) *err = op->err;
    return op->status;
}

int hf__call_start(hf_client *c, const struct op *op,
                   void (*complete)(struct op *), const hf_lock *lock,
                   void (*fn)(void), void *user, struct hf_error *err)
{
    size_t extra = op->type == OP_TYPE_INSPECT ? sizeof(struct look) : 0;
    struct op *copy = hf__alloc(&c->alloc, sizeof *copy + extra);
    if (!copy) return hf__error_set(err, HF_NOMEM, "out of memory");
    *copy = *op;
    copy->fall = FALL_IF_SILENT;
    if (extra) {
        copy->look = (struct look *)(copy + 1);
        copy->info = &copy->look->info;
    }
    copy->complete = complete;
    copy->complete_data = (void *)lock;
    copy->complete_fn = fn;
    copy->complete_user = user;
    if (hf__pump_start(&c->pump, copy) == HF_OK) return HF_OK;
    hf__free(&c->alloc, copy);
    return hf__error_set(err, HF_CLOSED, "%s", hf_status_text(HF_CLOSED));
}
