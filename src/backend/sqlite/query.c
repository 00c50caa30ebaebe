/*
 * query.c: the statements.  One rule: a statement is reset before the core goes
 * on, so that no transaction stays open; but that which has read a row stays
 * open for the SWAP that follows at once, which then needs no locks for a
 * second look.
 */
#include <stdio.h>
#include <string.h>

#include "backend/sqlite/query.h"
#include "backend/sqlite/script.h"
#include "sys/clock.h"

#define COLUMNS                                                                \
    " version, news, waits_us, counter, owner, attempt, ballot, fence, holds," \
    " ends_us, since_us, flags, info, state, id, name"
/* Not 1: a row that was deleted and made again has versions of its own. */
#define FIRST_VERSION                                                          \
    "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)"
#define IS_MARKED                                                              \
    " (?15 IS NULL OR EXISTS (SELECT 1 FROM holdfast_meta"                     \
    " WHERE key = '" SQL_META_BOOT "' AND value = ?15))"

static const char *const texts[LITE_LEN] = {
    [LITE_READ] = "SELECT" COLUMNS " FROM holdfast_lock WHERE name = ?1",
    [LITE_INSERT] =
        "INSERT INTO holdfast_lock (name, version, news, counter, owner,"
        " attempt, ballot, fence, holds, ends_us, since_us, flags, info,"
        " state, waits_us)"
        " SELECT ?1, ?2 + " FIRST_VERSION
        ", ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13,"
        " ?14, 0 WHERE" IS_MARKED " ON CONFLICT (name) DO NOTHING",
    [LITE_UPDATE] =
        "UPDATE holdfast_lock SET version = ?2 + 1, news = news + ?3,"
        " counter = ?4, owner = ?5, attempt = ?6, ballot = ?7, fence = ?8,"
        " holds = ?9, ends_us = ?10, since_us = ?11, flags = ?12, info = ?13,"
        " state = ?14 WHERE name = ?1 AND version = ?2 AND" IS_MARKED,
    [LITE_LIST] = "SELECT" COLUMNS " FROM holdfast_lock WHERE id > ?1"
                  " AND (owner <> '' OR state IS NOT NULL)"
                  " ORDER BY id LIMIT ?2",
    [LITE_HELD] = "SELECT count(*) FROM (SELECT 1 FROM holdfast_lock"
                  " WHERE owner <> '' AND ends_us > ?1 LIMIT 1)",
    [LITE_META_READ] = "SELECT value FROM holdfast_meta WHERE key = ?1",
    [LITE_META_INSERT] = "INSERT INTO holdfast_meta (key, value)"
                         " VALUES (?1, ?2) ON CONFLICT (key) DO NOTHING",
    [LITE_META_UPDATE] =
        "UPDATE holdfast_meta SET value = ?2 WHERE key = ?1 AND value = ?3",
    [LITE_VERSION] = "PRAGMA data_version",
    [LITE_MARK] = "UPDATE holdfast_lock SET waits_us = ?2 WHERE name = ?1",
};

int hf__sqlite_query_prepare(struct backend_conn *c)
{
    int rc = SQLITE_OK;
    for (int i = 0; i < LITE_LEN && rc == SQLITE_OK; i++)
        if (!c->statements[i])
            rc = sqlite3_prepare_v3(c->db, texts[i], -1,
                                    SQLITE_PREPARE_PERSISTENT,
                                    &c->statements[i], NULL);
    return rc;
}

/* One step that returns nothing, and the number of rows it has changed. */
static int change(struct backend_conn *c, sqlite3_stmt *st, int *changed)
{
    int rc = sqlite3_step(st);
    *changed = rc == SQLITE_DONE ? sqlite3_changes(c->db) : 0;
    sqlite3_reset(st);
    sqlite3_clear_bindings(st);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static void end(sqlite3_stmt *st)
{
    sqlite3_reset(st);
    sqlite3_clear_bindings(st);
}

/* ---- rows --------------------------------------------------------------- */

/* A text that does not fit is another program's: the rules refuse it.
 * `bytes` are the column's; its length is that of the form they were asked in:
 * a database of another program may keep its texts in UTF-16. */
static void text_read(sqlite3_stmt *st, int column, const void *bytes,
                      char *out, size_t size)
{
    size_t len = (size_t)sqlite3_column_bytes(st, column);
    if (len > size) len = size;
    if (len > 0) memcpy(out, bytes, len);
    if (len < size) out[len] = '\0';
}

static void row_read(sqlite3_stmt *st, struct sql_row *row)
{
    struct cell_plain *p = &row->plain;
    *row = (struct sql_row){.is_there = 1,
                            .version = sqlite3_column_int64(st, 0),
                            .news = sqlite3_column_int64(st, 1),
                            .waits_us = sqlite3_column_int64(st, 2)};
    p->counter = sqlite3_column_int64(st, 3);
    text_read(st, 4, sqlite3_column_text(st, 4), p->owner, sizeof p->owner);
    p->attempt = (uint64_t)sqlite3_column_int64(st, 5);
    p->ballot = sqlite3_column_int64(st, 6);
    p->fence = sqlite3_column_int64(st, 7);
    p->holds = sqlite3_column_int64(st, 8);
    p->ends_us = sqlite3_column_int64(st, 9);
    p->since_us = sqlite3_column_int64(st, 10);
    p->flags = (unsigned)sqlite3_column_int64(st, 11);
    text_read(st, 12, sqlite3_column_blob(st, 12), p->info, sizeof p->info);
    row->state = sqlite3_column_blob(st, 13);
    row->state_len = (size_t)sqlite3_column_bytes(st, 13);
    row->id = sqlite3_column_int64(st, 14);
    row->name = sqlite3_column_blob(st, 15);
    row->name_len = (size_t)sqlite3_column_bytes(st, 15);
}

static int row_find(struct backend_conn *c, const char *name, size_t name_len,
                    struct sql_row *row)
{
    sqlite3_stmt *st = c->statements[LITE_READ];
    *row = (struct sql_row){0};
    sqlite3_bind_blob(st, 1, name, (int)name_len, SQLITE_STATIC);
    int rc = sqlite3_step(st);
    if (rc == SQLITE_ROW) row_read(st, row);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int hf__sqlite_query_row(struct backend_conn *c, const char *name,
                         size_t name_len, struct sql_row *row)
{
    int rc = row_find(c, name, name_len, row);
    end(c->statements[LITE_READ]);
    row->state = NULL;
    row->state_len = 0;
    return rc;
}

/* `out` is "" if there is none. */
static int meta_read(struct backend_conn *c, const char *key, char *out,
                     size_t size)
{
    sqlite3_stmt *st = c->statements[LITE_META_READ];
    out[0] = '\0';
    sqlite3_bind_text(st, 1, key, -1, SQLITE_STATIC);
    int rc = sqlite3_step(st);
    if (rc == SQLITE_ROW)
        snprintf(out, size, "%s", (const char *)sqlite3_column_text(st, 0));
    end(st);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int hf__sqlite_query_marker(struct backend_conn *c, char out[MARKER_TEXT_MAX])
{
    return meta_read(c, SQL_META_BOOT, out, MARKER_TEXT_MAX);
}

/* The clock is read behind the row: it is not earlier than any time in it. */
static int read_run(struct backend_conn *c, struct sql_job *job)
{
    char marker[MARKER_TEXT_MAX] = "";
    struct sql_row row;
    int rc = SQLITE_OK;
    if (job->wants_marker) rc = hf__sqlite_query_marker(c, marker);
    if (rc != SQLITE_OK) return rc;
    rc = row_find(c, job->req->name, job->req->name_len, &row);
    if (rc == SQLITE_OK)
        hf__sql_answer_row(job, &row, hf__clock_wall_us(),
                           marker[0] ? marker : NULL);
    if (rc != SQLITE_OK || job->step != SQL_SWAP) end(c->statements[LITE_READ]);
    return rc;
}

/* ---- swap --------------------------------------------------------------- */

static void swap_bind(sqlite3_stmt *st, const struct sql_job *job)
{
    const struct sql_row *row = &job->next;
    const struct cell_plain *p = &row->plain;
    sqlite3_bind_blob(st, 1, row->name, (int)row->name_len, SQLITE_STATIC);
    sqlite3_bind_int64(st, 2, row->version);
    sqlite3_bind_int64(st, 3, job->tell != SQL_TELL_NONE);
    sqlite3_bind_int64(st, 4, p->counter);
    sqlite3_bind_text(st, 5, p->owner, -1, SQLITE_STATIC);
    sqlite3_bind_int64(st, 6, (int64_t)p->attempt);
    sqlite3_bind_int64(st, 7, p->ballot);
    sqlite3_bind_int64(st, 8, p->fence);
    sqlite3_bind_int64(st, 9, p->holds);
    sqlite3_bind_int64(st, 10, p->ends_us);
    sqlite3_bind_int64(st, 11, p->since_us);
    sqlite3_bind_int64(st, 12, p->flags);
    sqlite3_bind_blob(st, 13, p->info, (int)strlen(p->info), SQLITE_STATIC);
    if (row->state_len > 0)
        sqlite3_bind_blob(st, 14, row->state, (int)row->state_len,
                          SQLITE_STATIC);
    if (job->marker[0])
        sqlite3_bind_text(st, 15, job->marker, -1, SQLITE_STATIC);
}

static int swap_run(struct backend_conn *c, struct sql_job *job)
{
    sqlite3_stmt *st =
        c->statements[job->next.version > 0 ? LITE_UPDATE : LITE_INSERT];
    int changed;
    swap_bind(st, job);
    int rc = change(c, st, &changed);
    end(c->statements[LITE_READ]);
    /* Another connection has committed since the row was read. */
    if (rc == SQLITE_BUSY_SNAPSHOT) return read_run(c, job);
    if (rc != SQLITE_OK) return rc;
    if (!changed) return read_run(c, job);
    if (job->tell != SQL_TELL_NONE) c->has_news = 1;
    hf__sql_answer_swapped(job);
    return SQLITE_OK;
}

/* ---- list, boot, facts -------------------------------------------------- */

static int list_run(struct backend_conn *c, struct sql_job *job)
{
    sqlite3_stmt *st = c->statements[LITE_LIST];
    int64_t now_us = hf__clock_wall_us();
    struct sql_row row;
    int rc;
    sqlite3_bind_int64(st, 1, (int64_t)job->req->cursor);
    sqlite3_bind_int64(st, 2, SQL_PAGE_ROWS);
    while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
        row_read(st, &row);
        hf__sql_list_row(job, &row, now_us);
    }
    end(st);
    if (rc != SQLITE_DONE) return rc;
    hf__sql_answer_list(job, now_us);
    return SQLITE_OK;
}

static int held_run(struct backend_conn *c, int64_t now_us, int *out)
{
    sqlite3_stmt *st = c->statements[LITE_HELD];
    sqlite3_bind_int64(st, 1, now_us);
    int rc = sqlite3_step(st);
    if (rc == SQLITE_ROW) *out = sqlite3_column_int(st, 0) > 0;
    end(st);
    return rc == SQLITE_ROW ? SQLITE_OK : rc;
}

/* With sync=full a crash loses nothing; but a file that was put in the place of
 * the one that the marker was written in may be an older copy of it. */
static int boot_is_durable(const struct backend_conn *c, const char *marker,
                           const char *file)
{
    struct marker m;
    if (!c->is_full || hf__marker_parse(marker, &m) != 0) return c->is_full;
    size_t len = strlen(m.identity), file_len = strlen(file);
    return len >= file_len && !strcmp(m.identity + len - file_len, file);
}

/* A crash of the host may lose the last commits, unless each was synced: the
 * identity is the host's boot, as of a folder of lock files, and the file. */
static int boot_run(struct backend_conn *c, struct sql_job *job)
{
    char identity[IDENTITY_MAX] = "", marker[MARKER_TEXT_MAX], file[40];
    struct sql_boot boot = {.identity = identity,
                            .now_us = hf__clock_wall_us()};
    snprintf(file, sizeof file, "-%llx-%llx", (unsigned long long)c->dev,
             (unsigned long long)c->ino);
    if (c->boot_id[0])
        snprintf(identity, sizeof identity, "%s%s", c->boot_id, file);
    int rc = hf__sqlite_query_marker(c, marker);
    if (rc == SQLITE_OK && job->wants_locks)
        rc = held_run(c, boot.now_us, &boot.has_locks);
    if (rc != SQLITE_OK) return rc;
    boot.marker = marker[0] ? marker : NULL;
    boot.is_durable = boot_is_durable(c, marker, file);
    hf__sql_answer_boot(job, &boot);
    return SQLITE_OK;
}

static int boot_swap_run(struct backend_conn *c, struct sql_job *job)
{
    int is_new = !job->marker[0], changed;
    sqlite3_stmt *st =
        c->statements[is_new ? LITE_META_INSERT : LITE_META_UPDATE];
    sqlite3_bind_text(st, 1, SQL_META_BOOT, -1, SQLITE_STATIC);
    sqlite3_bind_text(st, 2, job->marker_next, -1, SQLITE_STATIC);
    if (!is_new) sqlite3_bind_text(st, 3, job->marker, -1, SQLITE_STATIC);
    int rc = change(c, st, &changed);
    if (rc != SQLITE_OK) return rc;
    if (!changed) return boot_run(c, job);
    hf__sql_answer_swapped(job);
    return SQLITE_OK;
}

static int facts_run(struct backend_conn *c, struct sql_job *job)
{
    snprintf(c->facts, sizeof c->facts,
             "engine:sqlite\nsqlite_version:%s\nsync:%s\nfilesystem:%s\n"
             "file:%s\n%s",
             sqlite3_libversion(), c->is_full ? "full" : "normal", c->disk,
             c->path, hf__sql_member_fact(c->core));
    hf__sql_answer_facts(job, c->facts, hf__clock_wall_us());
    return SQLITE_OK;
}

/* ---- waiting ------------------------------------------------------------ */

int64_t hf__sqlite_query_version(struct backend_conn *c)
{
    sqlite3_stmt *st = c->statements[LITE_VERSION];
    int64_t version = -1;
    if (sqlite3_step(st) == SQLITE_ROW) version = sqlite3_column_int64(st, 0);
    end(st);
    return version;
}

void hf__sqlite_query_mark(struct backend_conn *c, const struct sql_watch *w,
                           int64_t waits_us)
{
    sqlite3_stmt *st = c->statements[LITE_MARK];
    int64_t now_us = hf__clock_wall_us();
    int changed;
    if (now_us - waits_us < SQL_WAITS_RENEW_US && waits_us <= now_us) return;
    sqlite3_bind_blob(st, 1, w->name, (int)w->name_len, SQLITE_STATIC);
    sqlite3_bind_int64(st, 2, now_us);
    (void)change(c, st, &changed);
}

/* News that come behind this are told; what came before is seen by the waiter,
 * which asks again. */
static int watch_run(struct backend_conn *c, struct sql_job *job)
{
    struct sql_row row;
    int rc = hf__sqlite_query_row(c, job->req->name, job->req->name_len, &row);
    if (rc != SQLITE_OK) return rc;
    if (!job->watch->is_on) job->watch->news = row.news;
    hf__sqlite_query_mark(c, job->watch, row.waits_us);
    hf__sql_answer_done(job, hf__clock_wall_us());
    return SQLITE_OK;
}

int hf__sqlite_query_run(struct backend_conn *c, struct sql_job *job)
{
    switch (job->step) {
    case SQL_READ:
        return read_run(c, job);
    case SQL_SWAP:
        return swap_run(c, job);
    case SQL_LIST:
        return list_run(c, job);
    case SQL_BOOT_READ:
        return boot_run(c, job);
    case SQL_BOOT_SWAP:
        return boot_swap_run(c, job);
    case SQL_FACTS:
        return facts_run(c, job);
    case SQL_WATCH:
        return watch_run(c, job);
    case SQL_SCRIPT:
        return hf__sqlite_script_run(c, job);
    default:
        hf__sql_answer_done(job, hf__clock_wall_us());
        return SQLITE_OK;
    }
}
