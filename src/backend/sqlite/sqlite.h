/*
 * sqlite.h: a connection to a file of SQLite.
 *
 * One rule: every statement is a transaction of its own and waits for nothing.
 * What finds the file locked is tried again from the timer, in the order in
 * which it came.
 */
#ifndef HF_SQLITE_H
#define HF_SQLITE_H

#include <sqlite3.h>
#include <sys/types.h>

#include "backend/sql/sql.h"

#define SQLITE_PATH_MAX 1024

enum lite_statement {
    LITE_READ,
    LITE_INSERT,
    LITE_UPDATE,
    LITE_LIST,
    LITE_HELD,
    LITE_META_READ,
    LITE_META_INSERT,
    LITE_META_UPDATE,
    LITE_VERSION,
    LITE_MARK,
    LITE_LEN
};

struct backend_conn {
    struct backend_env *env;
    struct sql_core *core;
    sqlite3 *db; /* NULL: not open (any more) */
    sqlite3_stmt *statements[LITE_LEN];
    int is_ready;  /* the tables are there */
    int is_full;   /* sync=full */
    int is_create; /* schema=create */
    int is_probe;  /* a URL that no file is opened for */
    int was_up;    /* the engine was told that it can be used */
    dev_t dev;     /* of the file that is open */
    ino_t ino;

    struct sql_job *first; /* jobs that wait for the file, in order */
    struct sql_job **last;
    struct sql_job *again; /* the one that is tried again now */
    unsigned busy_len;     /* tries that found it locked, in a row */
    int64_t retry_us;      /* TIME_NEVER if none */

    int inotify_fd; /* -1 before the first watch */
    int wd;         /* of the -wal file; -1: none */
    int has_news;   /* we have changed what watchers must hear of */
    int64_t seen;   /* data_version */
    unsigned echo_len;
    int64_t echo_us; /* look again then */

    int wal_pages;     /* in the log, after our last commit */
    int checked_pages; /* the same at the last checkpoint */
    int planned_pages; /* the same when the checkpoint was planned */
    int64_t checkpoint_us;
    int64_t timer_us; /* as last told to the engine */

    struct hf_error err;
    char boot_id[40];
    char marker[MARKER_TEXT_MAX]; /* of a quorum's member, when opened */
    char disk[32];                /* its file system */
    char facts[HF_ERROR_TEXT_MAX + SQLITE_PATH_MAX];
    char path[SQLITE_PATH_MAX];
    char wal[SQLITE_PATH_MAX + 8];
};

#endif
