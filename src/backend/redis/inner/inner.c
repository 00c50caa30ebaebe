/*
 * inner.c: connections inside a connection.  One rule: an inner connection is
 * closed only when none of its functions is running, and every call from
 * outside ends in settle(), which lets everything out and sets the one timer.
 */
#include "backend/redis/inner/inner.h"
#include "backend/redis/link/link.h"
#include "backend/redis/watch/watch.h"

#include <assert.h>

#include "base/math.h"

static struct inner *nested_of(struct backend_env *env)
{
    return (struct inner *)env;
}

static struct backend_env *outer_of(struct backend_env *env)
{
    return nested_of(env)->inners->outer;
}

/* ---- what an inner connection is lent ---- */

static void timer_tell(struct inner_set *inners)
{
    int64_t due = inners->own_us;
    for (const struct inner *n = inners->first; n; n = n->next)
        due = min64(due, n->timer_us);
    if (due == inners->told_us) return;
    inners->told_us = due;
    inners->outer->timer(inners->outer, due);
}

static void inner_timer(struct backend_env *env, int64_t due_us)
{
    struct inner *n = nested_of(env);
    n->timer_us = due_us;
    if (n->inners->depth == 0) timer_tell(n->inners);
}

static void inner_watch(struct backend_env *env, int fd, unsigned events)
{
    struct inner *n = nested_of(env);
    int at = -1;
    for (int i = 0; i < INNER_FDS_MAX; i++) {
        if (n->fds[i] == fd) {
            at = i;
            break;
        }
        if (n->fds[i] < 0) at = i;
    }
    assert(at >= 0);
    n->fds[at] = events ? fd : -1;
    outer_of(env)->await_fd(outer_of(env), fd, events);
}

static void inner_reply(struct backend_env *env, struct request *req,
                        const struct reply *reply)
{
    struct inner *n = nested_of(env);
    n->inners->on->reply(n, req, reply);
}

static void inner_wake(struct backend_env *env, const char *name,
                       size_t name_len)
{
    struct inner *n = nested_of(env);
    if (!n->is_dropped) n->inners->on->wake(n, name, name_len);
}

static void inner_handed(struct backend_env *env, const struct handoff *h)
{
    struct inner *n = nested_of(env);
    if (!n->is_dropped) outer_of(env)->handed(outer_of(env), h);
}

static void inner_link(struct backend_env *env, int up, int64_t node_us,
                       const struct hf_error *err)
{
    struct inner *n = nested_of(env);
    if (!n->is_dropped) n->inners->on->link(n, up, node_us, err);
}

static int64_t inner_now(struct backend_env *env)
{
    return outer_of(env)->now(outer_of(env));
}

static uint64_t inner_random(struct backend_env *env)
{
    return outer_of(env)->random(outer_of(env));
}

static void inner_log(struct backend_env *env, int level, const char *line)
{
    outer_of(env)->log(outer_of(env), level, line);
}

/* ---- life ---- */

void hf__redis_inner_init(struct inner_set *inners, struct backend_env *outer,
                          const struct inner_hooks *on)
{
    *inners = (struct inner_set){
        .outer = outer, .on = on, .own_us = TIME_NEVER, .told_us = TIME_NEVER};
}

int hf__redis_inner_open(struct inner_set *inners, struct inner *n,
                         const struct backend *backend,
                         const struct backend_conf *conf, const struct url *url,
                         struct hf_error *err)
{
    *n = (struct inner){.env = {.alloc = inners->outer->alloc,
                                .conf = conf ? conf : inners->outer->conf,
                                .reply = inner_reply,
                                .await_fd = inner_watch,
                                .timer = inner_timer,
                                .wake = inner_wake,
                                .handed = inner_handed,
                                .link = inner_link,
                                .now = inner_now,
                                .random = inner_random,
                                .log = inner_log},
                        .inners = inners,
                        .backend = backend,
                        .timer_us = TIME_NEVER};
    for (int i = 0; i < INNER_FDS_MAX; i++) n->fds[i] = -1;
    /* In the list before open(), which sets its timer. */
    n->next = inners->first;
    inners->first = n;
    int status = backend->open(&n->env, url, &n->conn, err);
    if (status != HF_OK) inners->first = n->next;
    return status;
}

void hf__redis_inner_touch(struct inner *n)
{
    n->is_dirty = n->inners->is_dirty = 1;
}

void hf__redis_inner_submit(struct inner *n, struct request *req)
{
    assert(!n->is_dropped);
    hf__redis_inner_touch(n);
    n->backend->submit(n->conn, req);
}

void hf__redis_inner_drop(struct inner *n)
{
    n->is_dropped = n->inners->has_dropped = 1;
}

static void nested_close(struct inner_set *inners, struct inner **at)
{
    struct inner *n = *at;
    inners->depth++;
    n->backend->close(n->conn);
    inners->depth--;
    /* Closing it may have opened others, which are before it in the list. */
    for (at = &inners->first; *at != n; at = &(*at)->next) continue;
    *at = n->next;
    inners->on->dropped(n);
}

static void sweep(struct inner_set *inners)
{
    struct inner **at = &inners->first;
    inners->has_dropped = 0;
    while (*at) {
        if (!(*at)->is_dropped) {
            at = &(*at)->next;
            continue;
        }
        nested_close(inners, at);
        at = &inners->first;
    }
}

static void dirty_flush(struct inner_set *inners)
{
    inners->is_dirty = 0;
    inners->depth++;
    for (struct inner *n = inners->first; n; n = n->next) {
        if (!n->is_dirty) continue;
        n->is_dirty = 0;
        n->backend->flush(n->conn);
    }
    inners->depth--;
}

static void settle(struct inner_set *inners)
{
    if (inners->depth > 0) return;
    while (inners->is_dirty || inners->has_dropped) {
        if (inners->is_dirty) dirty_flush(inners);
        if (inners->has_dropped) sweep(inners);
    }
    timer_tell(inners);
}

/* ---- the owner's calls ---- */

void hf__redis_inner_timer(struct inner_set *inners, int64_t due_us)
{
    inners->own_us = due_us;
    if (inners->depth == 0) timer_tell(inners);
}

void hf__redis_inner_flush(struct inner_set *inners)
{
    settle(inners);
}

static int timers_run(struct inner_set *inners)
{
    int64_t now = inners->outer->now(inners->outer);
    int done = 0;
    inners->told_us = TIME_NEVER;
    for (struct inner *n = inners->first; n; n = n->next) {
        if (n->timer_us > now) continue;
        n->timer_us = TIME_NEVER;
        done |= n->backend->process(n->conn, -1, 0);
    }
    if (inners->own_us <= now) {
        inners->own_us = TIME_NEVER;
        inners->on->timer(inners);
        done = 1;
    }
    return done;
}

static int fd_run(struct inner_set *inners, int fd, unsigned ready)
{
    for (struct inner *n = inners->first; n; n = n->next)
        for (int i = 0; i < INNER_FDS_MAX; i++)
            if (n->fds[i] == fd) return n->backend->process(n->conn, fd, ready);
    return 0;
}

int hf__redis_inner_process(struct inner_set *inners, int fd, unsigned ready)
{
    inners->depth++;
    int done = fd < 0 ? timers_run(inners) : fd_run(inners, fd, ready);
    inners->depth--;
    settle(inners);
    return done;
}

void hf__redis_inner_close(struct inner_set *inners)
{
    for (struct inner *n = inners->first; n; n = n->next) n->is_dropped = 1;
    sweep(inners);
    inners->own_us = TIME_NEVER;
    timer_tell(inners);
}

void hf__redis_inner_forked(struct inner_set *inners)
{
    for (struct inner *n = inners->first; n; n = n->next)
        if (n->backend->forked) n->backend->forked(n->conn);
}
