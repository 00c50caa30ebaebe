/*
 * run.c: the requests that wait, and how requests are answered.  One rule: a
 * request is in one place: among those that wait, in a call, or answered.
 */
#include <stdarg.h>
#include <stdio.h>

#include "backend/etcd/etcd.h"
#include "base/error.h"
#include "base/math.h"

int64_t hf__etcd_now(const struct backend_conn *c)
{
    return c->env->now(c->env);
}

int64_t hf__etcd_wall(const struct backend_conn *c)
{
    if (c->clock.has_bounds) return hf__etcd_clock_low(c);
    return hf__etcd_now(c) + c->wall_us;
}

struct lane *hf__etcd_lane(struct backend_conn *c, const struct request *req)
{
    return &c->lanes[hash64(req->name, req->name_len) % LANES];
}

void hf__etcd_wait(struct backend_conn *c, struct request *req)
{
    req->next = NULL;
    *c->waiting_end = req;
    c->waiting_end = &req->next;
}

/* ---- answers ---- */

void hf__etcd_reply(struct backend_conn *c, struct request *req,
                    struct reply *rep)
{
    rep->node_us = hf__etcd_wall(c);
    c->env->reply(c->env, req, rep);
}

static void text_reply(struct backend_conn *c, struct request *req,
                       enum verdict verdict, int status, const char *text)
{
    struct reply rep = {.verdict = verdict,
                        .status = status,
                        .ttl_us = -1,
                        .waiters = -1,
                        .text = text};
    if (verdict == V_ERROR) req->flags |= REQ_SPOKEN;
    hf__etcd_reply(c, req, &rep);
}

void hf__etcd_refuse(struct backend_conn *c, struct request *req, int status,
                     const char *format, ...)
{
    char text[HF_ERROR_TEXT_MAX], what[HF_ERROR_TEXT_MAX];
    va_list ap;
    va_start(ap, format);
    vsnprintf(what, sizeof what, format, ap);
    va_end(ap);
    snprintf(text, sizeof text, "%.80s: %.160s", c->server.endpoint, what);
    text_reply(c, req, V_ERROR, status, text);
}

/* A refused call has changed nothing; what its status means for the caller. */
int hf__etcd_refusal(const struct call *call, const char *what, char *text,
                     size_t size)
{
    int status = HF_UNAVAILABLE;
    const char *why = "the server refused";
    if (call->status == GRPC_DENIED)
        status = HF_DENIED, why = "the user lacks a right";
    else if (call->status == GRPC_INVALID)
        status = HF_DENIED, why = "the server does not accept the request";
    else if (call->status == GRPC_EXHAUSTED)
        why = "the server has no space left";
    else if (call->status == GRPC_UNSUPPORTED)
        status = HF_UNSUPPORTED, why = "the server does not know this request";
    snprintf(text, size, "%s: %s: %s", what, why, call->message);
    return status;
}

void hf__etcd_refuse_by(struct backend_conn *c, struct request *req,
                        const struct call *call, const char *what)
{
    char text[HF_ERROR_TEXT_MAX];
    int status = hf__etcd_refusal(call, what, text, sizeof text);
    hf__etcd_refuse(c, req, status, "%s", text);
}

void hf__etcd_doubt(struct backend_conn *c, struct request *req,
                    const struct hf_error *err)
{
    int was_sent = (req->priv & REQ_WAS_SENT) != 0;
    text_reply(c, req, was_sent ? V_UNKNOWN : V_UNSENT,
               err->status != HF_OK ? err->status : HF_UNAVAILABLE, err->text);
}

/* ---- the list ---- */

static void request_go(struct backend_conn *c, struct request *req)
{
    if (hf__etcd_cell_is_asked(req)) {
        hf__etcd_cell(c, req);
        return;
    }
    switch (req->verb) {
    case VERB_PROPOSE:
        hf__etcd_propose(c, req);
        break;
    case VERB_RENEW:
        hf__etcd_renew(c, req);
        break;
    case VERB_RELEASE:
        hf__etcd_release(c, req);
        break;
    case VERB_WATCH:
    case VERB_UNWATCH:
        hf__etcd_watch(c, req);
        break;
    default:
        hf__etcd_look(c, req);
        break;
    }
}

void hf__etcd_run(struct backend_conn *c)
{
    unsigned life = c->link.life;
    int is_up = c->link.state == LINK_UP;
    c->stirred = 0;
    c->runs++;
    c->running = c->waiting;
    c->waiting = NULL;
    c->waiting_end = &c->waiting;
    while (c->running) {
        struct request *req = c->running;
        c->running = req->next;
        req->next = NULL;
        if ((is_up && c->link.life == life) || req->verb == VERB_UNWATCH)
            request_go(c, req);
        else
            hf__etcd_wait(c, req);
    }
    if (is_up && c->link.life == life)
        hf__etcd_renew_send(c);
    else
        hf__etcd_renew_hold(c);
    hf__etcd_cells_run(c);
}

int64_t hf__etcd_waiting_due(const struct backend_conn *c)
{
    int64_t due = TIME_NEVER;
    for (const struct request *req = c->waiting; req; req = req->next)
        due = min64(due, req->deadline_us);
    return due;
}

int hf__etcd_waiting_expire(struct backend_conn *c, int64_t now)
{
    struct hf_error late = c->link.err;
    struct request **at = &c->waiting, *list = NULL, **end = &list;
    if (late.status == HF_OK)
        hf__error_set(&late, HF_UNAVAILABLE, "%.100s: no answer in time",
                      c->server.endpoint);
    while (*at) {
        struct request *req = *at;
        if (req->deadline_us > now) {
            at = &req->next;
            continue;
        }
        *at = req->next;
        req->next = NULL;
        *end = req;
        end = &req->next;
    }
    c->waiting_end = at;
    int done = list != NULL;
    while (list) {
        struct request *req = list;
        list = req->next;
        req->next = NULL;
        hf__etcd_doubt(c, req, &late);
    }
    return done;
}
