/* script.h: statements that are one transaction. */
#ifndef HF_MYSQL_SCRIPT_H
#define HF_MYSQL_SCRIPT_H

#include "backend/mysql/mysql.h"

/* Put job->script into the packet; the number of its statements. */
unsigned hf__mysql_script_write(struct text *t, const struct sql_job *job);

/* The result of its last statement. */
void hf__mysql_script_answer(struct sql_job *job, MYSQL_RES *result);

/* It failed by this error: its transaction is to be rolled back.  Was it
 * refused in a way that a script tells?  Then it was answered. */
int hf__mysql_script_refuse(struct link *l, struct sql_job *job, unsigned code);

/* A packet begins: first end the transaction of a script that failed. */
void hf__mysql_script_clear(struct link *l);

#endif
