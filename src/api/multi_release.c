/*
 * multi_release.c: releasing and extending a set of locks.
 *
 * The rule: what fails for one of them keeps nothing from the others.
 */
#include "api/multi.h"

/* Without memory for all at once: one after the other. */
static int release_singly(hf_multi *m, uint64_t holder, struct hf_error *err)
{
    int first = HF_OK;
    for (size_t i = 0; i < m->len; i++) {
        struct hf_error own;
        int status = hf_lock_release_as(m->locks[i], holder, NULL, &own);
        if (status == HF_OK || first != HF_OK) continue;
        first = status;
        if (err) *err = own;
    }
    return first;
}

static int change_run(struct multi_call *c, struct hf_grant *grants,
                      struct hf_error *err)
{
    hf__multi_call_enter(c);
    hf__multi_run(c);
    int status = c->status;
    if (status == HF_OK && grants) hf__multi_grants(c, grants);
    if (status != HF_OK && err) *err = c->err;
    hf__multi_call_leave(c);
    return status;
}

int hf_multi_release_as(hf_multi *m, uint64_t holder, struct hf_error *err)
{
    int status = hf__multi_check(m, err);
    if (status != HF_OK) return status;
    if (!holder) holder = hf_holder_self();
    struct multi_call *c = hf__multi_call_new(m, OP_TYPE_RELEASE, holder, err);
    return c ? change_run(c, NULL, err) : release_singly(m, holder, err);
}

int hf_multi_release(hf_multi *m, struct hf_error *err)
{
    return hf_multi_release_as(m, 0, err);
}

int hf_multi_release_start(hf_multi *m, uint64_t holder,
                           hf_multi_released_fn cb, void *user,
                           struct hf_error *err)
{
    int status = hf__multi_check(m, err);
    if (status != HF_OK) return status;
    struct multi_call *c = hf__multi_call_new(
        m, OP_TYPE_RELEASE, holder ? holder : hf_holder_self(), err);
    if (!c) return HF_NOMEM;
    c->fn = (void (*)(void))cb;
    c->user = user;
    hf__multi_call_enter(c);
    hf__multi_step(c);
    hf__multi_start(c);
    return HF_OK;
}

int hf_multi_extend(hf_multi *m, uint64_t holder, int64_t lease_ms,
                    struct hf_grant *grants, struct hf_error *err)
{
    int status = hf__multi_check(m, err);
    if (status == HF_OK) status = hf__lease_check(m->locks[0], lease_ms, err);
    if (status != HF_OK) return status;
    struct multi_call *c = hf__multi_call_new(
        m, OP_TYPE_EXTEND, holder ? holder : hf_holder_self(), err);
    if (!c) return HF_NOMEM;
    c->lease_us = lease_ms * US_PER_MS;
    return change_run(c, grants, err);
}
