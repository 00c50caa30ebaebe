/*
 * value.c: versioned values: requests to commands, answers to replies.
 *
 * One rule: a write tells when it was sent, by the server's clock, and the
 * server refuses one so old that no caller waits for its answer any more.
 */
#include <stdio.h>

#include "backend/redis/kind/kind.h"
#include "backend/redis/kind/command.h"
#include "backend/redis/kind/value.h"
#include "backend/redis/redis.h"

/* The server's clock, counted on from its last answer: by the time that the
 * answer took it is earlier than the true time, never later. */
int64_t hf__redis_now_us(const struct backend_conn *c)
{
    int64_t passed_us = c->env->now(c->env) - c->main.told_us;
    return c->main.node_us + passed_us;
}

/* Each answer sets the clock anew, so that drift does not add up. */
static void clock_take(struct backend_conn *c, int64_t node_us)
{
    if (node_us <= 0) return;
    c->main.node_us = node_us;
    c->main.told_us = c->env->now(c->env);
}

static void put_by(struct command *cmd, const struct request *req)
{
    hf__redis_cmd_part_begin(cmd);
    hf__redis_cmd_part_text(cmd, req->owner);
    hf__redis_cmd_part_text(cmd, " ");
    hf__redis_cmd_part_number(cmd, (int64_t)req->attempt);
    hf__redis_cmd_part_end(cmd);
}

static void build_read(struct backend_conn *c, const struct request *req)
{
    hf__redis_cmd_script_one(&c->cmd, req, 0);
}

static void build_write(struct backend_conn *c, const struct request *req)
{
    struct command *cmd = &c->cmd;
    hf__redis_cmd_script_one(cmd, req, 0);
    if (req->version == HF_VALUE_ANY)
        hf__redis_cmd_text(cmd, "*");
    else
        hf__redis_cmd_printf(cmd, "%llu", (unsigned long long)req->version);
    put_by(cmd, req);
    hf__redis_cmd_number(cmd, (req->lease_us + US_PER_MS - 1) / US_PER_MS);
    hf__redis_cmd_number(cmd, hf__redis_now_us(c));
    hf__redis_cmd_number(cmd, c->env->conf->timeout_us + VALUE_SKEW_US);
    if (!(req->flags & REQ_DELETE))
        hf__redis_cmd_bytes(cmd, req->data ? req->data : "", req->data_len);
}

static void conflict(struct backend_conn *c, struct reply *reply)
{
    snprintf(c->text, sizeof c->text,
             "%s: value: something that is no value is stored there",
             c->endpoint);
    reply->verdict = V_ERROR;
    reply->status = HF_CONFLICT;
    reply->text = c->text;
}

/* The request came too late; or the server's clock was set forward, and the
 * next request will be in time. */
void hf__redis_late(struct backend_conn *c, const char *what,
                    struct reply *reply)
{
    clock_take(c, reply->node_us);
    snprintf(c->text, sizeof c->text, "%s: %s: it came too late to be written",
             c->endpoint, what);
    reply->verdict = V_UNSENT;
    reply->status = HF_UNAVAILABLE;
    reply->text = c->text;
}

/* Versions are the server's clock or one more: whole numbers below 2^53. */
static int64_t version_at(const struct resp *v, size_t i)
{
    return hf__redis_resp_number_at(v, i, INT64_MIN);
}

static int read_value(struct backend_conn *c, const struct request *req,
                      const struct resp *v, struct reply *reply)
{
    (void)req;
    const struct resp *data = hf__redis_resp_at(v, 3);
    int64_t version = version_at(v, 0);
    if (!data || data->type != RESP_STRING || version < -1) return -1;
    reply->node_us = version_at(v, 1);
    clock_take(c, reply->node_us);
    if (version == -1 || data->len > HF_VALUE_MAX) {
        conflict(c, reply);
        return 0;
    }
    reply->verdict = V_GRANTED;
    reply->version = (uint64_t)version;
    reply->ttl_us = hf__redis_resp_ttl_us(hf__redis_resp_at(v, 2));
    if (version > 0) {
        reply->data = data->text;
        reply->data_len = data->len;
    }
    return 0;
}

static int read_written(struct backend_conn *c, const struct request *req,
                        const struct resp *v, struct reply *reply)
{
    (void)req;
    int64_t version = version_at(v, 1);
    if (!hf__redis_resp_is_array(v, 3) || version < 0) return -1;
    reply->node_us = version_at(v, 2);
    clock_take(c, reply->node_us);
    reply->version = (uint64_t)version;
    switch (version_at(v, 0)) {
    case 1:
        reply->verdict = V_GRANTED;
        return 0;
    case 0:
        reply->verdict = V_OTHER;
        return 0;
    case -1:
        conflict(c, reply);
        return 0;
    case -2:
        hf__redis_late(c, "value", reply);
        return 0;
    default:
        return -1;
    }
}

REDIS_CALL(value_read, build_read, read_value, 0);
REDIS_CALL(value_write, build_write, read_written, 0);
