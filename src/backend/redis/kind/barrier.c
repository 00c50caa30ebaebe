/*
 * barrier.c: barriers, in a layout of our own: requests to commands,
 * answers to replies.
 *
 * One rule: every arrival has a lease by the server's clock, and every key an
 * end.
 */
#include <stdio.h>

#include "backend/redis/redis.h"

#define BARRIER_KEYS 4

/* As many as the script wants of them, in this order. */
static void put_keys(struct command *cmd, const struct request *req, int len)
{
    static const char *const sides[] = {"hf_waiting", "hf_passed", "hf_left"};
    hf__redis_cmd_bytes(cmd, req->name, req->name_len);
    for (int i = 1; i < len; i++)
        hf__redis_cmd_side_key(cmd, req->name, req->name_len, sides[i - 1]);
}

static void wait_build(struct backend_conn *c, enum flight_kind kind,
                       const struct request *req)
{
    struct command *cmd = &c->cmd;
    hf__redis_cmd_script(cmd, &hf__redis_script_barrier_wait, kind,
                         BARRIER_KEYS);
    put_keys(cmd, req, BARRIER_KEYS);
    hf__redis_cmd_text(cmd, req->owner);
    hf__redis_cmd_number(cmd, req->permits);
    hf__redis_cmd_number(cmd, req->seen_us);
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

static void leave_build(struct command *cmd, enum flight_kind kind,
                        const struct request *req)
{
    hf__redis_cmd_script(cmd, &hf__redis_script_barrier_leave, kind,
                         BARRIER_KEYS);
    put_keys(cmd, req, BARRIER_KEYS);
    hf__redis_cmd_text(cmd, req->owner);
    hf__redis_cmd_number(cmd, req->ballot);
    hf__redis_cmd_number(cmd, req->window_us);
}

int hf__redis_barrier_build(struct backend_conn *c, enum flight_kind kind,
                            const struct request *req)
{
    struct command *cmd = &c->cmd;
    if (req->kind != KIND_BARRIER) return 0;
    if (req->op == OP_PROPOSE) {
        wait_build(c, kind, req);
    } else if (req->op == OP_RELEASE) {
        leave_build(cmd, kind, req);
    } else if (req->op == OP_TALLY) {
        hf__redis_cmd_script(cmd, &hf__redis_script_barrier_look, kind, 2);
        put_keys(cmd, req, 2);
    } else {
        return 0;
    }
    return 1;
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
    if (req->flags & REQ_QUEUE) reply->poll_us = PLACE_POLL_US;
}

static int read_wait(struct backend_conn *c, const struct request *req,
                     int64_t code, int64_t number, struct reply *reply)
{
    char why[96];
    switch (code) {
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

static int read_look(struct backend_conn *c, const struct resp *v, int64_t code,
                     int64_t waiting, struct reply *reply)
{
    int64_t parties = hf__redis_resp_number(hf__redis_resp_at(v, 3), 0);
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

static int read_leave(const struct resp *v, struct reply *reply)
{
    int64_t code = hf__redis_resp_number(v, INT64_MIN);
    reply->verdict = code == -1 ? V_GRANTED : V_ABSENT;
    return code == -1 || code == -2 ? 0 : -1;
}

int hf__redis_barrier_read(struct backend_conn *c, const struct request *req,
                           const struct resp *v, struct reply *reply)
{
    int is_look = req->op == OP_TALLY;
    if (req->op == OP_RELEASE) return read_leave(v, reply);
    if (!hf__redis_resp_is_array(v, is_look ? 4 : 3)) return -1;
    int64_t code = hf__redis_resp_number(hf__redis_resp_at(v, 0), INT64_MIN);
    int64_t number = hf__redis_resp_number(hf__redis_resp_at(v, 1), -1);
    reply->node_us = hf__redis_resp_number(hf__redis_resp_at(v, 2), -1);
    return is_look ? read_look(c, v, code, number, reply)
                   : read_wait(c, req, code, number, reply);
}
