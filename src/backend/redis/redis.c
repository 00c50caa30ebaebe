/*
 * redis.c: the backend's table and its URL.  One rule: whatever happened, the
 * end of process() and of flush() is the same: the pump.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "backend/redis/redis.h"
#include "base/error.h"

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

static void redis_submit(struct backend_conn *c, struct request *req)
{
    if (req->deadline_us < c->request_due_us)
        c->request_due_us = req->deadline_us;
    if (req->op == OP_WATCH || req->op == OP_UNWATCH)
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

static int db_read(const char *text, int *db, struct hf_error *err)
{
    int64_t number;
    if (hf__number_parse(text, 0, INT32_MAX, &number) != 0)
        return hf__error_set(err, HF_INVALID,
                             "url: database: \"%s\" is no number", text);
    *db = (int)number;
    return HF_OK;
}

/* `key` is one of two words, the first by default. */
static int choice_read(const struct url *url, const char *key,
                       const char *first, const char *second, int *is_second,
                       struct hf_error *err)
{
    const char *text = hf__url_option(url, key);
    if (text && strcmp(text, first) != 0 && strcmp(text, second) != 0)
        return hf__error_set(err, HF_INVALID,
                             "url: %s: \"%.40s\" is neither %s nor %s", key,
                             text, first, second);
    *is_second = text && !strcmp(text, second);
    return HF_OK;
}

static int layout_read(struct backend_conn *c, const struct url *url,
                       struct hf_error *err)
{
    int status =
        choice_read(url, "format", "hash", "string", &c->is_string, err);
    if (status == HF_OK)
        status = choice_read(url, "fence", "on", "off", &c->no_fence, err);
    if (status == HF_OK) status = hf__redis_aof_read(c, url, err);
    if (status == HF_OK && c->no_fence && !c->is_string)
        return hf__error_set(err, HF_INVALID,
                             "url: fence: off needs format=string: a hash "
                             "always has its fence");
    return status == HF_OK ? hf__redis_wait_read(c, url, err) : status;
}

static int url_read(struct backend_conn *c, const struct url *url,
                    struct hf_error *err)
{
    const char *db = hf__url_option(url, "db");
    const char *path = url->path ? url->path : "";
    c->is_unix = !strcmp(url->scheme, "redis+unix");
    c->port = url->port ? url->port : REDIS_PORT;
    if (!c->is_unix && path[0] == '/' && path[1] != '\0') {
        if (db)
            return hf__error_set(err, HF_INVALID,
                                 "url: database: given twice, in the path and "
                                 "as db=");
        db = path + 1;
    }
    int status = db ? db_read(db, &c->db, err) : HF_OK;
    if (status == HF_OK)
        status =
            choice_read(url, "member", "no", "ok", &c->member_is_meant, err);
    if (status == HF_OK) status = hf__redis_tls_read(c, url, err);
    return status == HF_OK ? layout_read(c, url, err) : status;
}

static char *endpoint_make(const struct backend_conn *c)
{
    char text[ENDPOINT_MAX];
    if (!c->host[0])
        snprintf(text, sizeof text, "the primary"); /* not led yet */
    else if (c->is_unix)
        snprintf(text, sizeof text, "redis+unix://%s", c->host);
    else
        snprintf(text, sizeof text,
                 strchr(c->host, ':') ? "redis%s://[%.128s]:%d"
                                      : "redis%s://%.128s:%d",
                 c->is_tls ? "s" : "", c->host, c->port);
    return hf__strdup(c->env->alloc, text);
}

int hf__redis_host_set(struct backend_conn *c, const char *host, int port)
{
    const struct allocator *a = c->env->alloc;
    char *old_host = c->host, *old_endpoint = c->endpoint;
    int old_port = c->port;
    c->host = hf__strdup(a, host);
    c->port = port;
    c->endpoint = c->host ? endpoint_make(c) : NULL;
    if (c->endpoint) {
        hf__free(a, old_host);
        hf__free(a, old_endpoint);
        return 0;
    }
    hf__free(a, c->host);
    c->host = old_host;
    c->endpoint = old_endpoint;
    c->port = old_port;
    return -1;
}

/* 0, or -1: no memory. */
static int strings_copy(struct backend_conn *c, const struct url *url)
{
    const char *host = c->is_unix ? url->path : url->host;
    return hf__redis_host_set(c, host ? host : "", c->port);
}

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
    int status = url_read(c, url, err);
    if (status == HF_OK && strings_copy(c, url) != 0)
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
    /* The parent's connection: not a byte may go out on it from here. */
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
            | HF_CAP_GUARD | REDIS_KINDS,
    .options = REDIS_OPTIONS " member",
    .open = redis_open,
    .conn_caps = redis_conn_caps,
    .submit = redis_submit,
    .flush = redis_flush,
    .process = redis_process,
    .close = redis_close,
    .forked = redis_forked,
};
