/*
 * redis.c: the backend's table: a connection's life, its deadlines, and what
 * goes out.  Two rules: whatever happened, the end of process() and of flush()
 * is the same, hf__redis_let_out(); and before anything is called late or an
 * old link is used again, its socket is looked at.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "backend/redis/kind/answer.h"
#include "backend/redis/kind/kind.h"
#include "backend/redis/link/auth.h"
#include "backend/redis/link/link.h"
#include "backend/redis/link/tls.h"
#include "backend/redis/redis.h"
#include "backend/redis/replica/wait.h"
#include "backend/redis/sentinel/ask.h"
#include "backend/redis/watch/table.h"
#include "backend/redis/watch/watch.h"
#include "base/error.h"
#include "base/math.h"

#define IDLE_US (500 * US_PER_MS) /* an older link is looked at before use */

/* ---- lists of requests ---- */

void hf__redis_list_push(struct request_list *list, struct request *req)
{
    req->next = NULL;
    if (list->last)
        list->last->next = req;
    else
        list->first = req;
    list->last = req;
}

struct request *hf__redis_list_take(struct request_list *list)
{
    struct request *first = list->first;
    list->first = list->last = NULL;
    return first;
}

void hf__redis_answer(struct backend_conn *c, struct request *req,
                      const struct reply *reply)
{
    const struct reply doubt = {.verdict = V_UNKNOWN,
                                .status = HF_UNAVAILABLE,
                                .ttl_us = -1,
                                .waiters = -1,
                                .text = c->text};
    int is_strange = hf__redis_is_strange(c, req, reply);
    c->env->reply(c->env, req, is_strange ? &doubt : reply);
}

void hf__redis_answer_all(struct backend_conn *c, struct request *reqs,
                          enum verdict verdict, int status, const char *text)
{
    const struct reply reply = {.verdict = verdict,
                                .status = status,
                                .ttl_us = -1,
                                .waiters = -1,
                                .text = text};
    while (reqs) {
        struct request *req = reqs;
        reqs = req->next;
        hf__redis_answer(c, req, &reply);
    }
}

/* ---- deadlines ---- */

/* Answer what waits for a connection beyond its deadline; the earliest
 * deadline of the rest. */
static int64_t queue_expire(struct backend_conn *c, int64_t now)
{
    struct request *list = hf__redis_list_take(&c->unsent);
    struct request_list late = {0};
    int64_t earliest = TIME_NEVER;
    while (list) {
        struct request *req = list;
        list = req->next;
        hf__redis_list_push(req->deadline_us <= now ? &late : &c->unsent, req);
        if (req->deadline_us > now && req->deadline_us < earliest)
            earliest = req->deadline_us;
    }
    struct hf_error err = c->main.err;
    if (err.status == HF_OK)
        hf__error_set(&err, HF_UNAVAILABLE, "%s: %s", c->endpoint,
                      c->main.state == LINK_SECURING
                          ? "tls: handshake: no answer yet: does the server "
                            "speak TLS there?"
                          : "connect: not connected yet");
    hf__redis_answer_all(c, late.first, V_UNSENT, err.status, err.text);
    return earliest;
}

/* The earliest deadline of what is on its way. */
static int64_t flights_deadline(struct backend_conn *c)
{
    int64_t earliest = TIME_NEVER;
    struct flight *f;
    for (size_t i = 0; (f = hf__redis_flight_nth(&c->main, i)) != NULL; i++)
        for (const struct request *r = f->reqs; r; r = r->next)
            if (r->deadline_us < earliest) earliest = r->deadline_us;
    return min64(earliest, hf__redis_wait_deadline(c));
}

int hf__redis_expire(struct backend_conn *c, int64_t now)
{
    if (now < c->request_due_us) return 0;
    c->request_due_us = TIME_NEVER;
    int64_t due = queue_expire(c, now);
    int64_t flying = flights_deadline(c);
    /* The answer may have arrived, but not been read. */
    if (flying <= now && hf__redis_link_ready(&c->main, AWAIT_READ))
        flying = flights_deadline(c);
    if (flying <= now) {
        hf__redis_link_fail(&c->main, HF_UNAVAILABLE, 0,
                            "%sno answer in time; the connection was given up",
                            c->parked.first ? "wait: " : "");
        flying = TIME_NEVER;
    }
    due = min64(due, min64(flying, hf__redis_watch_expire(c, now)));
    /* Callbacks may have submitted more meanwhile. */
    c->request_due_us = min64(c->request_due_us, due);
    return 1;
}

void hf__redis_timer_set(struct backend_conn *c)
{
    int64_t now = c->env->now(c->env);
    int64_t due = TIME_NEVER;
    if (c->sub.state == LINK_UP) due = hf__redis_watch_timer(c, now);
    due = min64(due, c->request_due_us);
    due = min64(due, min64(c->main.due_us, c->sub.due_us));
    if (due == c->timer_us) return;
    c->timer_us = due;
    c->env->timer(c->env, due);
}

/* ---- what goes out ---- */

/* A server that closes idle connections may have closed this one unnoticed: a
 * request that is written to it now would be lost, and in doubt. */
static void main_check(struct backend_conn *c)
{
    struct link *l = &c->main;
    if (l->state != LINK_UP || !c->unsent.first || hf__redis_flight_first(l))
        return;
    if (c->env->now(c->env) - l->active_us < IDLE_US) return;
    hf__redis_link_ready(l, AWAIT_READ);
}

void hf__redis_let_out(struct backend_conn *c)
{
    do {
        c->flush_wanted = 0;
        main_check(c);
        if (c->main.state == LINK_UP && c->unsent.first) hf__redis_send_all(c);
        if (c->wait_is_due) hf__redis_wait_push(c);
        if (c->watching.first) hf__redis_watch_flush(c);
        hf__redis_link_write(&c->main);
        hf__redis_link_write(&c->sub);
        hf__redis_timer_set(c);
        /* A ping of hf__redis_timer_set(). */
        hf__redis_link_write(&c->sub);
    } while (c->flush_wanted);
}

/* ---- the table ---- */

static void redis_submit(struct backend_conn *c, struct request *req)
{
    if (req->deadline_us < c->request_due_us)
        c->request_due_us = req->deadline_us;
    if (req->verb == VERB_WATCH || req->verb == VERB_UNWATCH)
        hf__redis_watch_submit(c, req);
    else
        hf__redis_list_push(&c->unsent, req);
}

static void redis_flush(struct backend_conn *c)
{
    if (c->busy) {
        c->flush_wanted = 1;
        return;
    }
    c->busy = 1;
    hf__redis_let_out(c);
    c->busy = 0;
}

static int timers_run(struct backend_conn *c)
{
    int64_t now = c->env->now(c->env);
    c->timer_us = TIME_NEVER;
    int done = hf__redis_expire(c, now);
    done |= hf__redis_link_timer(&c->main, now);
    done |= hf__redis_link_timer(&c->sub, now);
    return done;
}

static int redis_process(struct backend_conn *c, int fd, unsigned ready)
{
    int done = 0;
    if (c->busy) return 0;
    c->busy = 1;
    if (fd < 0)
        done = timers_run(c);
    else if (fd == c->main.fd)
        done = hf__redis_link_ready(&c->main, ready);
    else if (fd == c->sub.fd)
        done = hf__redis_link_ready(&c->sub, ready);
    if (done || fd < 0) hf__redis_let_out(c);
    c->busy = 0;
    return done;
}

/* ---- life ---- */

static void conn_free(struct backend_conn *c)
{
    const struct allocator *a = c->env->alloc;
    hf__redis_watches_free(c);
    hf__redis_link_free(&c->main);
    hf__redis_link_free(&c->sub);
    hf__free(a, c->rows);
    hf__free(a, c->facts.data);
    hf__free(a, c->master);
    hf__free(a, c->endpoint);
    hf__free(a, c->host);
    hf__free(a, c->user);
    hf__free_secret(a, c->password);
    hf__free(a, c->password_file);
    hf__tls_context_close(c->tls);
    hf__free(a, c);
}

int hf__redis_open_idle(struct backend_env *env, const struct url *url,
                        struct backend_conn **out, struct hf_error *err)
{
    struct backend_conn *c = hf__alloc_zero(env->alloc, sizeof *c);
    if (!c) return hf__error_set(err, HF_NOMEM, "redis: out of memory");
    c->env = env;
    c->request_due_us = c->timer_us = TIME_NEVER;
    hf__redis_link_init(&c->main, c, 0);
    hf__redis_link_init(&c->sub, c, 1);
    int status = hf__redis_url_read(c, url, err);
    if (status == HF_OK && hf__redis_url_host(c, url) != 0)
        status = hf__error_set(err, HF_NOMEM, "redis: out of memory");
    if (status == HF_OK) status = hf__redis_auth_open(c, url, err);
    if (status == HF_OK) status = hf__redis_tls_open(c, url, err);
    if (status != HF_OK) {
        conn_free(c);
        return status;
    }
    *out = c;
    return HF_OK;
}

static int redis_open(struct backend_env *env, const struct url *url,
                      struct backend_conn **out, struct hf_error *err)
{
    int status = hf__redis_open_idle(env, url, out, err);
    if (status != HF_OK) return status;
    hf__redis_link_start(&(*out)->main);
    hf__redis_timer_set(*out);
    return HF_OK;
}

static void redis_close(struct backend_conn *c)
{
    struct flight *f;
    char text[HF_ERROR_TEXT_MAX];
    snprintf(text, sizeof text, "%s: closed", c->endpoint);
    c->busy = 1;
    hf__error_set(&c->sub.err, HF_CLOSED, "%s", text);
    hf__redis_watch_down(c, V_UNKNOWN);
    hf__redis_wait_fail(c, HF_CLOSED, text);
    while ((f = hf__redis_flight_first(&c->main)) != NULL) {
        struct request *reqs = f->reqs;
        enum verdict v =
            hf__redis_flight_is_unsent(&c->main, f) ? V_UNSENT : V_UNKNOWN;
        hf__redis_flight_drop(&c->main);
        hf__redis_answer_all(c, reqs, v, HF_CLOSED, text);
    }
    hf__redis_answer_all(c, hf__redis_list_take(&c->unsent), V_UNSENT,
                         HF_CLOSED, text);
    hf__redis_answer_all(c, hf__redis_list_take(&c->watching), V_UNSENT,
                         HF_CLOSED, text);
    c->env->timer(c->env, TIME_NEVER);
    conn_free(c);
}

static void redis_forked(struct backend_conn *c)
{
    /* In a forked child: no byte may go out on the parent's connection. */
    if (c->main.fd >= 0) close(c->main.fd);
    if (c->sub.fd >= 0) close(c->sub.fd);
    c->main.fd = c->sub.fd = -1;
}

static unsigned redis_conn_caps(const struct backend_conn *c)
{
    unsigned without = c->no_fence ? HF_CAP_FENCE | HF_CAP_BALLOT : 0;
    if (c->is_string) without |= REDIS_KINDS;
    return hf__backend_redis.caps & ~without;
}

const struct backend hf__backend_redis = {
    .abi = BACKEND_ABI,
    .scheme = "redis rediss redis+unix",
    .caps = HF_CAP_FENCE | HF_CAP_LEASE | HF_CAP_DETACHED | HF_CAP_WATCH
            | HF_CAP_BREAK | HF_CAP_LIST | HF_CAP_BALLOT | HF_CAP_VALUE
            | HF_CAP_GUARD | HF_CAP_STOCK | REDIS_KINDS,
    .options = REDIS_OPTIONS " member",
    .open = redis_open,
    .conn_caps = redis_conn_caps,
    .submit = redis_submit,
    .flush = redis_flush,
    .process = redis_process,
    .close = redis_close,
    .forked = redis_forked,
};
