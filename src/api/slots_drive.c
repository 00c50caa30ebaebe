/*
 * slots_drive.c: the operations of an acquire of slots, asked of the client.
 *
 * The rule: all operations of a batch go out in one flush.
 */
#include "api/slots.h"

#include "base/error.h"

#define PARTS_MAX (HF_SEMAPHORE_SLOTS_MAX + 1)

static size_t batch_of(struct slots_call *c, struct op **out)
{
    size_t n = 0;
    if (c->gate.is_asked) out[n++] = &c->gate.op;
    for (size_t i = 0; i < c->len; i++)
        if (c->parts[i].is_asked) out[n++] = &c->parts[i].op;
    return n;
}

void hf__slots_run(struct slots_call *c)
{
    struct op *ops[PARTS_MAX];
    struct pump *p = &c->sem->client->pump;
    while (hf__slots_step(c)) {
        size_t len = batch_of(c, ops);
        hf__pump_enter_all(p, ops, len, 1);
        hf__pump_wait_all(p, ops, len);
    }
}

/* ---- started ------------------------------------------------------------- */

static void call_end(struct slots_call *c)
{
    hf_client *client = c->sem->client;
    hf__slots_give(c);
    c->fn(c->sem, c->status, c->hold, &c->err, c->user);
    hf__free(&client->alloc, c);
}

static void part_complete(struct op *op);

static void end_complete(struct op *op)
{
    call_end(((struct slots_part *)op)->call);
}

/* No callback runs inside the call that started it: let who pumps find an
 * operation that is over at once, a release by nobody. */
static void end_later(struct slots_call *c)
{
    struct op *op = &c->gate.op;
    hf__op_init(op, OP_TYPE_RELEASE, c->gate.lock, hf_holder_new());
    op->complete = end_complete;
    hf__pump_start_all(&c->sem->client->pump, &op, 1);
}

/* One more than there are is counted: the last must not be over before all are
 * started.  `is_inside`: the user's call. */
static void batches_start(struct slots_call *c, int is_inside)
{
    struct op *ops[PARTS_MAX];
    struct pump *p = &c->sem->client->pump;
    do {
        size_t len = batch_of(c, ops);
        atomic_store(&c->left, len + 1);
        for (size_t i = 0; i < len; i++) ops[i]->complete = part_complete;
        hf__pump_start_all(p, ops, len);
        if (atomic_fetch_sub(&c->left, 1) != 1) return;
    } while (hf__slots_step(c));
    if (is_inside)
        end_later(c);
    else
        call_end(c);
}

static void part_complete(struct op *op)
{
    struct slots_call *c = ((struct slots_part *)op)->call;
    if (atomic_fetch_sub(&c->left, 1) != 1) return;
    if (hf__slots_step(c))
        batches_start(c, 0);
    else
        call_end(c);
}

int hf__slots_start(struct slots_call *c, struct hf_error *err)
{
    struct pump *p = &c->sem->client->pump;
    hf__pump_lock(p);
    int is_closing = p->engine.closing;
    hf__pump_unlock(p);
    if (is_closing)
        return hf__error_set(err, HF_CLOSED, "%.150s: %s",
                             hf_lock_name(c->sem->lock),
                             hf_status_text(HF_CLOSED));
    if (!hf__slots_step(c)) {
        if (err) *err = c->err;
        return c->status;
    }
    batches_start(c, 1);
    return HF_OK;
}
