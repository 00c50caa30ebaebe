/*
 * memory.c: locks for the threads and clients of one process, and a store that
 * fails on request.
 *
 * A direct backend: submit() queues, flush() carries out and answers.  One
 * rule: a connection owns nothing of its space but its ear.
 */
#include <stdio.h>
#include <string.h>

#include "backend/memory/ear.h"
#include "backend/memory/fault.h"
#include "backend/memory/late.h"
#include "backend/memory/memory.h"
#include "backend/memory/request.h"
#include "backend/memory/space.h"
#include "base/error.h"

/* When to look for ended leases, by the engine's clock. */
static int64_t look_due_us(const struct backend_conn *c)
{
    if (c->ear.look_us == TIME_NEVER) return TIME_NEVER;
    pthread_mutex_lock(&c->space->mutex);
    int64_t wait_us = c->ear.look_us - hf__memory_space_now_us(c->space);
    pthread_mutex_unlock(&c->space->mutex);
    return c->env->now(c->env) + (wait_us > 0 ? wait_us : 0);
}

/* Tell the engine about a new bell and a new first due time.  Only the thread
 * that calls us changes these two, so they may be read without the mutex. */
static void conn_settle(struct backend_conn *c)
{
    int fd = c->ear.bell.read_fd;
    int64_t due_us = hf__memory_late_due(c);
    int64_t look_us = look_due_us(c);
    if (look_us < due_us) due_us = look_us;
    if (fd != c->watched_fd) {
        c->watched_fd = fd;
        c->env->await_fd(c->env, fd, AWAIT_READ);
    }
    if (due_us == c->timer_us) return;
    c->timer_us = due_us;
    c->env->timer(c->env, due_us);
}

static void tell_handed(struct backend_conn *c, struct heard *heard)
{
    while (heard->notes) {
        const struct note *note = heard->notes;
        struct handoff h = {.name = heard->name,
                            .name_len = heard->name_len,
                            .kind = KIND_PLAIN,
                            .owner = note->owner,
                            .attempt = note->attempt,
                            .ballot = note->ballot,
                            .fence = note->fence,
                            .lease_us = note->lease_us};
        c->env->handed(c->env, &h);
        heard->notes = hf__memory_ear_note_free(heard->notes);
    }
}

static int ear_answer(struct backend_conn *c)
{
    struct heard heard;
    int done = 0;
    while (atomic_load(&c->ear.is_ringing)) {
        pthread_mutex_lock(&c->space->mutex);
        int took = hf__memory_ear_take(&c->ear, &heard);
        pthread_mutex_unlock(&c->space->mutex);
        if (!took) break;
        tell_handed(c, &heard);
        if (heard.is_free) c->env->wake(c->env, heard.name, heard.name_len);
        done = 1;
    }
    return done;
}

/* ---- the vtable ------------------------------------------------------- */

static int url_check(const struct url *url, struct hf_error *err)
{
    if (url->host && url->host[0])
        return hf__error_set(err, HF_INVALID,
                             "memory: %.100s: a space of this process has no "
                             "host: write memory:%.100s",
                             url->host, url->host);
    if (url->user || url->password || url->port)
        return hf__error_set(err, HF_INVALID,
                             "memory: a space of this process has no user, "
                             "password or port");
    return HF_OK;
}

static void conn_announce(struct backend_conn *c)
{
    struct hf_error err;
    if (!c->faults.is_down) {
        pthread_mutex_lock(&c->space->mutex);
        int64_t node_us = hf__memory_space_now_us(c->space);
        pthread_mutex_unlock(&c->space->mutex);
        c->env->link(c->env, 1, node_us, NULL);
        return;
    }
    hf__error_set(&err, HF_UNAVAILABLE,
                  "%s: down: the option down=1 asked for it", c->where);
    c->env->link(c->env, 0, 0, &err);
}

static int conn_join(struct backend_conn *c, const char *name)
{
    c->space = hf__memory_space_join(name);
    if (!c->space) return HF_NOMEM;
    if (!c->faults.has_clock) return HF_OK;
    pthread_mutex_lock(&c->space->mutex);
    c->space->clock_us = c->faults.clock_us;
    pthread_mutex_unlock(&c->space->mutex);
    return HF_OK;
}

static int memory_open(struct backend_env *env, const struct url *url,
                       struct backend_conn **out, struct hf_error *err)
{
    struct fault_plan faults;
    const char *name = url->path ? url->path : "";
    int status = url_check(url, err);
    if (status == HF_OK) status = hf__memory_fault_parse(&faults, url, err);
    if (status != HF_OK) return status;
    struct backend_conn *c = hf__alloc_zero(env->alloc, sizeof *c);
    if (!c) return hf__error_set(err, HF_NOMEM, "memory: out of memory");
    c->env = env;
    c->faults = faults;
    c->last = &c->first;
    c->watched_fd = -1;
    c->timer_us = TIME_NEVER;
    c->ear = (struct ear){
        .alloc = env->alloc, .bell = {-1, -1}, .look_us = TIME_NEVER};
    c->ear.uuid = env->conf->uuid;
    snprintf(c->where, sizeof c->where, "memory:%s", name);
    if (conn_join(c, name) != HF_OK) {
        hf__free(env->alloc, c);
        return hf__error_set(err, HF_NOMEM, "memory: out of memory");
    }
    *out = c;
    conn_announce(c);
    return HF_OK;
}

static void memory_submit(struct backend_conn *c, struct request *req)
{
    req->next = NULL;
    *c->last = req;
    c->last = &req->next;
}

static struct request *queue_take(struct backend_conn *c)
{
    struct request *req = c->first;
    if (!req) return NULL;
    c->first = req->next;
    if (!c->first) c->last = &c->first;
    return req;
}

static void memory_flush(struct backend_conn *c)
{
    struct request *req;
    if (!c->first) return;
    while ((req = queue_take(c))) hf__memory_request_answer(c, req);
    conn_settle(c);
}

static int memory_process(struct backend_conn *c, int fd, unsigned ready)
{
    int done = 0;
    (void)ready;
    if (fd < 0) {
        c->timer_us = TIME_NEVER; /* the engine has used it up */
        done = hf__memory_late_process(c);
        pthread_mutex_lock(&c->space->mutex);
        hf__memory_ear_look(c->space, &c->ear);
        pthread_mutex_unlock(&c->space->mutex);
    }
    if (ear_answer(c)) done = 1;
    if (fd < 0 || done) conn_settle(c);
    return done;
}

static void memory_close(struct backend_conn *c)
{
    struct request *req;
    struct reply rep;
    while ((req = queue_take(c))) {
        hf__memory_request_fail(c, &rep, V_UNSENT, HF_CLOSED, "closed");
        c->env->reply(c->env, req, &rep);
    }
    hf__memory_late_close(c);
    if (c->watched_fd >= 0) c->env->await_fd(c->env, c->watched_fd, 0);
    if (c->timer_us != TIME_NEVER) c->env->timer(c->env, TIME_NEVER);
    hf__memory_space_leave(c->space, &c->ear);
    hf__free(c->env->alloc, c->rows);
    hf__free(c->env->alloc, c->data);
    hf__free(c->env->alloc, c);
}

static void memory_forked(struct backend_conn *c)
{
    hf__bell_close(&c->ear.bell);
}

const struct backend hf__backend_memory = {
    .abi = BACKEND_ABI,
    .scheme = "memory",
    .caps = HF_CAP_FENCE | HF_CAP_LEASE | HF_CAP_DETACHED | HF_CAP_WATCH
            | HF_CAP_BREAK | HF_CAP_LIST | HF_CAP_BALLOT | HF_CAP_VALUE
            | HF_CAP_GUARD | HF_CAP_STOCK | HF_CAP_RW | HF_CAP_PERMIT
            | HF_CAP_TALLY | HF_CAP_QUEUE,
    .options = "seed delay_ms loss error down expire clock_ms",
    .open = memory_open,
    .submit = memory_submit,
    .flush = memory_flush,
    .process = memory_process,
    .close = memory_close,
    .forked = memory_forked,
};
