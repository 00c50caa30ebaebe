/* script.h: statements that are one transaction. */
#ifndef HF_POSTGRES_SCRIPT_H
#define HF_POSTGRES_SCRIPT_H

#include "backend/postgres/postgres.h"

/* Send job->script.  0, or -1: the link is down now. */
int hf__postgres_script_send(struct backend_conn *c, struct sql_job *job);

/* Its answer: that of the last statement, or of the first that failed. */
void hf__postgres_script_answer(struct sql_job *job, const PGresult *result);

/* Was it refused in a way that a script tells?  Then it was answered. */
int hf__postgres_script_refuse(struct sql_job *job, const PGresult *result);

#endif
