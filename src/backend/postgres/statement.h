/*
 * statement.h: the statements, by name, as they are prepared.
 */
#ifndef HF_POSTGRES_STATEMENT_H
#define HF_POSTGRES_STATEMENT_H

#include <stddef.h>

enum statement {
    STATEMENT_READ,
    STATEMENT_READ_MARKED, /* with the marker of a quorum's member */
    STATEMENT_SWAP,
    STATEMENT_INSERT, /* a SWAP of a row that was not there */
    STATEMENT_LIST,
    STATEMENT_PROPOSE,
    STATEMENT_RENEW,
    STATEMENT_RENEW_FREE, /* a RENEW that leaves out rows that are locked */
    STATEMENT_RELEASE,
    STATEMENT_BOOT_READ,
    STATEMENT_BOOT_SWAP,
    STATEMENT_CLOCK,
    STATEMENT_FACTS,
    STATEMENT_MARK,
    STATEMENT_SESSION_TRY,
    STATEMENT_SESSION_UNLOCK,
    STATEMENT_SESSION_LOOK,
    STATEMENT_SESSION_WATCH,
    STATEMENT_SESSION_UNWATCH,
    STATEMENT_SHED_READ,
    STATEMENT_SHED_SWAP,
    STATEMENT_SHED_INSERT,
    STATEMENT_SHED_LIST,
    STATEMENTS_LEN
};

struct statement_text {
    const char *name;
    const char *sql;
};

extern const struct statement_text hf__postgres_statements[STATEMENTS_LEN];

/* ---- shedlock_statement.c ---- */
extern const char hf__postgres_shed_read[];
extern const char hf__postgres_shed_swap[];
extern const char hf__postgres_shed_insert[];
extern const char hf__postgres_shed_list[];
/* Columns: struct shed_table, in its order. */
extern const char hf__postgres_shed_table[];

/* Columns of the answers: the clock, whether it was done, a number that the
 * statement explains, and the row; READ_MARKED and SWAP have the marker
 * behind. */
enum column {
    COLUMN_CLOCK,
    COLUMN_DONE, /* 1 or 0 */
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
    COLUMN_MARKER
};

/* The first of all: which server answers, and how the session is to be.  Its
 * only parameter is the search path, null: as it is. */
extern const char hf__postgres_greeting[];

/* What makes the tables, one statement each, NULL behind the last. */
extern const char *const hf__postgres_schema[];

#endif
