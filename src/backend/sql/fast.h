/*
 * fast.h: shared by the drivers that decide a plain lock by one statement.
 */
#ifndef HF_SQL_FAST_H
#define HF_SQL_FAST_H

#include "backend/sql/sql.h"

/* The lease in milliseconds, rounded up. */
int64_t hf__sql_fast_lease_ms(const struct request *req);

/* Bytes of req->info that are stored. */
size_t hf__sql_fast_info_len(const struct request *req);

/* The time that is left of a hold. */
int64_t hf__sql_fast_left_us(int64_t ends_us, int64_t now_us);

/* Answer a PROPOSE that has changed nothing, from its row: 1; or 0 if the row
 * gives no reason, and the core must decide. */
int hf__sql_fast_refused(const struct request *req, const struct sql_row *row,
                         int64_t now_us, struct reply *rep);

/* 1 for a request that every node would refuse; the core does that when it has
 * the row. */
int hf__sql_fast_is_refused(const struct request *req);

/* The waiters that a RELEASE reports: 0 if there are none, -1 if there may be
 * some. */
int64_t hf__sql_fast_waiters(int64_t waits_us, int64_t now_us);

#endif
