/*
 * semaphore/tally.c: how many permits there are: look at it, change it.
 *
 * The rule: what is out of bounds is refused before anything is sent, and
 * results go out only on success.
 */
#include "api/semaphore/slots.h"
#include "api/gate/tally.h"
#include "base/error.h"

static int number_check(int64_t number, int64_t least, struct hf_error *err)
{
    if (number >= least && number <= HF_SEMAPHORE_MAX) return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "%lld permits: out of range: %lld to %d",
                         (long long)number, (long long)least, HF_SEMAPHORE_MAX);
}

static int flags_check(uint32_t flags, uint32_t known, struct hf_error *err)
{
    if (!(flags & ~known)) return HF_OK;
    return hf__error_set(err, HF_INVALID, "flags 0x%x: unknown",
                         flags & ~known);
}

/* The job for a change, if it may be asked for. */
static int job_make(const hf_semaphore *sem, int change, int64_t number,
                    uint32_t flags, struct tally_job *job, struct hf_error *err)
{
    static const enum tally_do whats[] = {[HF_SEMAPHORE_LOOK] = TALLY_READ,
                                          [HF_SEMAPHORE_SET] = TALLY_SET,
                                          [HF_SEMAPHORE_TRY_SET] = TALLY_OPEN,
                                          [HF_SEMAPHORE_ADD] = TALLY_ADD,
                                          [HF_SEMAPHORE_DRAIN] = TALLY_DRAIN,
                                          [HF_SEMAPHORE_DELETE] = TALLY_DELETE};
    static const uint32_t known[] = {[HF_SEMAPHORE_SET] = HF_SEMAPHORE_ANYWAY,
                                     [HF_SEMAPHORE_ADD] = HF_SEMAPHORE_ANYWAY
                                                          | HF_SEMAPHORE_IF_SET,
                                     [HF_SEMAPHORE_DELETE] = 0};
    if (change < HF_SEMAPHORE_LOOK || change > HF_SEMAPHORE_DELETE)
        return hf__error_set(err, HF_INVALID,
                             "change %d: not an enum hf_semaphore_change",
                             change);
    int status = flags_check(flags, known[change], err);
    if (status == HF_OK)
        status = number_check(
            number, change == HF_SEMAPHORE_ADD ? -HF_SEMAPHORE_MAX : 0, err);
    if (status != HF_OK) return status;
    if (sem->slots_len && change != HF_SEMAPHORE_LOOK)
        return hf__error_set(err, HF_UNSUPPORTED,
                             "slots are counted when they are opened, and "
                             "hf_semaphore_state() looks at each");
    if (change == HF_SEMAPHORE_DRAIN && !sem->is_plain)
        return hf__error_set(err, HF_UNSUPPORTED,
                             "drain: only of a plain counter; acquire what is "
                             "free");
    *job = (struct tally_job){.what = whats[change], .number = number};
    if (flags & HF_SEMAPHORE_ANYWAY) job->flags |= REQ_ANYWAY;
    if (flags & HF_SEMAPHORE_IF_SET) job->flags |= REQ_IF_THERE;
    return HF_OK;
}

static struct hf_semaphore_state state_of(const struct tally_job *job)
{
    const struct tally_told *t = &job->found;
    return (struct hf_semaphore_state){.struct_size =
                                           sizeof(struct hf_semaphore_state),
                                       .is_set = t->is_there,
                                       .is_done = job->is_done,
                                       .available = t->value,
                                       .capacity = t->capacity,
                                       .taken = t->taken};
}

static int change_run(hf_semaphore *sem, int change, int64_t number,
                      uint32_t flags, struct hf_semaphore_state *out,
                      struct hf_error *err)
{
    struct tally_job job;
    int status = hf__client_check(sem->client, err);
    if (status == HF_OK && out) status = hf__result_check(out, err);
    if (status == HF_OK)
        status = job_make(sem, change, number, flags, &job, err);
    if (status == HF_OK) status = hf__tally_run(sem->lock, &job, err);
    if (status != HF_OK || !out) return status;
    const struct hf_semaphore_state found = state_of(&job);
    hf__result_fill(out, &found);
    return HF_OK;
}

int hf_semaphore_state(hf_semaphore *sem, struct hf_semaphore_state *out,
                       struct hf_error *err)
{
    if (!sem->slots_len)
        return change_run(sem, HF_SEMAPHORE_LOOK, 0, 0, out, err);
    struct hf_semaphore_state found;
    int status = hf__client_check(sem->client, err);
    if (status == HF_OK) status = hf__result_check(out, err);
    if (status == HF_OK) status = hf__slots_state(sem, &found, err);
    if (status == HF_OK) hf__result_fill(out, &found);
    return status;
}

int hf_semaphore_try_set(hf_semaphore *sem, int64_t number,
                         struct hf_semaphore_state *out, struct hf_error *err)
{
    return change_run(sem, HF_SEMAPHORE_TRY_SET, number, 0, out, err);
}

int hf_semaphore_set(hf_semaphore *sem, int64_t number, uint32_t flags,
                     struct hf_semaphore_state *out, struct hf_error *err)
{
    return change_run(sem, HF_SEMAPHORE_SET, number, flags, out, err);
}

int hf_semaphore_add(hf_semaphore *sem, int64_t number, uint32_t flags,
                     struct hf_semaphore_state *out, struct hf_error *err)
{
    return change_run(sem, HF_SEMAPHORE_ADD, number, flags, out, err);
}

int hf_semaphore_drain(hf_semaphore *sem, struct hf_semaphore_state *out,
                       struct hf_error *err)
{
    return change_run(sem, HF_SEMAPHORE_DRAIN, 0, 0, out, err);
}

int hf_semaphore_delete(hf_semaphore *sem, struct hf_semaphore_state *out,
                        struct hf_error *err)
{
    return change_run(sem, HF_SEMAPHORE_DELETE, 0, 0, out, err);
}

static void change_told(const struct tally_end *end)
{
    hf_semaphore_fn fn = (hf_semaphore_fn)end->fn;
    struct hf_semaphore_state state = state_of(end->job);
    if (fn)
        fn(end->object, end->status, end->status == HF_OK ? &state : NULL,
           end->err, end->user);
}

int hf_semaphore_change_start(hf_semaphore *sem, int change, int64_t number,
                              uint32_t flags, hf_semaphore_fn cb, void *user,
                              struct hf_error *err)
{
    struct tally_job job;
    int status = hf__client_check(sem->client, err);
    if (status == HF_OK)
        status = job_make(sem, change, number, flags, &job, err);
    if (status != HF_OK) return status;
    if (sem->slots_len) return hf__slots_state_start(sem, cb, user, err);
    return hf__tally_start_as(sem->lock, &job, change_told, sem,
                              (void (*)(void))cb, user, err);
}
