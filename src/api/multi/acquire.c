/*
 * multi/acquire.c: acquiring a set of locks.
 *
 * The rule: results go out only on success; a bad argument changes nothing.
 */
#include "api/multi/multi.h"

#include "base/error.h"
#include "engine/locks.h"

/* A call with its options checked for every lock, and its first batch not yet
 * asked; NULL: `*status` says why. */
static struct multi_call *acquire_new(hf_multi *m,
                                      const struct hf_acquire_options *given,
                                      uint64_t default_holder, int *status,
                                      struct hf_error *err)
{
    struct hf_acquire_options own = HF_ACQUIRE_OPTIONS_INIT;
    *status = hf__multi_check(m, err);
    if (*status == HF_OK && given)
        *status =
            hf__options_copy(&own, sizeof own, given, given->struct_size, err);
    own.struct_size = sizeof own;
    if (own.holder) default_holder = own.holder;
    for (size_t i = 0; i < m->len && *status == HF_OK; i++) {
        struct op op;
        *status =
            hf__acquire_prepare(&op, m->locks[i], &own, default_holder, err);
    }
    if (*status != HF_OK) return NULL;
    struct multi_call *c = hf__multi_call_new(m, default_holder, err);
    if (!c) {
        *status = HF_NOMEM;
        return NULL;
    }
    c->options = own;
    return c;
}

/* If this host granted one of the locks instead of its store, tell which lock,
 * and why, as the acquire of a single lock does. */
static void local_tell(const struct multi_call *c, struct hf_error *err)
{
    for (size_t i = 0; i < c->len; i++) {
        const struct multi_part *p = &c->parts[i];
        if (p->op.grant.guarantee != HF_GUARANTEE_LOCAL || !p->op.err.text[0])
            continue;
        hf__error_set(err, HF_OK, "%s", p->op.err.text);
        hf__error_about(err, p->lock->entry->name);
        return;
    }
}

int hf_multi_acquire(hf_multi *m, const struct hf_acquire_options *options,
                     hf_hold **hold, struct hf_error *err)
{
    int status = hf__out_check(hold, err);
    if (status != HF_OK) return status;
    struct multi_call *c =
        acquire_new(m, options, hf_holder_self(), &status, err);
    if (!c) return status;
    hf__multi_call_enter(c);
    hf__sequence_run(&c->seq, NULL);
    hf__multi_give(c, hold);
    status = c->seq.status;
    if (status != HF_OK && err) *err = c->seq.err;
    if (status == HF_OK && err) local_tell(c, err);
    hf__multi_call_leave(c);
    return status;
}

int hf_multi_try(hf_multi *m, hf_hold **hold, struct hf_error *err)
{
    struct hf_acquire_options o = HF_ACQUIRE_OPTIONS_INIT;
    o.flags = HF_ACQUIRE_TRY;
    return hf_multi_acquire(m, &o, hold, err);
}

int hf_multi_acquire_start(hf_multi *m,
                           const struct hf_acquire_options *options,
                           hf_multi_acquired_fn cb, void *user,
                           struct hf_error *err)
{
    int status = hf__told_check(cb != NULL, err);
    if (status != HF_OK) return status;
    struct multi_call *c =
        acquire_new(m, options, hf_holder_new(), &status, err);
    if (!c) return status;
    c->fn = cb;
    c->user = user;
    hf__multi_call_enter(c);
    if (atomic_load(&c->stop))
        status = hf__error_set(err, HF_CLOSED, "set of locks: %s",
                               hf_status_text(HF_CLOSED));
    else
        status = hf__sequence_start(&c->seq, c->parts[0].client, err);
    if (status != HF_OK) hf__multi_call_leave(c);
    return status;
}
