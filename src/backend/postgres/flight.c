/*
 * flight.c: statements on their way.  One rule: each has a sync of its own, so
 * that an error of one does not end those behind it.
 */
#include "backend/postgres/flight.h"

#include <string.h>

#include "backend/postgres/error.h"
#include "backend/postgres/job.h"
#include "backend/postgres/params.h"
#include "backend/postgres/postgres.h"
#include "backend/postgres/statement.h"
#include "backend/postgres/watch.h"

#define NULLS_MAX 3 /* libpq says "no more" once behind each statement */

/* ---- out ---- */

static struct flight *flight_new(struct link *l, enum flight_kind kind,
                                 size_t jobs_len, size_t name_len)
{
    size_t jobs_size = jobs_len * sizeof(struct sql_job *);
    struct flight *f =
        hf__alloc_zero(l->c->env->alloc, sizeof *f + jobs_size + name_len + 1);
    if (!f) return NULL;
    f->kind = kind;
    f->jobs = (struct sql_job **)(f + 1);
    f->jobs_len = jobs_len;
    f->name = (char *)(f + 1) + jobs_size;
    f->name_len = name_len;
    if (l->flights.last)
        l->flights.last->next = f;
    else
        l->flights.first = f;
    l->flights.last = f;
    return f;
}

struct flight *hf__postgres_flight_add(struct link *l, enum flight_kind kind,
                                       struct sql_job *const *jobs,
                                       size_t jobs_len)
{
    struct flight *f = flight_new(l, kind, jobs_len, 0);
    if (f && jobs_len > 0) memcpy(f->jobs, jobs, jobs_len * sizeof *jobs);
    return f;
}

struct flight *hf__postgres_flight_add_named(struct link *l,
                                             enum flight_kind kind,
                                             const char *name, size_t name_len)
{
    struct flight *f = flight_new(l, kind, 0, name_len);
    if (f) memcpy(f->name, name, name_len);
    return f;
}

static int sync_send(struct link *l, int is_sent)
{
    l->active_us = l->c->env->now(l->c->env);
    return is_sent && PQpipelineSync(l->pg) ? 0 : -1;
}

int hf__postgres_flight_prepare(struct link *l, int statement)
{
    const struct statement_text *s = &hf__postgres_statements[statement];
    if (l->prepared & 1u << statement) return 0;
    l->prepared |= 1u << statement;
    if (sync_send(l, PQsendPrepare(l->pg, s->name, s->sql, 0, NULL)) != 0)
        return -1;
    return hf__postgres_flight_add(l, FLIGHT_GREET, NULL, 0) ? 0 : -1;
}

int hf__postgres_flight_send(struct link *l, int statement,
                             const struct params *p)
{
    if (hf__postgres_flight_prepare(l, statement) != 0) return -1;
    return sync_send(
        l, PQsendQueryPrepared(l->pg, hf__postgres_statements[statement].name,
                               p->len, p->values, p->lengths, p->formats, 1));
}

int hf__postgres_flight_say(struct link *l, const char *sql)
{
    return sync_send(
        l, PQsendQueryParams(l->pg, sql, 0, NULL, NULL, NULL, NULL, 1));
}

/* ---- in ---- */

static void flight_free(struct link *l, struct flight *f)
{
    PQclear(f->result);
    hf__free(l->c->env->alloc, f);
}

void hf__postgres_flights_drop(struct link *l)
{
    while (l->flights.first) {
        struct flight *f = l->flights.first;
        l->flights.first = f->next;
        flight_free(l, f);
    }
    l->flights.last = NULL;
}

static int is_error(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    return status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK;
}

/* The server ends the connection: what it was doing is unknown. */
static int is_end(struct link *l, const PGresult *result)
{
    char text[HF_ERROR_TEXT_MAX];
    if (!is_error(result) || !hf__postgres_error_is_fatal(result)) return 0;
    int status = hf__postgres_error(result, text);
    hf__postgres_link_fail(l, status, "%s", text);
    return 1;
}

static void flight_answer(struct link *l, const struct flight *f)
{
    switch (f->kind) {
    case FLIGHT_GREET_FACTS:
    case FLIGHT_GREET:
    case FLIGHT_GREET_LAST:
        hf__postgres_greet_answer(l, f, f->result);
        break;
    case FLIGHT_SYSTEM:
        hf__postgres_system_answer(l->c, f->result);
        break;
    case FLIGHT_JOB:
    case FLIGHT_SCRIPT:
        hf__postgres_job_answer(l->c, f, is_error(f->result));
        break;
    case FLIGHT_LISTEN:
    case FLIGHT_MARK:
        hf__postgres_watch_answer(l->c, f, is_error(f->result));
        break;
    }
}

/* Behind an error, the statements of a script are only told to be skipped. */
static void result_take(struct flight *f, PGresult *result)
{
    int is_next = f->kind == FLIGHT_SCRIPT
                  && PQresultStatus(result) != PGRES_PIPELINE_ABORTED;
    if (f->result && !is_next) {
        PQclear(result);
        return;
    }
    PQclear(f->result);
    f->result = result;
}

/* The first is done: its sync has come. */
static void flight_end(struct link *l)
{
    struct flight *f = l->flights.first;
    if (f->result && is_end(l, f->result)) return; /* dropped with the link */
    l->flights.first = f->next;
    if (!f->next) l->flights.last = NULL;
    if (f->result)
        flight_answer(l, f);
    else
        hf__postgres_link_fail(l, HF_UNAVAILABLE, "a statement has no answer");
    flight_free(l, f);
}

int hf__postgres_flights_take(struct link *l)
{
    unsigned life = l->life;
    int done = 0, nulls = 0;
    while (l->flights.first && nulls < NULLS_MAX && !PQisBusy(l->pg)) {
        PGresult *result = PQgetResult(l->pg);
        if (!result) {
            nulls++;
            continue;
        }
        done = 1;
        nulls = 0;
        if (PQresultStatus(result) == PGRES_PIPELINE_SYNC) {
            PQclear(result);
            flight_end(l);
        } else {
            result_take(l->flights.first, result);
        }
        if (l->life != life) return 1;
    }
    return done;
}
