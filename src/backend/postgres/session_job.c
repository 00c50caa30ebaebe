/*
 * session_job.c: the core's jobs on a session.  One rule: nothing is told as
 * granted or renewed before the server has answered on the very connection that
 * has the lock.
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

#define PROOFS_MAX 64 /* renewals that one answer proves */

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

/* 0; 1: it is proved by the next answer; or -1: the link is down. */
static int swap_send(struct backend_conn *c, struct sql_job *job)
{
    if (hf__sql_session_swap(c->session, job) == 0) return 0;
    if (job->priv & (SESSION_TRIES | SESSION_PROVES)
        && hf__session_horizon_reach(c, job->req) != 0)
        return -1;
    if (job->priv & SESSION_PROVES) return 1;
    if (job->priv & SESSION_TRIES)
        return name_send(c, job, STATEMENT_SESSION_TRY);
    return hf__session_unlock_send(c, job);
}

static int step_send(struct backend_conn *c, struct sql_job *job)
{
    const struct params none = {.len = 0};
    if (job->step == SQL_SWAP) return swap_send(c, job);
    if (job->step == SQL_WATCH || job->step == SQL_UNWATCH)
        return hf__postgres_watch_send(c, job);
    if (job->step == SQL_READ) {
        if (hf__sql_session_is_foreign(c->session, job->req))
            return name_send(c, job, STATEMENT_SESSION_LOOK);
        hf__sql_session_read(c->session, job);
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

static void session_start(struct backend_conn *c, struct sql_job *job)
{
    if (hf__sql_session_start(c->session, &c->queue, job,
                              c->link.state == LINK_UP))
        c->flush_wanted = 1;
}

const struct sql_driver hf__session_driver = {
    .engine = "postgres", .flags = SQL_NO_FENCE, .start = session_start};

/* ---- in ---- */

static void swap_answer(struct backend_conn *c, struct sql_job *job,
                        const PGresult *result)
{
    int is_done = job->priv & SESSION_PROVES
                  || hf__postgres_row_number(result, 0, COLUMN_DONE) != 0;
    if (job->priv & SESSION_FREES)
        job->reply.waiters = hf__postgres_row_number(result, 0, COLUMN_EXTRA);
    hf__sql_session_swapped(c->session, job, is_done);
}

int hf__session_failed(struct backend_conn *c, const struct sql_job *job,
                       int status, const char *why)
{
    struct session_row **at = hf__sql_session_row_of(c->session, job);
    if (job->step != SQL_SWAP) return 0;
    /* It may have been cancelled when it had the lock already, and then the
     * session keeps that. */
    if (job->priv & SESSION_TRIES && at) {
        if (hf__session_row_unlock(c, *at) != 0) return 1;
        hf__sql_session_drop(c->session, at);
    }
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
    char holder[64];
    int is_held = !PQgetisnull(result, 0, 1);
    snprintf(holder, sizeof holder, "server process %lld",
             (long long)hf__postgres_row_number(result, 0, 1));
    hf__sql_session_looked(c->session, job, is_held ? holder : NULL,
                           PQgetvalue(result, 0, 2), "advisory",
                           strncmp(PQgetvalue(result, 0, 3), "holdfast", 8));
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
        hf__sql_answer_done(job, hf__sql_session_now_us(c->session));
}
