/*
 * latch.c: latches, in the layout of Redisson's RCountDownLatch: requests
 * to commands, answers to replies.
 *
 * One rule: a change has a mark of its own in the server, for as long as a copy
 * of it may come, and says when it was sent, so that a later copy is refused.
 */
#include <stdio.h>

#include "backend/redis/kind/answer.h"
#include "backend/redis/kind/kind.h"
#include "backend/redis/kind/command.h"
#include "backend/redis/kind/value.h"
#include "backend/redis/redis.h"

#define LATCH_KEYS 3 /* the latch, its facts, and what only a semaphore has */

static void put_keys(struct command *cmd, const struct request *req)
{
    hf__redis_cmd_bytes(cmd, req->name, req->name_len);
    hf__redis_cmd_side_key(cmd, req->name, req->name_len, "hf");
    hf__redis_cmd_side_key(cmd, req->name, req->name_len, "timeout");
}

static void wait_build(struct backend_conn *c, const struct request *req)
{
    struct command *cmd = &c->cmd;
    hf__redis_cmd_script(cmd, LATCH_KEYS);
    put_keys(cmd, req);
    hf__redis_cmd_number(cmd, req->seen);
}

static const char *verb_of(enum tally_do what)
{
    switch (what) {
    case TALLY_OPEN:
        return "open";
    case TALLY_DOWN:
        return "down";
    case TALLY_DELETE:
        return "delete";
    default:
        return "read";
    }
}

static void tally_build(struct backend_conn *c, const struct request *req)
{
    struct command *cmd = &c->cmd;
    char mark[OWNER_LEN_MAX + 32];
    snprintf(mark, sizeof mark, "hf:%s:%llu", req->owner,
             (unsigned long long)req->attempt);
    hf__redis_cmd_script(cmd, LATCH_KEYS + 1);
    put_keys(cmd, req);
    hf__redis_cmd_side_key(cmd, req->name, req->name_len, mark);
    hf__redis_cmd_text(cmd, verb_of(req->tally));
    hf__redis_cmd_number(cmd, req->number);
    hf__redis_put_channel(cmd, req);
    hf__redis_cmd_number(cmd, hf__redis_now_us(c));
    hf__redis_cmd_number(cmd, c->env->conf->timeout_us + VALUE_SKEW_US);
    hf__redis_cmd_number(cmd, hf__redis_lease_ms(req));
    hf__redis_cmd_number(cmd, LATCH_DELETED_MS);
    hf__redis_put_letters(cmd, "o", (req->flags & REQ_OURS) != 0,
                          hf__redis_sharded_letters(c), c->is_sharded);
}

static void refuse(struct backend_conn *c, int status, const char *why,
                   struct reply *reply)
{
    hf__redis_refuse(c, "latch", status, why, reply);
}

/* What both scripts refuse alike.  0, or -1: it is no such answer. */
static int read_refusal(struct backend_conn *c, int64_t code,
                        const struct resp *v, struct reply *reply)
{
    switch (code) {
    case -2:
        hf__redis_late(c, "latch", reply);
        return 0;
    case -3:
        refuse(c, HF_CONFLICT, "something that is no latch is stored there",
               reply);
        return 0;
    case -4:
        refuse(c, HF_CONFLICT, hf__redis_in_use(hf__redis_resp_at(v, 1)),
               reply);
        return 0;
    case -5:
        refuse(c, HF_CONFLICT, FOREIGN_NUMBER, reply);
        return 0;
    case -6:
        refuse(c, HF_LOST, "it was deleted while it was waited for", reply);
        return 0;
    default:
        return -1;
    }
}

static void read_wait(struct backend_conn *c, const struct resp *v,
                      struct reply *reply)
{
    int is_open = hf__redis_resp_number_at(v, 0, 0) == 1;
    reply->verdict = is_open ? V_GRANTED : V_BUSY;
    if (is_open) return;
    snprintf(c->text, sizeof c->text, "%s: latch: %lld left to count",
             c->endpoint, (long long)hf__redis_resp_number_at(v, 1, 0));
    reply->seen = hf__redis_resp_number_at(v, 3, -1);
    reply->status = HF_TAKEN;
    reply->text = c->text;
}

static void read_tally(struct backend_conn *c, const struct request *req,
                       const struct resp *v, struct reply *reply)
{
    int64_t code = hf__redis_resp_number_at(v, 0, 0);
    int64_t count = hf__redis_resp_number_at(v, 1, 0);
    c->tally =
        (struct tally_told){.is_there = count > 0,
                            .value = count,
                            .waiters = hf__redis_resp_number_at(v, 3, -1)};
    reply->tally = &c->tally;
    reply->waiters = c->tally.waiters;
    reply->verdict = code == 1                  ? V_GRANTED
                     : req->tally == TALLY_OPEN ? V_OTHER
                                                : V_ABSENT;
}

static int latch_read(struct backend_conn *c, const struct request *req,
                      const struct resp *v, struct reply *reply)
{
    int is_wait = req->verb == VERB_PROPOSE;
    if (!hf__redis_resp_is_array(v, 4)) return -1;
    int64_t code = hf__redis_resp_number_at(v, 0, INT64_MIN);
    reply->node_us = hf__redis_resp_number_at(v, 2, -1);
    if (code != 0 && code != 1) return read_refusal(c, code, v, reply);
    if (is_wait)
        read_wait(c, v, reply);
    else
        read_tally(c, req, v, reply);
    return 0;
}

REDIS_CALL(latch_wait, wait_build, latch_read, 0);
REDIS_CALL(latch_tally, tally_build, latch_read, 0);
