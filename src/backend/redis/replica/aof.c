/*
 * aof.c: waitaof=1[,k], a grant counts once the server's disk has it, and
 * those of k replicas.
 *
 * WAITAOF goes out right behind each proposal, and its answer is the next one
 * on the link.  One rule: what a disk may not have is never granted.
 */
#include <stdio.h>
#include <string.h>

#include "backend/redis/kind/answer.h"
#include "backend/redis/link/error.h"
#include "backend/redis/link/link.h"
#include "backend/redis/redis.h"
#include "backend/redis/replica/aof.h"
#include "backend/redis/replica/wait.h"
#include "base/error.h"
#include "base/math.h"

int hf__redis_aof_read(struct backend_conn *c, const struct url *url,
                       struct hf_error *err)
{
    const char *text = hf__url_option(url, "waitaof");
    c->waits_aof = text && text[0] == '1';
    c->aof_replicas = 0;
    if (!text || !strcmp(text, "0") || !strcmp(text, "1")) return HF_OK;
    if (!strncmp(text, "1,", 2)
        && hf__number_parse(text + 2, 0, REPLICAS_MAX, &c->aof_replicas) == 0)
        return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "url: waitaof: \"%.40s\" is neither 0 nor 1 nor 1,k "
                         "with a number of replicas",
                         text);
}

static int push_wait(struct link *l, int64_t replicas, int64_t limit_ms)
{
    struct command *cmd = &l->c->cmd;
    hf__redis_cmd_begin(cmd, "WAITAOF");
    hf__redis_cmd_number(cmd, 1); /* this server's own log */
    hf__redis_cmd_number(cmd, replicas);
    hf__redis_cmd_number(cmd, max64(1, limit_ms));
    return hf__redis_link_push(l, FLIGHT_AOF) ? 0 : -1;
}

int hf__redis_aof_greet(struct link *l)
{
    /* For no replica: it is answered at once. */
    return l->c->waits_aof ? push_wait(l, 0, 1) : 0;
}

void hf__redis_aof_refused(struct link *l, const struct resp *v)
{
    char text[HF_ERROR_TEXT_MAX];
    int status = HF_UNSUPPORTED;
    if (strstr(v->text, "unknown command"))
        snprintf(text, sizeof text,
                 "waitaof: the server has no WAITAOF: Redis 7.2 or later has");
    else if (strstr(v->text, "appendonly"))
        snprintf(text, sizeof text,
                 "waitaof: the server keeps no append-only file");
    else
        status = hf__redis_error("waitaof", NULL, v, text);
    hf__redis_link_fail(l, status, 0, "%s", text);
}

int hf__redis_aof_push(struct backend_conn *c, const struct request *req)
{
    if (req->verb != VERB_PROPOSE) return 0;
    int64_t limit_us = hf__redis_wait_limit_us(c, hf__redis_wait_by_us(req));
    return push_wait(&c->main, c->aof_replicas, limit_us / US_PER_MS);
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
    if (req->verb != VERB_PROPOSE || reply->verdict != V_GRANTED) return 0;
    struct flight *next = hf__redis_flight_first(&c->main);
    if (!next || next->kind != FLIGHT_AOF) {
        answer_doubt(c, req, HF_NOMEM, "out of memory");
        return 1;
    }
    next->reqs = req;
    c->aof_reply = *reply;
    return 1;
}

static void answer_disks(struct backend_conn *c, struct request *req,
                         int64_t own, int64_t replicas)
{
    char why[96];
    req->flags |= REQ_SPOKEN;
    if (own < 1) {
        answer_doubt(c, req, HF_UNAVAILABLE,
                     "waitaof: not on the server's disk in time");
    } else if (replicas < c->aof_replicas) {
        snprintf(why, sizeof why,
                 "waitaof: on the disks of %lld of %lld replicas in time",
                 (long long)replicas, (long long)c->aof_replicas);
        answer_doubt(c, req, HF_UNAVAILABLE, why);
    } else {
        c->aof_reply.replicas = (int)min64(replicas, REPLICAS_MAX);
        if (!c->wait || !hf__redis_wait_park(c, req, &c->aof_reply))
            hf__redis_answer(c, req, &c->aof_reply);
    }
}

void hf__redis_aof_reply(struct backend_conn *c, const struct flight *f,
                         const struct resp *v)
{
    char text[HF_ERROR_TEXT_MAX];
    if (!f->reqs) return; /* nothing was granted */
    if (v->type == RESP_ERROR)
        answer_doubt(c, f->reqs, hf__redis_error("waitaof", NULL, v, text),
                     text);
    else if (!hf__redis_resp_is_array(v, 2))
        hf__redis_strange(c, f->reqs);
    else
        answer_disks(c, f->reqs, hf__redis_resp_number(v->first, 0),
                     hf__redis_resp_number(v->first->next, 0));
}
