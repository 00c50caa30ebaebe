/*
 * guard.c: values that refuse stale holders: requests to commands,
 * answers to replies.
 *
 * One rule: check and write are one script call, and as a write of values it
 * tells when it was sent, so that a late copy is refused.
 */
#include <stdio.h>

#include "backend/redis/kind/kind.h"
#include "backend/redis/kind/command.h"
#include "backend/redis/kind/value.h"
#include "backend/redis/redis.h"

static const char guard_prefix[] = "holdfast_guard";
static const char claim_prefix[] = "holdfast_claim";

static const char *verb_of(unsigned flags)
{
    int has_value = (flags & REQ_GUARD_VALUE) != 0;
    if (flags & REQ_GUARD_LOOK) return has_value ? "read" : "look";
    if (flags & REQ_GUARD_CLAIM) return has_value ? "still" : "claim";
    if (flags & REQ_DELETE) return "delete";
    return has_value ? "set" : "touch";
}

static void build(struct backend_conn *c, const struct request *req)
{
    struct command *cmd = &c->cmd;
    int is_claim = (req->flags & REQ_GUARD_CLAIM) != 0;
    hf__redis_cmd_script(cmd, 2);
    hf__redis_cmd_key(cmd, is_claim ? claim_prefix : guard_prefix, req->name,
                      req->name_len);
    hf__redis_cmd_bytes(cmd, req->name, req->name_len);
    hf__redis_cmd_text(cmd, verb_of(req->flags));
    if (req->flags & REQ_GUARD_LOOK) return;
    hf__redis_cmd_number(cmd, (int64_t)req->version);
    hf__redis_cmd_number(cmd, hf__redis_now_us(c));
    hf__redis_cmd_number(cmd, c->env->conf->timeout_us + VALUE_SKEW_US);
    if (!(req->flags & REQ_GUARD_VALUE)) return;
    hf__redis_cmd_number(cmd, hf__redis_lease_ms(req));
    hf__redis_cmd_bytes(cmd, req->data ? req->data : "", req->data_len);
}

static void conflict(struct backend_conn *c, const char *why,
                     struct reply *reply)
{
    snprintf(c->text, sizeof c->text, "%s: guard: %s", c->endpoint, why);
    reply->verdict = V_ERROR;
    reply->status = HF_CONFLICT;
    reply->text = c->text;
}

static int value_take(struct backend_conn *c, const struct resp *v,
                      struct reply *reply)
{
    const struct resp *data = hf__redis_resp_at(v, 4);
    if (!data) return -1;
    if (data->type == RESP_NIL) return 0;
    if (data->type != RESP_STRING) return -1;
    if (data->len > HF_VALUE_MAX) {
        conflict(c, "a longer value than a guarded one is stored there", reply);
        return 0;
    }
    reply->ttl_us = hf__redis_resp_ttl_us(hf__redis_resp_at(v, 3));
    reply->data = data->text;
    reply->data_len = data->len;
    return 0;
}

static int guard_read(struct backend_conn *c, const struct request *req,
                      const struct resp *v, struct reply *reply)
{
    /* Tokens may be another program's, and larger than ours. */
    int64_t seen =
        hf__redis_resp_within(hf__redis_resp_at(v, 1), 0, INT64_MAX, -1);
    if (!hf__redis_resp_is_array(v, 3) || seen < 0) return -1;
    reply->node_us = hf__redis_resp_number_at(v, 2, -1);
    reply->version = (uint64_t)seen;
    switch (hf__redis_resp_number_at(v, 0, INT64_MIN)) {
    case 1:
        reply->verdict = V_GRANTED;
        if (req->flags & REQ_GUARD_LOOK && req->flags & REQ_GUARD_VALUE)
            return value_take(c, v, reply);
        return 0;
    case 0:
        reply->verdict = V_OTHER;
        return 0;
    case -1:
        conflict(c, "something that is no token is where its guard should be",
                 reply);
        return 0;
    case -2:
        conflict(c, "something that is no string is stored there", reply);
        return 0;
    case -3:
        hf__redis_late(c, "guard", reply);
        return 0;
    default:
        return -1;
    }
}

REDIS_CALL(guard, build, guard_read, 0);
