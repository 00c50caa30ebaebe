/*
 * queue.c: see queue.h.  One rule: a job is in the queue once, or not at all.
 */
#include "backend/sql/queue.h"

#include <string.h>

#include "base/error.h"

void hf__sql_queue_push(struct sql_queue *q, struct sql_job *job)
{
    job->next_queued = NULL;
    if (q->last)
        q->last->next_queued = job;
    else
        q->first = job;
    q->last = job;
}

struct sql_job *hf__sql_queue_take(struct sql_queue *q)
{
    struct sql_job *job = q->first;
    if (!job) return NULL;
    q->first = job->next_queued;
    if (!q->first) q->last = NULL;
    return job;
}

void hf__sql_queue_drop(struct sql_queue *q)
{
    q->first = q->last = NULL;
}

static struct sql_job *late_take(struct sql_queue *q, int64_t now_us)
{
    struct sql_job **at = &q->first, *before = NULL;
    for (; *at; before = *at, at = &(*at)->next_queued) {
        struct sql_job *job = *at;
        int64_t deadline_us = job->req->deadline_us;
        if (deadline_us <= 0 || deadline_us > now_us) continue;
        *at = job->next_queued;
        if (!job->next_queued) q->last = before;
        return job;
    }
    return NULL;
}

int hf__sql_queue_expire(struct sql_queue *q, int64_t now_us, const char *where,
                         const struct hf_error *err)
{
    struct sql_job *job;
    struct hf_error why = *err;
    int done = 0;
    if (why.status == HF_OK)
        hf__error_set(&why, HF_UNAVAILABLE, "%s: connect: not connected yet",
                      where);
    while ((job = late_take(q, now_us)) != NULL) {
        hf__sql_fail(job, why.status, why.text + strlen(where) + 2);
        done = 1;
    }
    return done;
}
