/*
 * script.h: statements that are carried out together or not at all.
 *
 * A driver begins a transaction, carries them out in order, and commits; what
 * the last of them answers are rows of texts.  Every text in them is of
 * characters that no database reads as anything but themselves.
 */
#ifndef HF_SQL_SCRIPT_H
#define HF_SQL_SCRIPT_H

#include "backend/sql/sql.h"

struct sql_script {
    const struct allocator *alloc;
    char *text; /* the statements, with a NUL behind each */
    size_t len, room;
    unsigned statements;
    int is_write;
    int is_short; /* there was no memory: the text is not whole */
};

/* Add to the statement that is being written; end it. */
void hf__sql_put(struct sql_script *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void hf__sql_put_end(struct sql_script *s);
void hf__sql_script_free(struct sql_script *s); /* NULL: nothing */

/* The statement behind this one. */
const char *hf__sql_script_next(const char *statement);

/* ---- ledger.c ---- */

/* Write what `job` asks for. */
void hf__sql_ledger_write(struct sql_script *s, enum sql_dialect dialect,
                          const struct ledger_job *job);

/* ---- ledger_events.c ---- */

void hf__sql_ledger_apply(struct sql_script *s, enum sql_dialect dialect,
                          const struct ledger_job *job);
void hf__sql_ledger_refuse(struct sql_script *s, const struct ledger_job *job);
void hf__sql_ledger_lost(struct sql_script *s, const struct ledger_job *job);

#endif
