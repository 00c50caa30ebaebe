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

/* Asks for no row of the table, but for what is told of its columns: why it
 * cannot be shared, or NULL.  Not by information_schema: that takes tables on
 * disk, of which a MariaDB 10.11 was seen to crash. */
extern const char hf__mysql_shed_table[];
const char *hf__mysql_shed_fault(MYSQL_RES *result, int *status);

/* Put the statements of the job into the packet, or answer it. */
void hf__mysql_shed_pack(struct backend_conn *c, struct sql_job *job);

/* The answer of READ, SWAP or LIST. */
void hf__mysql_shed_answer(struct sql_job *job, MYSQL_RES *result);

#endif
