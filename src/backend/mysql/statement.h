/*
 * statement.h: the statements, as text.  Each function writes what one item of
 * a packet needs and returns the number of its statements; the last one answers
 * with the columns below.
 */
#ifndef HF_MYSQL_STATEMENT_H
#define HF_MYSQL_STATEMENT_H

#include "backend/mysql/text.h"
#include "backend/sql/sql.h"

/* Columns of the answers: the clock, rows that the statement before has
 * changed, a number that it has left, and the row. */
enum column {
    COLUMN_CLOCK,
    COLUMN_DONE, /* 1: it was done */
    COLUMN_EXTRA,
    COLUMN_NAME, /* null: there is no row */
    COLUMN_ID,
    COLUMN_VERSION,
    COLUMN_NEWS,
    COLUMN_WAITS,
    COLUMN_COUNTER,
    COLUMN_OWNER,
    COLUMN_ATTEMPT,
    COLUMN_BALLOT,
    COLUMN_FENCE,
    COLUMN_HOLDS,
    COLUMN_ENDS,
    COLUMN_SINCE,
    COLUMN_FLAGS,
    COLUMN_INFO,
    COLUMN_STATE,
    COLUMN_MARKER, /* null: none, or not asked for */
    COLUMNS_LEN
};

unsigned hf__mysql_write_read(struct text *t, const struct sql_job *job);
unsigned hf__mysql_write_swap(struct text *t, const struct sql_job *job);
/* Extra: the fence. */
unsigned hf__mysql_write_propose(struct text *t, const struct request *req);
/* Extra: when the hold would have ended. */
unsigned hf__mysql_write_renew(struct text *t, const struct request *req);
unsigned hf__mysql_write_release(struct text *t, const struct request *req);
unsigned hf__mysql_write_list(struct text *t, const struct sql_job *job);
/* Columns: clock, done, whether there are locks, marker. */
unsigned hf__mysql_write_boot(struct text *t, const struct sql_job *job);
/* Columns: clock, and the facts, of which one is the rows of `table`. */
unsigned hf__mysql_write_facts(struct text *t, const char *table);

/* Mark the row as waited for, and read it. */
unsigned hf__mysql_write_watch(struct text *t, const struct sql_job *job);
/* Say it again. */
unsigned hf__mysql_write_mark(struct text *t, const struct sql_watch *w);

/* The rows of all names that are watched; none if there are no such names. */
unsigned hf__mysql_write_look(struct text *t, const struct sql_core *core);

/* The first of all: how the session is to be; and what is asked of the server,
 * as rows of a name and a value. */
extern const char hf__mysql_session[];
extern const char hf__mysql_galera_session[];
extern const char hf__mysql_variables[];
extern const char hf__mysql_status[];
/* Columns: clock in microseconds, and in seconds as the server itself counts.
 */
extern const char hf__mysql_clock[];
extern const char hf__mysql_ask_schema[];

/* What makes the tables, one statement each, NULL behind the last. */
extern const char *const hf__mysql_schema[];

#endif
