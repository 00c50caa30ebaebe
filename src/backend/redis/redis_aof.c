/*
 * redis_aof.c: waitaof=1, a grant counts once the server's disk has it.
 *
 * WAITAOF goes out right behind each proposal, and its answer is the next one
 * on the link.  One rule: what the disk may not have is never granted.
 */
#include <string.h>

#include "backend/redis/redis.h"
#include "base/error.h"

static int push_wait(struct link *l, int64_t limit_ms)
{
    struct command *cmd = &l->c->cmd;
    hf__cmd_begin(cmd, "WAITAOF");
    hf__cmd_number(cmd, 1); /* this server's own log */
    hf__cmd_number(cmd, 0); /* no replica's */
    hf__cmd_number(cmd, limit_ms > 0 ? limit_ms : 1);
    return hf__link_push(l, FLIGHT_AOF) ? 0 : -1;
}

int hf__redis_aof_greet(struct link *l)
{
    return l->c->waits_aof ? push_wait(l, 1) : 0;
}

const char *hf__redis_aof_refusal(const struct value *v)
{
    if (strstr(v->text, "unknown command"))
        return "the server has no WAITAOF: Redis 7.2 or later has";
    return "the server keeps no append-only file";
}

int hf__redis_aof_push(struct backend_conn *c, const struct request *req)
{
    if (!c->waits_aof || req->op != OP_PROPOSE) return 0;
    int64_t limit_us = c->env->conf->timeout_us;
    int64_t left_us = req->deadline_us - c->env->now(c->env);
    if (req->deadline_us > 0 && left_us < limit_us) limit_us = left_us;
    return push_wait(&c->main, limit_us / US_PER_MS);
}

static void answer_doubt(struct backend_conn *c, struct request *req,
                         int status, const char *why)
{
    struct hf_error err;
    hf__error_set(&err, status, "%s: acquire: %s", c->endpoint, why);
    req->next = NULL;
    hf__redis_answer_all(c, req, V_UNKNOWN, status, err.text);
}

int hf__redis_aof_hold(struct backend_conn *c, struct request *req,
                       const struct reply *reply)
{
    if (!c->waits_aof || req->op != OP_PROPOSE || reply->verdict != V_GRANTED)
        return 0;
    struct flight *next = hf__flight_first(&c->main);
    if (!next || next->kind != FLIGHT_AOF) {
        answer_doubt(c, req, HF_NOMEM, "out of memory");
        return 1;
    }
    next->reqs = req;
    c->aof_reply = *reply;
    return 1;
}

void hf__redis_aof_reply(struct backend_conn *c, const struct flight *f,
                         const struct value *v)
{
    char text[HF_ERROR_TEXT_MAX];
    if (!f->reqs) return; /* nothing was granted */
    if (v->type == VALUE_ERROR)
        answer_doubt(c, f->reqs, hf__redis_error("waitaof", NULL, v, text),
                     text);
    else if (!hf__value_is_array(v, 2))
        hf__ops_strange(c, f->reqs);
    else if (hf__value_number(v->first, 0) < 1)
        answer_doubt(c, f->reqs, HF_UNAVAILABLE,
                     "waitaof: not on the server's disk in time");
    else if (!hf__redis_wait_park(c, f->reqs, &c->aof_reply))
        hf__redis_answer(c, f->reqs, &c->aof_reply);
}
