/*
 * rw.c: read/write locks, in Redisson's layout: requests to commands,
 * answers to replies.  One rule: our record of a hold is in the string that
 * expires with it (`{name}:<owner>:rwlock_timeout:1`), never in the lock's own
 * hash, because Redisson takes every field there for a holder.
 */
#include <stdio.h>

#include "backend/redis/kind/kind.h"
#include "backend/redis/kind/plain.h"
#include "backend/redis/kind/rw.h"
#include "backend/redis/kind/command.h"
#include "backend/redis/kind/value.h"
#include "backend/redis/redis.h"
#include "base/math.h"

/* Renewed by one command: side keys have to be written out. */
#define BATCH_MAX_RW 28

/* Redisson's scripts look at as many strings of a holder as its count says, so
 * the count is never higher than this.  A release only needs to know whether
 * any are left. */
#define RW_COUNT_MAX 1000

static const char *side_of(const struct request *req)
{
    if (req->kind == KIND_READ) return "r";
    return req->flags & REQ_UPGRADE ? "u" : "w";
}

/* The letter of the order: fair, or writers first; a capital if the waiter
 * keeps a place. */
static const char *order_of(const struct request *req)
{
    if (req->flags & REQ_WRITERS) return req->flags & REQ_QUEUE ? "P" : "p";
    return req->flags & REQ_QUEUE ? "F" : NULL;
}

void hf__redis_rw_put_floor(struct command *cmd, const struct request *req)
{
    hf__redis_cmd_side_key(cmd, req->name, req->name_len, "hf_rw");
}

/* Where the facts of this hold are. */
static void put_record(struct command *cmd, const struct request *req)
{
    char suffix[OWNER_LEN_MAX + 32];
    snprintf(suffix, sizeof suffix, "%s%s:rwlock_timeout:1", req->owner,
             req->kind == KIND_WRITE ? ":write" : "");
    hf__redis_cmd_side_key(cmd, req->name, req->name_len, suffix);
}

static void build_propose(struct backend_conn *c, const struct request *req)
{
    struct command *cmd = &c->cmd;
    const char *order = order_of(req);
    hf__redis_cmd_script(cmd, 4);
    hf__redis_cmd_bytes(cmd, req->name, req->name_len);
    hf__redis_cmd_key(cmd, hf__redis_fence_prefix, req->name, req->name_len);
    hf__redis_rw_put_floor(cmd, req);
    put_record(cmd, req);
    hf__redis_cmd_text(cmd, req->owner);
    hf__redis_cmd_text(cmd, side_of(req));
    hf__redis_put_mark(cmd, req, 1);
    hf__redis_cmd_number(cmd, req->ballot);
    hf__redis_cmd_number(cmd, hf__redis_lease_ms(req));
    hf__redis_cmd_text(cmd, req->info ? req->info : "0 - -");
    int is_usual = req->window_us == BALLOT_WINDOW_US;
    if (!order && is_usual) return;
    hf__redis_cmd_text(cmd, order ? order : "");
    hf__redis_cmd_number(cmd, PLACE_US / US_PER_MS);
    if (!is_usual) hf__redis_cmd_number(cmd, req->window_us);
}

void hf__redis_rw_put_field(struct command *cmd, const struct request *req)
{
    hf__redis_cmd_part_begin(cmd);
    hf__redis_cmd_part_text(cmd, req->owner);
    if (req->kind == KIND_WRITE) hf__redis_cmd_part_text(cmd, ":write");
    hf__redis_cmd_part_end(cmd);
}

static void build_renew(struct backend_conn *c, const struct request *reqs)
{
    struct command *cmd = &c->cmd;
    int64_t n = 0;
    for (const struct request *r = reqs; r; r = r->next) n++;
    hf__redis_cmd_script(cmd, 2 * n);
    for (const struct request *r = reqs; r; r = r->next) {
        hf__redis_cmd_bytes(cmd, r->name, r->name_len);
        put_record(cmd, r);
    }
    for (const struct request *r = reqs; r; r = r->next) {
        hf__redis_rw_put_field(cmd, r);
        hf__redis_put_mark(cmd, r, 0);
        hf__redis_cmd_number(cmd, hf__redis_lease_ms(r));
        hf__redis_cmd_number(cmd, min64(r->count, RW_COUNT_MAX));
        hf__redis_cmd_number(cmd, r->fence);
    }
}

/* A number is remembered for as long as a proposal under it would be young
 * enough to be granted. */
static int64_t floor_ms(const struct backend_conn *c, const struct request *req)
{
    int64_t ahead_us = max64(req->ballot - hf__redis_now_us(c), 0);
    return (ahead_us + 2 * req->window_us) / US_PER_MS;
}

static void build_release(struct backend_conn *c, const struct request *req)
{
    struct command *cmd = &c->cmd;
    int is_queued = (req->flags & REQ_QUEUE) != 0;
    hf__redis_cmd_script(cmd, 3);
    hf__redis_cmd_bytes(cmd, req->name, req->name_len);
    hf__redis_rw_put_floor(cmd, req);
    put_record(cmd, req);
    hf__redis_cmd_text(cmd, req->owner);
    hf__redis_cmd_text(cmd, req->kind == KIND_READ ? "r" : "w");
    hf__redis_put_mark(cmd, req, 0);
    /* With a blank behind it: a number alone could be taken for a lock. */
    hf__redis_cmd_part_begin(cmd);
    hf__redis_cmd_part_number(cmd, req->ballot);
    hf__redis_cmd_part_text(cmd, " ");
    hf__redis_cmd_part_end(cmd);
    hf__redis_cmd_key(cmd, hf__redis_rw_channel_prefix, req->name,
                      req->name_len);
    hf__redis_cmd_number(cmd, floor_ms(c, req));
    if (c->is_sharded || is_queued)
        hf__redis_cmd_printf(cmd, "%s%s",
                             c->is_sharded ? hf__redis_sharded_letters(c) : "",
                             is_queued ? "q" : "");
}

REDIS_CALL(rw_acquire, build_propose, hf__redis_acquire_read, 0);
REDIS_CALL(rw_renew, build_renew, hf__redis_renew_read, BATCH_MAX_RW);
REDIS_CALL(rw_release, build_release, hf__redis_release_read, 0);

/* ---- answers ---- */

void hf__redis_rw_busy(const struct resp *v, struct reply *reply)
{
    reply->verdict = V_BUSY;
    reply->counter = 0;
    reply->ttl_us = hf__redis_resp_ttl_us(hf__redis_resp_at(v, 3));
    if (hf__redis_resp_number_at(v, 4, 0) == 1) reply->poll_us = PLACE_POLL_US;
}
