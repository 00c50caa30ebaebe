/* db.h: the file: opening it, its tables, and closing it. */
#ifndef HF_SQLITE_DB_H
#define HF_SQLITE_DB_H

#include "backend/sqlite/sqlite.h"

/* Where the URL says, and its options.  HF_OK, or `err` says why not. */
int hf__sqlite_db_choose(struct backend_conn *c, const struct url *url,
                         struct hf_error *err);

/* Open it and make the tables if it is new.  SQLITE_OK and is_ready; a code
 * that hf__sqlite_error_is_busy() knows: later; any other one: c->err says why
 * not. */
int hf__sqlite_db_open(struct backend_conn *c);

void hf__sqlite_db_close(struct backend_conn *c);

/* Does the path mean another file by now, or none? */
int hf__sqlite_db_is_replaced(const struct backend_conn *c);

/* In a forked child: SQLite's own records of the file are the parent's. */
void hf__sqlite_db_forked(const struct backend_conn *c);

#endif
