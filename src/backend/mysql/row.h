/* row.h: a row of an answer. */
#ifndef HF_MYSQL_ROW_H
#define HF_MYSQL_ROW_H

#include <mysql.h>

#include "backend/mysql/statement.h"
#include "backend/sql/sql.h"

/* One row, as libmariadb has it: texts, and their lengths. */
struct fields {
    MYSQL_ROW at;
    const unsigned long *lengths;
    unsigned len;
};

/* The next row of the result.  1, or 0: there is none. */
int hf__mysql_row_next(MYSQL_RES *result, struct fields *f);

/* A number; 0 if it is null, or there is no such column. */
int64_t hf__mysql_row_number(const struct fields *f, unsigned column);

/* A text, with a NUL behind it; NULL if it is null, or not there. */
const char *hf__mysql_row_text(const struct fields *f, unsigned column);

/* The row of holdfast_lock; it points into the result.  Not is_there if its
 * name is null.  0, or -1: it is not what a row must be. */
int hf__mysql_row_read(const struct fields *f, struct sql_row *row);

#endif
