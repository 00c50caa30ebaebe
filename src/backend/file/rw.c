/*
 * rw.c: the two sides of a read/write lock as kernel locks: readers share
 * it, a writer has it alone.
 *
 * flock(2) gives a lock up before it converts it, and another process may take
 * it in between.  So one rule: a kernel lock is never converted.  A
 * writer that reads does so within its hold, and goes on reading with the
 * exclusive lock; a reader is not made the writer.
 */
#include <string.h>

#include "backend/file/error.h"
#include "backend/file/grant.h"
#include "backend/file/hold.h"
#include "backend/file/lock.h"
#include "backend/file/rw.h"
#include "backend/file/table.h"
#include "base/error.h"
#include "sys/clock.h"

/* The owner's hold with a kernel lock of its own, shared or not; or NULL. */
static struct file_hold *own_find(const struct file_lock *l, const char *owner,
                                  int shared)
{
    int64_t now_us = hf__clock_us();
    struct file_hold *h = l->holds;
    while (h
           && (h->fd < 0 || h->shared != shared || h->deadline_us <= now_us
               || strcmp(h->owner, owner) != 0))
        h = h->next;
    return h;
}

static int nest(struct backend_conn *c, struct file_lock *l,
                const struct file_hold *writer, const struct request *req,
                struct reply *reply)
{
    struct file_hold *h = hf__alloc_zero(c->env->alloc, sizeof *h);
    if (!h) {
        hf__error_set(&c->err, HF_NOMEM, "file:%s: no memory", c->dir);
        hf__file_refuse(c, reply, HF_NOMEM);
        return 1;
    }
    int64_t deadline_us = hf__file_grant_deadline(req);
    struct record r = {.fence = writer->fence,
                       .counter = writer->counter,
                       .deadline_us =
                           deadline_us == TIME_NEVER ? 0 : deadline_us};
    hf__file_hold_set(c, h, req, &r);
    h->fd = -1;
    h->id = writer->id;
    h->next = l->holds;
    l->holds = h;
    hf__file_table_pin(c, l);
    reply->verdict = V_GRANTED;
    reply->fence = h->fence;
    reply->counter = h->counter;
    return 1;
}

int hf__file_rw_propose(struct backend_conn *c, struct file_lock *l,
                        const struct request *req, struct reply *reply)
{
    if (req->kind == KIND_READ) {
        const struct file_hold *writer = own_find(l, req->owner, 0);
        return writer ? nest(c, l, writer, req, reply) : 0;
    }
    if (!(req->flags & REQ_UPGRADE) || !own_find(l, req->owner, 1)) return 0;
    hf__error_set(
        &c->err, HF_UNSUPPORTED,
        "file: upgrade: the kernel would give the lock up in between");
    hf__file_refuse(c, reply, HF_UNSUPPORTED);
    return 1;
}

int hf__file_rw_drop(const struct file_lock *l, struct file_hold *h)
{
    struct file_hold *heir = l->holds;
    if (h->fd < 0) return 1;
    while (heir && (heir->fd >= 0 || strcmp(heir->owner, h->owner) != 0))
        heir = heir->next;
    if (!heir) return 0;
    heir->fd = h->fd;
    heir->id = h->id;
    h->fd = -1;
    return 1;
}

int hf__file_rw_fd(const struct file_lock *l, const struct file_hold *h)
{
    const struct file_hold *writer = h->fd < 0 ? own_find(l, h->owner, 0) : h;
    return writer ? writer->fd : -1;
}
