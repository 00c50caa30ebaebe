/*
 * shedlock.h: layout=shedlock: rows of ShedLock's table.  What they mean is
 * src/backend/sql/shedlock.h's; here is what the server is asked.
 */
#ifndef HF_POSTGRES_SHEDLOCK_H
#define HF_POSTGRES_SHEDLOCK_H

#include "backend/postgres/postgres.h"
#include "backend/sql/shedlock.h"

/* What makes the table, NULL behind the last. */
extern const char *const hf__postgres_shed_schema[];

/* What hf__postgres_shed_table has told: why the table cannot be shared, or
 * NULL. */
const char *hf__postgres_shed_fault(const PGresult *result, int *status);

/* Send the statement of READ, SWAP or LIST.  0, or -1: the link is down. */
int hf__postgres_shed_send(struct backend_conn *c, struct sql_job *job);

/* Its answer. */
void hf__postgres_shed_answer(struct backend_conn *c, struct sql_job *job,
                              const PGresult *result);

#endif
