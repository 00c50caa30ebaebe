/*
 * query.c: asking the store about locks, and taking them away.
 *
 * The rule: one question, struct hf_info, answers all; the short calls are
 * views of it.
 */
#include <string.h>

#include "api/client/client.h"
#include "base/error.h"

static int inspect_as(hf_lock *lock, uint64_t holder, enum op_fall fall,
                      struct hf_info *info, struct hf_error *err)
{
    struct op op;
    struct look found;
    int status = hf__client_check(lock->client, err);
    if (status != HF_OK) return status;
    memset(&found, 0, sizeof found);
    hf__call_init(&op, OP_TYPE_INSPECT, lock, holder);
    op.look = &found;
    op.info = &found.info;
    op.fall = fall;
    status = hf__call_wait(lock->client, &op, err);
    if (status != HF_OK) return status;
    *info = found.info;
    info->struct_size = sizeof *info;
    return HF_OK;
}

int hf__lock_inspect(hf_lock *lock, uint64_t holder, struct hf_info *info,
                     struct hf_error *err)
{
    return inspect_as(lock, holder, FALL_IF_SILENT, info, err);
}

int hf_lock_inspect(hf_lock *lock, struct hf_info *info, struct hf_error *err)
{
    struct hf_info found;
    int status = hf__result_check(info, err);
    if (status == HF_OK) status = hf__lock_inspect(lock, 0, &found, err);
    if (status == HF_OK) hf__result_fill(info, &found);
    return status;
}

static void inspect_complete(struct op *op)
{
    hf_lock *lock = op->complete_data;
    hf_client *c = lock->client;
    hf_inspected_fn fn = (hf_inspected_fn)op->complete_fn;
    int is_ok = op->status == HF_OK;
    if (is_ok) op->info->struct_size = sizeof *op->info;
    if (fn)
        fn(lock, op->status, is_ok ? op->info : NULL, &op->err,
           op->complete_user);
    hf__free(&c->alloc, op);
}

int hf_lock_inspect_start(hf_lock *lock, hf_inspected_fn cb, void *user,
                          struct hf_error *err)
{
    struct op op;
    int status = hf__client_check(lock->client, err);
    if (status != HF_OK) return status;
    hf__call_init(&op, OP_TYPE_INSPECT, lock, 0);
    return hf__call_start(lock->client, &op, inspect_complete, lock,
                          (void (*)(void))cb, user, err);
}

int hf_lock_is_locked(hf_lock *lock, int *out, struct hf_error *err)
{
    struct hf_info info;
    int status = hf__lock_inspect(lock, 0, &info, err);
    if (status == HF_OK) *out = info.locked;
    return status;
}

/* If this host stands in for the store, only the host knows of the hold. */
static int hold_inspect(hf_lock *lock, struct hf_info *info,
                        struct hf_error *err)
{
    return inspect_as(lock, 0, FALL_OWN_FIRST, info, err);
}

int hf_lock_is_mine(hf_lock *lock, int *out, struct hf_error *err)
{
    struct hf_info info;
    int status = hold_inspect(lock, &info, err);
    if (status == HF_OK) *out = info.mine;
    return status;
}

int hf_lock_hold_count(hf_lock *lock, int64_t *out, struct hf_error *err)
{
    struct hf_info info;
    int status = hold_inspect(lock, &info, err);
    if (status == HF_OK) *out = info.mine ? info.count : 0;
    return status;
}

int hf_lock_ttl_ms(hf_lock *lock, int64_t *out, struct hf_error *err)
{
    struct hf_info info;
    int status = hf__lock_inspect(lock, 0, &info, err);
    if (status == HF_OK) *out = info.ttl_ms;
    return status;
}

/* ---- break -------------------------------------------------------------- */

static int break_prepare(struct op *op, hf_lock *lock, struct hf_error *err)
{
    int status = hf__client_check(lock->client, err);
    if (status != HF_OK) return status;
    if (!(lock->client->pump.engine.caps & HF_CAP_BREAK))
        return hf__error_set(err, HF_UNSUPPORTED,
                             "break: %s cannot take locks away",
                             lock->client->url);
    hf__call_init(op, OP_TYPE_BREAK, lock, 0);
    return HF_OK;
}

int hf_lock_break(hf_lock *lock, int *was_locked, struct hf_error *err)
{
    struct op op;
    int status = break_prepare(&op, lock, err);
    if (status != HF_OK) return status;
    status = hf__call_wait(lock->client, &op, err);
    if (status == HF_OK && was_locked) *was_locked = op.was_locked;
    return status;
}

static void break_complete(struct op *op)
{
    hf_lock *lock = op->complete_data;
    hf_client *c = lock->client;
    hf_broken_fn fn = (hf_broken_fn)op->complete_fn;
    if (fn) fn(lock, op->status, op->was_locked, &op->err, op->complete_user);
    hf__free(&c->alloc, op);
}

int hf_lock_break_start(hf_lock *lock, hf_broken_fn cb, void *user,
                        struct hf_error *err)
{
    struct op op;
    int status = break_prepare(&op, lock, err);
    if (status != HF_OK) return status;
    return hf__call_start(lock->client, &op, break_complete, lock,
                          (void (*)(void))cb, user, err);
}
