/*
 * wait.c: wait=k|majority|all, a grant counts once this number of replicas
 * has it; with wait_renew=on a renewal too.
 *
 * One WAIT goes out behind everything of a flush that must be waited for, and
 * what was granted is parked until its answer.  One rule: what too few replicas
 * may have is never granted: it is in doubt, and so given back.
 *
 * WAIT keeps everything behind it waiting, renewals of other locks too.  So it
 * ends before the deadline of what it is for, is short against its lease, and
 * short where replicas are known or believed to be missing.
 */
#include <stdio.h>
#include <string.h>

#include "backend/redis/link/error.h"
#include "backend/redis/link/link.h"
#include "backend/redis/redis.h"
#include "backend/redis/replica/role.h"
#include "backend/redis/replica/wait.h"
#include "base/error.h"
#include "base/math.h"

#define WAIT_MAJORITY (-1)
#define WAIT_ALL (-2)
#define LEASE_PARTS 8 /* a renewal leaves itself more than one of these */
#define FULL_EVERY 4  /* of the tries for replicas that were missing */
/* A server looks ten times a second which WAIT has taken long enough. */
#define SERVER_TICK_US (150 * US_PER_MS)

int hf__redis_wait_read(struct backend_conn *c, const struct url *url,
                        struct hf_error *err)
{
    const char *text = hf__url_option(url, "wait");
    const char *renew = hf__url_option(url, "wait_renew");
    if (!text)
        c->wait = 0;
    else if (!strcmp(text, "majority"))
        c->wait = WAIT_MAJORITY;
    else if (!strcmp(text, "all"))
        c->wait = WAIT_ALL;
    else if (hf__number_parse(text, 0, REPLICAS_MAX, &c->wait) != 0)
        return hf__error_set(err, HF_INVALID,
                             "url: wait: \"%.40s\" is neither majority nor "
                             "all nor a number of replicas",
                             text);
    if (renew && strcmp(renew, "on") != 0 && strcmp(renew, "off") != 0)
        return hf__error_set(err, HF_INVALID,
                             "url: wait_renew: \"%.40s\" is neither on nor "
                             "off",
                             renew);
    c->wait_renews = renew && !strcmp(renew, "on");
    if (c->wait_renews && !c->wait)
        return hf__error_set(err, HF_INVALID,
                             "url: wait_renew: needs wait=, which says for "
                             "how many replicas");
    return HF_OK;
}

const char *hf__redis_wait_text(const struct backend_conn *c, char *out,
                                size_t size)
{
    if (c->wait == WAIT_MAJORITY) return "majority";
    if (c->wait == WAIT_ALL) return "all";
    snprintf(out, size, "%lld", (long long)c->wait);
    return c->wait ? out : "";
}

/* At least one: wait= without any replica would mean nothing. */
static int64_t replicas_needed(const struct backend_conn *c)
{
    int64_t n = c->repl.replicas;
    if (c->wait > 0) return c->wait;
    /* Of n + 1 servers, the primary being one of the majority. */
    return max64(1, c->wait == WAIT_MAJORITY ? (n + 1) / 2 : n);
}

static int push_wait(struct link *l, int64_t replicas, int64_t limit_ms)
{
    struct command *cmd = &l->c->cmd;
    hf__redis_cmd_begin(cmd, "WAIT");
    hf__redis_cmd_number(cmd, replicas);
    hf__redis_cmd_number(cmd, limit_ms);
    return hf__redis_link_push(l, FLIGHT_WAIT) ? 0 : -1;
}

int hf__redis_wait_greet(struct link *l)
{
    l->c->wait_is_due = 0;
    /* For none: it is answered at once. */
    return l->c->wait ? push_wait(l, 0, 1) : 0;
}

void hf__redis_wait_refused(struct link *l, const struct resp *v)
{
    char text[HF_ERROR_TEXT_MAX];
    if (strstr(v->text, "unknown command")) {
        hf__redis_link_fail(
            l, HF_UNSUPPORTED, 0,
            "wait: the server has no WAIT, or does not permit it; without "
            "wait= it can be used");
        return;
    }
    int status = hf__redis_error("wait", NULL, v, text);
    if (hf_status_advice(status) != HF_ADVICE_FIX) status = HF_UNSUPPORTED;
    hf__redis_link_fail(l, status, 0, "%s; without wait= it can be used", text);
}

int hf__redis_wait_up(struct link *l)
{
    if (l->c->wait >= 0 || l->c->repl.is_known) return 0;
    hf__redis_link_fail(
        l, HF_DENIED, 0,
        "wait: neither ROLE nor INFO is permitted, so the number of replicas "
        "is not known: say wait=k");
    return -1;
}

void hf__redis_wait_sent(struct backend_conn *c, const struct request *req)
{
    int is_waited_for = req->verb == VERB_PROPOSE
                        || (req->verb == VERB_RENEW && c->wait_renews);
    if (!is_waited_for) return;
    if (!c->wait_is_due) c->wait_by_us = c->wait_most_us = TIME_NEVER;
    c->wait_is_due = 1;
    for (; req; req = req->next) {
        c->wait_by_us = min64(c->wait_by_us, hf__redis_wait_by_us(req));
        c->wait_most_us = min64(c->wait_most_us, req->lease_us / LEASE_PARTS);
    }
}

int64_t hf__redis_wait_by_us(const struct request *req)
{
    int64_t by_us = req->deadline_us > 0 ? req->deadline_us : TIME_NEVER;
    if (req->verb != VERB_PROPOSE || req->wanted_us <= 0) return by_us;
    return min64(by_us, req->wanted_us);
}

int64_t hf__redis_wait_limit_us(const struct backend_conn *c, int64_t by_us)
{
    int64_t limit_us = c->env->conf->timeout_us;
    if (by_us != TIME_NEVER)
        limit_us = min64(limit_us, by_us - c->env->now(c->env));
    int64_t quarter_us = limit_us / 4;
    return max64(quarter_us,
                 min64(limit_us - SERVER_TICK_US, limit_us - quarter_us));
}

/* 1 if there are too few replicas, as far as is known. */
static int is_short(const struct backend_conn *c)
{
    return c->repl.is_known && c->repl.counted < replicas_needed(c);
}

static int64_t limit_ms(const struct backend_conn *c)
{
    int64_t limit_us = hf__redis_wait_limit_us(c, c->wait_by_us);
    limit_us = min64(limit_us, c->wait_most_us);
    /* Slow replicas must not count as missing for ever: now and then a full
     * wait is tried. */
    if (c->wait_failures % FULL_EVERY || is_short(c))
        limit_us = min64(limit_us, c->env->conf->timeout_us / 8);
    return max64(1, limit_us / US_PER_MS);
}

/* 1 if the number of replicas decides, or is to be told. */
static int is_count_wanted(const struct backend_conn *c)
{
    return c->wait < 0 || (c->wait_failures > 0 && c->repl.is_known);
}

void hf__redis_wait_push(struct backend_conn *c)
{
    c->wait_is_due = 0;
    if (c->main.state != LINK_UP) return;
    int rc = is_count_wanted(c) ? hf__redis_role_ask(&c->main) : 0;
    if (rc != 0 || push_wait(&c->main, replicas_needed(c), limit_ms(c)) != 0)
        hf__redis_link_fail(&c->main, HF_NOMEM, 0, "wait: out of memory");
}

/* ---- what was granted ---- */

int hf__redis_wait_park(struct backend_conn *c, struct request *req,
                        const struct reply *reply)
{
    if (reply->verdict != V_GRANTED) return 0;
    if (req->verb != VERB_PROPOSE
        && !(req->verb == VERB_RENEW && c->wait_renews))
        return 0;
    req->granted = req->verb == VERB_RENEW ? reply->ttl_us : reply->fence;
    req->granted_us = reply->node_us;
    hf__redis_list_push(&c->parked, req);
    return 1;
}

static void answer_granted(struct backend_conn *c, struct request *req,
                           int64_t replicas)
{
    struct reply reply = {.verdict = V_GRANTED,
                          .ttl_us = -1,
                          .waiters = -1,
                          .node_us = req->granted_us,
                          .replicas = (int)min64(replicas, REPLICAS_MAX)};
    if (req->verb == VERB_RENEW)
        reply.ttl_us = req->granted;
    else
        reply.fence = reply.counter = req->granted;
    hf__redis_answer(c, req, &reply);
}

static void parked_doubt(struct backend_conn *c, int status, const char *text)
{
    c->wait_failures++;
    hf__redis_answer_all(c, hf__redis_list_take(&c->parked), V_UNKNOWN, status,
                         text);
}

void hf__redis_wait_fail(struct backend_conn *c, int status, const char *text)
{
    if (c->parked.first) parked_doubt(c, status, text);
}

static void parked_grant(struct backend_conn *c, int64_t replicas)
{
    struct request *reqs = hf__redis_list_take(&c->parked);
    while (reqs) {
        struct request *req = reqs;
        reqs = req->next;
        answer_granted(c, req, replicas);
    }
}

static void shortfall(struct backend_conn *c, int64_t got, int64_t need)
{
    char text[HF_ERROR_TEXT_MAX], only[48] = "";
    if (is_short(c) && c->repl.counted > 0)
        snprintf(only, sizeof only, "; only %lld connected",
                 (long long)c->repl.counted);
    else if (is_short(c))
        snprintf(only, sizeof only, "; none is connected");
    snprintf(text, sizeof text,
             "%s: wait: %lld of %lld replicas answered in time%s", c->endpoint,
             (long long)got, (long long)need, only);
    for (struct request *r = c->parked.first; r; r = r->next)
        r->flags |= REQ_SPOKEN;
    parked_doubt(c, HF_UNAVAILABLE, text);
}

void hf__redis_wait_reply(struct backend_conn *c, const struct resp *v)
{
    int64_t got = hf__redis_resp_number(v, -1), need = replicas_needed(c);
    if (got >= need) {
        c->wait_failures = 0;
        parked_grant(c, got);
    } else if (got >= 0) {
        shortfall(c, got, need);
    } else if (v->type == RESP_ERROR) {
        /* A cluster's replica by now, which has sent all of it on. */
        if (c->owner && !c->parked.first) return;
        /* Demoted meanwhile, as like as not: the next greeting tells. */
        char why[HF_ERROR_TEXT_MAX];
        int status = hf__redis_error("wait", NULL, v, why);
        hf__redis_link_fail(&c->main, status, 0, "%s", why);
    } else {
        hf__redis_link_fail(&c->main, HF_UNAVAILABLE, 0,
                            "wait: unexpected answer");
    }
}

int64_t hf__redis_wait_deadline(const struct backend_conn *c)
{
    int64_t earliest = TIME_NEVER;
    for (const struct request *r = c->parked.first; r; r = r->next)
        earliest = min64(earliest, r->deadline_us);
    return earliest;
}
