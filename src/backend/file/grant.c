/*
 * grant.c: which request gets a lock whose kernel lock is in our hands,
 * and what is written then.  One rule: a number is accepted only if it is above
 * every number that the record has seen, and not older than the window.
 */
#include <stdlib.h>
#include <string.h>

#include "backend/file/boot.h"
#include "backend/file/grant.h"
#include "backend/file/lock.h"
#include "backend/file/record.h"
#include "backend/file/record_text.h"
#include "sys/clock.h"

static void text_copy(char *out, size_t size, const char *from, size_t len)
{
    if (len >= size) len = size - 1;
    memcpy(out, from, len);
    out[len] = '\0';
}

int hf__file_grant_accept(const struct backend_conn *c,
                          const struct request *req, const struct record *r,
                          int64_t wall_us, struct reply *reply)
{
    reply->counter = r->counter;
    if ((req->flags & REQ_QUORUM)
        && hf__file_boot_is_missing(c, req, wall_us)) {
        reply->verdict = V_UNSETTLED;
        return 0;
    }
    if (req->ballot > r->counter && req->ballot >= wall_us - req->window_us)
        return 1;
    reply->verdict = V_STALE;
    return 0;
}

/* "<pid> <host> <label>" */
static void record_set_info(struct backend_conn *c, const char *info,
                            struct record *r)
{
    char *end = NULL;
    r->pid = info ? strtoll(info, &end, 10) : 0;
    if (!end || *end != ' ') {
        text_copy(r->host, sizeof r->host, c->host, strlen(c->host));
        r->label[0] = '\0';
        return;
    }
    const char *host = end + 1;
    size_t host_len = strcspn(host, " ");
    text_copy(r->host, sizeof r->host, host, host_len);
    const char *label = host + host_len;
    if (*label) label++;
    text_copy(r->label, sizeof r->label, label, strlen(label));
}

int64_t hf__file_grant_deadline(const struct request *req)
{
    if (req->flags & REQ_NO_EXPIRY) return TIME_NEVER;
    int64_t now_us = hf__clock_us();
    return req->lease_us > INT64_MAX / 2 ? TIME_NEVER : now_us + req->lease_us;
}

void hf__file_grant_record(struct backend_conn *c, const struct request *req,
                           struct record *r, int64_t wall_us)
{
    int64_t deadline_us = hf__file_grant_deadline(req);
    r->fence = req->ballot;
    if (req->flags & REQ_SERVER_FENCE && r->fence < wall_us) r->fence = wall_us;
    if (r->counter < r->fence + req->block) r->counter = r->fence + req->block;
    r->ballot = req->ballot;
    r->count = req->count;
    r->attempt = req->attempt;
    r->since_us = wall_us;
    r->deadline_us = deadline_us == TIME_NEVER ? 0 : deadline_us;
    r->mode = RECORD_EXCLUSIVE;
    text_copy(r->owner, sizeof r->owner, req->owner, strlen(req->owner));
    text_copy(r->boot, sizeof r->boot, c->boot, strlen(c->boot));
    record_set_info(c, req->info, r);
    /* It is compared with the pid that the kernel shows. */
    if (!(req->flags & REQ_DETACHED) || r->pid <= 0) r->pid = c->pid;
}

/* Readers change nothing: the fence they get is the last writer's. */
static void record_share(const struct request *req, struct record *r)
{
    int64_t deadline_us = hf__file_grant_deadline(req);
    r->fence = r->counter > 0 ? r->counter : 1;
    r->deadline_us = deadline_us == TIME_NEVER ? 0 : deadline_us;
}

int hf__file_grant_check(struct backend_conn *c, struct file_lock *l, int fd,
                         const struct request *req, struct record *r,
                         struct reply *reply)
{
    int64_t left_us;
    int status = hf__file_record_load(c, l, fd, 1, r);
    if (status != HF_OK) return status;
    if (hf__file_record_is_live(c, r, hf__clock_us(), &left_us)) {
        reply->verdict = V_BUSY;
        reply->counter = r->counter;
        reply->ttl_us = left_us;
        return FILE_BUSY;
    }
    if (req->kind == KIND_READ) {
        record_share(req, r);
        return HF_OK;
    }
    int64_t wall_us = hf__clock_wall_us();
    reply->node_us = wall_us;
    if (!hf__file_grant_accept(c, req, r, wall_us, reply)) return FILE_BUSY;
    hf__file_grant_record(c, req, r, wall_us);
    return hf__file_record_store(c, l, fd, r);
}
