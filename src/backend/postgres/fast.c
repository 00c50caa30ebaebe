/*
 * fast.c: a plain lock by one statement.  One rule: what the statement has not
 * done is decided from the row that came with it, as src/rules/store.c does;
 * where the row gives no reason, the core decides.
 */
#include "backend/postgres/fast.h"

#include <string.h>

#include "backend/postgres/job.h"
#include "backend/postgres/params.h"
#include "backend/postgres/row.h"
#include "backend/postgres/statement.h"
#include "backend/postgres/watch.h"
#include "backend/sql/fast.h"

/* ---- out ---- */

static int propose_send(struct backend_conn *c, struct sql_job *job)
{
    struct params p = {.len = 0};
    const struct request *req = job->req;
    unsigned flags = req->flags & REQ_DETACHED ? CELL_DETACHED : 0;
    hf__postgres_params_bytes(&p, req->name, req->name_len);
    hf__postgres_params_text(&p, req->owner);
    hf__postgres_params_number(&p, (int64_t)req->attempt);
    hf__postgres_params_number(&p, req->ballot);
    hf__postgres_params_number(&p, req->window_us);
    hf__postgres_params_number(&p, hf__sql_fast_lease_ms(req));
    hf__postgres_params_number(&p, (req->flags & REQ_SERVER_FENCE) != 0);
    hf__postgres_params_number(&p, req->block);
    hf__postgres_params_number(&p, flags);
    hf__postgres_params_bytes(&p, req->info, hf__sql_fast_info_len(req));
    hf__postgres_params_number(&p, req->count);
    return hf__postgres_job_send(c, job, STATEMENT_PROPOSE, &p);
}

static int release_send(struct backend_conn *c, struct sql_job *job)
{
    struct params p = {.len = 0};
    const struct request *req = job->req;
    char channel[CHANNEL_MAX], payload[PAYLOAD_MAX];
    hf__postgres_watch_channel(req->name, req->name_len, channel);
    hf__postgres_watch_payload(job, payload);
    hf__postgres_params_bytes(&p, req->name, req->name_len);
    hf__postgres_params_text(&p, req->owner);
    hf__postgres_params_number(&p, (int64_t)req->attempt);
    hf__postgres_params_number(&p, req->ballot);
    if (req->flags & REQ_HUSHED)
        hf__postgres_params_null(&p);
    else
        hf__postgres_params_text(&p, channel);
    hf__postgres_params_text(&p, payload);
    return hf__postgres_job_send(c, job, STATEMENT_RELEASE, &p);
}

int hf__postgres_fast_send(struct backend_conn *c, struct sql_job *job)
{
    struct params p = {.len = 0};
    if (!hf__sql_fast_is_refused(job->req))
        return job->req->verb == VERB_PROPOSE ? propose_send(c, job)
                                              : release_send(c, job);
    hf__postgres_params_bytes(&p, job->req->name, job->req->name_len);
    return hf__postgres_job_send(c, job, STATEMENT_READ, &p);
}

enum { RENEW_NAMES, RENEW_OWNERS, RENEW_NUMBERS, RENEW_ARRAYS = 6 };

static void renewal_add(struct array a[RENEW_ARRAYS], const struct request *req)
{
    hf__postgres_array_bytes(&a[0], req->name, req->name_len);
    hf__postgres_array_bytes(&a[1], req->owner, strlen(req->owner));
    hf__postgres_array_number(&a[2], (int64_t)req->attempt);
    hf__postgres_array_number(&a[3], req->fence);
    hf__postgres_array_number(&a[4], req->count);
    hf__postgres_array_number(&a[5], hf__sql_fast_lease_ms(req));
}

static int renewals_send(struct backend_conn *c, struct sql_job **jobs,
                         size_t len, const struct params *p)
{
    int statement =
        jobs[0]->priv & JOB_SKIPS ? STATEMENT_RENEW_FREE : STATEMENT_RENEW;
    if (hf__postgres_flight_send(&c->link, statement, p) == 0
        && hf__postgres_flight_add(&c->link, FLIGHT_JOB, jobs, len))
        return 0;
    hf__postgres_link_fail(&c->link, HF_UNAVAILABLE, "renew: not sent");
    return -1;
}

int hf__postgres_fast_renew(struct backend_conn *c, struct sql_job **jobs,
                            size_t len)
{
    static const uint32_t types[RENEW_ARRAYS] = {ARRAY_BYTEA, ARRAY_TEXT,
                                                 ARRAY_INT8,  ARRAY_INT8,
                                                 ARRAY_INT8,  ARRAY_INT8};
    struct array a[RENEW_ARRAYS];
    struct params p = {.len = 0};
    int is_short = 0, rc = -1;
    for (int i = 0; i < RENEW_ARRAYS; i++)
        hf__postgres_array_begin(&a[i], c->env->alloc, types[i]);
    for (size_t i = 0; i < len; i++) renewal_add(a, jobs[i]->req);
    for (int i = 0; i < RENEW_ARRAYS; i++) {
        is_short |= a[i].is_short;
        hf__postgres_params_array(&p, &a[i]);
    }
    if (!is_short)
        rc = renewals_send(c, jobs, len, &p);
    else
        hf__postgres_link_fail(&c->link, HF_NOMEM, "renew: out of memory");
    for (int i = 0; i < RENEW_ARRAYS; i++) hf__postgres_array_free(&a[i]);
    return rc;
}

/* ---- in ---- */

static int propose_read(const struct request *req, const PGresult *result,
                        const struct sql_row *row, int is_done,
                        struct reply *rep)
{
    if (!is_done) return hf__sql_fast_refused(req, row, rep->node_us, rep);
    rep->verdict = V_GRANTED;
    rep->fence = hf__postgres_row_number(result, 0, COLUMN_EXTRA);
    rep->counter = rep->fence + req->block;
    return 1;
}

/* A renewal that was good when the statement began, and was not carried out:
 * the row is locked, or has just been changed. */
static int is_left_out(const struct sql_job *job, const struct sql_row *row,
                       int64_t now_us)
{
    const struct cell_plain *p = &row->plain;
    const struct request *req = job->req;
    return job->priv & JOB_SKIPS && !row->state && p->ends_us > now_us
           && !strcmp(p->owner, req->owner) && p->attempt == req->attempt
           && (!req->fence || req->fence == p->fence);
}

void hf__postgres_fast_answer(struct backend_conn *c, struct sql_job *job,
                              const PGresult *result, int at)
{
    const struct request *req = job->req;
    int64_t clock_us = hf__postgres_row_number(result, at, COLUMN_CLOCK);
    int is_done = hf__postgres_row_number(result, at, COLUMN_DONE) != 0;
    struct reply rep = {
        .verdict = V_GRANTED, .node_us = clock_us, .ttl_us = -1, .waiters = -1};
    struct sql_row row;
    if (hf__postgres_row_read(result, at, &row) != 0) {
        hf__sql_fail(job, HF_INTERNAL, "an answer without a row");
        return;
    }
    int is_told = is_done;
    if (req->verb == VERB_PROPOSE) {
        is_told = propose_read(req, result, &row, is_done, &rep);
        if (!is_done
            && hf__postgres_watch_seen(c, req, row.waits_us, clock_us) != 0)
            return;
    } else {
        rep.counter = hf__postgres_row_number(result, at, COLUMN_EXTRA);
    }
    if (req->verb == VERB_RENEW)
        rep.ttl_us = hf__sql_fast_left_us(row.plain.ends_us, clock_us);
    if (req->verb == VERB_RELEASE)
        rep.waiters = hf__sql_fast_waiters(
            hf__postgres_row_number(result, at, COLUMN_WAITS), clock_us);
    if (is_told)
        hf__sql_answer_reply(job, &rep);
    else if (req->verb == VERB_RENEW && is_left_out(job, &row, clock_us))
        hf__sql_refuse(job, HF_UNAVAILABLE,
                       "renew: another transaction holds the row");
    else
        hf__sql_answer_row(job, &row, clock_us, NULL);
}
