/*
 * tally.c: see tally.h.  One rule: what a started operation refers to lives as
 * long as it does.
 */
#include "api/gate/tally.h"

#include "base/error.h"

int hf__tally_run(const hf_lock *lock, struct tally_job *job,
                  struct hf_error *err)
{
    struct op op;
    int status = hf__client_check(lock->client, err);
    if (status != HF_OK) return status;
    hf__call_init(&op, OP_TYPE_TALLY, lock, 0);
    if (lock->is_ours) job->flags |= REQ_OURS;
    op.tally = job;
    return hf__call_wait(lock->client, &op, err);
}

struct started {
    struct op op; /* first */
    struct tally_job job;
    hf_client *client;
    void *object;
    void (*tell)(const struct tally_end *end);
};

static void started_complete(struct op *op)
{
    struct started *s = (struct started *)op;
    const struct tally_end end = {.status = op->status,
                                  .job = &s->job,
                                  .err = &op->err,
                                  .object = s->object,
                                  .fn = op->complete_fn,
                                  .user = op->complete_user};
    s->tell(&end);
    hf__free(&s->client->alloc, s);
}

int hf__tally_start_as(const hf_lock *lock, const struct tally_job *job,
                       void (*tell)(const struct tally_end *end), void *object,
                       void (*fn)(void), void *user, struct hf_error *err)
{
    hf_client *c = lock->client;
    int status = hf__client_check(c, err);
    if (status != HF_OK) return status;
    struct started *s = hf__alloc_zero(&c->alloc, sizeof *s);
    if (!s) return hf__error_set(err, HF_NOMEM, "out of memory");
    hf__call_init(&s->op, OP_TYPE_TALLY, lock, 0);
    s->job = *job;
    if (lock->is_ours) s->job.flags |= REQ_OURS;
    s->op.tally = &s->job;
    s->op.complete = started_complete;
    s->op.complete_fn = fn;
    s->op.complete_user = user;
    s->client = c;
    s->object = object;
    s->tell = tell;
    if (hf__pump_start(&c->pump, &s->op) == HF_OK) return HF_OK;
    hf__free(&c->alloc, s);
    return hf__error_set(err, HF_CLOSED, "%s", hf_status_text(HF_CLOSED));
}
