/* query.h: the statements. */
#ifndef HF_SQLITE_QUERY_H
#define HF_SQLITE_QUERY_H

#include "backend/sqlite/sqlite.h"

/* Prepare all of them; a code of SQLite. */
int hf__sqlite_query_prepare(struct backend_conn *c);

/* Carry out the statement of job->step and answer it.  SQLITE_OK, or the code
 * with which it failed, and it was not answered. */
int hf__sqlite_query_run(struct backend_conn *c, struct sql_job *job);

/* The row of a name; a code of SQLite.  `row` is good until the next call. */
int hf__sqlite_query_row(struct backend_conn *c, const char *name,
                         size_t name_len, struct sql_row *row);

/* The marker of a quorum's member, "": none; a code of SQLite. */
int hf__sqlite_query_marker(struct backend_conn *c, char out[MARKER_TEXT_MAX]);

/* A number that changes with every commit of another connection. */
int64_t hf__sqlite_query_version(struct backend_conn *c);

/* Set waits_us of a name that is waited for, which is this now, if it is time
 * to.  It may fail: the next look does it again. */
void hf__sqlite_query_mark(struct backend_conn *c, const struct sql_watch *w,
                           int64_t waits_us);

#endif
