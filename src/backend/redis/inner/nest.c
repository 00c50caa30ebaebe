/*
 * nest.c: connections inside a connection.  One rule: an inner connection is
 * closed only when none of its functions is running, and every call from
 * outside ends in settle(), which lets everything out and sets the one timer.
 */
#include "backend/redis/inner/nest.h"

#include <assert.h>

#include "base/math.h"

static struct nested *nested_of(struct backend_env *env)
{
    return (struct nested *)env;
}

static struct backend_env *outer_of(struct backend_env *env)
{
    return nested_of(env)->nest->outer;
}

/* ---- what an inner connection is lent ---- */

static void timer_tell(struct nest *nest)
{
    int64_t due = nest->own_us;
    for (const struct nested *n = nest->first; n; n = n->next)
        due = min64(due, n->timer_us);
    if (due == nest->told_us) return;
    nest->told_us = due;
    nest->outer->timer(nest->outer, due);
}

static void inner_timer(struct backend_env *env, int64_t due_us)
{
    struct nested *n = nested_of(env);
    n->timer_us = due_us;
    if (n->nest->depth == 0) timer_tell(n->nest);
}

static void inner_watch(struct backend_env *env, int fd, unsigned events)
{
    struct nested *n = nested_of(env);
    int at = -1;
    for (int i = 0; i < NESTED_FDS_MAX; i++) {
        if (n->fds[i] == fd) {
            at = i;
            break;
        }
        if (n->fds[i] < 0) at = i;
    }
    assert(at >= 0);
    n->fds[at] = events ? fd : -1;
    outer_of(env)->watch(outer_of(env), fd, events);
}

static void inner_reply(struct backend_env *env, struct request *req,
                        const struct reply *reply)
{
    struct nested *n = nested_of(env);
    n->nest->on->reply(n, req, reply);
}

static void inner_wake(struct backend_env *env, const char *name,
                       size_t name_len)
{
    struct nested *n = nested_of(env);
    if (!n->is_dropped) n->nest->on->wake(n, name, name_len);
}

static void inner_handed(struct backend_env *env, const struct handoff *h)
{
    struct nested *n = nested_of(env);
    if (!n->is_dropped) outer_of(env)->handed(outer_of(env), h);
}

static void inner_link(struct backend_env *env, int up, int64_t node_us,
                       const struct hf_error *err)
{
    struct nested *n = nested_of(env);
    if (!n->is_dropped) n->nest->on->link(n, up, node_us, err);
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

void hf__nest_init(struct nest *nest, struct backend_env *outer,
                   const struct nest_hooks *on)
{
    *nest = (struct nest){
        .outer = outer, .on = on, .own_us = TIME_NEVER, .told_us = TIME_NEVER};
}

int hf__nest_open(struct nest *nest, struct nested *n,
                  const struct backend *backend,
                  const struct backend_conf *conf, const struct url *url,
                  struct hf_error *err)
{
    *n = (struct nested){.env = {.alloc = nest->outer->alloc,
                                 .conf = conf ? conf : nest->outer->conf,
                                 .reply = inner_reply,
                                 .watch = inner_watch,
                                 .timer = inner_timer,
                                 .wake = inner_wake,
                                 .handed = inner_handed,
                                 .link = inner_link,
                                 .now = inner_now,
                                 .random = inner_random,
                                 .log = inner_log},
                         .nest = nest,
                         .backend = backend,
                         .timer_us = TIME_NEVER};
    for (int i = 0; i < NESTED_FDS_MAX; i++) n->fds[i] = -1;
    /* In the list before open(), which sets its timer. */
    n->next = nest->first;
    nest->first = n;
    int status = backend->open(&n->env, url, &n->conn, err);
    if (status != HF_OK) nest->first = n->next;
    return status;
}

void hf__nest_touch(struct nested *n)
{
    n->is_dirty = n->nest->is_dirty = 1;
}

void hf__nest_submit(struct nested *n, struct request *req)
{
    assert(!n->is_dropped);
    hf__nest_touch(n);
    n->backend->submit(n->conn, req);
}

void hf__nest_drop(struct nested *n)
{
    n->is_dropped = n->nest->has_dropped = 1;
}

static void nested_close(struct nest *nest, struct nested **at)
{
    struct nested *n = *at;
    nest->depth++;
    n->backend->close(n->conn);
    nest->depth--;
    /* Its last words may have opened others, before it in the list. */
    for (at = &nest->first; *at != n; at = &(*at)->next) continue;
    *at = n->next;
    nest->on->dropped(n);
}

static void sweep(struct nest *nest)
{
    struct nested **at = &nest->first;
    nest->has_dropped = 0;
    while (*at) {
        if (!(*at)->is_dropped) {
            at = &(*at)->next;
            continue;
        }
        nested_close(nest, at);
        at = &nest->first;
    }
}

static void dirty_flush(struct nest *nest)
{
    nest->is_dirty = 0;
    nest->depth++;
    for (struct nested *n = nest->first; n; n = n->next) {
        if (!n->is_dirty) continue;
        n->is_dirty = 0;
        n->backend->flush(n->conn);
    }
    nest->depth--;
}

static void settle(struct nest *nest)
{
    if (nest->depth > 0) return;
    while (nest->is_dirty || nest->has_dropped) {
        if (nest->is_dirty) dirty_flush(nest);
        if (nest->has_dropped) sweep(nest);
    }
    timer_tell(nest);
}

/* ---- the owner's calls ---- */

void hf__nest_timer(struct nest *nest, int64_t due_us)
{
    nest->own_us = due_us;
    if (nest->depth == 0) timer_tell(nest);
}

void hf__nest_flush(struct nest *nest)
{
    settle(nest);
}

static int timers_run(struct nest *nest)
{
    int64_t now = nest->outer->now(nest->outer);
    int done = 0;
    nest->told_us = TIME_NEVER;
    for (struct nested *n = nest->first; n; n = n->next) {
        if (n->timer_us > now) continue;
        n->timer_us = TIME_NEVER;
        done |= n->backend->process(n->conn, -1, 0);
    }
    if (nest->own_us <= now) {
        nest->own_us = TIME_NEVER;
        nest->on->timer(nest);
        done = 1;
    }
    return done;
}

static int fd_run(struct nest *nest, int fd, unsigned ready)
{
    for (struct nested *n = nest->first; n; n = n->next)
        for (int i = 0; i < NESTED_FDS_MAX; i++)
            if (n->fds[i] == fd) return n->backend->process(n->conn, fd, ready);
    return 0;
}

int hf__nest_process(struct nest *nest, int fd, unsigned ready)
{
    nest->depth++;
    int done = fd < 0 ? timers_run(nest) : fd_run(nest, fd, ready);
    nest->depth--;
    settle(nest);
    return done;
}

void hf__nest_close(struct nest *nest)
{
    for (struct nested *n = nest->first; n; n = n->next) n->is_dropped = 1;
    sweep(nest);
    nest->own_us = TIME_NEVER;
    timer_tell(nest);
}

void hf__nest_forked(struct nest *nest)
{
    for (struct nested *n = nest->first; n; n = n->next)
        if (n->backend->forked) n->backend->forked(n->conn);
}
