/*
 * kind.c: which script is called for which kind and operation.  One rule: a
 * kind without a script for an operation uses that of a plain lock, which finds
 * that no such lock is stored.
 */
#include "backend/redis/kind/kind.h"
#include "backend/redis/kind/queue.h"
#include "backend/redis/redis.h"

/* A plain lock has two more layouts: a string, and one with a queue. */
enum { ROW_STRING = KINDS_LEN, ROW_QUEUE, ROWS_LEN };

#define CALL(script) &hf__redis_call_##script

static const struct redis_call *const calls[ROWS_LEN][REQUEST_OPS] = {
    [KIND_PLAIN] = {[OP_PROPOSE] = CALL(acquire),
                    [OP_RENEW] = CALL(renew),
                    [OP_RELEASE] = CALL(release),
                    [OP_BREAK] = CALL(break),
                    [OP_INSPECT] = CALL(inspect),
                    [OP_LIST] = CALL(list),
                    [OP_VALUE_READ] = CALL(value_read),
                    [OP_VALUE_WRITE] = CALL(value_write),
                    [OP_GUARD] = CALL(guard),
                    [OP_BOOT] = CALL(boot)},
    [ROW_STRING] = {[OP_PROPOSE] = CALL(string_acquire),
                    [OP_RENEW] = CALL(string_renew),
                    [OP_RELEASE] = CALL(string_release)},
    [ROW_QUEUE] = {[OP_PROPOSE] = CALL(queue_acquire),
                   [OP_RELEASE] = CALL(queue_release)},
    [KIND_READ] = {[OP_PROPOSE] = CALL(rw_acquire),
                   [OP_RENEW] = CALL(rw_renew),
                   [OP_RELEASE] = CALL(rw_release)},
    [KIND_WRITE] = {[OP_PROPOSE] = CALL(rw_acquire),
                    [OP_RENEW] = CALL(rw_renew),
                    [OP_RELEASE] = CALL(rw_release)},
    [KIND_PERMIT] = {[OP_PROPOSE] = CALL(permit_acquire),
                     [OP_RENEW] = CALL(permit_renew),
                     [OP_RELEASE] = CALL(permit_release),
                     [OP_INSPECT] = CALL(permit_inspect),
                     [OP_TALLY] = CALL(permit_tally)},
    [KIND_COUNT] = {[OP_PROPOSE] = CALL(count_acquire),
                    [OP_RELEASE] = CALL(count_release),
                    [OP_TALLY] = CALL(permit_tally)},
    [KIND_LATCH] =
        {[OP_PROPOSE] = CALL(latch_wait), [OP_TALLY] = CALL(latch_tally)},
    [KIND_BARRIER] = {[OP_PROPOSE] = CALL(barrier_wait),
                      [OP_RELEASE] = CALL(barrier_leave),
                      [OP_TALLY] = CALL(barrier_look)},
};

static int row_of(const struct backend_conn *c, const struct request *req)
{
    int is_queued = req->flags & REQ_QUEUE || req->priv & PRIV_QUEUE;
    if (c->is_string && req->kind == KIND_PLAIN) return ROW_STRING;
    return req->kind == KIND_PLAIN && is_queued ? ROW_QUEUE : (int)req->kind;
}

const struct redis_call *hf__redis_call(const struct backend_conn *c,
                                        const struct request *req)
{
    const struct redis_call *call = calls[row_of(c, req)][req->op];
    return call ? call : calls[KIND_PLAIN][req->op];
}
