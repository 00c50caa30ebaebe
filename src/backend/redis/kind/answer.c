/*
 * answer.c: the server's answers to replies.  One rule: what a script
 * says is the only thing believed; an answer of another shape than the
 * script's ends the link and counts as no answer.
 */
#include <stdio.h>
#include <string.h>

#include "backend/redis/inner/owner.h"
#include "backend/redis/kind/answer.h"
#include "backend/redis/kind/kind.h"
#include "backend/redis/kind/queue.h"
#include "backend/redis/link/error.h"
#include "backend/redis/link/link.h"
#include "backend/redis/member/boot.h"
#include "backend/redis/member/facts.h"
#include "backend/redis/redis.h"
#include "backend/redis/replica/aof.h"
#include "backend/redis/replica/role.h"
#include "backend/redis/replica/wait.h"
#include "backend/redis/sentinel/ask.h"
#include "base/error.h"

static const char *const op_words[] = {
    [VERB_PROPOSE] = "acquire", [VERB_RENEW] = "renew",
    [VERB_RELEASE] = "release", [VERB_BREAK] = "break",
    [VERB_INSPECT] = "inspect", [VERB_LIST] = "list",
    [VERB_WATCH] = "watch",     [VERB_UNWATCH] = "unwatch",
    [VERB_VALUE_READ] = "read", [VERB_VALUE_WRITE] = "write",
    [VERB_GUARD] = "guard",     [VERB_BOOT] = "boot",
    [VERB_FACTS] = "facts",     [VERB_TALLY] = "count",
    [VERB_STOCK] = "stock",     [VERB_PRIMARY] = "primary"};

void hf__redis_refuse(struct backend_conn *c, const char *where, int status,
                      const char *what, struct reply *reply)
{
    snprintf(c->text, sizeof c->text, "%s: %s: %s", c->endpoint, where, what);
    reply->verdict = V_ERROR;
    reply->status = status;
    reply->text = c->text;
}

void hf__redis_conflict(struct backend_conn *c, const struct request *req,
                        const char *what, struct reply *reply)
{
    hf__redis_refuse(c, op_words[req->verb], HF_CONFLICT, what, reply);
}

const char *hf__redis_in_use(const struct resp *kind)
{
    if (hf__redis_resp_is_text(kind, "permit"))
        return "it is in use as a semaphore";
    if (hf__redis_resp_is_text(kind, "count"))
        return "it is in use as a plain counter";
    if (hf__redis_resp_is_text(kind, "latch")) return "it is in use as a latch";
    return "it is in use as another kind";
}

int64_t hf__redis_poll_us(const struct resp *v)
{
    int64_t ms = hf__redis_resp_within(v, INT64_MIN, INT64_MAX, 0);
    return ms < 0 || ms > BALLOT_MAX ? -1 : ms * US_PER_MS;
}

/* Which of the numbers that the engine calculates with is out of range; NULL if
 * none is. */
static const char *strange_number(const struct reply *r)
{
    const struct boot *boot = r->boot;
    const struct {
        const char *what;
        int64_t number;
    } numbers[] = {{"fencing token", r->fence},
                   {"counter", r->counter},
                   {"clock", r->node_us},
                   {"last deletion", r->seen},
                   {"time to ask again", r->poll_us},
                   {"quarantine", boot ? boot->left_us : 0},
                   {"longest lease", boot ? boot->lease_us : 0}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (numbers[i].number < 0 || numbers[i].number > BALLOT_MAX)
            return numbers[i].what;
    return NULL;
}

int hf__redis_is_strange(struct backend_conn *c, const struct request *req,
                         const struct reply *reply)
{
    const char *what = strange_number(reply);
    if (!what) return 0;
    snprintf(c->text, sizeof c->text,
             "%s: %s: unexpected answer: the %s is no number from 0 to %lld",
             c->endpoint, op_words[req->verb], what, (long long)BALLOT_MAX);
    return 1;
}

void hf__redis_strange(struct backend_conn *c, struct request *reqs)
{
    snprintf(c->text, sizeof c->text, "%s: %s: unexpected answer", c->endpoint,
             op_words[reqs->verb]);
    hf__redis_answer_all(c, reqs, V_UNKNOWN, HF_UNAVAILABLE, c->text);
    hf__redis_link_fail(&c->main, HF_UNAVAILABLE, 0, "unexpected answer");
}

static int read_one(struct backend_conn *c, const struct request *req,
                    const struct resp *v, struct reply *reply)
{
    *reply = (struct reply){.verdict = V_ERROR, .ttl_us = -1, .waiters = -1};
    return hf__redis_call(c, req)->read(c, req, v, reply);
}

/* Answer at once; or, if disks or replicas must have a grant, when they do. */
static void answer(struct backend_conn *c, struct request *req,
                   const struct reply *reply)
{
    if (c->waits_aof && hf__redis_aof_hold(c, req, reply)) return;
    if (c->wait && hf__redis_wait_park(c, req, reply)) return;
    hf__redis_answer(c, req, reply);
}

static void reply_batch(struct backend_conn *c, struct request *reqs,
                        const struct resp *v)
{
    size_t n = 1;
    for (const struct request *r = reqs; r; r = r->next) n++;
    if (!hf__redis_resp_is_array(v, n)) {
        hf__redis_strange(c, reqs);
        return;
    }
    int64_t node_us = hf__redis_resp_number(v->first, -1);
    const struct resp *at = v->first->next;
    while (reqs) {
        struct request *req = reqs;
        struct reply reply;
        if (read_one(c, req, at, &reply) != 0) {
            hf__redis_strange(c, reqs);
            return;
        }
        reply.node_us = node_us;
        reqs = req->next;
        at = at->next;
        answer(c, req, &reply);
    }
}

/* The server is a node of a cluster: nothing of the batch was carried out.
 * From now on each lock is renewed by a command of its own. */
static void send_singly(struct backend_conn *c, struct request *reqs)
{
    c->is_sliced = 1;
    while (reqs) {
        struct request *req = reqs;
        reqs = req->next;
        req->next = NULL;
        hf__redis_send(c, FLIGHT_REQUEST, req);
    }
}

/* Mark requests that this server itself refuses: the error neither names
 * another server, nor says that one is missing. */
static void refusal_mark(struct request *reqs, const struct resp *v)
{
    static const char *const elsewhere[] = {"MOVED", "ASK", "READONLY",
                                            "MASTERDOWN", "CLUSTERDOWN"};
    for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++)
        if (hf__redis_error_is(v, elsewhere[i])) return;
    for (; reqs; reqs = reqs->next) reqs->flags |= REQ_SPOKEN;
}

/* The keys of a value, a latch or a guard, for the error of a user that may not
 * use them; NULL: a lock's. */
static const char *keys_text(const struct request *req, char *out, size_t size)
{
    if (req->verb == VERB_VALUE_READ || req->verb == VERB_VALUE_WRITE)
        return req->name;
    if (req->kind == KIND_LATCH || req->kind == KIND_BARRIER) return req->name;
    if (req->verb != VERB_GUARD) return NULL;
    snprintf(out, size, "%.40s, or holdfast_%s:{...} for its token", req->name,
             req->flags & REQ_GUARD_CLAIM ? "claim" : "guard");
    return out;
}

/* EVAL needs the right to write, whatever the script does; EVAL_RO, which came
 * with Redis 7, does not.  1 if the request was sent once more by EVAL_RO. */
static int is_looked_at(struct backend_conn *c, const struct flight *f,
                        const struct resp *v)
{
    enum verb op = f->reqs->verb;
    if (op != VERB_INSPECT && op != VERB_LIST && op != VERB_VALUE_READ)
        return 0;
    if (f->kind == FLIGHT_LOOK || !hf__redis_error_is(v, "NOPERM")) return 0;
    hf__redis_send(c, FLIGHT_LOOK, f->reqs);
    return 1;
}

/* 1 if the server has no EVAL_RO: then the answer to EVAL counts. */
static int is_unable_to_look(struct backend_conn *c, const struct flight *f,
                             const struct resp *v)
{
    if (f->kind != FLIGHT_LOOK || !hf__redis_error_is(v, "ERR unknown"))
        return 0;
    snprintf(c->text, sizeof c->text,
             "%s: %s: not permitted: the user may not write, and this server "
             "has no EVAL_RO, which only reads (Redis 7 has)",
             c->endpoint, op_words[f->reqs->verb]);
    hf__redis_answer_all(c, f->reqs, V_ERROR, HF_DENIED, c->text);
    return 1;
}

static void reply_error(struct backend_conn *c, const struct flight *f,
                        const struct resp *v)
{
    char text[HF_ERROR_TEXT_MAX];
    if (f->kind == FLIGHT_REQUEST && hf__redis_error_is(v, "NOSCRIPT")) {
        /* The script cache was flushed.  Whatever was behind this in the
         * pipeline found it empty as well and will come after it again; and
         * if a release did slip through, it raised the counter above this
         * proposal. */
        hf__redis_send(c, FLIGHT_EVAL, f->reqs);
        return;
    }
    if (f->reqs->next && hf__redis_error_is(v, "CROSSSLOT")) {
        send_singly(c, f->reqs);
        return;
    }
    if (is_looked_at(c, f, v) || is_unable_to_look(c, f, v)) return;
    if (hf__redis_queue_is_denied(c, f->reqs, v)) return;
    refusal_mark(f->reqs, v);
    if (hf__redis_is_taken_back(c, f->reqs, v)) return;
    struct hf_error err;
    const struct request *req = f->reqs;
    char keys[100];
    int status = hf__redis_error(op_words[req->verb],
                                 keys_text(req, keys, sizeof keys), v, text);
    hf__error_set(&err, status, "%s: %s", c->endpoint, text);
    if (f->reqs->verb == VERB_BOOT && hf__redis_boot_is_sliced(v))
        status = hf__error_set(&err, HF_INVALID, "%s: boot: " BOOT_OF_CLUSTER,
                               c->endpoint);
    hf__redis_answer_all(c, f->reqs, V_ERROR, status, err.text);
    /* It is no longer a primary: connect again to learn whose replica it is. */
    if (hf__redis_error_is_of_replica(v))
        hf__redis_link_fail(&c->main, HF_UNAVAILABLE, 0,
                            "the server is no longer a primary");
}

/* The answer to a bare SET NX PX: granted, or the script looks what is stored
 * there. */
static void reply_set(struct backend_conn *c, const struct flight *f,
                      const struct resp *v)
{
    const struct reply granted = {
        .verdict = V_GRANTED, .ttl_us = -1, .waiters = -1};
    if (v->type == RESP_NIL)
        hf__redis_send(c, FLIGHT_REQUEST, f->reqs);
    else if (!hf__redis_resp_is_text(v, "OK"))
        hf__redis_strange(c, f->reqs);
    else
        answer(c, f->reqs, &granted);
}

static void reply_request(struct backend_conn *c, const struct flight *f,
                          const struct resp *v)
{
    struct reply reply;
    if (v->type == RESP_ERROR)
        reply_error(c, f, v);
    else if (f->kind == FLIGHT_SET)
        reply_set(c, f, v);
    else if (f->reqs->verb == VERB_RENEW)
        reply_batch(c, f->reqs, v);
    else if (hf__redis_queue_is_told(f->reqs, v)
             && hf__redis_queue_again(c, f->reqs, v))
        return;
    else if (read_one(c, f->reqs, v, &reply) != 0)
        hf__redis_strange(c, f->reqs);
    else
        answer(c, f->reqs, &reply);
}

void hf__redis_answered(struct backend_conn *c, const struct flight *f,
                        const struct resp *v)
{
    switch (f->kind) {
    case FLIGHT_ASKING:
        break;
    case FLIGHT_SLOTS:
    case FLIGHT_SHARDED:
        c->owner->told(c, f->kind, v);
        break;
    case FLIGHT_CONFIG:
    case FLIGHT_SCAN:
        hf__redis_boot_step(c, f, v);
        break;
    case FLIGHT_FACTS:
    case FLIGHT_SETTING:
    case FLIGHT_MARKER:
        hf__redis_facts_reply(c, f, v);
        break;
    case FLIGHT_MASTER:
    case FLIGHT_PROMOTED:
        hf__redis_ask_reply(c, f, v);
        break;
    case FLIGHT_ROLE:
        hf__redis_role_heard(&c->main, v);
        break;
    case FLIGHT_WAIT:
        hf__redis_wait_reply(c, v);
        break;
    case FLIGHT_AOF:
        hf__redis_aof_reply(c, f, v);
        break;
    default:
        reply_request(c, f, v);
    }
}
