/*
 * barrier.c: barriers, in a layout of our own: requests to commands,
 * answers to replies.
 *
 * One rule: every arrival has a lease by the server's clock, and every key an
 * end.
 */
#include <stdio.h>

#include "backend/redis/kind/answer.h"
#include "backend/redis/kind/kind.h"
#include "backend/redis/kind/command.h"
#include "backend/redis/redis.h"

#define BARRIER_KEYS 4

/* The first `len` of the barrier's keys, in the order that all scripts have. */
static void put_keys(struct command *cmd, const struct request *req, int len)
{
    static const char *const sides[] = {"hf_waiting", "hf_passed", "hf_left"};
    hf__redis_cmd_bytes(cmd, req->name, req->name_len);
    for (int i = 1; i < len; i++)
        hf__redis_cmd_side_key(cmd, req->name, req->name_len, sides[i - 1]);
}

static void wait_build(struct backend_conn *c, const struct request *req)
{
    struct command *cmd = &c->cmd;
    hf__redis_cmd_script(cmd, BARRIER_KEYS);
    put_keys(cmd, req, BARRIER_KEYS);
    hf__redis_cmd_text(cmd, req->owner);
    hf__redis_cmd_number(cmd, req->permits);
    hf__redis_cmd_number(cmd, req->seen);
    hf__redis_cmd_number(cmd, req->ballot);
    hf__redis_cmd_number(cmd, req->window_us);
    hf__redis_cmd_number(cmd, PLACE_US / US_PER_MS);
    hf__redis_cmd_number(cmd, BARRIER_KEPT_MS);
    hf__redis_cmd_number(cmd, BARRIER_IDLE_MS);
    hf__redis_put_channel(cmd, req);
    hf__redis_cmd_part_begin(cmd);
    if (c->is_sharded) hf__redis_cmd_part_text(cmd, "s");
    if (req->flags & REQ_QUEUE) hf__redis_cmd_part_text(cmd, "q");
    hf__redis_cmd_part_end(cmd);
}

static void leave_build(struct backend_conn *c, const struct request *req)
{
    struct command *cmd = &c->cmd;
    hf__redis_cmd_script(cmd, BARRIER_KEYS);
    put_keys(cmd, req, BARRIER_KEYS);
    hf__redis_cmd_text(cmd, req->owner);
    hf__redis_cmd_number(cmd, req->ballot);
    hf__redis_cmd_number(cmd, req->window_us);
}

static void look_build(struct backend_conn *c, const struct request *req)
{
    hf__redis_cmd_script(&c->cmd, 2);
    put_keys(&c->cmd, req, 2);
}

static void refuse(struct backend_conn *c, int status, const char *why,
                   struct reply *reply)
{
    hf__redis_refuse(c, "barrier", status, why, reply);
}

#define NO_BARRIER "something that is no barrier is stored there"

static void read_missing(struct backend_conn *c, const struct request *req,
                         int64_t missing, struct reply *reply)
{
    snprintf(c->text, sizeof c->text, "%s: barrier: %lld still missing",
             c->endpoint, (long long)missing);
    reply->verdict = V_BUSY;
    reply->status = HF_TAKEN;
    reply->text = c->text;
    reply->seen = reply->node_us;
    if (req->flags & REQ_QUEUE) reply->poll_us = PLACE_POLL_US;
}

static int read_wait(struct backend_conn *c, const struct request *req,
                     const struct resp *v, struct reply *reply)
{
    char why[96];
    if (!hf__redis_resp_is_array(v, 3)) return -1;
    int64_t number = hf__redis_resp_number_at(v, 1, -1);
    reply->node_us = hf__redis_resp_number_at(v, 2, -1);
    switch (hf__redis_resp_number_at(v, 0, INT64_MIN)) {
    case 1:
        reply->verdict = V_GRANTED;
        reply->fence = number;
        return 0;
    case 0:
        read_missing(c, req, number, reply);
        return 0;
    case -1:
        reply->verdict = V_STALE;
        reply->counter = number;
        return 0;
    case -3:
        refuse(c, HF_CONFLICT, NO_BARRIER, reply);
        return 0;
    case -5:
        snprintf(why, sizeof why, "others wait there for %lld parties",
                 (long long)number);
        refuse(c, HF_CONFLICT, why, reply);
        return 0;
    case -6:
        refuse(c, HF_LOST, "it was forgotten while it was waited for", reply);
        return 0;
    default:
        return -1;
    }
}

static int read_look(struct backend_conn *c, const struct request *req,
                     const struct resp *v, struct reply *reply)
{
    (void)req;
    if (!hf__redis_resp_is_array(v, 4)) return -1;
    int64_t code = hf__redis_resp_number_at(v, 0, INT64_MIN);
    int64_t waiting = hf__redis_resp_number_at(v, 1, -1);
    int64_t parties = hf__redis_resp_number_at(v, 3, 0);
    reply->node_us = hf__redis_resp_number_at(v, 2, -1);
    if (code == -3) refuse(c, HF_CONFLICT, NO_BARRIER, reply);
    if (code != 1) return code == -3 ? 0 : -1;
    c->tally = (struct tally_told){.is_there = parties > 0,
                                   .value = waiting,
                                   .capacity = parties,
                                   .waiters = -1};
    reply->verdict = V_GRANTED;
    reply->tally = &c->tally;
    return 0;
}

static int read_leave(struct backend_conn *c, const struct request *req,
                      const struct resp *v, struct reply *reply)
{
    (void)c;
    (void)req;
    int64_t code = hf__redis_resp_number(v, INT64_MIN);
    reply->verdict = code == -1 ? V_GRANTED : V_ABSENT;
    return code == -1 || code == -2 ? 0 : -1;
}

REDIS_CALL(barrier_wait, wait_build, read_wait, 0);
REDIS_CALL(barrier_leave, leave_build, read_leave, 0);
REDIS_CALL(barrier_look, look_build, read_look, 0);
