/*
 * latch.c: the calls on latches.
 *
 * The rule: what is out of bounds is refused before anything is sent, and
 * results go out only on success.
 */
#include "holdfast/latch.h"

#include "api/gate/gate.h"
#include "api/gate/tally.h"
#include "base/error.h"

static hf_lock *lock_of(const hf_latch *latch)
{
    return (hf_lock *)(uintptr_t)latch;
}

int hf_latch_open(hf_client *client, const char *name, hf_latch **out,
                  struct hf_error *err)
{
    return hf_latch_open_as(client, name, 0, out, err);
}

int hf_latch_open_as(hf_client *client, const char *name, uint32_t flags,
                     hf_latch **out, struct hf_error *err)
{
    hf_lock *lock;
    if (flags & ~HF_LATCH_OURS)
        return hf__error_set(err, HF_INVALID, "latch: flags 0x%x: unknown",
                             flags & ~HF_LATCH_OURS);
    int status = hf__gate_open(client, KIND_LATCH, name, &lock, err);
    if (status != HF_OK) return status;
    if (flags & HF_LATCH_OURS) lock->is_ours = 1;
    *out = (hf_latch *)(uintptr_t)lock;
    return HF_OK;
}

void hf_latch_close(hf_latch *latch)
{
    hf_lock_close(lock_of(latch));
}

const char *hf_latch_name(const hf_latch *latch)
{
    return hf_lock_name(lock_of(latch));
}

/* ---- counting ----------------------------------------------------------- */

static int set_check(int64_t count, struct hf_error *err)
{
    if (count >= 1 && count <= HF_LATCH_MAX) return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "count of %lld: out of range: 1 to %d",
                         (long long)count, HF_LATCH_MAX);
}

/* The status of a change that the store did not make. */
static int outcome(const struct tally_job *job, struct hf_error *err)
{
    if (job->is_done || job->what == TALLY_DELETE) return HF_OK;
    if (job->what == TALLY_OPEN)
        return hf__error_set(err, HF_TAKEN,
                             "it is set already, with %lld left to count",
                             (long long)job->found.value);
    return hf__error_set(err, HF_INVALID,
                         "it was never set, or has come to zero: nothing was "
                         "counted");
}

static int64_t left_of(const struct tally_job *job)
{
    return job->what == TALLY_DELETE ? job->is_done : job->found.value;
}

static int job_run(hf_latch *latch, enum tally_do what, int64_t number,
                   int64_t *left, struct hf_error *err)
{
    struct tally_job job = {.what = what, .number = number};
    int status = hf__tally_run(lock_of(latch), &job, err);
    if (status == HF_OK) status = outcome(&job, err);
    if (status == HF_OK && left) *left = left_of(&job);
    return status;
}

int hf_latch_set(hf_latch *latch, int64_t count, struct hf_error *err)
{
    int status = set_check(count, err);
    if (status != HF_OK) return status;
    return job_run(latch, TALLY_OPEN, count, NULL, err);
}

int hf_latch_down(hf_latch *latch, int64_t *left, struct hf_error *err)
{
    return job_run(latch, TALLY_DOWN, 0, left, err);
}

int hf_latch_count(hf_latch *latch, int64_t *left, struct hf_error *err)
{
    return job_run(latch, TALLY_READ, 0, left, err);
}

int hf_latch_delete(hf_latch *latch, int *was_set, struct hf_error *err)
{
    int64_t was;
    int status = job_run(latch, TALLY_DELETE, 0, &was, err);
    if (status == HF_OK && was_set) *was_set = (int)was;
    return status;
}

/* ---- the same, started -------------------------------------------------- */

static void job_tell(const struct tally_end *end)
{
    hf_latch *latch = end->object;
    hf_latch_fn fn = (hf_latch_fn)end->fn;
    struct hf_error err = *end->err;
    int status = end->status;
    if (status == HF_OK) status = outcome(end->job, &err);
    int is_told = status == HF_OK || status == HF_TAKEN;
    if (fn) fn(latch, status, is_told ? left_of(end->job) : 0, &err, end->user);
}

static int job_start(hf_latch *latch, enum tally_do what, int64_t number,
                     hf_latch_fn cb, void *user, struct hf_error *err)
{
    const struct tally_job job = {.what = what, .number = number};
    return hf__tally_start_as(lock_of(latch), &job, job_tell, latch,
                              (void (*)(void))cb, user, err);
}

int hf_latch_set_start(hf_latch *latch, int64_t count, hf_latch_fn cb,
                       void *user, struct hf_error *err)
{
    int status = set_check(count, err);
    if (status != HF_OK) return status;
    return job_start(latch, TALLY_OPEN, count, cb, user, err);
}

int hf_latch_down_start(hf_latch *latch, hf_latch_fn cb, void *user,
                        struct hf_error *err)
{
    return job_start(latch, TALLY_DOWN, 0, cb, user, err);
}

int hf_latch_count_start(hf_latch *latch, hf_latch_fn cb, void *user,
                         struct hf_error *err)
{
    return job_start(latch, TALLY_READ, 0, cb, user, err);
}

int hf_latch_delete_start(hf_latch *latch, hf_latch_fn cb, void *user,
                          struct hf_error *err)
{
    return job_start(latch, TALLY_DELETE, 0, cb, user, err);
}

/* ---- waiting ------------------------------------------------------------ */

int hf_latch_wait(hf_latch *latch, const struct hf_wait_options *options,
                  struct hf_error *err)
{
    struct op op;
    hf_lock *lock = lock_of(latch);
    int status = hf__gate_prepare(&op, lock, options, err);
    return status == HF_OK ? hf__call_wait(lock->client, &op, err) : status;
}

static void wait_complete(struct op *op)
{
    hf_lock *lock = op->complete_data;
    hf_client *c = lock->client;
    hf_latch_waited_fn fn = (hf_latch_waited_fn)op->complete_fn;
    if (fn)
        fn((hf_latch *)(uintptr_t)lock, op->status, &op->err,
           op->complete_user);
    hf__free(&c->alloc, op);
}

int hf_latch_wait_start(hf_latch *latch, const struct hf_wait_options *options,
                        hf_latch_waited_fn cb, void *user, struct hf_error *err)
{
    struct op op;
    hf_lock *lock = lock_of(latch);
    int status = hf__gate_prepare(&op, lock, options, err);
    if (status != HF_OK) return status;
    return hf__call_start(lock->client, &op, wait_complete, lock,
                          (void (*)(void))cb, user, err);
}
