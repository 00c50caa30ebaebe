/*
 * answer.c: the server's answers to replies.  One rule: what a script
 * says is the only thing believed; an answer of another shape than the
 * script's ends the link and counts as no answer.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "backend/redis/redis.h"
#include "base/error.h"

static const char *const op_words[] = {
    [OP_PROPOSE] = "acquire", [OP_RENEW] = "renew",
    [OP_RELEASE] = "release", [OP_BREAK] = "break",
    [OP_INSPECT] = "inspect", [OP_LIST] = "list",
    [OP_WATCH] = "watch",     [OP_UNWATCH] = "unwatch",
    [OP_VALUE_READ] = "read", [OP_VALUE_WRITE] = "write",
    [OP_GUARD] = "guard",     [OP_BOOT] = "boot",
    [OP_FACTS] = "facts",     [OP_TALLY] = "count"};

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
    hf__redis_refuse(c, op_words[req->op], HF_CONFLICT, what, reply);
}

static int64_t number_at(const struct resp *v, size_t i, int64_t otherwise)
{
    return hf__redis_resp_number(hf__redis_resp_at(v, i), otherwise);
}

int64_t hf__redis_poll_us(const struct resp *v)
{
    int64_t ms = hf__redis_resp_within(v, INT64_MIN, INT64_MAX, 0);
    return ms < 0 || ms > BALLOT_MAX ? -1 : ms * US_PER_MS;
}

#define FOREIGN 2 /* acquire.lua: the holder is Redisson's */
#define OTHER_LAYOUT                                                           \
    "released, but a lock of another layout is in the same hash, and stays: "  \
    "Redisson's getMultiLock(group, values)?"
#define NO_EXPIRY "a string without an expiry is stored there, and no lock"

/* Somebody else has it.  A hold that never ends by itself is worth a word: who
 * waits for it waits for its holder, or for somebody who breaks it. */
static void busy(struct backend_conn *c, const struct request *req,
                 const struct resp *v, struct reply *reply)
{
    reply->verdict = V_BUSY;
    reply->ttl_us = hf__redis_resp_ttl_us(hf__redis_resp_at(v, 3));
    reply->silent = number_at(v, 4, 0) == 1;
    reply->poll_us = hf__redis_poll_us(hf__redis_resp_at(v, 5));
    if (number_at(v, 3, -1) != -1 || reply->ttl_us >= 0) return;
    snprintf(c->text, sizeof c->text,
             "%s: %s: its holder's hold has no expiry; if the holder is gone, "
             "break the lock (holdfast break)",
             c->endpoint, op_words[req->op]);
    reply->status = HF_TAKEN;
    reply->text = c->text;
}

static int read_propose(struct backend_conn *c, const struct request *req,
                        const struct resp *v, struct reply *reply)
{
    int64_t fence = hf__redis_resp_within(v, 0, INT64_MAX, -1);
    if (fence > 0 && req->flags & REQ_QUORUM) {
        /* Of a quorum the fence is our number; the node tells its time. */
        reply->verdict = V_GRANTED;
        reply->fence = reply->counter = req->ballot;
        reply->node_us = fence;
        return 0;
    }
    if (fence >= req->ballot) {
        reply->verdict = V_GRANTED;
        reply->fence = reply->counter = fence;
        /* Above our number, it is the server's clock. */
        if (fence > req->ballot) reply->node_us = fence;
        return 0;
    }
    if (!hf__redis_resp_is_array(v, 4)) return -1;
    reply->counter = number_at(v, 1, -1);
    reply->node_us = number_at(v, 2, -1);
    switch (number_at(v, 0, INT64_MIN)) {
    case 1:
        reply->verdict = V_GRANTED;
        reply->fence = reply->counter;
        return 0;
    case 0:
        if (request_is_rw(req))
            hf__redis_rw_busy(v, reply);
        else
            busy(c, req, v, reply);
        if (!request_is_rw(req) && number_at(v, 4, 0) == FOREIGN)
            hf__redis_classic_learn(c);
        return 0;
    case -1:
        reply->verdict = V_STALE;
        return 0;
    case -2:
        hf__redis_conflict(c, req, COUNTER_IS_NO_NUMBER, reply);
        return 0;
    case -3:
        hf__redis_conflict(c, req, NO_LOCK, reply);
        return 0;
    case -4:
        hf__redis_conflict(c, req, NO_EXPIRY, reply);
        return 0;
    case -5:
        reply->verdict = V_UNSETTLED;
        return 0;
    case -7:
        hf__redis_conflict(
            c, req, request_is_rw(req) ? IN_USE_PLAIN : IN_USE_RW, reply);
        return 0;
    default:
        return -1;
    }
}

/* Somebody else's by now: whose, in words, if the record is one of ours. */
static void read_taken(struct backend_conn *c, const struct request *req,
                       const struct resp *v, struct reply *reply)
{
    reply->verdict = V_OTHER;
    if (hf__redis_info_holder(v, &c->info) != 0) return;
    if (!strcmp(c->info.owner, req->owner))
        snprintf(c->text, sizeof c->text,
                 "%s: renew: it was taken away; what is there is another "
                 "grant to this holder",
                 c->endpoint);
    else
        snprintf(c->text, sizeof c->text,
                 "%s: renew: it is %.70s's now, pid %lld on %s", c->endpoint,
                 c->info.owner, (long long)c->info.pid, c->info.host);
    for (char *p = c->text; *p; p++)
        if (iscntrl((unsigned char)*p)) *p = '?';
    reply->text = c->text;
}

static void read_gone(struct backend_conn *c, struct reply *reply)
{
    reply->verdict = V_ABSENT;
    if (!c->repl.has_changed) return;
    snprintf(c->text, sizeof c->text,
             "%s: renew: it is gone: there was a failover, or a restart, that "
             "has lost it, or its lease had ended",
             c->endpoint);
    reply->text = c->text;
}

static int read_renew(struct backend_conn *c, const struct request *req,
                      const struct resp *v, struct reply *reply)
{
    int64_t ttl = hf__redis_resp_within(v, -4, INT64_MAX, INT64_MIN);
    if (v->type == RESP_STRING) {
        read_taken(c, req, v, reply);
        return 0;
    }
    reply->ttl_us = hf__redis_resp_ttl_us(v);
    if (ttl >= -1)
        reply->verdict = V_GRANTED;
    else if (ttl == -2)
        read_gone(c, reply);
    else if (ttl == -3)
        reply->verdict = V_OTHER;
    else if (ttl == -4)
        hf__redis_conflict(c, req, NO_LOCK, reply);
    else
        return -1;
    return 0;
}

static int read_release(struct backend_conn *c, const struct request *req,
                        const struct resp *v, struct reply *reply)
{
    int64_t code = hf__redis_resp_number(v, INT64_MIN);
    if (hf__redis_resp_is_array(v, 2)) {
        code = number_at(v, 0, INT64_MIN);
        reply->node_us = number_at(v, 1, -1);
    }
    if (code >= -1) {
        reply->verdict = V_GRANTED;
        reply->waiters = code;
    } else if (code == -2) {
        reply->verdict = V_ABSENT;
    } else if (code == -3) {
        reply->verdict = V_OTHER;
    } else if (code == -5) {
        hf__redis_conflict(c, req, OTHER_LAYOUT, reply);
    } else {
        return -1;
    }
    return 0;
}

static int read_break(struct backend_conn *c, const struct request *req,
                      const struct resp *v, struct reply *reply)
{
    if (!hf__redis_resp_is_array(v, 3)) return -1;
    int64_t was = number_at(v, 0, INT64_MIN);
    reply->counter = number_at(v, 1, -1);
    reply->node_us = number_at(v, 2, -1);
    if (was == -1) {
        hf__redis_conflict(c, req, NO_LOCK, reply);
    } else if (was == -2) {
        hf__redis_conflict(c, req, COUNTER_IS_NO_NUMBER, reply);
    } else if (was == 0 || was == 1) {
        c->info = (struct hf_info){.locked = (int)was,
                                   .ttl_ms = was ? -1 : -2,
                                   .waiters = -1,
                                   .fence = (uint64_t)reply->counter,
                                   .now_ms = reply->node_us / US_PER_MS};
        reply->verdict = V_GRANTED;
        reply->info = &c->info;
    } else {
        return -1;
    }
    return 0;
}

static int read_one(struct backend_conn *c, const struct request *req,
                    const struct resp *v, struct reply *reply)
{
    *reply = (struct reply){.verdict = V_ERROR, .ttl_us = -1, .waiters = -1};
    if (hf__redis_is_permit(req))
        return hf__redis_permit_read(c, req, v, reply);
    if (req->kind == KIND_LATCH) return hf__redis_latch_read(c, req, v, reply);
    if (req->kind == KIND_BARRIER)
        return hf__redis_barrier_read(c, req, v, reply);
    switch (req->op) {
    case OP_PROPOSE:
        return read_propose(c, req, v, reply);
    case OP_RENEW:
        return read_renew(c, req, v, reply);
    case OP_RELEASE:
        return read_release(c, req, v, reply);
    case OP_BREAK:
        return read_break(c, req, v, reply);
    case OP_INSPECT:
        return hf__redis_info_inspect(c, req, v, reply);
    case OP_LIST:
        return hf__redis_info_list(c, req, v, reply);
    case OP_VALUE_READ:
        return hf__redis_value_read(c, v, reply);
    case OP_VALUE_WRITE:
        return hf__redis_value_written(c, v, reply);
    case OP_GUARD:
        return hf__redis_guard_read(c, req, v, reply);
    case OP_BOOT:
        return hf__redis_boot_read(c, req, v, reply);
    case OP_TALLY:
    case OP_FACTS:
    case OP_WATCH:
    case OP_UNWATCH:
        break;
    }
    return -1;
}

/* The numbers that the engine counts on with; NULL if all of them can be. */
static const char *strange_number(const struct reply *r)
{
    const struct boot *boot = r->boot;
    const struct {
        const char *what;
        int64_t number;
    } numbers[] = {{"fencing token", r->fence},
                   {"counter", r->counter},
                   {"clock", r->node_us},
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
             c->endpoint, op_words[req->op], what, (long long)BALLOT_MAX);
    return 1;
}

void hf__redis_strange(struct backend_conn *c, struct request *reqs)
{
    snprintf(c->text, sizeof c->text, "%s: %s: unexpected answer", c->endpoint,
             op_words[reqs->op]);
    hf__redis_answer_all(c, reqs, V_UNKNOWN, HF_UNAVAILABLE, c->text);
    hf__redis_link_fail(&c->main, HF_UNAVAILABLE, 0, "unexpected answer");
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
        if (!hf__redis_wait_park(c, req, &reply))
            hf__redis_answer(c, req, &reply);
    }
}

/* A cluster behind one address: nothing of the batch was carried out, and no
 * two locks are renewed together from now on. */
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

/* The server refuses these, and is the one to be asked: it is neither the wrong
 * one, nor one that knows of nobody who is. */
static void refusal_mark(struct request *reqs, const struct resp *v)
{
    static const char *const elsewhere[] = {"MOVED", "ASK", "READONLY",
                                            "MASTERDOWN", "CLUSTERDOWN"};
    for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++)
        if (hf__redis_error_is(v, elsewhere[i])) return;
    for (; reqs; reqs = reqs->next) reqs->flags |= REQ_SPOKEN;
}

/* The keys of a value, a latch or a guard, for who may not use them; NULL: a
 * lock's. */
static const char *keys_text(const struct request *req, char *out, size_t size)
{
    if (req->op == OP_VALUE_READ || req->op == OP_VALUE_WRITE) return req->name;
    if (req->kind == KIND_LATCH || req->kind == KIND_BARRIER) return req->name;
    if (req->op != OP_GUARD) return NULL;
    snprintf(out, size, "%.40s, or holdfast_%s:{...} for its token", req->name,
             req->flags & REQ_GUARD_CLAIM ? "claim" : "guard");
    return out;
}

/* EVAL needs the right to write, whatever the script does; EVAL_RO, which came
 * with Redis 7, does not.  Was the request sent once more, that way? */
static int is_looked_at(struct backend_conn *c, const struct flight *f,
                        const struct resp *v)
{
    enum request_op op = f->reqs->op;
    if (op != OP_INSPECT && op != OP_LIST && op != OP_VALUE_READ) return 0;
    if (f->kind == FLIGHT_LOOK || !hf__redis_error_is(v, "NOPERM")) return 0;
    hf__redis_send(c, FLIGHT_LOOK, f->reqs);
    return 1;
}

/* The server knows no EVAL_RO: then the answer before this one counts. */
static int is_unable_to_look(struct backend_conn *c, const struct flight *f,
                             const struct resp *v)
{
    if (f->kind != FLIGHT_LOOK || !hf__redis_error_is(v, "ERR unknown"))
        return 0;
    snprintf(c->text, sizeof c->text,
             "%s: %s: not permitted: the user may not write, and this server "
             "has no EVAL_RO, which only reads (Redis 7 has)",
             c->endpoint, op_words[f->reqs->op]);
    hf__redis_answer_all(c, f->reqs, V_ERROR, HF_DENIED, c->text);
    return 1;
}

static void reply_error(struct backend_conn *c, const struct flight *f,
                        const struct resp *v)
{
    char text[HF_ERROR_TEXT_MAX];
    if (f->kind == FLIGHT_REQUEST && hf__redis_error_is(v, "NOSCRIPT")) {
        /* Somebody flushed the cache.  Whatever was behind this in the
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
    int status = hf__redis_error(op_words[req->op],
                                 keys_text(req, keys, sizeof keys), v, text);
    hf__error_set(&err, status, "%s: %s", c->endpoint, text);
    if (f->reqs->op == OP_BOOT && hf__redis_boot_is_sliced(v))
        status = hf__error_set(&err, HF_INVALID, "%s: boot: " BOOT_OF_CLUSTER,
                               c->endpoint);
    hf__redis_answer_all(c, f->reqs, V_ERROR, status, err.text);
    /* No longer a primary: the next greeting says whose replica it is. */
    if (hf__redis_error_is_of_replica(v))
        hf__redis_link_fail(&c->main, HF_UNAVAILABLE, 0,
                            "the server is no longer a primary");
}

/* The answer to a bare SET NX PX: yes, or the script looks what is there. */
static void reply_set(struct backend_conn *c, const struct flight *f,
                      const struct resp *v)
{
    const struct reply granted = {
        .verdict = V_GRANTED, .ttl_us = -1, .waiters = -1};
    if (v->type == RESP_NIL)
        hf__redis_send(c, FLIGHT_REQUEST, f->reqs);
    else if (!hf__redis_resp_is_text(v, "OK"))
        hf__redis_strange(c, f->reqs);
    else if (!hf__redis_aof_hold(c, f->reqs, &granted)
             && !hf__redis_wait_park(c, f->reqs, &granted))
        hf__redis_answer(c, f->reqs, &granted);
}

void hf__redis_answered(struct backend_conn *c, const struct flight *f,
                        const struct resp *v)
{
    struct reply reply;
    if (f->kind == FLIGHT_ASKING) return;
    if (f->kind == FLIGHT_SLOTS || f->kind == FLIGHT_SHARDED) {
        c->owner->told(c, f->kind, v);
    } else if (f->kind == FLIGHT_CONFIG || f->kind == FLIGHT_SCAN) {
        hf__redis_boot_step(c, f, v);
    } else if (f->kind == FLIGHT_FACTS || f->kind == FLIGHT_SETTING
               || f->kind == FLIGHT_MARKER) {
        hf__redis_facts_reply(c, f, v);
    } else if (f->kind == FLIGHT_MASTER || f->kind == FLIGHT_PROMOTED) {
        hf__redis_ask_reply(c, f, v);
    } else if (f->kind == FLIGHT_ROLE) {
        hf__redis_role_heard(&c->main, v);
    } else if (f->kind == FLIGHT_WAIT) {
        hf__redis_wait_reply(c, v);
    } else if (f->kind == FLIGHT_AOF) {
        hf__redis_aof_reply(c, f, v);
    } else if (v->type == RESP_ERROR) {
        reply_error(c, f, v);
    } else if (f->kind == FLIGHT_SET) {
        reply_set(c, f, v);
    } else if (f->reqs->op == OP_RENEW) {
        reply_batch(c, f->reqs, v);
    } else if (hf__redis_queue_again(c, f->reqs, v)) {
        return;
    } else if (read_one(c, f->reqs, v, &reply) != 0) {
        hf__redis_strange(c, f->reqs);
    } else if (!hf__redis_aof_hold(c, f->reqs, &reply)
               && !hf__redis_wait_park(c, f->reqs, &reply)) {
        hf__redis_answer(c, f->reqs, &reply);
    }
}
