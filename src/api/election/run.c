/*
 * election/run.c: one call carried out, waiting or by callbacks.
 *
 * The rule: an election has no fallback to this host.  Its operations go to the
 * client's store only.
 */
#include <string.h>

#include "api/election/election.h"
#include "api/hold/set.h"
#include "base/error.h"

static void task_step(struct sequence *s)
{
    struct election_task *t = (struct election_task *)s;
    if (hf__election_step(t)) hf__sequence_ask(s, t->e->client, &t->op);
}

void hf__election_over(struct election_task *t)
{
    hf_election *e = t->e;
    hf__free(&e->client->alloc, t->text);
    t->text = NULL;
    if (t->call != CALL_CAMPAIGN) return;
    if (t->seq.status == HF_OK)
        t->seq.status = hf__set_claim_one(t->handle, e->client, e->lock,
                                          t->holder, &t->hold, &t->seq.err);
    else
        hf__handle_cancel(t->handle, e->client);
    if (t->seq.status == HF_EXPIRED)
        hf__sequence_fail(&t->seq, HF_LOST, "the leadership was lost");
    hf__pump_lock(&e->client->pump);
    if (t->hold) e->hold = t->hold;
    e->campaigns = 0;
    hf__pump_unlock(&e->client->pump);
}

int hf__election_run(struct election_task *t, struct hf_error *err)
{
    hf_client *c = t->e->client;
    t->seq.step = task_step;
    hf__call_enter(c);
    hf__sequence_run(&t->seq, NULL);
    hf__election_over(t);
    hf__call_leave(c);
    if (t->seq.status != HF_OK && err) *err = t->seq.err;
    return t->seq.status;
}

static void task_tell(struct election_task *t)
{
    int status = t->seq.status, ok = status == HF_OK;
    const struct hf_error *err = &t->seq.err;
    if (!t->fn) return;
    if (t->call == CALL_CAMPAIGN)
        ((hf_campaigned_fn)t->fn)(t->e, status, ok ? t->hold : NULL, err,
                                  t->user);
    else if (t->call == CALL_RESIGN)
        ((hf_resigned_fn)t->fn)(t->e, status, err, t->user);
    else if (t->call == CALL_PUBLISH)
        ((hf_published_fn)t->fn)(t->e, status, err, t->user);
    else
        ((hf_awaited_fn)t->fn)(t->e, status, ok ? &t->leader : NULL, err,
                               t->user);
}

/* The client may be closed once the callback of its last call has run; the pump
 * is not freed before this function has returned. */
static void task_over(struct sequence *s)
{
    struct election_task *t = (struct election_task *)s;
    const struct allocator *a = &t->e->client->alloc;
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
    if (!t) return hf__error_set(err, HF_NOMEM, "out of memory");
    *t = *from;
    if (from->value_len) memcpy(t + 1, from->value, from->value_len);
    if (from->value) t->value = t + 1;
    if (from->seen) {
        t->seen_copy = *from->seen;
        t->seen = &t->seen_copy;
    }
    t->seq.step = task_step;
    t->seq.over = task_over;
    t->fn = fn;
    t->user = user;
    int status = hf__sequence_start(&t->seq, c, err);
    if (status == HF_OK) return HF_OK;
    hf__election_over(t);
    hf__free(&c->alloc, t);
    return status;
}
