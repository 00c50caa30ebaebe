/*
 * raw_sqlite.c: the reference on SQLite, as a runner: a plain loop of two
 * prepared statements, each a transaction of its own, with the settings of the
 * store.  A thread that finds the row or the file taken asks again.
 *
 * url= is the file, which is no file of the store.
 */
#define _POSIX_C_SOURCE 200809L
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "lib/runner.h"
#include "lib/tool.h"

#define BUSY_NS (50 * NS_PER_US)

struct raw {
    sqlite3 *db;
    sqlite3_stmt *lock, *unlock;
    char name[64];
    int64_t owner, turn;
};

static int is_busy(int rc)
{
    return (rc & 0xff) == SQLITE_BUSY;
}

static void raw_say(struct raw *r, const char *sql)
{
    int rc;

    while (is_busy(rc = sqlite3_exec(r->db, sql, NULL, NULL, NULL)))
        pause_ns(BUSY_NS);
    if (rc != SQLITE_OK) fail("%s: %s", sql, sqlite3_errmsg(r->db));
}

static void statement_make(struct raw *r, const char *sql, sqlite3_stmt **out)
{
    if (sqlite3_prepare_v3(r->db, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL)
        != SQLITE_OK)
        fail("%s: %s", sql, sqlite3_errmsg(r->db));
}

static void raw_open(struct worker *w)
{
    struct raw *r = allocate(1, sizeof(*r));

    if (!w->options->url) fail("url= is missing");
    if (sqlite3_open(w->options->url, &r->db) != SQLITE_OK)
        fail("%s: %s", w->options->url, sqlite3_errmsg(r->db));
    sqlite3_busy_timeout(r->db, 0);
    raw_say(r, "PRAGMA journal_mode=WAL");
    raw_say(r, "PRAGMA synchronous=NORMAL");
    raw_say(r, "CREATE TABLE IF NOT EXISTS lock (name TEXT PRIMARY KEY,"
               " owner INTEGER NOT NULL, ends_us INTEGER NOT NULL,"
               " fence INTEGER NOT NULL)");
    statement_make(r,
                   "UPDATE lock SET owner = ?2, ends_us = ?3,"
                   " fence = max(fence + 1, ?4) WHERE name = ?1"
                   " AND (owner = 0 OR ends_us <= ?4)",
                   &r->lock);
    statement_make(r,
                   "UPDATE lock SET owner = 0, ends_us = 0"
                   " WHERE name = ?1 AND owner = ?2",
                   &r->unlock);
    w->impl = r;
}

static void raw_name_set(struct worker *w, const char *name)
{
    struct raw *r = w->impl;
    char sql[160];

    snprintf(r->name, sizeof(r->name), "%s", name);
    snprintf(sql, sizeof(sql),
             "INSERT OR IGNORE INTO lock VALUES ('%s', 0, 0, 0)", name);
    raw_say(r, sql);
}

/* Rows that were changed. */
static int run(struct raw *r, sqlite3_stmt *st)
{
    int rc;

    sqlite3_bind_text(st, 1, r->name, -1, SQLITE_STATIC);
    sqlite3_bind_int64(st, 2, r->owner);
    while (is_busy(rc = sqlite3_step(st))) {
        sqlite3_reset(st);
        pause_ns(BUSY_NS);
    }
    if (rc != SQLITE_DONE) fail("%s", sqlite3_errmsg(r->db));
    sqlite3_reset(st);
    return sqlite3_changes(r->db);
}

static void raw_lock(struct worker *w)
{
    struct raw *r = w->impl;

    r->owner = ((int64_t)w->options->proc * 10000 + w->id + 1) << 40
               | (r->turn++ & 0xffffffff);
    for (;;) {
        int64_t now = now_wall_us();
        sqlite3_bind_int64(r->lock, 3, now + w->options->lease_ms * 1000);
        sqlite3_bind_int64(r->lock, 4, now);
        if (run(r, r->lock) == 1) return;
        pause_ns(BUSY_NS);
    }
}

static void raw_unlock(struct worker *w)
{
    struct raw *r = w->impl;

    if (run(r, r->unlock) != 1) w->fails++;
}

static const struct lock_peer peers[] = {
    {.name = "row",
     .open = raw_open,
     .name_set = raw_name_set,
     .lock = raw_lock,
     .unlock = raw_unlock},
};

int main(int argc, char **argv)
{
    return runner_main(argc, argv, peers, sizeof(peers) / sizeof(peers[0]));
}
