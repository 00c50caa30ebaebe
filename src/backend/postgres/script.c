/*
 * script.c: statements that are one transaction.  One rule: they share a sync,
 * up to which the server takes what it is sent as one transaction, and after an
 * error of one skips the rest.
 */
#include "backend/postgres/script.h"

#include <string.h>

#include "backend/sql/script.h"

#define COLUMNS_MAX 16

int hf__postgres_script_send(struct backend_conn *c, struct sql_job *job)
{
    const struct sql_script *s = job->script;
    struct link *l = &c->link;
    const char *at = s->text;
    int is_sent = 1;
    for (unsigned i = 0; i < s->statements && is_sent; i++) {
        is_sent = PQsendQueryParams(l->pg, at, 0, NULL, NULL, NULL, NULL, 0);
        at = hf__sql_script_next(at);
    }
    l->active_us = c->env->now(c->env);
    if (is_sent && PQpipelineSync(l->pg)
        && hf__postgres_flight_add(l, FLIGHT_SCRIPT, &job, 1))
        return 0;
    hf__postgres_link_fail(l, HF_UNAVAILABLE, "script: not sent");
    return -1;
}

void hf__postgres_script_answer(struct sql_job *job, const PGresult *result)
{
    const char *values[COLUMNS_MAX];
    int len = PQnfields(result) < COLUMNS_MAX ? PQnfields(result) : COLUMNS_MAX;
    for (int row = 0; row < PQntuples(result); row++) {
        for (int i = 0; i < len; i++)
            values[i] =
                PQgetisnull(result, row, i) ? NULL : PQgetvalue(result, row, i);
        hf__sql_script_row(job, len, values);
    }
    hf__sql_script_done(job);
}

int hf__postgres_script_refuse(struct sql_job *job, const PGresult *result)
{
    const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (!code) return 0;
    if (!strncmp(code, "23", 2))
        hf__sql_script_refused(job, SQL_REFUSED_CHECK);
    else if (!strcmp(code, "42P01"))
        hf__sql_script_refused(job, SQL_REFUSED_TABLE);
    else
        return 0;
    return 1;
}
