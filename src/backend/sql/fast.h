/*
 * fast.h: what the drivers share that decide a plain lock by one statement.
 */
#ifndef HF_SQL_FAST_H
#define HF_SQL_FAST_H

#include "backend/sql/sql.h"

/* The lease in milliseconds, rounded up. */
int64_t hf__sql_fast_lease_ms(const struct request *req);

/* Bytes of req->info that are stored. */
size_t hf__sql_fast_info_len(const struct request *req);

/* What is left of a hold. */
int64_t hf__sql_fast_left_us(int64_t ends_us, int64_t now_us);

/* A PROPOSE has changed nothing: say why, from its row.  1, or 0: the row gives
 * no reason, and the core decides. */
int hf__sql_fast_refused(const struct request *req, const struct sql_row *row,
                         int64_t now_us, struct reply *rep);

/* What no node would look at, the core refuses when it has the row. */
int hf__sql_fast_is_refused(const struct request *req);

/* What a RELEASE tells of the waiters: 0: there are none, -1: some may be. */
int64_t hf__sql_fast_waiters(int64_t waits_us, int64_t now_us);

#endif
