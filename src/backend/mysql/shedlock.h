/*
 * shedlock.h: layout=shedlock: rows of ShedLock's table.  What they mean is
 * src/backend/sql/shedlock.h's; here is what the server is asked.
 */
#ifndef HF_MYSQL_SHEDLOCK_H
#define HF_MYSQL_SHEDLOCK_H

#include "backend/mysql/mysql.h"
#include "backend/mysql/row.h"
#include "backend/sql/shedlock.h"

/* What makes the table, NULL behind the last. */
extern const char *const hf__mysql_shed_schema[];

/* Fails if there is no such table, or no right to read it. */
extern const char hf__mysql_shed_probe[];
/* Columns: struct shed_table, in its order: why the table cannot be shared, or
 * NULL. */
extern const char hf__mysql_shed_table[];
const char *hf__mysql_shed_fault(const struct fields *f, int *status);

/* Put the statements of the job into the packet, or answer it. */
void hf__mysql_shed_pack(struct backend_conn *c, struct sql_job *job);

/* The answer of READ, SWAP or LIST. */
void hf__mysql_shed_answer(struct sql_job *job, MYSQL_RES *result);

#endif
