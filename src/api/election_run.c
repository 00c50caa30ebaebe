/*
 * election_run.c: one call: one operation after the other, waited for or called
 * back.
 *
 * The rule: elections know nothing of a lock of this host alone.  Operations go
 * to the client's store directly, never to its fallback.
 */
#include <string.h>

#include "api/election.h"
#include "api/hold_set.h"
#include "base/error.h"

void hf__election_over(struct election_task *t)
{
    hf_election *e = t->e;
    hf__free(&e->client->alloc, t->text);
    t->text = NULL;
    if (t->call != CALL_CAMPAIGN) return;
    if (t->status == HF_OK)
        t->status = hf__hold_claim(t->handle, e->client, e->lock, t->holder,
                                   &t->hold, &t->err);
    else
        hf__handle_cancel(t->handle, e->client);
    hf__pump_lock(&e->client->pump);
    if (t->hold) e->hold = t->hold;
    e->campaigns = 0;
    hf__pump_unlock(&e->client->pump);
}

/* Until it is over; on the caller's thread. */
int hf__election_run(struct election_task *t, struct hf_error *err)
{
    hf_client *c = t->e->client;
    hf__call_enter(c);
    while (hf__election_step(t)) hf__pump_run(&c->pump, &t->op);
    hf__election_over(t);
    hf__call_leave(c);
    if (t->status != HF_OK && err) *err = t->err;
    return t->status;
}

static void task_tell(struct election_task *t)
{
    int ok = t->status == HF_OK;
    if (!t->fn) return;
    if (t->call == CALL_CAMPAIGN)
        ((hf_campaigned_fn)t->fn)(t->e, t->status, ok ? t->hold : NULL, &t->err,
                                  t->user);
    else if (t->call == CALL_RESIGN)
        ((hf_resigned_fn)t->fn)(t->e, t->status, &t->err, t->user);
    else
        ((hf_awaited_fn)t->fn)(t->e, t->status, ok ? &t->leader : NULL, &t->err,
                               t->user);
}

/* The client may go once the user has been told of its last call; the pump
 * stays until this has returned. */
static void task_free(struct election_task *t)
{
    const struct allocator *a = &t->e->client->alloc;
    hf__free(a, t->leader.data);
    hf__free(a, t->text);
    hf__free(a, t);
}

static void task_complete(struct op *op);

static int task_start(struct election_task *t)
{
    t->op.complete = task_complete;
    return hf__pump_start(&t->e->client->pump, &t->op);
}

static void task_complete(struct op *op)
{
    struct election_task *t = (struct election_task *)op;
    const struct allocator *a = &t->e->client->alloc;
    if (hf__election_step(t)) {
        if (task_start(t) == HF_OK) return;
        t->status =
            hf__error_set(&t->err, HF_CLOSED, "%.80s: %s",
                          t->e->lock->entry->name, hf_status_text(HF_CLOSED));
    }
    hf__election_over(t);
    task_tell(t); /* it may close the election */
    hf__free(a, t->leader.data);
    hf__free(a, t);
}

/* A copy of `from`, and of the value behind it, on its way. */
int hf__election_launch(const struct election_task *from, void (*fn)(void),
                        void *user, struct hf_error *err)
{
    hf_client *c = from->e->client;
    struct election_task *t = hf__alloc(&c->alloc, sizeof *t + from->value_len);
    if (!t)
        return hf__error_set(err, HF_NOMEM, "%.80s: out of memory",
                             from->e->lock->entry->name);
    *t = *from;
    if (from->value_len) memcpy(t + 1, from->value, from->value_len);
    if (from->value) t->value = t + 1;
    if (from->seen) {
        t->seen_copy = *from->seen;
        t->seen = &t->seen_copy;
    }
    t->fn = fn;
    t->user = user;
    int status = hf__election_step(t) ? task_start(t) : t->status;
    if (status == HF_OK) return HF_OK;
    if (status == HF_CLOSED)
        hf__error_set(&t->err, HF_CLOSED, "%.80s: %s", t->e->lock->entry->name,
                      hf_status_text(HF_CLOSED));
    if (err) *err = t->err;
    hf__election_over(t);
    task_free(t);
    return status;
}
