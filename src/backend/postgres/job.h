/* job.h: the core's jobs as statements, and the answers. */
#ifndef HF_POSTGRES_JOB_H
#define HF_POSTGRES_JOB_H

#include "backend/postgres/postgres.h"

/* Send the statements of all jobs that wait in the queue; the link is up. */
void hf__postgres_jobs_send(struct backend_conn *c);

/* The answer of a FLIGHT_JOB. */
void hf__postgres_job_answer(struct backend_conn *c, const struct flight *f,
                             int is_error);

/* Send this statement for the job.  0, or -1: the link is down now. */
int hf__postgres_job_send(struct backend_conn *c, struct sql_job *job,
                          int statement, const struct params *p);

/* Which data the server has, or why it does not say. */
void hf__postgres_system_answer(struct backend_conn *c, const PGresult *result);

#endif
