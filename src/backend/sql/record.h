/*
 * record.h: a row as bytes, for stores that have no columns: a key of etcd, a
 * node of ZooKeeper.
 *
 * Such a store is a driver like a database: it reads the bytes with their
 * version, answers with the row, and replaces the bytes if the version is still
 * the same.  The version is the store's own, and is not in the bytes.
 */
#ifndef HF_SQL_RECORD_H
#define HF_SQL_RECORD_H

#include "backend/sql/sql.h"

/* Write the row into `out`, from its beginning, with the time of the store's
 * clock at which the rules decided (0 if that is not kept).  HF_OK or
 * HF_NOMEM. */
int hf__sql_record_write(const struct sql_row *row, int64_t now_us,
                         struct cell_bytes *out);

/* Read the row: is_there, news, plain, and state, which is borrowed from the
 * bytes; the rest is 0.  Without bytes there is no row.  HF_OK, or HF_CONFLICT
 * if holdfast has not written them. */
int hf__sql_record_read(const void *at, size_t len, struct sql_row *row,
                        int64_t *now_us);

#endif
