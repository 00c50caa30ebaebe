/*
 * kind.c: requests on their way out: which script is called for which kind and
 * operation, and what is unsent goes into the output, renewals in batches.  Two
 * rules: a kind without a script for an operation uses that of a plain lock,
 * which finds that no such lock is stored; and a request that cannot be put
 * into a command is answered, and changes nothing on the server.
 */
#include "backend/redis/kind/kind.h"

#include <assert.h>
#include <stdio.h>

#include "backend/redis/inner/owner.h"
#include "backend/redis/kind/queue.h"
#include "backend/redis/kind/stock.h"
#include "backend/redis/member/alone.h"
#include "backend/redis/member/boot.h"
#include "backend/redis/member/facts.h"
#include "backend/redis/redis.h"
#include "backend/redis/replica/aof.h"
#include "backend/redis/replica/wait.h"
#include "backend/redis/sentinel/ask.h"
#include "base/boot.h"

/* ---- the table ---- */

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
    if (req->verb == VERB_STOCK) return hf__redis_stock_call(req->stock);
    const struct redis_call *call = calls[row_of(c, req)][req->verb];
    return call ? call : calls[KIND_PLAIN][req->verb];
}

/* ---- what goes out ---- */

/* Why the request cannot be put into a command; NULL if it can. */
static const char *refusal(const struct request *req)
{
    if (req->verb == VERB_LIST) return NULL;
    if (req->verb == VERB_BOOT)
        return hf__boot_is_sound(req) ? NULL : "boot: no group, or no lease";
    if (req->name_len == 0 || req->name_len > NAME_LEN_MAX)
        return "the name is empty or too long";
    if (req->verb == VERB_PROPOSE && req->ballot < 1) return "no number";
    if (req->ballot < 0 || req->ballot > BALLOT_MAX)
        return "the number is out of range";
    if ((req->verb == VERB_PROPOSE || req->verb == VERB_RENEW)
        && req->lease_us < 1)
        return "no lease";
    return NULL;
}

static void refuse(struct backend_conn *c, struct request *req, int status,
                   const char *why)
{
    snprintf(c->text, sizeof c->text, "%s: %s", c->endpoint, why);
    req->next = NULL;
    hf__redis_answer_all(c, req, V_ERROR, status, c->text);
}

void hf__redis_send(struct backend_conn *c, enum flight_kind kind,
                    struct request *reqs)
{
    const struct redis_call *call = hf__redis_call(c, reqs);
    assert(call);
    int is_asked = !c->owner || hf__redis_asking(c, reqs) == 0;
    c->cmd.script = call->script;
    c->cmd.sent_as = kind;
    call->build(c, reqs);
    struct flight *f = is_asked ? hf__redis_link_push(&c->main, kind) : NULL;
    if (f) {
        f->reqs = reqs;
        if (c->waits_aof) (void)hf__redis_aof_push(c, reqs);
        if (c->wait) hf__redis_wait_sent(c, reqs);
        return;
    }
    snprintf(c->text, sizeof c->text, "%s: out of memory", c->endpoint);
    hf__redis_answer_all(c, reqs, V_ERROR, HF_NOMEM, c->text);
}

/* Take as many renewals by the same script out of the list as fit in one
 * command.  They overtake the requests between them, which does no harm: no
 * lock is renewed before it was granted, or after its release was asked for. */
static struct request *batch_take(struct backend_conn *c, struct request **list)
{
    struct request *first = NULL, **end = &first;
    const struct redis_call *call = hf__redis_call(c, *list);
    int n = 0, most = c->is_sliced ? 1 : call->batch;
    while (*list && n < most) {
        struct request *r = *list;
        if (r->verb != VERB_RENEW || hf__redis_call(c, r) != call) {
            list = &r->next;
            continue;
        }
        *list = r->next;
        r->next = NULL;
        *end = r;
        end = &r->next;
        n++;
    }
    return first;
}

/* Answer the requests that cannot be sent; returns the others, in order. */
static struct request *sift(struct backend_conn *c, struct request *list)
{
    struct request *first = NULL, **end = &first;
    char text[HF_ERROR_TEXT_MAX];
    while (list) {
        struct request *r = list;
        int status = HF_INVALID;
        list = r->next;
        r->next = NULL;
        const char *why = refusal(r);
        if (!why && c->quorum_of > 1) {
            status = HF_CONFLICT;
            why = hf__redis_member_refusal(c, r, text, sizeof text);
        }
        if (why) {
            refuse(c, r, status, why);
            continue;
        }
        *end = r;
        end = &r->next;
    }
    return first;
}

void hf__redis_send_all(struct backend_conn *c)
{
    struct request *list = sift(c, hf__redis_list_take(&c->unsent));
    while (list) {
        struct request *chain = list;
        if (list->verb == VERB_RENEW) {
            chain = batch_take(c, &list);
        } else {
            list = list->next;
            chain->next = NULL;
        }
        if (chain->verb == VERB_PRIMARY)
            hf__redis_ask_send(c, chain);
        else if (chain->verb == VERB_BOOT)
            hf__redis_boot_begin(c, chain);
        else if (chain->verb == VERB_FACTS)
            hf__redis_facts_begin(c, chain);
        else if (chain->verb == VERB_PROPOSE && c->no_fence)
            hf__redis_send(c, FLIGHT_SET, chain);
        else
            hf__redis_send(c, FLIGHT_REQUEST, chain);
    }
}
