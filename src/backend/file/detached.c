/*
 * detached.c: holds that are a record and outlive their process.  One
 * rule: the record changes only under the kernel lock, which is held for that
 * moment only; so a request that finds it taken looks at the record, and if
 * that shows a living detached hold, tries again shortly.
 */
#include <sched.h>
#include <string.h>
#include <sys/file.h>

#include "backend/file/detached.h"
#include "backend/file/error.h"
#include "backend/file/grant.h"
#include "backend/file/inspect.h"
#include "backend/file/kernel.h"
#include "backend/file/lock.h"
#include "backend/file/proc.h"
#include "backend/file/record.h"
#include "backend/file/record_text.h"
#include "backend/file/request.h"
#include "backend/file/watch.h"
#include "base/error.h"
#include "sys/clock.h"

#define GUARD_TRIES 32

static int record_is_ours(const struct record *r, const struct request *req)
{
    return r->attempt == req->attempt && !strcmp(r->owner, req->owner);
}

/* Lock, and read the record.  HF_OK, FILE_ABSENT, FILE_BUSY (a process holds
 * it), a status; or FILE_AGAIN: another process is changing the record. */
#define FILE_AGAIN 3
static int guard_take(struct backend_conn *c, struct file_lock *l,
                      struct record *r)
{
    int status = FILE_BUSY;
    for (int i = 0; i < GUARD_TRIES; i++) {
        status = hf__file_kernel_take(c, l, LOCK_EX, FILE_FIND);
        if (status != FILE_BUSY) break;
        status = hf__file_record_load(c, l, l->idle_fd, 0, r);
        if (status != HF_OK) return status;
        if (!hf__file_record_is_live(c, r, hf__clock_us(), NULL))
            return FILE_BUSY;
        status = FILE_AGAIN;
        sched_yield();
    }
    if (status != HF_OK) return status;
    status = hf__file_record_load(c, l, l->idle_fd, 1, r);
    if (status != HF_OK) hf__file_kernel_drop(l, l->idle_fd);
    return status;
}

/* Answer a renewal or a release that could not lock the record. */
static int guard_refused(struct backend_conn *c, int status,
                         struct reply *reply)
{
    if (status == FILE_AGAIN) return ANSWER_AGAIN;
    if (status == FILE_ABSENT)
        reply->verdict = V_ABSENT;
    else if (status == FILE_BUSY)
        reply->verdict = V_OTHER;
    else
        return hf__file_refuse(c, reply, status);
    return ANSWER_DONE;
}

/* ---- propose -------------------------------------------------------- */

static int propose_write(struct backend_conn *c, struct file_lock *l,
                         struct request *req, struct record *r,
                         struct reply *reply)
{
    int64_t left_us, wall_us = hf__clock_wall_us();
    int status = hf__file_record_load(c, l, l->idle_fd, 1, r);
    if (status != HF_OK) return hf__file_refuse(c, reply, status);
    int is_live = hf__file_record_is_live(c, r, hf__clock_us(), &left_us);
    reply->node_us = wall_us;
    reply->counter = r->counter;
    if (is_live && !record_is_ours(r, req)) {
        reply->verdict = V_BUSY;
        reply->ttl_us = left_us;
        return ANSWER_DONE;
    }
    if (!is_live || r->ballot != req->ballot) {
        if (!hf__file_grant_accept(c, req, r, wall_us, reply))
            return ANSWER_DONE;
        hf__file_grant_record(c, req, r, wall_us);
        r->mode = RECORD_DETACHED;
        status = hf__file_record_store(c, l, l->idle_fd, r);
        if (status != HF_OK) return hf__file_refuse(c, reply, status);
    }
    reply->verdict = V_GRANTED;
    reply->fence = r->fence;
    reply->counter = r->counter;
    return ANSWER_DONE;
}

int hf__file_detached_propose(struct backend_conn *c, struct file_lock *l,
                              struct request *req, struct reply *reply)
{
    struct record r;
    const char *why = NULL;
    if (l->is_path) why = "a name with a slash has no ticket or --min-hold";
    if (req->kind == KIND_READ) why = "a shared hold needs a process";
    if (req->flags & REQ_NO_EXPIRY || req->lease_us <= 0)
        why = "a hold without a process needs a lease";
    if (why) {
        hf__error_set(&c->err, HF_UNSUPPORTED, "file: %s", why);
        return hf__file_refuse(c, reply, HF_UNSUPPORTED);
    }
    int status = hf__file_kernel_take(c, l, LOCK_EX, FILE_MAKE);
    if (status == FILE_BUSY) {
        reply->verdict = V_BUSY;
        return ANSWER_DONE;
    }
    if (status != HF_OK) return hf__file_refuse(c, reply, status);
    propose_write(c, l, req, &r, reply);
    l->detached_until_us =
        reply->verdict == V_GRANTED ? r.deadline_us : l->detached_until_us;
    hf__file_kernel_drop(l, l->idle_fd);
    return ANSWER_DONE;
}

/* ---- renew, release -------------------------------------------------- */

int hf__file_detached_renew(struct backend_conn *c, struct file_lock *l,
                            struct request *req, struct reply *reply)
{
    struct record r;
    int64_t left_us;
    int status = guard_take(c, l, &r);
    if (status != HF_OK) return guard_refused(c, status, reply);
    reply->counter = r.counter;
    if (!hf__file_record_is_live(c, &r, hf__clock_us(), &left_us)) {
        reply->verdict = V_ABSENT;
    } else if (!record_is_ours(&r, req)) {
        reply->verdict = V_OTHER;
    } else {
        r.count = req->count;
        r.deadline_us = hf__clock_us() + req->lease_us;
        status = hf__file_record_store(c, l, l->idle_fd, &r);
        reply->verdict = V_GRANTED;
        reply->fence = r.fence;
        reply->ttl_us = left_us;
        l->detached_until_us = r.deadline_us;
    }
    hf__file_kernel_drop(l, l->idle_fd);
    return status == HF_OK ? ANSWER_DONE : hf__file_refuse(c, reply, status);
}

int hf__file_detached_release(struct backend_conn *c, struct file_lock *l,
                              struct request *req, struct reply *reply)
{
    struct record r;
    int status = guard_take(c, l, &r);
    if (status != HF_OK) return guard_refused(c, status, reply);
    int is_live = hf__file_record_is_live(c, &r, hf__clock_us(), NULL);
    reply->verdict = is_live ? V_OTHER : V_ABSENT;
    int changed = r.counter < req->ballot;
    if (changed) r.counter = req->ballot;
    if (is_live && record_is_ours(&r, req)) {
        reply->verdict = V_GRANTED;
        r.mode = RECORD_FREE;
        r.deadline_us = 0;
        changed = 1;
    }
    if (changed) status = hf__file_record_store(c, l, l->idle_fd, &r);
    l->detached_until_us = 0;
    reply->counter = r.counter;
    reply->waiters = hf__file_kernel_drop(l, l->idle_fd) + (l->watched != 0);
    if (reply->verdict == V_GRANTED) hf__file_watch_wake(c, l);
    return status == HF_OK ? ANSWER_DONE : hf__file_refuse(c, reply, status);
}

/* ---- break ----------------------------------------------------------- */

static int break_refuse(struct backend_conn *c, struct file_lock *l,
                        struct reply *reply)
{
    struct kernel_locks locks;
    struct file_place place;
    hf__file_proc_read(c, &locks);
    const struct kernel_lock *k = hf__file_proc_place_of_fd(l->idle_fd, &place)
                                      ? hf__file_proc_find(&locks, &place)
                                      : NULL;
    if (k)
        hf__error_set(&c->err, HF_UNSUPPORTED,
                      "file: held by the living process %lld: end that to "
                      "break the lock",
                      (long long)k->pid);
    else
        hf__error_set(&c->err, HF_UNSUPPORTED,
                      "file: held by a living process that is not visible "
                      "from here");
    hf__file_proc_free(c, &locks);
    return hf__file_refuse(c, reply, HF_UNSUPPORTED);
}

int hf__file_detached_break(struct backend_conn *c, struct request *req,
                            struct reply *reply)
{
    struct record r;
    struct hf_info *info = &c->info;
    struct file_lock *l = hf__file_request_lock(c, req, reply);
    if (!l) return ANSWER_DONE;
    reply->info = info;
    int status = guard_take(c, l, &r);
    if (status == FILE_AGAIN) return ANSWER_AGAIN;
    if (status == FILE_BUSY) return break_refuse(c, l, reply);
    if (status == FILE_ABSENT) {
        memset(&r, 0, sizeof r);
        hf__file_inspect_fill(c, &r, NULL, l->is_path, req->owner, info);
        reply->verdict = V_GRANTED;
        return ANSWER_DONE;
    }
    if (status != HF_OK) return hf__file_refuse(c, reply, status);
    hf__file_inspect_fill(c, &r, NULL, l->is_path, req->owner, info);
    int64_t wall_us = hf__clock_wall_us();
    r.counter = r.counter < wall_us ? wall_us : r.counter + 1;
    r.mode = RECORD_FREE;
    r.deadline_us = 0;
    status = hf__file_record_store(c, l, l->idle_fd, &r);
    l->detached_until_us = 0;
    hf__file_kernel_drop(l, l->idle_fd);
    hf__file_watch_wake(c, l);
    reply->verdict = V_GRANTED;
    reply->counter = r.counter;
    return status == HF_OK ? ANSWER_DONE : hf__file_refuse(c, reply, status);
}
