/*
 * file.c: locks on this host, without a server.
 *
 *     flush: request -> hold, detached, inspect, list, value
 *              -> kernel (flock and the record) -> reply
 *     process: watch (waiters, and the timer) -> wake
 *
 * One rule: nothing waits here.  What cannot be done now is answered BUSY, or
 * is tried again from the timer until its deadline.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "backend/file/dir.h"
#include "backend/file/file.h"
#include "backend/file/hold.h"
#include "backend/file/lock.h"
#include "backend/file/notify.h"
#include "backend/file/request.h"
#include "backend/file/rw.h"
#include "backend/file/table.h"
#include "backend/file/watch.h"
#include "base/error.h"
#include "base/math.h"
#include "sys/clock.h"

static void conn_free(struct backend_conn *c)
{
    const struct allocator *alloc = c->env->alloc;
    hf__file_table_free(c);
    hf__free(alloc, c->dir);
    hf__free(alloc, c);
}

static void conn_shut(struct backend_conn *c)
{
    hf__file_table_shut(c);
    if (c->inotify_fd >= 0) close(c->inotify_fd);
    if (c->dir_fd >= 0) close(c->dir_fd);
    c->inotify_fd = c->dir_fd = -1;
}

/* Fill c->boot and c->host. */
static void conn_identify(struct backend_conn *c)
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, c->boot, sizeof c->boot - 1);
    if (fd >= 0) close(fd);
    c->boot[n > 0 ? n : 0] = '\0';
    c->boot[strcspn(c->boot, "\n")] = '\0';
    if (!c->boot[0]) memcpy(c->boot, "unknown", sizeof "unknown");
    if (gethostname(c->host, sizeof c->host)) c->host[0] = '\0';
    c->host[sizeof c->host - 1] = '\0';
}

static int file_open(struct backend_env *env, const struct url *url,
                     struct backend_conn **out, struct hf_error *err)
{
    struct backend_conn *c = hf__alloc_zero(env->alloc, sizeof *c);
    if (!c) return hf__error_set(err, HF_NOMEM, "file: no memory");
    c->env = env;
    c->pid = getpid();
    c->dir_fd = c->inotify_fd = -1;
    c->tick_us = c->echo_us = c->expiry_us = c->retry_us = TIME_NEVER;
    c->timer_us = TIME_NEVER;
    int status = hf__file_dir_open(c, url, err);
    if (status != HF_OK) {
        conn_shut(c);
        conn_free(c);
        return status;
    }
    conn_identify(c);
    *out = c;
    env->link(env, 1, hf__clock_wall_us(), NULL);
    return HF_OK;
}

static void file_submit(struct backend_conn *c, struct request *req)
{
    req->next = NULL;
    *(c->last ? &c->last->next : &c->first) = req;
    c->last = req;
}

/* Tell the engine when something is due next. */
static void timer_set(struct backend_conn *c)
{
    int64_t due_us =
        min64(min64(c->tick_us, c->echo_us), min64(c->expiry_us, c->retry_us));
    if (due_us == c->timer_us) return;
    c->timer_us = due_us;
    c->env->timer(c->env, due_us);
}

/* Do what was submitted, also by callers that were answered or woken. */
static void conn_work(struct backend_conn *c)
{
    do {
        while (c->first) {
            struct request *req = c->first;
            c->first = req->next;
            if (!c->first) c->last = NULL;
            hf__file_request_answer(c, req);
        }
        hf__file_watch_wake_all(c);
    } while (c->first);
    hf__file_table_trim(c);
    timer_set(c);
}

static void file_flush(struct backend_conn *c)
{
    if (c->busy) return; /* the outer call goes on until nothing is left */
    c->busy = 1;
    conn_work(c);
    c->busy = 0;
}

static void retries_due(struct backend_conn *c)
{
    struct request *list = c->retries;
    c->retries = NULL;
    c->retry_us = TIME_NEVER;
    while (list) {
        struct request *req = list;
        list = req->next;
        file_submit(c, req);
    }
}

static int timer_due(struct backend_conn *c)
{
    int64_t now_us = hf__clock_us();
    int done = hf__file_watch_due(c, now_us);
    c->timer_us = TIME_NEVER; /* it is used up: set it anew */
    if (c->expiry_us <= now_us) {
        hf__file_holds_expire(c, now_us);
        done = 1;
    }
    if (c->retry_us <= now_us) {
        retries_due(c);
        done = 1;
    }
    return done;
}

static int file_process(struct backend_conn *c, int fd, unsigned ready)
{
    int done = 0;
    (void)ready;
    if (c->busy) return 0;
    c->busy = 1;
    if (fd < 0)
        done = timer_due(c);
    else if (fd == c->inotify_fd)
        done = hf__file_notify_read(c);
    if (done || fd < 0) conn_work(c);
    c->busy = 0;
    return done;
}

static void list_answer(struct backend_conn *c, struct request *list)
{
    struct reply reply = {.verdict = V_UNSENT,
                          .status = HF_CLOSED,
                          .ttl_us = -1,
                          .waiters = -1,
                          .text = "file: the client is closed"};
    while (list) {
        struct request *req = list;
        list = req->next;
        c->env->reply(c->env, req, &reply);
    }
}

/* Explicitly, for a child that was forked by others may share the files. */
static void holds_drop(struct backend_conn *c)
{
    for (size_t i = 0; i < c->slots_len; i++)
        for (struct file_lock *l = c->slots[i]; l; l = l->chain)
            while (l->holds) hf__file_hold_drop(c, l, l->holds);
}

static void file_close(struct backend_conn *c)
{
    struct request *queued = c->first, *retries = c->retries;
    c->first = c->last = c->retries = NULL;
    c->busy = 1;
    list_answer(c, queued);
    list_answer(c, retries);
    if (!c->is_forked) {
        holds_drop(c);
        if (c->inotify_fd >= 0) c->env->await_fd(c->env, c->inotify_fd, 0);
        if (c->timer_us != TIME_NEVER) c->env->timer(c->env, TIME_NEVER);
    }
    conn_shut(c);
    conn_free(c);
}

/* The child shares the parent's open file descriptions: closing its copies
 * keeps the locks, unlocking would take them from the parent. */
static void file_forked(struct backend_conn *c)
{
    c->is_forked = 1;
    conn_shut(c);
}

/* The duplicate is of the same open file description: the kernel lock lives as
 * long as any copy. */
static int file_lend(struct backend_conn *c, const char *name, size_t name_len,
                     const char *owner, uint64_t attempt)
{
    struct file_lock *l = hf__file_table_get(c, name, name_len);
    struct file_hold *h = l ? l->holds : NULL;
    while (h && (h->attempt != attempt || strcmp(h->owner, owner) != 0))
        h = h->next;
    return h ? dup(hf__file_rw_fd(l, h)) : -1;
}

const struct backend hf__backend_file = {
    .abi = BACKEND_ABI,
    .scheme = "file",
    .caps = HF_CAP_FENCE | HF_CAP_LEASE | HF_CAP_KERNEL | HF_CAP_DETACHED
            | HF_CAP_WATCH | HF_CAP_BREAK | HF_CAP_LIST | HF_CAP_BALLOT
            | HF_CAP_VALUE | HF_CAP_RW,
    .options = "network slash",
    .open = file_open,
    .submit = file_submit,
    .flush = file_flush,
    .process = file_process,
    .close = file_close,
    .forked = file_forked,
    .lend = file_lend,
};
