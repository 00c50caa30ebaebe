/*
 * error.c: SQLite's result codes in words.  One rule: what a user can mend is
 * told as what is to be mended.
 */
#include "backend/sqlite/error.h"
#include "base/error.h"

static const struct {
    int rc;
    int status;
    int is_clean;
    const char *why; /* NULL: SQLite's own words */
} rows[] = {
    {SQLITE_NOTADB, HF_CONFLICT, 1, "the file is not a database of SQLite"},
    {SQLITE_READONLY, HF_DENIED, 1,
     "the file, or the folder that it is in, may not be written to"},
    {SQLITE_PERM, HF_DENIED, 1, NULL},
    {SQLITE_AUTH, HF_DENIED, 1, NULL},
    {SQLITE_CANTOPEN, HF_DENIED, 1,
     "the file, or the -wal and -shm files beside it, cannot be opened"},
    {SQLITE_FULL, HF_UNAVAILABLE, 1, "the disk is full"},
    {SQLITE_NOMEM, HF_NOMEM, 1, "out of memory"},
    {SQLITE_CORRUPT, HF_CONFLICT, 0, "the database is damaged"},
    {SQLITE_IOERR, HF_UNAVAILABLE, 0,
     "disk error, or the file was replaced but not its -wal and -shm"},
    {SQLITE_TOOBIG, HF_INVALID, 1, NULL},
    {SQLITE_ERROR, HF_CONFLICT, 1, NULL},
    {SQLITE_CONSTRAINT, HF_CONFLICT, 1, NULL},
    {SQLITE_SCHEMA, HF_CONFLICT, 1, NULL},
    {SQLITE_BUSY, HF_UNAVAILABLE, 1,
     "another process keeps the database locked"},
    {SQLITE_LOCKED, HF_UNAVAILABLE, 1,
     "another process keeps the database locked"},
};

#define ROWS_LEN (sizeof rows / sizeof *rows)

int hf__sqlite_error_is_busy(int rc)
{
    /* SQLITE_PROTOCOL: others took the lock of the -wal too often. */
    return (rc & 0xff) == SQLITE_BUSY || (rc & 0xff) == SQLITE_LOCKED
           || (rc & 0xff) == SQLITE_PROTOCOL;
}

int hf__sqlite_error_is_clean(int rc)
{
    for (size_t i = 0; i < ROWS_LEN; i++)
        if (rows[i].rc == (rc & 0xff)) return rows[i].is_clean;
    return 0;
}

int hf__sqlite_error_set(struct backend_conn *c, int rc, const char *what)
{
    const char *own = c->db ? sqlite3_errmsg(c->db) : sqlite3_errstr(rc);
    for (size_t i = 0; i < ROWS_LEN; i++)
        if (rows[i].rc == (rc & 0xff))
            return hf__error_set(&c->err, rows[i].status, "%s: %s", what,
                                 rows[i].why ? rows[i].why : own);
    return hf__error_set(&c->err, HF_UNAVAILABLE, "%s: %s", what, own);
}
