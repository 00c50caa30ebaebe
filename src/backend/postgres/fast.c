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

static int64_t lease_ms(const struct request *req)
{
    return (req->lease_us + US_PER_MS - 1) / US_PER_MS; /* rounded up */
}

static size_t info_len(const struct request *req)
{
    size_t len = req->info ? strlen(req->info) : 0;
    return len < HELD_INFO_MAX ? len : HELD_INFO_MAX - 1;
}

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
    hf__postgres_params_number(&p, lease_ms(req));
    hf__postgres_params_number(&p, (req->flags & REQ_SERVER_FENCE) != 0);
    hf__postgres_params_number(&p, req->block);
    hf__postgres_params_number(&p, flags);
    hf__postgres_params_bytes(&p, req->info, info_len(req));
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

/* What no node would look at, the core refuses when it has the row. */
static int is_refused(const struct request *req)
{
    if (req->ballot < 0 || req->ballot > BALLOT_MAX) return 1;
    return req->verb == VERB_PROPOSE && (req->ballot < 1 || req->lease_us < 1);
}

int hf__postgres_fast_send(struct backend_conn *c, struct sql_job *job)
{
    struct params p = {.len = 0};
    if (!is_refused(job->req))
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
    hf__postgres_array_number(&a[5], lease_ms(req));
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

static int64_t left_us(const struct cell_plain *p, int64_t now_us)
{
    /* ends_us is the millisecond behind the last one. */
    int64_t left_ms = p->ends_us / US_PER_MS - 1 - now_us / US_PER_MS;
    return left_ms > 0 ? left_ms * US_PER_MS : 0;
}

/* Why it was not granted.  1, or 0: the row does not tell. */
static int propose_refused(const struct request *req, const struct sql_row *row,
                           int64_t now_us, struct reply *rep)
{
    const struct cell_plain *p = &row->plain;
    int is_held = p->owner[0] && p->ends_us > now_us;
    int is_ours = !strcmp(p->owner, req->owner) && p->attempt == req->attempt;
    if (row->state) return 0;
    rep->counter = p->counter;
    if (is_held && is_ours && p->ballot == req->ballot) {
        rep->verdict = V_GRANTED;
        rep->fence = p->fence;
    } else if (is_held && !is_ours) {
        rep->verdict = V_BUSY;
        rep->ttl_us = left_us(p, now_us);
    } else if (req->ballot <= p->counter
               || req->ballot < now_us - req->window_us) {
        rep->verdict = V_STALE;
    } else {
        return 0;
    }
    return 1;
}

static int propose_read(const struct request *req, const PGresult *result,
                        const struct sql_row *row, int is_done,
                        struct reply *rep)
{
    if (!is_done) return propose_refused(req, row, rep->node_us, rep);
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
    if (req->verb == VERB_RENEW) rep.ttl_us = left_us(&row.plain, clock_us);
    if (req->verb == VERB_RELEASE
        && clock_us - hf__postgres_row_number(result, at, COLUMN_WAITS)
               >= WAITS_LAPSE_US)
        rep.waiters = 0;
    if (is_told)
        hf__sql_answer_reply(job, &rep);
    else if (req->verb == VERB_RENEW && is_left_out(job, &row, clock_us))
        hf__sql_refuse(job, HF_UNAVAILABLE,
                       "renew: another transaction holds the row");
    else
        hf__sql_answer_row(job, &row, clock_us, NULL);
}
