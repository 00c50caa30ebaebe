/* fast.h: a plain lock by one statement. */
#ifndef HF_POSTGRES_FAST_H
#define HF_POSTGRES_FAST_H

#include "backend/postgres/postgres.h"

#define RENEWALS_MAX 128 /* of one statement */

/* Send the statement of a PROPOSE or RELEASE.  0, or -1: the link is down. */
int hf__postgres_fast_send(struct backend_conn *c, struct sql_job *job);

/* Send one statement for many renewals, which agree in JOB_SKIPS. */
int hf__postgres_fast_renew(struct backend_conn *c, struct sql_job **jobs,
                            size_t len);

/* The answer for one job is the row at `at`. */
void hf__postgres_fast_answer(struct backend_conn *c, struct sql_job *job,
                              const PGresult *result, int at);

#endif
