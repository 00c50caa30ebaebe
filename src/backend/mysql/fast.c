/*
 * fast.c: a plain lock by one statement.  One rule: what the statement has not
 * done is decided from the row that was read behind it, as src/rules/store.c
 * does; where the row gives no reason, the core decides.
 */
#include "backend/mysql/fast.h"

#include "backend/mysql/statement.h"
#include "backend/sql/fast.h"

unsigned hf__mysql_fast_write(struct text *t, const struct sql_job *job)
{
    const struct request *req = job->req;
    if (hf__sql_fast_is_refused(req)) return hf__mysql_write_read(t, job);
    if (req->verb == VERB_PROPOSE) return hf__mysql_write_propose(t, req);
    if (req->verb == VERB_RENEW) return hf__mysql_write_renew(t, req);
    return hf__mysql_write_release(t, req);
}

static void done_read(const struct request *req, const struct fields *f,
                      const struct sql_row *row, struct reply *rep)
{
    int64_t extra = hf__mysql_row_number(f, COLUMN_EXTRA);
    rep->counter = row->plain.counter;
    if (req->verb == VERB_PROPOSE) {
        rep->fence = extra;
        rep->counter = extra + req->block;
    }
    if (req->verb == VERB_RELEASE)
        rep->waiters = hf__sql_fast_waiters(row->waits_us, rep->node_us);
    if (req->verb == VERB_RENEW)
        rep->ttl_us = hf__sql_fast_left_us(extra, rep->node_us);
}

void hf__mysql_fast_answer(struct sql_job *job, const struct fields *f)
{
    const struct request *req = job->req;
    int is_done = hf__mysql_row_number(f, COLUMN_DONE) == 1
                  && !hf__sql_fast_is_refused(req);
    struct reply rep = {.verdict = V_GRANTED,
                        .node_us = hf__mysql_row_number(f, COLUMN_CLOCK),
                        .ttl_us = -1,
                        .waiters = -1};
    struct sql_row row;
    if (hf__mysql_row_read(f, &row) != 0) {
        hf__sql_fail(job, HF_INTERNAL, "an answer without a row");
        return;
    }
    int is_told = is_done;
    if (is_done)
        done_read(req, f, &row, &rep);
    else if (req->verb == VERB_PROPOSE && row.is_there)
        is_told = hf__sql_fast_refused(req, &row, rep.node_us, &rep);
    if (is_told)
        hf__sql_answer_reply(job, &rep);
    else
        hf__sql_answer_row(job, &row, rep.node_us, NULL);
}
