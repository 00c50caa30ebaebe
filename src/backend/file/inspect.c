/*
 * inspect.c: telling about a lock.  One rule: the kernel says whether it
 * is held; the record only adds the holder, and only if both mean the same
 * process.
 */
#include <string.h>

#include "backend/file/error.h"
#include "backend/file/hold.h"
#include "backend/file/inspect.h"
#include "backend/file/kernel.h"
#include "backend/file/lock.h"
#include "backend/file/notify.h"
#include "backend/file/proc.h"
#include "backend/file/record.h"
#include "backend/file/record_text.h"
#include "backend/file/request.h"
#include "sys/clock.h"

static void text_copy(char *out, size_t size, const char *from)
{
    size_t len = strlen(from);
    if (len >= size) len = size - 1;
    memcpy(out, from, len);
    out[len] = '\0';
}

static int64_t us_to_ms_up(int64_t us)
{
    return (us + US_PER_MS - 1) / US_PER_MS;
}

static void info_set_owner(const struct record *r, const char *owner,
                           struct hf_info *info)
{
    info->owner_count = r->count;
    info->since_ms = r->since_us / US_PER_MS;
    info->pid = r->pid;
    text_copy(info->owner, sizeof info->owner, r->owner);
    text_copy(info->host, sizeof info->host, r->host);
    text_copy(info->label, sizeof info->label, r->label);
    info->mine = owner[0] && !strcmp(owner, r->owner);
    if (info->mine) info->count = r->count;
}

static void info_set_kind(struct hf_info *info)
{
    text_copy(info->layout, sizeof info->layout,
              info->foreign ? "flock" : "holdfast");
}

/* Held by a process. */
static void info_set_kernel(struct backend_conn *c, const struct record *r,
                            const struct kernel_lock *k, int is_path,
                            const char *owner, struct hf_info *info)
{
    int is_known = !k->shared && r->mode == RECORD_EXCLUSIVE
                   && (r->pid == k->pid || k->pid == 0) && r->pid > 0
                   && !strcmp(r->boot, c->boot);
    info->locked = 1;
    info->shared = k->shared;
    info->ttl_ms = -1;
    info->pid = k->pid;
    text_copy(info->host, sizeof info->host, c->host);
    if (!is_known) {
        /* A reader writes no record; in our own directory it is holdfast's. */
        info->foreign = !k->shared || is_path;
        return;
    }
    info_set_owner(r, owner, info);
    if (r->deadline_us) {
        int64_t left_us = r->deadline_us - hf__clock_us();
        info->ttl_ms = left_us > 0 ? us_to_ms_up(left_us) : 0;
    }
}

void hf__file_inspect_fill(struct backend_conn *c, const struct record *r,
                           const struct kernel_lock *k, int is_path,
                           const char *owner, struct hf_info *info)
{
    int64_t left_us;
    memset(info, 0, sizeof *info);
    info->ttl_ms = -2;
    info->waiters = -1;
    info->now_ms = hf__clock_wall_us() / US_PER_MS;
    info->fence = (uint64_t)r->counter;
    if (hf__file_record_is_live(c, r, hf__clock_us(), &left_us)) {
        info->locked = info->detached = 1;
        info->ttl_ms = us_to_ms_up(left_us);
        info_set_owner(r, owner, info);
    } else if (k) {
        info_set_kernel(c, r, k, is_path, owner, info);
    }
    if (info->locked) info_set_kind(info);
}

/* Our own readers, which are not in the record. */
static void info_add_own(const struct file_lock *l, const char *owner,
                         struct hf_info *info)
{
    for (const struct file_hold *h = l->holds; h; h = h->next) {
        if (!h->shared || !info->shared) continue;
        info->foreign = 0;
        info_set_kind(info);
        if (strcmp(h->owner, owner)) continue;
        info->mine = 1;
        info->count = h->count;
        info->owner_count = h->count;
        text_copy(info->owner, sizeof info->owner, h->owner);
    }
}

/* Open what the name means now, without making it. */
static int lock_look(struct backend_conn *c, struct file_lock *l)
{
    if (l->idle_fd >= 0 && !hf__file_lock_is_current(c, l, &l->id))
        hf__file_lock_shut_idle(l);
    return hf__file_lock_open(c, l, FILE_LOOK);
}

static void lock_describe(struct backend_conn *c, struct file_lock *l,
                          const struct record *r, const char *owner,
                          struct hf_info *info)
{
    struct kernel_locks locks;
    struct kernel_lock probed;
    struct file_place place, marked;
    const struct kernel_lock *k = NULL;
    hf__file_proc_read(c, &locks);
    if (hf__file_proc_place_of_fd(l->idle_fd, &place))
        k = hf__file_proc_seek(c, &locks, &place, r);
    if (!k && !locks.is_complete) {
        if (hf__file_kernel_probe(l->idle_fd, &probed)) k = &probed;
        hf__file_notify_waiters(l, l->idle_fd);
    }
    hf__file_inspect_fill(c, r, k, l->is_path, owner, info);
    info_add_own(l, owner, info);
    if (locks.rows
        && hf__file_proc_place_of_fd(l->is_path ? l->record_fd : l->idle_fd,
                                     &marked))
        info->waiters = hf__file_proc_waiters(&locks, &marked);
    hf__file_proc_free(c, &locks);
}

int hf__file_inspect(struct backend_conn *c, struct request *req,
                     struct reply *reply)
{
    struct record r;
    struct hf_info *info = &c->info;
    struct file_lock *l = hf__file_request_lock(c, req, reply);
    if (!l) return ANSWER_DONE;
    int status = lock_look(c, l);
    if (status == HF_OK) status = hf__file_record_load(c, l, l->idle_fd, 0, &r);
    if (status == FILE_ABSENT) {
        memset(&r, 0, sizeof r);
        hf__file_inspect_fill(c, &r, NULL, 0, req->owner, info);
        info->waiters = 0;
    } else if (status == HF_OK) {
        lock_describe(c, l, &r, req->owner, info);
        if (info->locked && info->owner[0]) reply->fence = r.fence;
    }
    hf__file_lock_look_end(l);
    if (status != HF_OK && status != FILE_ABSENT)
        return hf__file_refuse(c, reply, status);
    reply->verdict = V_GRANTED;
    reply->counter = r.counter;
    reply->info = info;
    return ANSWER_DONE;
}
