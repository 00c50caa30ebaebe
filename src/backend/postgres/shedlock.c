/*
 * shedlock.c: see shedlock.h.  One rule: a row that comes with a SWAP that was
 * not done may be older than what stopped it, so it is read anew.
 */
#include "backend/postgres/shedlock.h"

#include "backend/postgres/job.h"
#include "backend/postgres/params.h"
#include "backend/postgres/row.h"
#include "backend/postgres/statement.h"

/* Columns of an answer. */
enum {
    SHED_CLOCK,
    SHED_DONE,
    SHED_NAME, /* null: there is no row */
    SHED_UNTIL,
    SHED_AT,
    SHED_BY,
    SHED_COLUMNS
};

/* ---- out ---- */

static int read_send(struct backend_conn *c, struct sql_job *job)
{
    struct params p = {.len = 0};
    hf__postgres_params_bytes(&p, job->req->name, job->req->name_len);
    return hf__postgres_job_send(c, job, STATEMENT_SHED_READ, &p);
}

static int insert_send(struct backend_conn *c, struct sql_job *job,
                       const struct shed_next *next)
{
    struct params p = {.len = 0};
    hf__postgres_params_bytes(&p, job->req->name, job->req->name_len);
    hf__postgres_params_number(&p, next->until_us);
    hf__postgres_params_number(&p, next->at_us);
    hf__postgres_params_text(&p, next->by);
    return hf__postgres_job_send(c, job, STATEMENT_SHED_INSERT, &p);
}

static int update_send(struct backend_conn *c, struct sql_job *job,
                       const struct shed_next *next)
{
    struct params p = {.len = 0};
    hf__postgres_params_bytes(&p, job->req->name, job->req->name_len);
    hf__postgres_params_number(&p, next->seen_us);
    hf__postgres_params_text(&p, next->seen);
    hf__postgres_params_number(&p, next->until_us);
    if (next->at_us < 0)
        hf__postgres_params_null(&p);
    else
        hf__postgres_params_number(&p, next->at_us);
    hf__postgres_params_text(&p, next->by);
    return hf__postgres_job_send(c, job, STATEMENT_SHED_SWAP, &p);
}

static int swap_send(struct backend_conn *c, struct sql_job *job)
{
    struct shed_next next;
    hf__sql_shed_next(job, &next);
    if (next.is_nothing) {
        hf__sql_answer_swapped(job);
        return 0;
    }
    return (next.is_new ? insert_send : update_send)(c, job, &next);
}

static int list_send(struct backend_conn *c, struct sql_job *job)
{
    struct params p = {.len = 0};
    hf__postgres_params_number(&p, (int64_t)job->req->cursor);
    hf__postgres_params_number(&p, SQL_PAGE_ROWS);
    return hf__postgres_job_send(c, job, STATEMENT_SHED_LIST, &p);
}

int hf__postgres_shed_send(struct backend_conn *c, struct sql_job *job)
{
    if (job->step == SQL_SWAP) return swap_send(c, job);
    return (job->step == SQL_LIST ? list_send : read_send)(c, job);
}

/* ---- in ---- */

static void row_take(const PGresult *result, int at, struct shed_row *row)
{
    *row = (struct shed_row){.is_there = !PQgetisnull(result, at, SHED_NAME)};
    row->name = PQgetvalue(result, at, SHED_NAME);
    row->name_len = (size_t)PQgetlength(result, at, SHED_NAME);
    row->until_us = hf__postgres_row_number(result, at, SHED_UNTIL);
    row->at_us = hf__postgres_row_number(result, at, SHED_AT);
    row->by = PQgetvalue(result, at, SHED_BY);
}

static void list_answer(struct sql_job *job, const PGresult *result)
{
    struct shed_row row;
    int64_t clock_us = hf__postgres_row_number(result, 0, SHED_CLOCK);
    for (int i = 0; i < PQntuples(result); i++) {
        row_take(result, i, &row);
        row.id = (int64_t)job->req->cursor + i + 1;
        if (row.is_there) hf__sql_shed_list(job, &row, clock_us);
    }
    hf__sql_answer_list(job, clock_us);
}

void hf__postgres_shed_answer(struct backend_conn *c, struct sql_job *job,
                              const PGresult *result)
{
    struct shed_row row;
    int is_swap = job->step == SQL_SWAP && !(job->priv & JOB_READS);
    if (PQntuples(result) < 1 || PQnfields(result) < SHED_COLUMNS) {
        hf__sql_fail(job, HF_INTERNAL, "an answer without a row");
    } else if (job->step == SQL_LIST) {
        list_answer(job, result);
    } else if (is_swap && hf__postgres_row_number(result, 0, SHED_DONE) != 0) {
        hf__sql_answer_swapped(job);
    } else if (is_swap) {
        job->priv |= JOB_READS;
        job->may_have_changed = 0;
        (void)read_send(c, job);
    } else {
        row_take(result, 0, &row);
        hf__sql_shed_answer(job, &row,
                            hf__postgres_row_number(result, 0, SHED_CLOCK));
    }
}

/* ---- the table ---- */

const char *hf__postgres_shed_fault(const PGresult *result, int *status)
{
    struct shed_table table = {
        .is_there = hf__postgres_row_number(result, 0, 0) != 0,
        .columns = hf__postgres_row_number(result, 0, 1),
        .times = hf__postgres_row_number(result, 0, 2),
        .keys = hf__postgres_row_number(result, 0, 3),
        .by_length = hf__postgres_row_number(result, 0, 4)};
    return hf__sql_shed_table_fault(&table, status);
}
