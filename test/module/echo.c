/*
 * echo.c: a backend module that says yes to everything, for the loader's test.
 * One rule: it is complete; each request is answered exactly once, from
 * flush() or close(), as backend.h asks.
 */
#include "backend/backend.h"
#include "base/error.h"

#include <stddef.h>
#include <string.h>

struct backend_conn {
    struct backend_env *env;
    uint64_t round; /* pages until a list's cursor comes again; 0: never */
    int is_broken;  /* the second page of a list fails */
    int is_silent;  /* a release does not tell how many wait */
    struct request *first, **last; /* waiting for the next flush */
    int64_t fence;
};

static int echo_open(struct backend_env *env, const struct url *url,
                     struct backend_conn **out, struct hf_error *err)
{
    if (!url->host) return hf__error_set(err, HF_INVALID, "echo: no host");
    struct backend_conn *c = hf__alloc_zero(env->alloc, sizeof *c);
    if (!c) return hf__error_set(err, HF_NOMEM, "echo: out of memory");
    c->env = env;
    c->last = &c->first;
    for (const char *p = url->host; *p >= '0' && *p <= '9'; p++)
        c->round = c->round * 10 + (uint64_t)(*p - '0');
    c->is_broken = !strcmp(url->host, "broken");
    c->is_silent = !strcmp(url->host, "silent");
    *out = c;
    env->timer(env, env->now(env));
    return HF_OK;
}

static void echo_submit(struct backend_conn *c, struct request *req)
{
    req->next = NULL;
    *c->last = req;
    c->last = &req->next;
}

/* A list that never ends: its host says after how many pages it begins anew. */
static uint64_t cursor_next(const struct backend_conn *c, uint64_t cursor)
{
    return c->round && cursor >= c->round ? 1 : cursor + 1;
}

static void list_answer(const struct backend_conn *c, const struct request *req,
                        struct reply *reply)
{
    reply->cursor = cursor_next(c, req->cursor);
    if (!c->is_broken || req->cursor == 0) return;
    reply->verdict = V_ERROR;
    reply->status = HF_DENIED;
    reply->text = "echo: no second page";
    reply->cursor = req->cursor;
}

/* Answer all that waits.  A reply may submit again: work on a cut-off list. */
static void echo_answer(struct backend_conn *c, enum verdict verdict)
{
    struct request *req = c->first;
    c->first = NULL;
    c->last = &c->first;
    while (req) {
        struct request *next = req->next;
        struct reply reply = {.verdict = verdict, .ttl_us = -1};
        if (c->is_silent) reply.waiters = -1;
        if (req->verb == VERB_PROPOSE) reply.fence = ++c->fence;
        if (req->verb == VERB_LIST) list_answer(c, req, &reply);
        c->env->reply(c->env, req, &reply);
        req = next;
    }
}

static void echo_flush(struct backend_conn *c)
{
    echo_answer(c, V_GRANTED);
}

static int echo_process(struct backend_conn *c, int fd, unsigned ready)
{
    (void)fd, (void)ready;
    c->env->link(c->env, LINK_IS_UP, c->env->now(c->env), NULL);
    return 1;
}

static void echo_close(struct backend_conn *c)
{
    echo_answer(c, V_UNSENT);
    hf__free(c->env->alloc, c);
}

static const struct backend echo_backend = {
    .abi = BACKEND_ABI,
    .scheme = "echo",
    .caps = HF_CAP_FENCE | HF_CAP_LEASE | HF_CAP_LIST,
    .options = "",
    .open = echo_open,
    .submit = echo_submit,
    .flush = echo_flush,
    .process = echo_process,
    .close = echo_close,
};

__attribute__((visibility("default")))
const struct backend *const hf_backend_module = &echo_backend;
