/*
 * session.c: see session.h.  Two rules: when the connection is lost, all rows
 * are lost; and a hold is granted or renewed only after the server has answered
 * on the very connection that has the lock.
 */
#include "backend/sql/session.h"

#include <stdio.h>
#include <string.h>

#include "base/math.h"
#include "sys/clock.h"

#define LOOK_US (500 * US_PER_MS) /* the end of a session notifies no waiter */

/* ---- rows ---- */

struct session *hf__sql_session_open(const struct allocator *alloc)
{
    struct session *s = hf__alloc_zero(alloc, sizeof *s);
    if (!s) return NULL;
    s->alloc = alloc;
    s->base_us = hf__clock_wall_us() - hf__clock_us();
    s->ends_us = TIME_NEVER;
    return s;
}

void hf__sql_session_free(struct session *s)
{
    if (!s) return;
    hf__sql_session_forget(s);
    hf__free(s->alloc, s);
}

int64_t hf__sql_session_now_us(const struct session *s)
{
    return hf__clock_us() + s->base_us;
}

int64_t hf__sql_session_due_us(const struct session *s)
{
    return s && s->ends_us != TIME_NEVER ? s->ends_us - s->base_us : TIME_NEVER;
}

struct session_row **hf__sql_session_row(struct session *s, const char *name,
                                         size_t len)
{
    struct session_row **at = &s->rows[hash64(name, len) % SESSION_BUCKETS];
    while (*at && ((*at)->name_len != len || memcmp((*at)->name, name, len)))
        at = &(*at)->next;
    return at;
}

static struct session_row *row_make(struct session *s, const char *name,
                                    size_t len)
{
    struct session_row **at = hf__sql_session_row(s, name, len);
    if (*at) return *at;
    struct session_row *row = hf__alloc_zero(s->alloc, sizeof *row + len + 1);
    if (!row) return NULL;
    row->name_len = len;
    memcpy(row->name, name, len);
    *at = row;
    return row;
}

/* A free row has nothing worth keeping: its numbers are those of the
 * connection. */
void hf__sql_session_drop(struct session *s, struct session_row **at)
{
    struct session_row *row = *at;
    *at = row->next;
    hf__free(s->alloc, row);
}

int hf__sql_session_forget(struct session *s)
{
    int held = 0;
    for (int i = 0; i < SESSION_BUCKETS; i++)
        while (s->rows[i]) {
            held |= s->rows[i]->is_locked;
            hf__sql_session_drop(s, &s->rows[i]);
        }
    s->ends_us = TIME_NEVER;
    return held;
}

/* The server knows no leases of a session: end those that are over here. */
struct session_row *hf__sql_session_expired(struct session *s)
{
    int64_t now_us = hf__sql_session_now_us(s), next_us = TIME_NEVER;
    if (now_us < s->ends_us) return NULL;
    for (int i = 0; i < SESSION_BUCKETS; i++)
        for (struct session_row **at = &s->rows[i]; *at; at = &(*at)->next) {
            struct session_row *row = *at;
            next_us = min64(next_us, row->plain.ends_us);
            if (row->plain.ends_us > now_us) continue;
            *at = row->next;
            return row;
        }
    s->ends_us = next_us;
    return NULL;
}

/* ---- reading ---- */

void hf__sql_session_read(struct session *s, struct sql_job *job)
{
    const struct request *req = job->req;
    const struct session_row *row =
        *hf__sql_session_row(s, req->name, req->name_len);
    struct sql_row out = {.is_there = row != NULL};
    if (row) {
        out.version = row->version;
        out.plain = row->plain;
    }
    hf__sql_answer_row(job, &out, hf__sql_session_now_us(s), NULL);
}

int hf__sql_session_is_foreign(struct session *s, const struct request *req)
{
    return req->verb == VERB_INSPECT
           && !*hf__sql_session_row(s, req->name, req->name_len);
}

void hf__sql_session_looked(struct session *s, struct sql_job *job,
                            const char *holder, const char *host,
                            const char *layout, int is_foreign)
{
    struct hf_info *info = &job->info;
    struct reply rep = {.verdict = V_GRANTED,
                        .node_us = hf__sql_session_now_us(s),
                        .ttl_us = -1,
                        .waiters = -1,
                        .info = info};
    if (!holder) {
        hf__sql_session_read(s, job);
        return;
    }
    *info = (struct hf_info){.locked = 1,
                             .foreign = is_foreign != 0,
                             .ttl_ms = -1,
                             .waiters = -1,
                             .owner_count = 1,
                             .now_ms = rep.node_us / US_PER_MS};
    snprintf(info->owner, sizeof info->owner, "%s", holder);
    snprintf(info->host, sizeof info->host, "%s", host ? host : "");
    snprintf(info->layout, sizeof info->layout, "%s", layout);
    hf__sql_answer_reply(job, &rep);
}

/* ---- swapping ---- */

static unsigned row_change(struct session *s, struct session_row *row,
                           const struct cell_plain *next)
{
    int is_held = next->owner[0] != '\0', was = row->is_locked;
    row->plain = *next;
    row->version = ++s->version;
    row->is_locked = is_held;
    if (is_held && next->ends_us < s->ends_us) s->ends_us = next->ends_us;
    if (is_held) return was ? SESSION_PROVES : SESSION_TRIES;
    return was ? SESSION_FREES : 0;
}

unsigned hf__sql_session_swap(struct session *s, struct sql_job *job)
{
    const struct request *req = job->req;
    struct session_row **at = hf__sql_session_row(s, req->name, req->name_len);
    int64_t version = *at ? (*at)->version : 0;
    job->priv = 0;
    if (version != job->next.version) {
        hf__sql_session_read(s, job);
        return 0;
    }
    struct session_row *row = row_make(s, req->name, req->name_len);
    if (!row) {
        hf__sql_refuse(job, HF_NOMEM, "out of memory");
        return 0;
    }
    unsigned asked = job->priv = row_change(s, row, &job->next.plain);
    if (!row->plain.owner[0])
        hf__sql_session_drop(s,
                             hf__sql_session_row(s, req->name, req->name_len));
    job->may_have_changed = 1;
    if (!asked) hf__sql_answer_swapped(job);
    return asked;
}

struct session_row **hf__sql_session_row_of(struct session *s,
                                            const struct sql_job *job)
{
    const struct request *req = job->req;
    struct session_row **at = hf__sql_session_row(s, req->name, req->name_len);
    int is_its = *at && !strcmp((*at)->plain.owner, req->owner)
                 && (*at)->plain.attempt == req->attempt;
    return is_its ? at : NULL;
}

/* Refuse a swap: another session has the lock, or this one was given up
 * meanwhile. */
static void swap_refuse(struct session *s, struct sql_job *job)
{
    struct reply rep = {.verdict = V_BUSY,
                        .node_us = hf__sql_session_now_us(s),
                        .ttl_us = -1,
                        .waiters = -1,
                        .poll_us = LOOK_US};
    if (job->req->verb == VERB_RENEW) rep.verdict = V_ABSENT;
    job->may_have_changed = 0;
    hf__sql_answer_reply(job, &rep);
}

void hf__sql_session_swapped(struct session *s, struct sql_job *job,
                             int is_done)
{
    struct session_row **at = hf__sql_session_row_of(s, job);
    if (job->priv & SESSION_FREES || (at && is_done)) {
        hf__sql_answer_swapped(job);
        return;
    }
    if (at) hf__sql_session_drop(s, at);
    swap_refuse(s, job);
}

/* ---- the way in ---- */

static int is_served(const struct request *req)
{
    switch (req->verb) {
    case VERB_PROPOSE:
    case VERB_RENEW:
    case VERB_RELEASE:
    case VERB_INSPECT:
        return req->kind == KIND_PLAIN;
    case VERB_WATCH:
    case VERB_UNWATCH:
    case VERB_FACTS:
        return 1;
    default:
        return 0;
    }
}

/* Without a connection no hold exists, and former holders get that answer at
 * once; a question about another session's lock waits for the server. */
static int is_over(const struct sql_job *job, int is_up)
{
    const struct request *req = job->req;
    if (is_up) return 0;
    if (req->verb == VERB_INSPECT) return req->attempt != 0;
    return req->verb == VERB_RENEW || req->verb == VERB_RELEASE;
}

static void queue_first(struct sql_queue *queue, struct sql_job *job)
{
    job->next_queued = queue->first;
    queue->first = job;
    if (!queue->last) queue->last = job;
}

int hf__sql_session_start(struct session *s, struct sql_queue *queue,
                          struct sql_job *job, int is_up)
{
    job->may_have_changed = 0;
    if (!is_served(job->req)) {
        hf__sql_refuse(job, HF_UNSUPPORTED,
                       "session=on has plain locks, and nothing else");
    } else if (is_over(job, is_up) && job->step == SQL_READ) {
        hf__sql_session_read(s, job);
    } else if (is_over(job, is_up)) {
        hf__sql_answer_swapped(job); /* of a name without a row */
    } else if (job->step == SQL_SWAP && s->is_sending) {
        queue_first(queue, job);
    } else {
        hf__sql_queue_push(queue, job);
        return 1;
    }
    return 0;
}
