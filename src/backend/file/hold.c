/*
 * hold.c: holds that are a kernel lock.  One rule: a hold is granted only
 * with the kernel lock in hand, and the lock is dropped on every other way out.
 */
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "backend/file/detached.h"
#include "backend/file/error.h"
#include "backend/file/grant.h"
#include "backend/file/hold.h"
#include "backend/file/kernel.h"
#include "backend/file/lock.h"
#include "backend/file/record.h"
#include "backend/file/request.h"
#include "backend/file/rw.h"
#include "backend/file/table.h"
#include "backend/file/watch.h"
#include "base/error.h"
#include "sys/clock.h"

static struct file_hold *hold_find(const struct file_lock *l,
                                   const struct request *req)
{
    struct file_hold *h = l->holds;
    while (h && (h->attempt != req->attempt || strcmp(h->owner, req->owner)))
        h = h->next;
    return h;
}

int hf__file_hold_drop(struct backend_conn *c, struct file_lock *l,
                       struct file_hold *h)
{
    struct file_hold **at = &l->holds;
    while (*at != h) at = &(*at)->next;
    *at = h->next;
    int told = 0;
    if (!hf__file_rw_drop(l, h)) {
        told = hf__file_kernel_drop(l, h->fd);
        if (l->idle_fd < 0) {
            l->idle_fd = h->fd;
            l->id = h->id;
        } else {
            close(h->fd);
        }
        hf__file_watch_wake(c, l);
    }
    hf__file_table_unpin(c, l);
    hf__free(c->env->alloc, h);
    return told;
}

void hf__file_holds_expire(struct backend_conn *c, int64_t now_us)
{
    c->expiry_us = TIME_NEVER;
    for (size_t i = 0; i < c->slots_len; i++)
        for (struct file_lock *l = c->slots[i]; l; l = l->chain)
            for (struct file_hold *h = l->holds, *next; h; h = next) {
                next = h->next;
                if (h->deadline_us <= now_us)
                    hf__file_hold_drop(c, l, h);
                else if (h->deadline_us < c->expiry_us)
                    c->expiry_us = h->deadline_us;
            }
}

/* ---- propose -------------------------------------------------------- */

void hf__file_hold_set(struct backend_conn *c, struct file_hold *h,
                       const struct request *req, const struct record *r)
{
    h->shared = req->kind == KIND_READ;
    h->attempt = req->attempt;
    h->ballot = req->ballot;
    h->count = req->count;
    h->fence = r->fence;
    h->counter = r->counter;
    h->deadline_us = r->deadline_us ? r->deadline_us : TIME_NEVER;
    memcpy(h->owner, req->owner, sizeof h->owner);
    if (h->deadline_us < c->expiry_us) c->expiry_us = h->deadline_us;
}

static void reply_grant(const struct file_hold *h, struct reply *reply)
{
    reply->verdict = V_GRANTED;
    reply->fence = h->fence;
    reply->counter = h->counter;
}

/* Another number for a hold that we have: a repeat, or a new round. */
static int propose_again(struct backend_conn *c, struct file_lock *l,
                         struct file_hold *h, struct request *req,
                         struct reply *reply)
{
    struct record r;
    if (h->ballot == req->ballot || h->shared) {
        reply_grant(h, reply);
        return ANSWER_DONE;
    }
    int status = hf__file_grant_check(c, l, h->fd, req, &r, reply);
    if (status == FILE_BUSY) return ANSWER_DONE;
    if (status != HF_OK) return hf__file_refuse(c, reply, status);
    hf__file_hold_set(c, h, req, &r);
    reply_grant(h, reply);
    return ANSWER_DONE;
}

/* A lock that was seen detached is looked at before it is touched, so that
 * waiters do not stand in the way of its renewal. */
static int detached_bars(struct backend_conn *c, struct file_lock *l,
                         struct reply *reply)
{
    struct record r;
    int64_t now_us;
    if (l->detached_until_us == 0 || l->idle_fd < 0) return 0;
    now_us = hf__clock_us();
    if (l->detached_until_us <= now_us
        || !hf__file_lock_is_current(c, l, &l->id)
        || hf__file_record_load(c, l, l->idle_fd, 0, &r) != HF_OK
        || !hf__file_record_is_live(c, &r, now_us, &reply->ttl_us)) {
        reply->ttl_us = -1;
        return 0;
    }
    reply->verdict = V_BUSY;
    reply->counter = r.counter;
    return 1;
}

static void hold_keep(struct backend_conn *c, struct file_lock *l,
                      struct file_hold *h)
{
    h->fd = l->idle_fd;
    h->id = l->id;
    l->idle_fd = -1;
    h->next = l->holds;
    l->holds = h;
    hf__file_table_pin(c, l);
}

static int propose_new(struct backend_conn *c, struct file_lock *l,
                       struct file_hold *h, struct request *req,
                       struct reply *reply)
{
    struct record r;
    int operation = req->kind == KIND_READ ? LOCK_SH : LOCK_EX;
    int status = hf__file_kernel_take(c, l, operation, FILE_MAKE);
    if (status == FILE_BUSY) {
        reply->verdict = V_BUSY;
        return status;
    }
    if (status == HF_OK) {
        status = hf__file_grant_check(c, l, l->idle_fd, req, &r, reply);
        if (status != HF_OK) hf__file_kernel_drop(l, l->idle_fd);
    }
    if (status == FILE_BUSY) return status;
    if (status != HF_OK) {
        hf__file_refuse(c, reply, status);
        return status;
    }
    hf__file_hold_set(c, h, req, &r);
    hold_keep(c, l, h);
    reply_grant(h, reply);
    return HF_OK;
}

int hf__file_hold_propose(struct backend_conn *c, struct request *req,
                          struct reply *reply)
{
    if (req->ballot > BALLOT_MAX) {
        hf__error_set(&c->err, HF_INVALID, "file: propose: number too large");
        return hf__file_refuse(c, reply, HF_INVALID);
    }
    struct file_lock *l = hf__file_request_lock(c, req, reply);
    if (!l) return ANSWER_DONE;
    if (req->flags & REQ_DETACHED)
        return hf__file_detached_propose(c, l, req, reply);
    struct file_hold *h = hold_find(l, req);
    if (h && h->deadline_us <= hf__clock_us()) {
        hf__file_hold_drop(c, l, h);
        h = NULL;
    }
    if (h) return propose_again(c, l, h, req, reply);
    if (hf__file_rw_propose(c, l, req, reply)) return ANSWER_DONE;
    if (detached_bars(c, l, reply)) return ANSWER_DONE;
    h = hf__alloc_zero(c->env->alloc, sizeof *h);
    if (!h) {
        hf__error_set(&c->err, HF_NOMEM, "file:%s: no memory", c->dir);
        return hf__file_refuse(c, reply, HF_NOMEM);
    }
    if (propose_new(c, l, h, req, reply) != HF_OK) hf__free(c->env->alloc, h);
    return ANSWER_DONE;
}

/* ---- renew, release -------------------------------------------------- */

/* Only people read this: a renewal does not fail if it cannot be written. */
static void record_touch(struct backend_conn *c, struct file_lock *l,
                         const struct file_hold *h)
{
    struct record r;
    if (h->shared || hf__file_record_load(c, l, h->fd, 1, &r) != HF_OK) return;
    r.count = h->count;
    r.deadline_us = h->deadline_us == TIME_NEVER ? 0 : h->deadline_us;
    if (r.counter < h->counter) r.counter = h->counter;
    hf__file_record_store(c, l, h->fd, &r);
}

int hf__file_hold_renew(struct backend_conn *c, struct request *req,
                        struct reply *reply)
{
    struct file_lock *l = hf__file_request_lock(c, req, reply);
    if (!l) return ANSWER_DONE;
    struct file_hold *h = hold_find(l, req);
    if (!h) return hf__file_detached_renew(c, l, req, reply);
    int64_t now_us = hf__clock_us();
    if (h->deadline_us <= now_us || !hf__file_lock_is_current(c, l, &h->id)) {
        /* Over, or the file was deleted: another process may hold a new one. */
        hf__file_hold_drop(c, l, h);
        reply->verdict = V_ABSENT;
        return ANSWER_DONE;
    }
    int64_t was_us = h->deadline_us;
    int changed = h->count != req->count;
    if (was_us != TIME_NEVER) reply->ttl_us = was_us - now_us;
    h->count = req->count;
    h->deadline_us = hf__file_grant_deadline(req);
    if (h->deadline_us < c->expiry_us) c->expiry_us = h->deadline_us;
    if (changed || was_us != h->deadline_us) record_touch(c, l, h);
    reply_grant(h, reply);
    return ANSWER_DONE;
}

int hf__file_hold_release(struct backend_conn *c, struct request *req,
                          struct reply *reply)
{
    struct file_lock *l = hf__file_request_lock(c, req, reply);
    if (!l) return ANSWER_DONE;
    struct file_hold *h = hold_find(l, req);
    if (!h) return hf__file_detached_release(c, l, req, reply);
    int is_over =
        h->deadline_us != TIME_NEVER && h->deadline_us <= hf__clock_us();
    if (req->ballot > h->counter) {
        h->counter = req->ballot;
        record_touch(c, l, h);
    }
    reply->verdict = is_over ? V_ABSENT : V_GRANTED;
    reply->counter = h->counter;
    reply->waiters = (l->watched != 0) + hf__file_hold_drop(c, l, h);
    return ANSWER_DONE;
}
