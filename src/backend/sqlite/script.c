/*
 * script.c: statements that are one transaction.  One rule: whatever happens,
 * no transaction is open afterwards.
 */
#include <string.h>

#include "backend/sql/script.h"
#include "backend/sqlite/error.h"
#include "backend/sqlite/script.h"

static int row_tell(void *user, int len, char **values, char **names)
{
    (void)names;
    hf__sql_script_row(user, len, (const char *const *)values);
    return 0;
}

static int say(struct backend_conn *c, const char *sql)
{
    return sqlite3_exec(c->db, sql, NULL, NULL, NULL);
}

static int statements_run(struct backend_conn *c, struct sql_job *job)
{
    const struct sql_script *s = job->script;
    const char *at = s->text;
    int rc = SQLITE_OK;
    for (unsigned i = 0; i < s->statements && rc == SQLITE_OK; i++) {
        rc = sqlite3_exec(c->db, at, row_tell, job, NULL);
        at = hf__sql_script_next(at);
    }
    return rc;
}

/* SQLite has no code of its own for it. */
static int is_table_missing(struct backend_conn *c, int rc)
{
    return rc == SQLITE_ERROR
           && strstr(sqlite3_errmsg(c->db), "no such table") != NULL;
}

/* What the tables have is removed from the store afterwards, so it must be on
 * the disk, whatever the locks of this file have (sync=normal). */
static int transaction_run(struct backend_conn *c, struct sql_job *job)
{
    int must_sync = job->script->is_write && !c->is_full;
    int rc = must_sync ? say(c, "PRAGMA synchronous=FULL") : SQLITE_OK;
    if (rc == SQLITE_OK)
        rc = say(c, job->script->is_write ? "BEGIN IMMEDIATE" : "BEGIN");
    if (rc == SQLITE_OK) rc = statements_run(c, job);
    if (rc == SQLITE_OK) rc = say(c, "COMMIT");
    return rc;
}

int hf__sqlite_script_run(struct backend_conn *c, struct sql_job *job)
{
    int rc = transaction_run(c, job);
    int is_missing = is_table_missing(c, rc);
    if (rc != SQLITE_OK && !sqlite3_get_autocommit(c->db))
        (void)say(c, "ROLLBACK");
    int is_refused = (rc & 0xff) == SQLITE_CONSTRAINT;
    /* An error keeps its text, and leaves FULL on for the next try. */
    if (rc != SQLITE_OK && !is_missing && !is_refused) return rc;
    if (!c->is_full) (void)say(c, "PRAGMA synchronous=NORMAL");
    if (is_missing)
        hf__sql_script_refused(job, SQL_REFUSED_TABLE);
    else if (is_refused)
        hf__sql_script_refused(job, SQL_REFUSED_CHECK);
    else
        hf__sql_script_done(job);
    return SQLITE_OK;
}
