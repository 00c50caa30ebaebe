/*
 * raw_mysql.c: the references on MariaDB, as a runner: a plain blocking loop
 * on libmariadb, one connection per thread, and nothing but the round trips.
 *
 *   session  GET_LOCK() and RELEASE_LOCK()
 *   row      the store's own two packets on its own table.  A waiter asks again
 *            every millisecond
 *
 * url= is the port of a server on 127.0.0.1 with the user root and a database
 * `holdfast`.
 */
#define _POSIX_C_SOURCE 200809L
#include <mysql.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/mysql/statement.h"
#include "lib/runner.h"
#include "lib/tool.h"

#define WINDOW_US 2000000
#define POLL_NS NS_PER_MS

struct raw {
    MYSQL my;
    char name[64];
    struct text text;
    struct request req;
    char said[COLUMNS_LEN][32]; /* the last row, if it is short */
};

static void result_take(struct raw *r)
{
    MYSQL_RES *result = mysql_store_result(&r->my);

    if (!result) return;
    MYSQL_ROW row = mysql_fetch_row(result);
    for (unsigned i = 0; row && i < mysql_num_fields(result); i++)
        if (i < COLUMNS_LEN)
            snprintf(r->said[i], sizeof(r->said[i]), "%s",
                     row[i] ? row[i] : "");
    mysql_free_result(result);
}

/* One packet, and all its answers. */
static void raw_say(struct raw *r, const char *sql, size_t len)
{
    int more = 0;

    if (mysql_real_query(&r->my, sql, (unsigned long)len) != 0)
        fail("%.60s: %s", sql, mysql_error(&r->my));
    while (more == 0) {
        result_take(r);
        more = mysql_next_result(&r->my);
    }
    if (more > 0) fail("%.60s: %s", sql, mysql_error(&r->my));
}

static void raw_open(struct worker *w)
{
    struct raw *r = allocate(1, sizeof(*r));

    if (!w->options->url) fail("url= is missing");
    if (!mysql_init(&r->my)) fail("out of memory");
    if (!mysql_real_connect(
            &r->my, "127.0.0.1", "root", NULL, "holdfast",
            (unsigned)number_of("url", w->options->url, 1, 65535), NULL,
            CLIENT_MULTI_STATEMENTS | CLIENT_FOUND_ROWS))
        fail("%s", mysql_error(&r->my));
    raw_say(r, hf__mysql_session, strlen(hf__mysql_session));
    snprintf(r->req.owner, sizeof(r->req.owner), "raw-%ld:%d", (long)getpid(),
             w->id);
    r->text.alloc = &hf__alloc_default;
    r->req.flags = REQ_SERVER_FENCE;
    r->req.count = 1;
    r->req.lease_us = w->options->lease_ms * 1000;
    r->req.window_us = WINDOW_US;
    r->req.info = r->req.owner;
    w->impl = r;
}

static void raw_name_set(struct worker *w, const char *name)
{
    struct raw *r = w->impl;

    snprintf(r->name, sizeof(r->name), "%s", name);
    r->req.name = r->name;
    r->req.name_len = strlen(r->name);
}

/* ---- locks of the session ---- */

static int session_do(struct raw *r, const char *format)
{
    char sql[128];
    int n = snprintf(sql, sizeof(sql), format, r->name);

    raw_say(r, sql, (size_t)n);
    return strcmp(r->said[0], "1") == 0;
}

static void session_lock(struct worker *w)
{
    while (!session_do(w->impl, "SELECT GET_LOCK('%s', 60)")) continue;
}

static void session_unlock(struct worker *w)
{
    if (!session_do(w->impl, "SELECT RELEASE_LOCK('%s')")) w->fails++;
}

/* ---- rows ---- */

/* The row must be there: the statement only changes it. */
static void row_name_set(struct worker *w, const char *name)
{
    struct raw *r = w->impl;
    char sql[160];

    raw_name_set(w, name);
    int n =
        snprintf(sql, sizeof(sql),
                 "INSERT IGNORE INTO holdfast_lock (name) VALUES ('%s')", name);
    raw_say(r, sql, (size_t)n);
}

static int row_do(struct raw *r,
                  unsigned (*write)(struct text *, const struct request *))
{
    hf__mysql_text_clear(&r->text);
    write(&r->text, &r->req);
    raw_say(r, r->text.at, r->text.len);
    return strcmp(r->said[COLUMN_DONE], "1") == 0;
}

static int row_try(struct raw *r)
{
    int64_t now = now_wall_us();

    r->req.verb = VERB_PROPOSE;
    r->req.block = 0;
    r->req.attempt++;
    r->req.ballot = now > r->req.ballot ? now : r->req.ballot + 1;
    if (!row_do(r, hf__mysql_write_propose)) return 0;
    r->req.ballot = strtoll(r->said[COLUMN_EXTRA], NULL, 10);
    return 1;
}

static void row_lock(struct worker *w)
{
    while (!row_try(w->impl)) pause_ns(POLL_NS);
}

static void row_unlock(struct worker *w)
{
    struct raw *r = w->impl;

    r->req.verb = VERB_RELEASE;
    if (!row_do(r, hf__mysql_write_release)) w->fails++;
}

static const struct lock_peer peers[] = {
    {.name = "session",
     .open = raw_open,
     .name_set = raw_name_set,
     .lock = session_lock,
     .unlock = session_unlock},
    {.name = "row",
     .open = raw_open,
     .name_set = row_name_set,
     .lock = row_lock,
     .unlock = row_unlock},
};

int main(int argc, char **argv)
{
    return runner_main(argc, argv, peers, sizeof(peers) / sizeof(peers[0]));
}
