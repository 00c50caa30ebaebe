/* row.h: a row of an answer. */
#ifndef HF_POSTGRES_ROW_H
#define HF_POSTGRES_ROW_H

#include <libpq-fe.h>

#include "backend/postgres/statement.h"
#include "backend/sql/sql.h"

/* A number; 0 if it is null. */
int64_t hf__postgres_row_number(const PGresult *result, int at, int column);

/* The row of holdfast_lock at `at`; it points into the result.  Not is_there if
 * its name is null.  0, or -1: it is not what a row must be. */
int hf__postgres_row_read(const PGresult *result, int at, struct sql_row *row);

#endif
