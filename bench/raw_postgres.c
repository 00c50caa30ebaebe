/*
 * raw_postgres.c: the references on PostgreSQL, as a runner: a plain blocking
 * loop on libpq, one connection per thread, and nothing but the round trips.
 *
 *   session  pg_advisory_lock() and pg_advisory_unlock(), prepared
 *   row      the store's own two statements on its own table.  A waiter marks
 *            the row and sleeps until it is notified
 *
 * url= is libpq's list of words, "host=127.0.0.1 port=5432 ...".
 */
#define _POSIX_C_SOURCE 200809L
#include <libpq-fe.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "backend/postgres/params.h"
#include "backend/postgres/statement.h"
#include "lib/runner.h"
#include "lib/tool.h"

#define WINDOW_US 2000000
#define MARK_US 3000000 /* a mark counts for 10 s */
#define LOOK_MS 100     /* whatever was notified */

struct raw {
    PGconn *pg;
    char name[64];
    char owner[64];
    int64_t turn;
    int64_t ballot;
    int64_t marked_us;
};

static PGresult *checked(struct raw *r, PGresult *result, const char *what)
{
    ExecStatusType status = PQresultStatus(result);

    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
        fail("%s: %s", what, PQerrorMessage(r->pg));
    return result;
}

static void raw_say(struct raw *r, const char *sql)
{
    PQclear(checked(r, PQexec(r->pg, sql), sql));
}

static void raw_prepare(struct raw *r, const char *name, const char *sql)
{
    PQclear(checked(r, PQprepare(r->pg, name, sql, 0, NULL), name));
}

static void raw_open(struct worker *w)
{
    struct raw *r = allocate(1, sizeof(*r));

    if (!w->options->url) fail("url= is missing");
    r->pg = PQconnectdb(w->options->url);
    if (PQstatus(r->pg) != CONNECTION_OK) fail("%s", PQerrorMessage(r->pg));
    snprintf(r->owner, sizeof(r->owner), "raw-%ld:%d", (long)getpid(), w->id);
    w->impl = r;
}

/* ---- locks of the session ---- */

static void session_open(struct worker *w)
{
    raw_open(w);
    raw_prepare(w->impl, "lock",
                "SELECT pg_advisory_lock(hashtextextended($1::text, 0))");
    raw_prepare(w->impl, "unlock",
                "SELECT pg_advisory_unlock(hashtextextended($1::text, 0))");
}

static void session_name_set(struct worker *w, const char *name)
{
    struct raw *r = w->impl;

    snprintf(r->name, sizeof(r->name), "%s", name);
}

static PGresult *session_do(struct raw *r, const char *statement)
{
    const char *const values[] = {r->name};
    PGresult *result =
        PQexecPrepared(r->pg, statement, 1, values, NULL, NULL, 0);

    return checked(r, result, statement);
}

static void session_lock(struct worker *w)
{
    PQclear(session_do(w->impl, "lock"));
}

static void session_unlock(struct worker *w)
{
    PGresult *result = session_do(w->impl, "unlock");

    if (strcmp(PQgetvalue(result, 0, 0), "t") != 0) w->fails++;
    PQclear(result);
}

/* ---- rows ---- */

static void row_open(struct worker *w)
{
    static const enum statement used[] = {STATEMENT_PROPOSE, STATEMENT_RELEASE,
                                          STATEMENT_MARK};

    raw_open(w);
    for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++)
        raw_prepare(w->impl, hf__postgres_statements[used[i]].name,
                    hf__postgres_statements[used[i]].sql);
}

static void row_name_set(struct worker *w, const char *name)
{
    struct raw *r = w->impl;
    char sql[128];

    session_name_set(w, name);
    r->marked_us = 0;
    raw_say(r, "UNLISTEN *");
    if (strcmp(w->options->mode, "contend") != 0) return;
    snprintf(sql, sizeof(sql), "LISTEN \"%s\"", name);
    raw_say(r, sql);
}

static PGresult *row_do(struct raw *r, enum statement s, const struct params *p)
{
    const char *name = hf__postgres_statements[s].name;
    PGresult *result = PQexecPrepared(r->pg, name, p->len, p->values,
                                      p->lengths, p->formats, 1);

    return checked(r, result, name);
}

static int64_t number(const PGresult *result, enum column c)
{
    return hf__postgres_number(PQgetvalue(result, 0, (int)c));
}

static int row_try(struct worker *w, struct raw *r)
{
    struct params p = {.len = 0};
    int64_t now = now_wall_us();

    r->turn++;
    r->ballot = now > r->ballot ? now : r->ballot + 1;
    hf__postgres_params_bytes(&p, r->name, strlen(r->name));
    hf__postgres_params_text(&p, r->owner);
    hf__postgres_params_number(&p, r->turn);
    hf__postgres_params_number(&p, r->ballot);
    hf__postgres_params_number(&p, WINDOW_US);
    hf__postgres_params_number(&p, w->options->lease_ms);
    hf__postgres_params_number(&p, 1); /* the server may raise the fence */
    hf__postgres_params_number(&p, 0);
    hf__postgres_params_number(&p, 0);
    hf__postgres_params_bytes(&p, r->owner, strlen(r->owner));
    hf__postgres_params_number(&p, 1);
    PGresult *result = row_do(r, STATEMENT_PROPOSE, &p);
    int done = number(result, COLUMN_DONE) == 1;
    if (done) r->ballot = number(result, COLUMN_EXTRA);
    PQclear(result);
    return done;
}

static void row_mark(struct raw *r)
{
    struct params p = {.len = 0};

    hf__postgres_params_bytes(&p, r->name, strlen(r->name));
    PQclear(row_do(r, STATEMENT_MARK, &p));
    r->marked_us = now_wall_us();
}

/* Until somebody has given it back. */
static void row_wait(struct raw *r)
{
    struct pollfd fd = {.fd = PQsocket(r->pg), .events = POLLIN};
    PGnotify *n;
    int heard = 0;

    while ((n = PQnotifies(r->pg)) != NULL) {
        PQfreemem(n);
        heard = 1;
    }
    if (heard) return;
    poll(&fd, 1, LOOK_MS);
    if (!PQconsumeInput(r->pg)) fail("%s", PQerrorMessage(r->pg));
}

static void row_lock(struct worker *w)
{
    struct raw *r = w->impl;

    while (!row_try(w, r))
        if (r->marked_us + MARK_US < now_wall_us())
            row_mark(r); /* and look again: it may be free by now */
        else
            row_wait(r);
}

static void row_unlock(struct worker *w)
{
    struct raw *r = w->impl;
    struct params p = {.len = 0};

    hf__postgres_params_bytes(&p, r->name, strlen(r->name));
    hf__postgres_params_text(&p, r->owner);
    hf__postgres_params_number(&p, r->turn);
    hf__postgres_params_number(&p, r->ballot);
    hf__postgres_params_text(&p, r->name);
    hf__postgres_params_text(&p, r->name);
    PGresult *result = row_do(r, STATEMENT_RELEASE, &p);
    if (number(result, COLUMN_DONE) != 1) w->fails++;
    PQclear(result);
}

static const struct lock_peer peers[] = {
    {.name = "session",
     .open = session_open,
     .name_set = session_name_set,
     .lock = session_lock,
     .unlock = session_unlock},
    {.name = "row",
     .open = row_open,
     .name_set = row_name_set,
     .lock = row_lock,
     .unlock = row_unlock},
};

int main(int argc, char **argv)
{
    return runner_main(argc, argv, peers, sizeof(peers) / sizeof(peers[0]));
}
