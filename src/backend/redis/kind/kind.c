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
    [KIND_PLAIN] = {[VERB_PROPOSE] = CALL(acquire),
                    [VERB_RENEW] = CALL(renew),
                    [VERB_RELEASE] = CALL(release),
                    [VERB_BREAK] = CALL(break),
                    [VERB_INSPECT] = CALL(inspect),
                    [VERB_LIST] = CALL(list),
                    [VERB_VALUE_READ] = CALL(value_read),
                    [VERB_VALUE_WRITE] = CALL(value_write),
                    [VERB_GUARD] = CALL(guard),
                    [VERB_BOOT] = CALL(boot)},
    [ROW_STRING] = {[VERB_PROPOSE] = CALL(string_acquire),
                    [VERB_RENEW] = CALL(string_renew),
                    [VERB_RELEASE] = CALL(string_release)},
    [ROW_QUEUE] = {[VERB_PROPOSE] = CALL(queue_acquire),
                   [VERB_RELEASE] = CALL(queue_release)},
    [KIND_READ] = {[VERB_PROPOSE] = CALL(rw_acquire),
                   [VERB_RENEW] = CALL(rw_renew),
                   [VERB_RELEASE] = CALL(rw_release)},
    [KIND_WRITE] = {[VERB_PROPOSE] = CALL(rw_acquire),
                    [VERB_RENEW] = CALL(rw_renew),
                    [VERB_RELEASE] = CALL(rw_release)},
    [KIND_PERMIT] = {[VERB_PROPOSE] = CALL(permit_acquire),
                     [VERB_RENEW] = CALL(permit_renew),
                     [VERB_RELEASE] = CALL(permit_release),
                     [VERB_INSPECT] = CALL(permit_inspect),
                     [VERB_TALLY] = CALL(permit_tally)},
    [KIND_COUNT] = {[VERB_PROPOSE] = CALL(count_acquire),
                    [VERB_RELEASE] = CALL(count_release),
                    [VERB_TALLY] = CALL(permit_tally)},
    [KIND_LATCH] =
        {[VERB_PROPOSE] = CALL(latch_wait), [VERB_TALLY] = CALL(latch_tally)},
    [KIND_BARRIER] = {[VERB_PROPOSE] = CALL(barrier_wait),
                      [VERB_RELEASE] = CALL(barrier_leave),
                      [VERB_TALLY] = CALL(barrier_look)},
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
    const struct redis_call *call = calls[row_of(c, req)][req->verb];
    return call ? call : calls[KIND_PLAIN][req->verb];
}
