/* job.h: the core's jobs as statements, and the answers. */
#ifndef HF_MYSQL_JOB_H
#define HF_MYSQL_JOB_H

#include "backend/mysql/mysql.h"

/* Put the statements of the jobs that wait in the queue into the packet, as far
 * as there is room. */
void hf__mysql_jobs_pack(struct backend_conn *c);

/* The last statement of the job has this result. */
void hf__mysql_job_answer(struct backend_conn *c, struct sql_job *job,
                          MYSQL_RES *result);

/* One of its statements was refused. */
void hf__mysql_job_refuse(struct backend_conn *c,
                          const struct packet_item *item, unsigned code,
                          int status, const char *text);

#endif
