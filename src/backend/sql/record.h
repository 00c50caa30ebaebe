/*
 * record.h: a row as bytes, for stores that have no columns: a key of etcd, a
 * node of ZooKeeper.
 *
 * Such a store is a driver as a database is: it reads the bytes with their
 * version, answers with the row, and replaces the bytes if the version is still
 * the same.  The version is the store's own and is not among them.
 */
#ifndef HF_SQL_RECORD_H
#define HF_SQL_RECORD_H

#include "backend/sql/sql.h"

/* The row, and the time by the store's clock at which it was decided on (0:
 * not told).  `out` is written from its beginning.  HF_OK or HF_NOMEM. */
int hf__sql_record_write(const struct sql_row *row, int64_t now_us,
                         struct cell_bytes *out);

/* The row that is in the bytes: is_there, news, plain and state, which is
 * borrowed from them; the rest is 0.  No bytes: there is no row.  HF_OK, or
 * HF_CONFLICT: they are not what we wrote. */
int hf__sql_record_read(const void *at, size_t len, struct sql_row *row,
                        int64_t *now_us);

#endif
