/*
 * barrier.c: the calls on barriers.
 *
 * The rule: every wait is a party of its own, with a new holder id, so that the
 * store never takes one for another.
 */
#include "holdfast/barrier.h"

#include "api/gate/gate.h"
#include "api/gate/tally.h"
#include "base/error.h"

static hf_lock *lock_of(const hf_barrier *barrier)
{
    return (hf_lock *)(uintptr_t)barrier;
}

int hf_barrier_open(hf_client *client, const char *name, int64_t parties,
                    hf_barrier **out, struct hf_error *err)
{
    hf_lock *lock;
    int status = hf__client_check(client, err);
    if (status != HF_OK) return status;
    if (parties < 1 || parties > HF_BARRIER_PARTIES_MAX)
        return hf__error_set(err, HF_INVALID,
                             "%lld parties: out of range: 1 to %d",
                             (long long)parties, HF_BARRIER_PARTIES_MAX);
    status = hf__gate_open(client, KIND_BARRIER, name, &lock, err);
    if (status != HF_OK) return status;
    lock->parties = (int32_t)parties;
    *out = (hf_barrier *)(uintptr_t)lock;
    return HF_OK;
}

void hf_barrier_close(hf_barrier *barrier)
{
    hf_lock_close(lock_of(barrier));
}

const char *hf_barrier_name(const hf_barrier *barrier)
{
    return hf_lock_name(lock_of(barrier));
}

static int wait_prepare(struct op *op, const hf_lock *lock,
                        const struct hf_wait_options *options,
                        struct hf_error *err)
{
    int status = hf__gate_prepare(op, lock, options, err);
    if (status == HF_OK) op->permits = lock->parties;
    return status;
}

/* The store answers with one number, generation + index: a generation is a
 * multiple of the number of parties. */
static struct hf_passed passed_of(const struct op *op)
{
    uint64_t index = op->grant.fence % (uint64_t)op->permits;
    return (struct hf_passed){.struct_size = sizeof(struct hf_passed),
                              .generation = op->grant.fence - index,
                              .index = (int64_t)index};
}

int hf_barrier_wait(hf_barrier *barrier, const struct hf_wait_options *options,
                    struct hf_passed *passed, struct hf_error *err)
{
    struct op op;
    hf_lock *lock = lock_of(barrier);
    int status = HF_OK;
    if (passed) status = hf__result_check(passed, err);
    if (status == HF_OK) status = wait_prepare(&op, lock, options, err);
    if (status == HF_OK) status = hf__call_wait(lock->client, &op, err);
    if (status != HF_OK || !passed) return status;
    const struct hf_passed found = passed_of(&op);
    hf__result_fill(passed, &found);
    return HF_OK;
}

static void wait_complete(struct op *op)
{
    hf_lock *lock = op->complete_data;
    hf_client *c = lock->client;
    hf_passed_fn fn = (hf_passed_fn)op->complete_fn;
    const struct hf_passed passed = passed_of(op);
    if (fn)
        fn((hf_barrier *)(uintptr_t)lock, op->status,
           op->status == HF_OK ? &passed : NULL, &op->err, op->complete_user);
    hf__free(&c->alloc, op);
}

int hf_barrier_wait_start(hf_barrier *barrier,
                          const struct hf_wait_options *options,
                          hf_passed_fn cb, void *user, struct hf_error *err)
{
    struct op op;
    hf_lock *lock = lock_of(barrier);
    int status = wait_prepare(&op, lock, options, err);
    if (status != HF_OK) return status;
    return hf__call_start(lock->client, &op, wait_complete, lock,
                          (void (*)(void))cb, user, err);
}

int hf_barrier_waiting(hf_barrier *barrier, int64_t *waiting,
                       struct hf_error *err)
{
    struct tally_job job = {.what = TALLY_READ};
    int status = hf__tally_run(lock_of(barrier), &job, err);
    if (status == HF_OK) *waiting = job.found.value;
    return status;
}
