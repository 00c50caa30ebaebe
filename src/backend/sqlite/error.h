/* error.h: SQLite's result codes in words. */
#ifndef HF_SQLITE_ERROR_H
#define HF_SQLITE_ERROR_H

#include "backend/sqlite/sqlite.h"

/* Is the file locked by another connection, so that trying again helps? */
int hf__sqlite_error_is_busy(int rc);

/* Does the code say for sure that nothing was changed? */
int hf__sqlite_error_is_clean(int rc);

/* Fill c->err with "what: why"; returns its status. */
int hf__sqlite_error_set(struct backend_conn *c, int rc, const char *what);

#endif
