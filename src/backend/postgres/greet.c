/*
 * greet.c: the first statements on a link.  One rule: all of them go out at
 * once, and no request before all are answered.
 */
#include <string.h>

#include "backend/postgres/error.h"
#include "backend/postgres/params.h"
#include "backend/postgres/postgres.h"
#include "backend/postgres/session.h"
#include "backend/postgres/shedlock.h"
#include "backend/postgres/statement.h"
#include "backend/postgres/watch.h"

/* Without tables there is nothing to ask. */
#define ASK_NOTHING "SELECT '" SQL_SCHEMA_TEXT "'::text, NULL"
#define ASK_SCHEMA                                                             \
    "SELECT value, (SELECT value FROM holdfast_meta WHERE key = 'boot')"       \
    " FROM holdfast_meta WHERE key = 'schema'"

/* Columns of the greeting. */
enum {
    GREET_PID,
    GREET_STANDBY,
    GREET_READONLY,
    GREET_CLOCK,
    GREET_STARTED,
    GREET_DURABLE,
    GREET_TIMELINE
};

/* ---- out ---- */

static int facts_ask(struct link *l)
{
    struct params p = {.len = 0};
    if (l->c->search_path)
        hf__postgres_params_text(&p, l->c->search_path);
    else
        hf__postgres_params_null(&p);
    if (!PQsendQueryParams(l->pg, hf__postgres_greeting, p.len, NULL, p.values,
                           p.lengths, p.formats, 1)
        || !PQpipelineSync(l->pg))
        return -1;
    return hf__postgres_flight_add(l, FLIGHT_GREET_FACTS, NULL, 0) ? 0 : -1;
}

static int say(struct link *l, const char *sql, enum flight_kind kind)
{
    if (hf__postgres_flight_say(l, sql) != 0) return -1;
    return hf__postgres_flight_add(l, kind, NULL, 0) ? 0 : -1;
}

static int schema_of_path_make(struct link *l)
{
    char sql[HF_ERROR_TEXT_MAX * 2];
    const char *name = l->c->search_path;
    if (!name) return 0;
    char *quoted = PQescapeIdentifier(l->pg, name, strlen(name));
    if (!quoted) return -1;
    int len =
        snprintf(sql, sizeof sql, "CREATE SCHEMA IF NOT EXISTS %s", quoted);
    PQfreemem(quoted);
    if ((size_t)len >= sizeof sql) return -1;
    return say(l, sql, FLIGHT_GREET);
}

/* Each statement is a transaction of its own, and may be repeated. */
static int tables_make(struct link *l)
{
    if (!l->c->server.creates) return 0;
    if (schema_of_path_make(l) != 0) return -1;
    const char *const *sql =
        l->c->is_shed ? hf__postgres_shed_schema : hf__postgres_schema;
    for (; *sql; sql++)
        if (say(l, *sql, FLIGHT_GREET) != 0) return -1;
    return 0;
}

/* Which table of ShedLock is there? */
static int table_ask(struct link *l)
{
    return say(l, hf__postgres_shed_table, FLIGHT_GREET_LAST);
}

int hf__postgres_greet(struct link *l)
{
    if (PQsetnonblocking(l->pg, 1) != 0 || !PQenterPipelineMode(l->pg))
        return -1;
    if (l->c->session)
        return facts_ask(l) || hf__session_greet(l)
                       || say(l, ASK_NOTHING, FLIGHT_GREET_LAST)
                   ? -1
                   : 0;
    if (l->c->is_shed)
        return facts_ask(l) || tables_make(l) || table_ask(l) ? -1 : 0;
    return facts_ask(l) || tables_make(l)
                   || hf__postgres_flight_prepare(l, STATEMENT_READ)
                   || say(l, ASK_SCHEMA, FLIGHT_GREET_LAST)
               ? -1
               : 0;
}

/* ---- in ---- */

static int64_t number_at(const PGresult *result, int column)
{
    return hf__postgres_number(PQgetvalue(result, 0, column));
}

/* 0, or -1: this server will not do, and the link is down. */
static int facts_check(struct link *l, const PGresult *result)
{
    if (number_at(result, GREET_PID) != PQbackendPID(l->pg))
        hf__postgres_link_fail(l, HF_UNSUPPORTED,
                               "a pooler answers there, which gives each "
                               "statement another session: connect to the "
                               "server itself");
    else if (number_at(result, GREET_STANDBY))
        hf__postgres_link_fail(l, HF_UNAVAILABLE,
                               "the server is a standby and takes no writes");
    else if (number_at(result, GREET_READONLY))
        hf__postgres_link_fail(l, HF_UNAVAILABLE,
                               "the server takes no writes: "
                               "default_transaction_read_only is on");
    else
        return 0;
    return -1;
}

/* Has the server started again, or is it another one? */
static int is_other(struct link *l)
{
    int64_t was = l->started_was;
    l->started_was = l->started_us;
    return was != 0 && was != l->started_us;
}

static void link_is_up(struct link *l)
{
    struct backend_conn *c = l->c;
    l->state = LINK_UP;
    l->due_us = TIME_NEVER;
    l->failures = 0;
    l->err = (struct hf_error){.node = -1};
    int up = is_other(l) ? LINK_IS_OTHER : LINK_IS_UP;
    hf__postgres_watch_up(c);
    if (l->state != LINK_UP) return;
    c->env->link(c->env, up,
                 c->session ? hf__sql_session_now_us(c->session) : l->node_us,
                 NULL);
}

static void schema_check(struct link *l, const PGresult *result)
{
    int is_there = PQntuples(result) == 1;
    const char *schema = is_there ? PQgetvalue(result, 0, 0) : "";
    if (is_there) hf__sql_member_met(l->c->core, PQgetvalue(result, 0, 1));
    if (!strcmp(schema, SQL_SCHEMA_TEXT))
        link_is_up(l);
    else
        hf__postgres_link_fail(l, HF_CONFLICT,
                               "the tables are of version \"%.20s\", and "
                               "\"" SQL_SCHEMA_TEXT
                               "\" is needed: run: holdfast install-schema URL",
                               schema);
}

static void table_check(struct link *l, const PGresult *result)
{
    int status;
    const char *fault = hf__postgres_shed_fault(result, &status);
    if (fault)
        hf__postgres_link_fail(l, status, "%s", fault);
    else
        link_is_up(l);
}

void hf__postgres_greet_answer(struct link *l, const struct flight *f,
                               const PGresult *result)
{
    char text[HF_ERROR_TEXT_MAX];
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
        int why = hf__postgres_error(result, text);
        hf__postgres_link_fail(l, why, "%s", text);
    } else if (f->kind == FLIGHT_GREET_FACTS) {
        if (facts_check(l, result) != 0) return;
        l->node_us = number_at(result, GREET_CLOCK);
        l->started_us = number_at(result, GREET_STARTED);
        l->is_durable = number_at(result, GREET_DURABLE) != 0;
        l->timeline = number_at(result, GREET_TIMELINE);
        l->system = l->is_system_asked = 0;
    } else if (f->kind == FLIGHT_GREET_LAST) {
        (l->c->is_shed ? table_check : schema_check)(l, result);
    }
}
