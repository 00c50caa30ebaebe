/*
 * once/look.c: asking about a run, without beginning one.
 *
 *   READ --> over
 *    |  ^
 *    v  | changed
 *   INSPECT --> AGAIN --> over
 *
 * The rule: a run that is begun and not ended runs, if its lock is held.  The
 * lock may have been given back between two looks, after the record was
 * written: that is looked at again.
 */
#include <string.h>

#include "api/once/run.h"
#include "base/error.h"

#define LOOK_TRIES 3 /* a record that changes meanwhile */

/* The operation under way. */
enum look_phase {
    LOOK_START,   /* none yet */
    LOOK_READ,    /* the record */
    LOOK_INSPECT, /* the lock */
    LOOK_AGAIN    /* the record: whether it is still the same */
};

static void look_tell(hf_once *once, int outcome)
{
    struct once_record *r = &once->seen;
    int counts =
        once->found.version
        && hf__once_decide(r, &once->o, once->found.now_ms) != HF_ONCE_MINE;
    /* A run of an earlier period does not count for this one. */
    if (outcome == HF_ONCE_DIED && !counts) outcome = 0;
    if (outcome == HF_ONCE_DONE && !counts) outcome = 0;
    if (!outcome) memset(r, 0, sizeof *r);
    hf__once_tell(once, r, outcome);
}

static void inspect_ask(hf_once *once)
{
    memset(once->look, 0, sizeof *once->look);
    hf__call_init(&once->op, OP_TYPE_INSPECT, once->lock, 0);
    once->op.look = once->look;
    once->op.info = &once->look->info;
    once->phase = LOOK_INSPECT;
    hf__sequence_ask_any(&once->seq, once->client, &once->op);
}

static void read_over(hf_once *once)
{
    int status = hf__once_read_over(once);
    if (status != HF_OK)
        hf__once_fail(once, status, &once->op.err);
    else if (once->found.version && !once->seen.is_ended)
        inspect_ask(once);
    else
        look_tell(once, once->found.version ? HF_ONCE_DONE : 0);
}

static void inspect_over(hf_once *once)
{
    const struct hf_info *info = &once->look->info;
    if (once->op.status != HF_OK)
        hf__sequence_fail_as(&once->seq, &once->op);
    else if (info->guarantee != HF_GUARANTEE_STORE)
        hf__sequence_fail(&once->seq, HF_UNAVAILABLE,
                          "the store cannot be reached");
    else if (info->locked)
        look_tell(once, HF_ONCE_RUNNING);
    else
        hf__once_read(once, LOOK_AGAIN);
}

static void again_over(hf_once *once)
{
    uint64_t version = once->job.found.version;
    if (once->op.status != HF_OK) {
        hf__sequence_fail_as(&once->seq, &once->op);
        return;
    }
    hf_value_free(once->client, &once->job.found);
    if (version == once->found.version)
        look_tell(once, HF_ONCE_DIED);
    else if (++once->tries < LOOK_TRIES)
        hf__once_read(once, LOOK_READ);
    else
        hf__sequence_fail(&once->seq, HF_UNAVAILABLE,
                          "its record kept changing");
}

static void look_step(struct sequence *s)
{
    hf_once *once = (hf_once *)s;
    if (once->phase == LOOK_START)
        hf__once_read(once, LOOK_READ);
    else if (once->phase == LOOK_READ)
        read_over(once);
    else if (once->phase == LOOK_INSPECT)
        inspect_over(once);
    else
        again_over(once);
}

static int look_open(hf_client *client, const char *name,
                     const struct hf_once_options *options, hf_once **out,
                     struct hf_error *err)
{
    hf_once *once = NULL;
    int status =
        hf__once_open(client, name, options, sizeof(struct look), &once, err);
    if (status != HF_OK) return status;
    once->look = (struct look *)(once + 1);
    once->o.flags = 0; /* HF_ONCE_RETRY would hide a run that failed */
    once->seq.step = look_step;
    *out = once;
    return HF_OK;
}

int hf_once_look(hf_client *client, const char *name,
                 const struct hf_once_options *options,
                 struct hf_once_result *result, struct hf_error *err)
{
    hf_once *once = NULL;
    int status = hf__client_check(client, err);
    if (status == HF_OK) status = hf__result_check(result, err);
    if (status != HF_OK) return status;
    hf__call_enter(client);
    status = look_open(client, name, options, &once, err);
    if (status == HF_OK) {
        status = hf__sequence_run(&once->seq, err);
        if (status == HF_OK) hf__result_fill(result, &once->result);
        hf__once_close(once);
    }
    hf__call_leave(client);
    return status;
}

static void look_over(struct sequence *s)
{
    hf_once *once = (hf_once *)s;
    hf_client *client = once->client;
    hf_once_looked_fn fn = (hf_once_looked_fn)once->fn;
    fn(client, s->status, s->status == HF_OK ? &once->result : NULL, &s->err,
       once->user);
    hf__free(&client->alloc, once->result.data);
    hf__once_close(once);
}

int hf_once_look_start(hf_client *client, const char *name,
                       const struct hf_once_options *options,
                       hf_once_looked_fn cb, void *user, struct hf_error *err)
{
    hf_once *once = NULL;
    if (!cb) return hf__error_set(err, HF_INVALID, "once: no callback");
    int status = hf__client_check(client, err);
    if (status != HF_OK) return status;
    hf__call_enter(client);
    status = look_open(client, name, options, &once, err);
    if (status == HF_OK)
        status = hf__once_start(once, look_over, (void (*)(void))cb, user, err);
    hf__call_leave(client);
    return status;
}

void hf_once_result_free(hf_client *client, struct hf_once_result *result)
{
    hf__free(&client->alloc, result->data);
    result->data = NULL;
    result->len = 0;
}
