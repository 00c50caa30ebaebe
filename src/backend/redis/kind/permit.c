/*
 * permit.c: permits of a semaphore and plain counters, in Redisson's
 * layout: requests to commands, answers to replies.
 *
 * One rule: an attempt has its own ids, made of its owner and its number, so
 * that the server knows every copy of it.
 */
#include <stdio.h>
#include <string.h>

#include "backend/redis/kind/answer.h"
#include "backend/redis/kind/info.h"
#include "backend/redis/kind/kind.h"
#include "backend/redis/kind/command.h"
#include "backend/redis/kind/value.h"
#include "backend/redis/redis.h"
#include "base/math.h"

/* Renewed by one command: side keys have to be written out. */
#define BATCH_MAX_SIDE 16

#define ID_LEN 14 /* two more bytes count the permits of one acquire */

/* 8 bytes of the client, 6 of its attempt. */
static void id_make(const struct request *req, unsigned char id[ID_LEN])
{
    uint64_t client = hash64(req->owner, strcspn(req->owner, ":"));
    for (int i = 0; i < 8; i++) id[i] = (unsigned char)(client >> (56 - 8 * i));
    for (int i = 8; i < ID_LEN; i++)
        id[i] = (unsigned char)(req->attempt >> (8 * (ID_LEN - 1 - i)));
}

/* ---- requests to commands ---- */

static void put_id(struct command *cmd, const struct request *req)
{
    unsigned char id[ID_LEN];
    id_make(req, id);
    hf__redis_cmd_scratch(cmd, (const char *)id, ID_LEN);
}

static void put_side(struct command *cmd, const struct request *req,
                     const char *suffix)
{
    hf__redis_cmd_side_key(cmd, req->name, req->name_len, suffix);
}

/* What a late copy of this attempt finds. */
static void put_mark_key(struct command *cmd, const struct request *req)
{
    unsigned char id[ID_LEN];
    char suffix[4 + 2 * ID_LEN];
    id_make(req, id);
    int at = snprintf(suffix, sizeof suffix, "hf:");
    for (int i = 0; i < ID_LEN; i++)
        at += snprintf(suffix + at, sizeof suffix - (size_t)at, "%02x", id[i]);
    put_side(cmd, req, suffix);
}

/* 1 if the release is by a ticket, which has more to compare than the id. */
static int is_of_ticket(const struct request *req)
{
    return req->verb == VERB_RELEASE && (req->flags & REQ_DETACHED) != 0;
}

/* 1 if the proposal sets the number of permits if the store has none. */
static int says_capacity(const struct request *req)
{
    return req->verb == VERB_PROPOSE && req->capacity > 0;
}

static void put_letters(struct backend_conn *c, const struct request *req)
{
    char letters[8];
    size_t n = 0;
    if (c->is_sharded) letters[n++] = 's';
    if (c->is_sharded && c->is_both) letters[n++] = 'b';
    if (req->verb == VERB_RELEASE && req->flags & REQ_HUSHED)
        letters[n++] = 'h';
    if (req->verb == VERB_RELEASE && req->flags & REQ_UNSURE)
        letters[n++] = 'u';
    if (req->verb != VERB_TALLY && req->flags & REQ_QUEUE) letters[n++] = 'q';
    if (req->verb == VERB_TALLY && req->flags & REQ_ANYWAY) letters[n++] = 'f';
    if (req->verb == VERB_TALLY && req->flags & REQ_IF_THERE)
        letters[n++] = 'i';
    if (req->verb == VERB_TALLY && req->flags & REQ_OURS) letters[n++] = 'o';
    if (n > 0 || is_of_ticket(req) || says_capacity(req))
        hf__redis_cmd_scratch(&c->cmd, letters, n);
}

static void permit_propose(struct backend_conn *c, const struct request *req)
{
    struct command *cmd = &c->cmd;
    hf__redis_cmd_script(cmd, 7);
    hf__redis_cmd_bytes(cmd, req->name, req->name_len);
    put_side(cmd, req, "timeout");
    put_side(cmd, req, "hf");
    hf__redis_cmd_key(cmd, hf__redis_fence_prefix, req->name, req->name_len);
    put_mark_key(cmd, req);
    put_side(cmd, req, "hf_queue");
    put_side(cmd, req, "hf_waiters");
    put_id(cmd, req);
    hf__redis_cmd_printf(cmd, "v1 %s %llu ", req->owner,
                         (unsigned long long)req->attempt);
    hf__redis_cmd_number(cmd, req->permits);
    hf__redis_cmd_number(cmd, req->ballot);
    hf__redis_cmd_number(cmd, hf__redis_lease_ms(req));
    hf__redis_cmd_printf(cmd, "%s%s", req->flags & REQ_DETACHED ? "-" : "",
                         req->info ? req->info : "0 - -");
    hf__redis_put_channel(cmd, req);
    hf__redis_cmd_number(cmd, req->window_us);
    hf__redis_cmd_text(cmd, req->owner);
    hf__redis_cmd_number(cmd, PLACE_US / US_PER_MS);
    put_letters(c, req);
    if (says_capacity(req)) hf__redis_cmd_number(cmd, req->capacity);
}

/* The beginning of the record that the script compares before it renews. */
static void put_record(struct command *cmd, const struct request *req)
{
    if (req->fence)
        hf__redis_cmd_printf(cmd, "v1 %s %llu %lld %lld ", req->owner,
                             (unsigned long long)req->attempt,
                             (long long)req->permits, (long long)req->fence);
    else if (req->flags & REQ_DETACHED)
        hf__redis_put_mark(cmd, req, 0);
    else
        hf__redis_cmd_text(cmd, "");
}

static void permit_renew(struct backend_conn *c, const struct request *reqs)
{
    struct command *cmd = &c->cmd;
    int64_t n = 0;
    for (const struct request *r = reqs; r; r = r->next) n++;
    hf__redis_cmd_script(cmd, 2 * n);
    for (const struct request *r = reqs; r; r = r->next) {
        put_side(cmd, r, "timeout");
        put_side(cmd, r, "hf");
    }
    for (const struct request *r = reqs; r; r = r->next) {
        put_id(cmd, r);
        hf__redis_cmd_number(cmd, hf__redis_lease_ms(r));
        hf__redis_cmd_number(cmd, r->permits);
        put_record(cmd, r);
    }
}

static void permit_release(struct backend_conn *c, const struct request *req)
{
    struct command *cmd = &c->cmd;
    hf__redis_cmd_script(cmd, 6);
    hf__redis_cmd_bytes(cmd, req->name, req->name_len);
    put_side(cmd, req, "timeout");
    put_side(cmd, req, "hf");
    put_mark_key(cmd, req);
    put_side(cmd, req, "hf_queue");
    put_side(cmd, req, "hf_waiters");
    put_id(cmd, req);
    hf__redis_cmd_number(cmd, req->permits);
    hf__redis_put_channel(cmd, req);
    hf__redis_cmd_number(cmd, req->ballot);
    hf__redis_cmd_number(cmd, req->window_us);
    hf__redis_cmd_text(cmd, req->owner);
    put_letters(c, req);
    if (is_of_ticket(req)) hf__redis_put_mark(cmd, req, 0);
}

static void permit_inspect(struct backend_conn *c, const struct request *req)
{
    struct command *cmd = &c->cmd;
    hf__redis_cmd_script(cmd, 5);
    hf__redis_cmd_bytes(cmd, req->name, req->name_len);
    put_side(cmd, req, "timeout");
    put_side(cmd, req, "hf");
    hf__redis_cmd_key(cmd, hf__redis_fence_prefix, req->name, req->name_len);
    put_side(cmd, req, "hf_queue");
    hf__redis_cmd_text(cmd, req->owner);
    if (req->attempt)
        put_id(cmd, req);
    else
        hf__redis_cmd_text(cmd, "");
    hf__redis_put_channel(cmd, req);
    if (c->is_sharded) hf__redis_cmd_text(cmd, hf__redis_sharded_letters(c));
}

static void count_propose(struct backend_conn *c, const struct request *req)
{
    struct command *cmd = &c->cmd;
    hf__redis_cmd_script(cmd, 5);
    hf__redis_cmd_bytes(cmd, req->name, req->name_len);
    put_side(cmd, req, "hf");
    put_side(cmd, req, "timeout");
    put_mark_key(cmd, req);
    put_side(cmd, req, "hf_took");
    put_id(cmd, req);
    hf__redis_cmd_number(cmd, req->permits);
    hf__redis_cmd_number(cmd, req->ballot);
    hf__redis_cmd_number(cmd, req->window_us);
    hf__redis_cmd_number(cmd, hf__redis_lease_ms(req));
    if (!says_capacity(req)) return;
    hf__redis_cmd_number(cmd, req->capacity);
    hf__redis_put_channel(cmd, req);
    if (c->is_sharded) hf__redis_cmd_text(cmd, hf__redis_sharded_letters(c));
}

static void count_release(struct backend_conn *c, const struct request *req)
{
    struct command *cmd = &c->cmd;
    hf__redis_cmd_script(cmd, 3);
    hf__redis_cmd_bytes(cmd, req->name, req->name_len);
    put_mark_key(cmd, req);
    put_side(cmd, req, "hf_took");
    put_id(cmd, req);
    hf__redis_cmd_number(cmd, req->permits);
    hf__redis_put_channel(cmd, req);
    hf__redis_cmd_number(cmd, req->ballot);
    hf__redis_cmd_number(cmd, req->window_us);
    if (c->is_sharded) hf__redis_cmd_text(cmd, hf__redis_sharded_letters(c));
}

static void tally_build(struct backend_conn *c, const struct request *req)
{
    static const char *const verbs[] = {
        [TALLY_READ] = "read",    [TALLY_SET] = "set",  [TALLY_OPEN] = "open",
        [TALLY_ADD] = "add",      [TALLY_DOWN] = "add", [TALLY_DRAIN] = "drain",
        [TALLY_DELETE] = "delete"};
    struct command *cmd = &c->cmd;
    hf__redis_cmd_script(cmd, 4);
    hf__redis_cmd_bytes(cmd, req->name, req->name_len);
    put_side(cmd, req, "timeout");
    put_side(cmd, req, "hf");
    put_mark_key(cmd, req);
    hf__redis_cmd_text(cmd, req->kind == KIND_PERMIT ? "permit" : "count");
    hf__redis_cmd_text(cmd, verbs[req->tally]);
    hf__redis_cmd_number(cmd, req->number);
    hf__redis_put_channel(cmd, req);
    hf__redis_cmd_number(cmd, hf__redis_now_us(c));
    hf__redis_cmd_number(cmd, c->env->conf->timeout_us + VALUE_SKEW_US);
    hf__redis_cmd_number(cmd, hf__redis_lease_ms(req));
    put_letters(c, req);
}

/* ---- answers to replies ---- */

static int64_t at(const struct resp *v, size_t i)
{
    return hf__redis_resp_number_at(v, i, 0);
}

/* A token, a counter or the clock; -1, which is refused, if it is no number. */
static int64_t told_at(const struct resp *v, size_t i)
{
    return hf__redis_resp_number_at(v, i, -1);
}

static const char *word_of(const struct request *req)
{
    return req->kind == KIND_COUNT ? "counter" : "semaphore";
}

static int refuse(struct backend_conn *c, const struct request *req,
                  struct reply *reply, int status, const char *what)
{
    hf__redis_refuse(c, word_of(req), status, what, reply);
    return 0;
}

/* The conflicts that all scripts report alike; `kind` is what the name is in
 * use as, if the script tells it. */
static int conflict(struct backend_conn *c, const struct request *req,
                    int64_t code, const struct resp *kind, struct reply *reply)
{
    char text[64];
    const char *what;
    switch (code) {
    case -2:
        what = COUNTER_IS_NO_NUMBER;
        break;
    case -3:
        snprintf(text, sizeof text, "something that is no %s is stored there",
                 word_of(req));
        what = text;
        break;
    case -4:
        what = hf__redis_in_use(kind);
        break;
    case -6:
        what = FOREIGN_NUMBER;
        break;
    default:
        return -1;
    }
    return refuse(c, req, reply, HF_CONFLICT, what);
}

static int read_propose(struct backend_conn *c, const struct request *req,
                        const struct resp *v, struct reply *reply)
{
    char text[96];
    int64_t fence = hf__redis_resp_within(v, 0, INT64_MAX, 0);
    int64_t code = hf__redis_resp_number_at(v, 0, INT64_MIN);
    if (fence > 0) {
        reply->verdict = V_GRANTED;
        reply->fence = reply->counter = fence;
        return 0;
    }
    if (!hf__redis_resp_is_array(v, 5)) return -1;
    reply->node_us = told_at(v, 2);
    switch (code) {
    case 1:
        reply->verdict = V_GRANTED;
        reply->fence = reply->counter = told_at(v, 1);
        return 0;
    case 0:
        reply->verdict = V_BUSY;
        reply->ttl_us = hf__redis_resp_ttl_us(hf__redis_resp_at(v, 3));
        reply->poll_us = hf__redis_poll_us(hf__redis_resp_at(v, 4));
        return 0;
    case -1:
        reply->verdict = V_STALE;
        reply->counter = told_at(v, 1);
        return 0;
    case -5:
        snprintf(text, sizeof text, "%lld permits wanted: there are only %lld",
                 (long long)req->permits, (long long)at(v, 1));
        return refuse(c, req, reply, HF_INVALID, text);
    default:
        return conflict(c, req, code, hf__redis_resp_at(v, 1), reply);
    }
}

static int read_renew(struct backend_conn *c, const struct request *req,
                      const struct resp *v, struct reply *reply)
{
    int64_t ttl_ms = hf__redis_resp_within(v, -4, INT64_MAX, INT64_MIN);
    if (ttl_ms >= 0) {
        reply->verdict = V_GRANTED;
        reply->ttl_us = hf__redis_resp_ttl_us(v);
    } else if (ttl_ms == -2) {
        reply->verdict = V_ABSENT;
    } else {
        return conflict(c, req, ttl_ms == -4 ? -3 : 0, NULL, reply);
    }
    return 0;
}

static int read_release(struct backend_conn *c, const struct request *req,
                        const struct resp *v, struct reply *reply)
{
    (void)c;
    (void)req;
    int64_t told = hf__redis_resp_number(v, INT64_MIN);
    if (told < -2) return -1;
    reply->verdict = told == -2 ? V_ABSENT : V_GRANTED;
    reply->waiters = told == -2 ? -1 : told;
    return 0;
}

static void info_fill(struct hf_info *info, const struct resp *v)
{
    int has_record = hf__redis_info_holder(hf__redis_resp_at(v, 10), info) == 0;
    if (!has_record) *info = (struct hf_info){.foreign = 1};
    info->locked = at(v, 5) > 0;
    info->foreign = info->locked && !has_record;
    snprintf(info->layout, sizeof info->layout, "%s",
             info->foreign ? "redisson" : "holdfast");
    info->fence = (uint64_t)max64(at(v, 2), 0);
    info->now_ms = at(v, 1) / US_PER_MS;
    info->waiters = at(v, 3);
    info->available = at(v, 4);
    info->permits = at(v, 4) + at(v, 5);
    info->ttl_ms = info->locked ? at(v, 6) : -2;
    info->queued = at(v, 7);
    info->position = at(v, 8);
    info->mine = at(v, 9) == 1;
    info->count = info->mine;
}

static int read_inspect(struct backend_conn *c, const struct request *req,
                        const struct resp *v, struct reply *reply)
{
    int64_t code = hf__redis_resp_number_at(v, 0, INT64_MIN);
    if (!hf__redis_resp_is_array(v, 11)) return -1;
    reply->node_us = told_at(v, 1);
    if (code < 0) return conflict(c, req, code, hf__redis_resp_at(v, 2), reply);
    info_fill(&c->info, v);
    reply->verdict = V_GRANTED;
    reply->counter = (int64_t)c->info.fence;
    reply->info = &c->info;
    return 0;
}

static int read_tally(struct backend_conn *c, const struct request *req,
                      const struct resp *v, struct reply *reply)
{
    char text[96];
    int64_t code = hf__redis_resp_number_at(v, 0, INT64_MIN);
    if (!hf__redis_resp_is_array(v, 7)) return -1;
    reply->node_us = told_at(v, 1);
    c->tally = (struct tally_told){.is_there = at(v, 2) == 1,
                                   .value = at(v, 3),
                                   .capacity = at(v, 4),
                                   .taken = at(v, 5),
                                   .waiters = at(v, 6)};
    reply->tally = &c->tally;
    switch (code) {
    case 1:
        reply->verdict = V_GRANTED;
        return 0;
    case 0:
        reply->verdict = req->tally == TALLY_OPEN ? V_OTHER : V_ABSENT;
        return 0;
    case -2:
        hf__redis_late(c, word_of(req), reply);
        return 0;
    case -5:
        snprintf(text, sizeof text,
                 "%lld permits are out: there cannot be fewer",
                 (long long)at(v, 5));
        return refuse(c, req, reply, HF_INVALID, text);
    default:
        return conflict(c, req, code, hf__redis_resp_at(v, 2), reply);
    }
}

REDIS_CALL(permit_acquire, permit_propose, read_propose, 0);
REDIS_CALL(permit_renew, permit_renew, read_renew, BATCH_MAX_SIDE);
REDIS_CALL(permit_release, permit_release, read_release, 0);
REDIS_CALL(permit_inspect, permit_inspect, read_inspect, 0);
REDIS_CALL(permit_tally, tally_build, read_tally, 0);
REDIS_CALL(count_acquire, count_propose, read_propose, 0);
REDIS_CALL(count_release, count_release, read_release, 0);
