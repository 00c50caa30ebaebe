/*
 * plain.c: plain locks, in Redisson's layout: requests to commands, answers to
 * replies.  One rule: what a script says is the only thing believed.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "backend/redis/inner/owner.h"
#include "backend/redis/kind/answer.h"
#include "backend/redis/kind/info.h"
#include "backend/redis/kind/kind.h"
#include "backend/redis/kind/plain.h"
#include "backend/redis/kind/queue.h"
#include "backend/redis/kind/rw.h"
#include "backend/redis/kind/command.h"
#include "backend/redis/member/boot.h"
#include "backend/redis/redis.h"
#include "backend/redis/watch/classic.h"

/* ---- requests to commands ---- */

static void put_channel(struct command *cmd, const char *prefix,
                        const struct request *req)
{
    hf__redis_cmd_key(cmd, prefix, req->name, req->name_len);
}

static void build_propose(struct backend_conn *c, const struct request *req)
{
    struct command *cmd = &c->cmd;
    int is_quorum = (req->flags & REQ_QUORUM) != 0;
    int has_queue = hf__redis_queue_has_key(c, req);
    hf__redis_cmd_script(cmd, 2 + has_queue + 2 * is_quorum);
    hf__redis_cmd_bytes(cmd, req->name, req->name_len);
    hf__redis_cmd_key(cmd, hf__redis_fence_prefix, req->name, req->name_len);
    if (has_queue) hf__redis_put_queue_key(cmd, hf__redis_queue_prefixes, req);
    if (is_quorum) hf__redis_cmd_bytes(cmd, req->name, req->name_len);
    if (is_quorum) hf__redis_cmd_text(cmd, BOOT_KEY);
    hf__redis_cmd_text(cmd, req->owner);
    hf__redis_put_mark(cmd, req, 1);
    hf__redis_cmd_number(cmd, req->ballot);
    hf__redis_cmd_number(cmd, hf__redis_lease_ms(req));
    /* A detached hold is marked by a minus before its maker's pid. */
    const char *info = req->info ? req->info : "0 - -";
    if (req->flags & REQ_DETACHED)
        hf__redis_cmd_printf(cmd, "-%s", info);
    else
        hf__redis_cmd_text(cmd, info);
    if (req->flags & REQ_QUORUM) hf__redis_put_group(cmd, req);
    int is_plain = !(req->flags & (REQ_SERVER_FENCE | REQ_QUORUM));
    if (is_plain || req->block > 0 || req->window_us != BALLOT_WINDOW_US)
        hf__redis_cmd_number(cmd, req->window_us);
    if (is_plain || req->block > 0) hf__redis_cmd_number(cmd, req->block);
    if (is_plain) hf__redis_cmd_text(cmd, "q");
}

static void build_renew(struct backend_conn *c, const struct request *reqs)
{
    struct command *cmd = &c->cmd;
    hf__redis_cmd_script_many(cmd, reqs);
    for (const struct request *r = reqs; r; r = r->next) {
        hf__redis_cmd_text(cmd, r->owner);
        hf__redis_put_mark(cmd, r, 0);
        hf__redis_cmd_number(cmd, hf__redis_lease_ms(r));
        hf__redis_cmd_number(cmd, r->count);
        hf__redis_cmd_number(cmd, r->fence);
    }
}

static void build_release(struct backend_conn *c, const struct request *req)
{
    struct command *cmd = &c->cmd;
    hf__redis_cmd_script_one(cmd, req, !hf__redis_is_alone(c, req));
    hf__redis_put_mark(cmd, req, 1);
    put_channel(cmd, hf__redis_channel_prefix, req);
    int is_past = (req->priv & PRIV_PAST_QUEUE) != 0;
    int is_plain = !(req->flags & REQ_HUSHED) && !c->is_sharded;
    hf__redis_put_letters(cmd, "h", (req->flags & REQ_HUSHED) != 0,
                          hf__redis_sharded_letters(c), c->is_sharded);
    if (is_past && is_plain) hf__redis_cmd_text(cmd, "");
    if (is_past) hf__redis_cmd_text(cmd, "f");
}

static void build_break(struct backend_conn *c, const struct request *req)
{
    struct command *cmd = &c->cmd;
    hf__redis_cmd_script_one(cmd, req, !c->no_fence);
    put_channel(cmd, hf__redis_channel_prefix, req);
    put_channel(cmd, hf__redis_rw_channel_prefix, req);
    hf__redis_cmd_printf(cmd, "%s%s%s", c->is_string ? "s" : "",
                         c->is_sharded ? "c" : "",
                         c->is_sharded && c->is_both ? "b" : "");
    hf__redis_queue_put_records(cmd, req);
    hf__redis_rw_put_floor(cmd, req);
}

/* ---- answers to replies ---- */

#define FOREIGN 2 /* acquire.lua: the holder is Redisson's */
#define OTHER_LAYOUT                                                           \
    "released, but a lock of another layout is in the same hash, and stays: "  \
    "Redisson's getMultiLock(group, values)?"
#define NO_EXPIRY "a string without an expiry is stored there, and no lock"

/* Another owner has it.  The error text tells if its hold has no expiry: then
 * only the holder, or a break, ends the wait. */
static void busy(struct backend_conn *c, const struct resp *v,
                 struct reply *reply)
{
    reply->verdict = V_BUSY;
    reply->ttl_us = hf__redis_resp_ttl_us(hf__redis_resp_at(v, 3));
    reply->silent = hf__redis_resp_number_at(v, 4, 0) == 1;
    reply->poll_us = hf__redis_poll_us(hf__redis_resp_at(v, 5));
    if (hf__redis_resp_number_at(v, 3, -1) != -1 || reply->ttl_us >= 0) return;
    snprintf(
        c->text, sizeof c->text,
        "%s: acquire: its holder's hold has no expiry; if the holder is gone, "
        "break the lock (holdfast break)",
        c->endpoint);
    reply->status = HF_TAKEN;
    reply->text = c->text;
}

int hf__redis_acquire_read(struct backend_conn *c, const struct request *req,
                           const struct resp *v, struct reply *reply)
{
    int64_t fence = hf__redis_resp_within(v, 0, INT64_MAX, -1);
    if (fence > 0 && req->flags & REQ_QUORUM) {
        /* In a quorum the fence is our number, and the node tells its time. */
        reply->verdict = V_GRANTED;
        reply->fence = reply->counter = req->ballot;
        reply->node_us = fence;
        return 0;
    }
    if (fence >= req->ballot) {
        reply->verdict = V_GRANTED;
        reply->fence = reply->counter = fence;
        /* A fence above our number is the server's clock. */
        if (fence > req->ballot) reply->node_us = fence;
        return 0;
    }
    if (!hf__redis_resp_is_array(v, 4)) return -1;
    reply->counter = hf__redis_resp_number_at(v, 1, -1);
    reply->node_us = hf__redis_resp_number_at(v, 2, -1);
    switch (hf__redis_resp_number_at(v, 0, INT64_MIN)) {
    case 1:
        reply->verdict = V_GRANTED;
        reply->fence = reply->counter;
        return 0;
    case 0:
        if (request_is_rw(req))
            hf__redis_rw_busy(v, reply);
        else
            busy(c, v, reply);
        if (!request_is_rw(req) && hf__redis_resp_number_at(v, 4, 0) == FOREIGN)
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

/* Another owner has it by now: name it, if the record is one of ours. */
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

int hf__redis_renew_read(struct backend_conn *c, const struct request *req,
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

int hf__redis_release_read(struct backend_conn *c, const struct request *req,
                           const struct resp *v, struct reply *reply)
{
    int64_t code = hf__redis_resp_number(v, INT64_MIN);
    if (hf__redis_resp_is_array(v, 2)) {
        code = hf__redis_resp_number_at(v, 0, INT64_MIN);
        reply->node_us = hf__redis_resp_number_at(v, 1, -1);
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
    int64_t was = hf__redis_resp_number_at(v, 0, INT64_MIN);
    reply->counter = hf__redis_resp_number_at(v, 1, -1);
    reply->node_us = hf__redis_resp_number_at(v, 2, -1);
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

REDIS_CALL(acquire, build_propose, hf__redis_acquire_read, 0);
REDIS_CALL(renew, build_renew, hf__redis_renew_read, BATCH_MAX);
REDIS_CALL(release, build_release, hf__redis_release_read, 0);
REDIS_CALL(break, build_break, read_break, 0);
