/*
 * db.c: the file, its settings and its tables.  One rule: the file is opened by
 * SQLite only, for to close any other descriptor of it would end SQLite's locks
 * in this process.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/sqlite/db.h"
#include "backend/sqlite/error.h"
#include "backend/sqlite/query.h"
#include "base/error.h"
#include "sys/disk.h"

#define SCHEMA_BAD (-2)  /* not a code of SQLite: c->err has been set */
#define STALE_LEN_MAX 64 /* files that the parent of this process had open */

static struct {
    dev_t dev;
    ino_t ino;
} stale[STALE_LEN_MAX];
static size_t stale_len; /* written in forked children only, by one thread */

/* ---- the URL ------------------------------------------------------------ */

static int option_check(struct backend_conn *c, const struct url *url,
                        struct hf_error *err)
{
    const char *sync = hf__url_option(url, "sync");
    const char *schema = hf__url_option(url, "schema");
    c->is_full = sync && !strcmp(sync, "full");
    c->is_create = schema && !strcmp(schema, "create");
    if (sync && !c->is_full && strcmp(sync, "normal") != 0)
        return hf__error_set(err, HF_INVALID,
                             "sqlite: sync=%.60s: not full or normal", sync);
    if (schema && !c->is_create)
        return hf__error_set(err, HF_INVALID,
                             "sqlite: schema=%.60s: not create", schema);
    return HF_OK;
}

/* Absolute, for the program may change its directory later. */
static int path_make(struct backend_conn *c, const char *path)
{
    size_t len = 0;
    if (path[0] != '/' && !c->is_probe) {
        if (!getcwd(c->path, sizeof c->path - 1)) return -1;
        len = strlen(c->path);
        c->path[len++] = '/';
    }
    if (len + strlen(path) >= sizeof c->path) return -1;
    memcpy(c->path + len, path, strlen(path) + 1);
    return 0;
}

int hf__sqlite_db_choose(struct backend_conn *c, const struct url *url,
                         struct hf_error *err)
{
    const char *path = url->path ? url->path : "";
    if (url->host && url->host[0])
        return hf__error_set(err, HF_INVALID,
                             "sqlite://%.100s: a host: the file is on this "
                             "one: write sqlite:/path/file.db",
                             url->host);
    if (url->user || url->password || url->port)
        return hf__error_set(err, HF_INVALID,
                             "sqlite: a file has no user, password or port");
    c->is_probe = !strcmp(path, ":probe:");
    if (!path[0] || (path[0] == ':' && !c->is_probe))
        return hf__error_set(err, HF_INVALID,
                             "sqlite:%.100s: not a file: write "
                             "sqlite:/path/file.db",
                             path);
    if (path_make(c, path) != 0)
        return hf__error_set(err, HF_INVALID,
                             "sqlite: path longer than %d bytes",
                             (int)sizeof c->path - 1);
    return option_check(c, url, err);
}

/* ---- before it is opened ------------------------------------------------ */

static int refuse(struct backend_conn *c, int status, const char *why)
{
    hf__error_set(&c->err, status, "%s", why);
    return SCHEMA_BAD;
}

static int folder_check(struct backend_conn *c)
{
    char folder[SQLITE_PATH_MAX];
    snprintf(folder, sizeof folder, "%s", c->path);
    char *slash = strrchr(folder, '/');
    if (slash == folder)
        folder[1] = '\0';
    else if (slash)
        *slash = '\0';
    int fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return refuse(c, HF_INVALID, "the folder does not exist");
    if (fd < 0) return SQLITE_OK; /* it may be used without being read */
    int is_network = hf__disk_is_network(fd);
    hf__disk_name(fd, c->disk, sizeof c->disk);
    close(fd);
    if (is_network)
        return refuse(c, HF_UNSUPPORTED,
                      "a network file system: processes on other hosts would "
                      "not see each other's locks");
    return SQLITE_OK;
}

static int file_check(struct backend_conn *c)
{
    struct stat st;
    if (stat(c->path, &st)) return SQLITE_OK; /* it will be made */
    if (S_ISDIR(st.st_mode)) return refuse(c, HF_INVALID, "it is a directory");
    if (!S_ISREG(st.st_mode))
        return refuse(c, HF_INVALID, "it is not a regular file");
    for (size_t i = 0; i < stale_len; i++)
        if (stale[i].dev == st.st_dev && stale[i].ino == st.st_ino)
            return refuse(c, HF_UNSUPPORTED,
                          "the parent of this process has it open, which "
                          "SQLite forbids: fork first, then open");
    return SQLITE_OK;
}

void hf__sqlite_db_forked(const struct backend_conn *c)
{
    if (!c->db || stale_len == STALE_LEN_MAX) return;
    stale[stale_len].dev = c->dev;
    stale[stale_len].ino = c->ino;
    stale_len++;
}

/* ---- tables ------------------------------------------------------------- */

static const char tables_sql[] =
    "CREATE TABLE IF NOT EXISTS holdfast_lock ("
    " id INTEGER PRIMARY KEY,"
    " name BLOB NOT NULL UNIQUE,"
    " version INTEGER NOT NULL,"
    " news INTEGER NOT NULL,"
    " counter INTEGER NOT NULL,"
    " owner TEXT NOT NULL,"
    " attempt INTEGER NOT NULL,"
    " ballot INTEGER NOT NULL,"
    " fence INTEGER NOT NULL,"
    " holds INTEGER NOT NULL,"
    " ends_us INTEGER NOT NULL,"
    " since_us INTEGER NOT NULL,"
    " flags INTEGER NOT NULL,"
    " info BLOB NOT NULL,"
    " waits_us INTEGER NOT NULL,"
    " state BLOB);"
    "CREATE TABLE IF NOT EXISTS holdfast_meta ("
    " key TEXT PRIMARY KEY,"
    " value TEXT NOT NULL) WITHOUT ROWID;"
    "INSERT OR IGNORE INTO holdfast_meta VALUES ('" SQL_META_SCHEMA
    "', '" SQL_SCHEMA_TEXT "');";

static int tables_make(struct backend_conn *c)
{
    int rc = sqlite3_exec(c->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (rc != SQLITE_OK) return rc;
    rc = sqlite3_exec(c->db, tables_sql, NULL, NULL, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_exec(c->db, "COMMIT", NULL, NULL, NULL);
    if (rc != SQLITE_OK) {
        int first = rc;
        sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
        return first;
    }
    return SQLITE_OK;
}

/* One number that a statement returns. */
static int number_read(struct backend_conn *c, const char *sql, int64_t *out)
{
    sqlite3_stmt *st = NULL;
    int rc = sqlite3_prepare_v2(c->db, sql, -1, &st, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_step(st);
    if (rc == SQLITE_ROW) *out = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int schema_check(struct backend_conn *c)
{
    int64_t ours = 0, all = 0, schema = 0;
    int rc = number_read(c, "SELECT count(*) FROM sqlite_master", &all);
    if (rc == SQLITE_OK)
        rc = number_read(c,
                         "SELECT count(*) FROM sqlite_master WHERE type ="
                         " 'table' AND name IN"
                         " ('holdfast_lock', 'holdfast_meta')",
                         &ours);
    if (rc != SQLITE_OK) return rc;
    if (ours < 2 && all > 0 && !c->is_create)
        return refuse(c, HF_CONFLICT,
                      "the database is another program's: it has no tables of "
                      "holdfast (holdfast install-schema makes them)");
    if (ours < 2) rc = tables_make(c);
    if (rc == SQLITE_OK)
        rc = number_read(c,
                         "SELECT value FROM holdfast_meta"
                         " WHERE key = '" SQL_META_SCHEMA "'",
                         &schema);
    if (rc != SQLITE_OK || schema == SQL_SCHEMA) return rc;
    hf__error_set(&c->err, HF_CONFLICT,
                  "its tables are of schema %lld, and this holdfast knows "
                  "schema " SQL_SCHEMA_TEXT,
                  (long long)schema);
    return SCHEMA_BAD;
}

/* ---- opening ------------------------------------------------------------ */

static int wal_hook(void *arg, sqlite3 *db, const char *name, int pages)
{
    struct backend_conn *c = arg;
    (void)db;
    (void)name;
    c->wal_pages = pages;
    return SQLITE_OK;
}

static int wal_set(struct backend_conn *c)
{
    sqlite3_stmt *st = NULL;
    int is_wal = 0;
    int rc =
        sqlite3_prepare_v2(c->db, "PRAGMA journal_mode=WAL", -1, &st, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_step(st);
    if (rc == SQLITE_ROW) {
        const char *mode = (const char *)sqlite3_column_text(st, 0);
        is_wal = mode && !strcmp(mode, "wal");
    }
    sqlite3_finalize(st);
    if (rc != SQLITE_ROW) return rc;
    if (!is_wal)
        return refuse(c, HF_UNSUPPORTED,
                      "SQLite cannot keep a write-ahead log (WAL) there");
    return SQLITE_OK;
}

static int settings_make(struct backend_conn *c)
{
    sqlite3_extended_result_codes(c->db, 1);
    sqlite3_busy_timeout(c->db, 0);
    /* The last one to close the file would wait for the disk otherwise: each
     * run of a command that is alone. */
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    if (sqlite3_db_readonly(c->db, "main") == 1) return SQLITE_READONLY;
    int rc = wal_set(c);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(c->db,
                          c->is_full ? "PRAGMA synchronous=FULL"
                                     : "PRAGMA synchronous=NORMAL",
                          NULL, NULL, NULL);
    /* This takes the place of SQLite's automatic checkpoints. */
    sqlite3_wal_hook(c->db, wal_hook, c);
    return rc;
}

static int file_note(struct backend_conn *c)
{
    struct stat st;
    const char *path = sqlite3_db_filename(c->db, "main");
    if (!path || stat(c->path, &st)) return SQLITE_CANTOPEN;
    c->dev = st.st_dev;
    c->ino = st.st_ino;
    snprintf(c->wal, sizeof c->wal, "%s-wal", path);
    return SQLITE_OK;
}

static int db_try(struct backend_conn *c)
{
    int rc = folder_check(c);
    if (rc == SQLITE_OK) rc = file_check(c);
    if (rc != SQLITE_OK) return rc;
    if (!c->db)
        rc = sqlite3_open_v2(c->path, &c->db,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                 | SQLITE_OPEN_NOMUTEX,
                             NULL);
    if (rc == SQLITE_OK) rc = file_note(c);
    if (rc == SQLITE_OK) rc = settings_make(c);
    if (rc == SQLITE_OK) rc = schema_check(c);
    if (rc == SQLITE_OK) rc = hf__sqlite_query_prepare(c);
    if (rc == SQLITE_OK) rc = hf__sqlite_query_marker(c, c->marker);
    return rc;
}

int hf__sqlite_db_open(struct backend_conn *c)
{
    int rc = db_try(c);
    c->is_ready = rc == SQLITE_OK;
    if (rc == SQLITE_OK || hf__sqlite_error_is_busy(rc)) return rc;
    if (rc != SCHEMA_BAD) hf__sqlite_error_set(c, rc, "open");
    hf__sqlite_db_close(c);
    return rc;
}

void hf__sqlite_db_close(struct backend_conn *c)
{
    for (int i = 0; i < LITE_LEN; i++) sqlite3_finalize(c->statements[i]);
    memset(c->statements, 0, sizeof c->statements);
    sqlite3_close(c->db);
    c->db = NULL;
    c->is_ready = 0;
}

int hf__sqlite_db_is_replaced(const struct backend_conn *c)
{
    struct stat st;
    if (stat(c->path, &st)) return errno == ENOENT;
    return st.st_dev != c->dev || st.st_ino != c->ino;
}
