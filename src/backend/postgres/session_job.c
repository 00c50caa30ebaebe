/*
 * session_job.c: the core's jobs on a session.  One rule: nothing is told as
 * granted or renewed before the server has answered on the very connection that
 * has the lock.
 *
 *   a swap makes the row    and the server has it   is sent as
 *     held                    no                      SESSION_TRY
 *     held                    yes                     CLOCK: it still answers
 *     free                    yes                     SESSION_UNLOCK
 *     free                    no                      nothing
 *
 * The row is changed when its statement is sent, so that the order of the
 * statements is that of the rows.
 */
#include <stdio.h>
#include <string.h>

#include "backend/postgres/job.h"
#include "backend/postgres/key.h"
#include "backend/postgres/params.h"
#include "backend/postgres/row.h"
#include "backend/postgres/session.h"
#include "backend/postgres/statement.h"
#include "backend/postgres/watch.h"

#define PROOFS_MAX 64             /* renewals that one answer proves */
#define LOOK_US (500 * US_PER_MS) /* a session that ends tells nobody */

/* sql_job.priv */
#define SESSION_TRIES 4u
#define SESSION_PROVES 8u
#define SESSION_FREES 16u

/* ---- out ---- */

/* SESSION_TRY or SESSION_LOOK. */
static int name_send(struct backend_conn *c, struct sql_job *job, int statement)
{
    struct params p;
    char key[KEY_TEXT_MAX];
    hf__session_name_put(&p, job->req->name, job->req->name_len, key);
    return hf__postgres_job_send(c, job, statement, &p);
}

static int proofs_send(struct backend_conn *c, struct sql_job **jobs,
                       size_t len)
{
    const struct params none = {.len = 0};
    if (len == 0) return 0;
    if (hf__postgres_flight_send(&c->link, STATEMENT_CLOCK, &none) == 0
        && hf__postgres_flight_add(&c->link, FLIGHT_JOB, jobs, len))
        return 0;
    hf__postgres_link_fail(&c->link, HF_UNAVAILABLE, "renew: not sent");
    return -1;
}

/* Change the row as the job wants it.  What is to be asked of the server. */
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

/* 0, or -1: the job was answered, or goes on from another row. */
static int swap_begin(struct backend_conn *c, struct sql_job *job)
{
    const struct request *req = job->req;
    struct session_row **at =
        hf__session_row(c->session, req->name, req->name_len);
    int64_t version = *at ? (*at)->version : 0;
    if (version != job->next.version) {
        hf__session_row_answer(c, job);
        return -1;
    }
    struct session_row *row = hf__session_row_make(c, req->name, req->name_len);
    if (!row) {
        hf__sql_refuse(job, HF_NOMEM, "out of memory");
        return -1;
    }
    job->priv = row_change(c->session, row, &job->next.plain);
    if (!row->plain.owner[0])
        hf__session_row_drop(
            c, hf__session_row(c->session, req->name, req->name_len));
    return 0;
}

/* 0; 1: it is proved by the next answer; or -1: the link is down. */
static int swap_send(struct backend_conn *c, struct sql_job *job)
{
    if (swap_begin(c, job) != 0) return 0;
    job->may_have_changed = 1;
    if (job->priv & (SESSION_TRIES | SESSION_PROVES)
        && hf__session_horizon_reach(c, job->req) != 0)
        return -1;
    if (job->priv & SESSION_PROVES) return 1;
    if (job->priv & SESSION_TRIES)
        return name_send(c, job, STATEMENT_SESSION_TRY);
    if (job->priv & SESSION_FREES) return hf__session_unlock_send(c, job);
    hf__sql_answer_swapped(job);
    return 0;
}

/* Is it a look at a name that no hold of this connection has? */
static int is_foreign(const struct backend_conn *c, const struct sql_job *job)
{
    const struct request *req = job->req;
    return req->verb == VERB_INSPECT
           && !*hf__session_row(c->session, req->name, req->name_len);
}

static int step_send(struct backend_conn *c, struct sql_job *job)
{
    const struct params none = {.len = 0};
    if (job->step == SQL_SWAP) return swap_send(c, job);
    if (job->step == SQL_WATCH || job->step == SQL_UNWATCH)
        return hf__postgres_watch_send(c, job);
    if (job->step == SQL_READ) {
        if (is_foreign(c, job))
            return name_send(c, job, STATEMENT_SESSION_LOOK);
        hf__session_row_answer(c, job);
        return 0;
    }
    return hf__postgres_job_send(
        c, job, job->req->flags & REQ_BRIEF ? STATEMENT_CLOCK : STATEMENT_FACTS,
        &none);
}

void hf__session_jobs_send(struct backend_conn *c)
{
    struct sql_job *proofs[PROOFS_MAX], *job;
    size_t len = 0;
    int rc = 0;
    /* A link that fails drops the queue, and the core has the jobs. */
    c->session->is_sending = 1;
    while (rc >= 0 && (job = c->queue.first) != NULL) {
        c->queue.first = job->next_queued;
        if (!c->queue.first) c->queue.last = NULL;
        rc = step_send(c, job);
        if (rc == 1) proofs[len++] = job;
        if (rc >= 0 && len == PROOFS_MAX) {
            rc = proofs_send(c, proofs, len);
            len = 0;
        }
    }
    c->session->is_sending = 0;
    if (rc >= 0) (void)proofs_send(c, proofs, len);
}

/* ---- the driver ---- */

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

/* Without a connection there is no hold, and its former holders are told so at
 * once; a look at a name of others waits for the server. */
static int is_over(const struct backend_conn *c, const struct sql_job *job)
{
    const struct request *req = job->req;
    if (c->link.state == LINK_UP) return 0;
    if (req->verb == VERB_INSPECT) return req->attempt != 0;
    return req->verb == VERB_RENEW || req->verb == VERB_RELEASE;
}

static void queue_first(struct backend_conn *c, struct sql_job *job)
{
    job->next_queued = c->queue.first;
    c->queue.first = job;
    if (!c->queue.last) c->queue.last = job;
}

static void session_start(struct backend_conn *c, struct sql_job *job)
{
    job->may_have_changed = 0;
    if (!is_served(job->req)) {
        hf__sql_refuse(job, HF_UNSUPPORTED,
                       "session=on has plain locks, and nothing else");
    } else if (is_over(c, job) && job->step == SQL_READ) {
        hf__session_row_answer(c, job);
    } else if (is_over(c, job)) {
        hf__sql_answer_swapped(job); /* of a name without a row */
    } else if (job->step == SQL_SWAP && c->session->is_sending) {
        queue_first(c, job);
    } else {
        hf__sql_queue_push(&c->queue, job);
        c->flush_wanted = 1;
    }
}

const struct sql_driver hf__session_driver = {
    .engine = "postgres", .flags = SQL_NO_FENCE, .start = session_start};

/* ---- in ---- */

/* The row that the job has made, unless it was changed since. */
static struct session_row **row_of(struct backend_conn *c,
                                   const struct sql_job *job)
{
    const struct request *req = job->req;
    struct session_row **at =
        hf__session_row(c->session, req->name, req->name_len);
    int is_its = *at && !strcmp((*at)->plain.owner, req->owner)
                 && (*at)->plain.attempt == req->attempt;
    return is_its ? at : NULL;
}

/* Another session has it, or it was given up meanwhile. */
static void swap_refuse(struct backend_conn *c, struct sql_job *job)
{
    struct reply rep = {.verdict = V_BUSY,
                        .node_us = hf__session_now_us(c),
                        .ttl_us = -1,
                        .waiters = -1,
                        .poll_us = LOOK_US};
    if (job->req->verb == VERB_RENEW) rep.verdict = V_ABSENT;
    job->may_have_changed = 0;
    hf__sql_answer_reply(job, &rep);
}

static void swap_answer(struct backend_conn *c, struct sql_job *job,
                        const PGresult *result)
{
    struct session_row **at = row_of(c, job);
    int is_done = job->priv & SESSION_PROVES
                  || hf__postgres_row_number(result, 0, COLUMN_DONE) != 0;
    if (job->priv & SESSION_FREES) {
        job->reply.waiters = hf__postgres_row_number(result, 0, COLUMN_EXTRA);
        hf__sql_answer_swapped(job);
    } else if (at && is_done) {
        hf__sql_answer_swapped(job);
    } else {
        if (at) hf__session_row_drop(c, at);
        swap_refuse(c, job);
    }
}

int hf__session_failed(struct backend_conn *c, const struct sql_job *job,
                       int status, const char *why)
{
    struct session_row **at = row_of(c, job);
    if (job->step != SQL_SWAP) return 0;
    if (job->priv & SESSION_TRIES && at) hf__session_row_drop(c, at);
    if (!(job->priv & SESSION_FREES)) return 0;
    /* The server may still have it: the end of the connection frees it. */
    hf__postgres_link_fail(&c->link, status, "unlock: %s", why);
    return 1;
}

/* Columns behind the clock: the server's process that has it, its client's
 * address, its application. */
static void look_answer(struct backend_conn *c, struct sql_job *job,
                        const PGresult *result)
{
    struct hf_info *info = &job->info;
    struct reply rep = {.verdict = V_GRANTED,
                        .node_us = hf__session_now_us(c),
                        .ttl_us = -1,
                        .waiters = -1,
                        .info = info};
    if (PQgetisnull(result, 0, 1)) {
        hf__session_row_answer(c, job);
        return;
    }
    *info = (struct hf_info){.locked = 1,
                             .ttl_ms = -1,
                             .waiters = -1,
                             .owner_count = 1,
                             .now_ms = rep.node_us / US_PER_MS};
    info->foreign = strncmp(PQgetvalue(result, 0, 3), "holdfast", 8) != 0;
    snprintf(info->owner, sizeof info->owner, "server process %lld",
             (long long)hf__postgres_row_number(result, 0, 1));
    snprintf(info->host, sizeof info->host, "%s", PQgetvalue(result, 0, 2));
    snprintf(info->layout, sizeof info->layout, "advisory");
    hf__sql_answer_reply(job, &rep);
}

static int is_marked(const PGresult *result)
{
    return hf__postgres_row_number(result, 0, COLUMN_DONE) != 0;
}

void hf__session_answer(struct backend_conn *c, struct sql_job *job,
                        const PGresult *result)
{
    if (job->step == SQL_SWAP)
        swap_answer(c, job, result);
    else if (job->step == SQL_READ)
        look_answer(c, job, result);
    else if (job->step == SQL_WATCH && !is_marked(result))
        hf__sql_job_again(job); /* just then a lock was given back */
    else
        hf__sql_answer_done(job, hf__session_now_us(c));
}
