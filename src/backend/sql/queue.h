/*
 * queue.h: jobs of a server's store that wait for the connection.
 */
#ifndef HF_SQL_QUEUE_H
#define HF_SQL_QUEUE_H

#include "backend/sql/sql.h"

/* Linked by sql_job.next_queued. */
struct sql_queue {
    struct sql_job *first, *last;
};

void hf__sql_queue_push(struct sql_queue *q, struct sql_job *job);

/* Take the first job, or NULL. */
struct sql_job *hf__sql_queue_take(struct sql_queue *q);

/* Empty the queue; the core still has the jobs. */
void hf__sql_queue_drop(struct sql_queue *q);

/* Fail the jobs whose deadline has passed: `err` says why, and begins with
 * `where`; without an error the connection is not there yet.  Returns whether
 * there were any. */
int hf__sql_queue_expire(struct sql_queue *q, int64_t now_us, const char *where,
                         const struct hf_error *err);

#endif
