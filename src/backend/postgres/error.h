/* error.h: what the server's errors mean. */
#ifndef HF_POSTGRES_ERROR_H
#define HF_POSTGRES_ERROR_H

#include <libpq-fe.h>

#include "holdfast/status.h"

/* Of a statement: HF_* and "what: why". */
int hf__postgres_error(const PGresult *result, char text[HF_ERROR_TEXT_MAX]);

/* Of a connection that could not be made, or was lost. */
int hf__postgres_error_link(PGconn *pg, char text[HF_ERROR_TEXT_MAX]);

/* 1 if it ends the connection, so that it is unknown what became of the
 * statement. */
int hf__postgres_error_is_fatal(const PGresult *result);

/* 1 if the statement was undone for the sake of another one, and may be run
 * again. */
int hf__postgres_error_is_passing(const PGresult *result);

/* 1 if another transaction kept a row or the table locked for too long. */
int hf__postgres_error_is_locked(const PGresult *result);

#endif
