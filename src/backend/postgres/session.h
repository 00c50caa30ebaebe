/*
 * session.h: session=on: locks that are advisory locks of the connection.
 *
 * The rows are kept by src/backend/sql/session.c; here is what the server is
 * asked.
 */
#ifndef HF_POSTGRES_SESSION_H
#define HF_POSTGRES_SESSION_H

#include "backend/postgres/key.h"
#include "backend/postgres/params.h"
#include "backend/postgres/postgres.h"
#include "backend/sql/session.h"

extern const struct sql_driver hf__session_driver;

/* What a link needs before its first lock.  0, or -1: not sent. */
int hf__session_greet(struct link *l);

/* The server waits for at least as long as the lease of the request.  0, or -1:
 * the link is down now. */
int hf__session_horizon_reach(struct backend_conn *c,
                              const struct request *req);

/* ---- session_job.c ---- */
/* Send what waits in the queue; the link is up. */
void hf__session_jobs_send(struct backend_conn *c);

/* The server has answered what one of the jobs was sent as. */
void hf__session_answer(struct backend_conn *c, struct sql_job *job,
                        const PGresult *result);

/* The server has refused it.  1 if that has ended the link, and with it the
 * job. */
int hf__session_failed(struct backend_conn *c, const struct sql_job *job,
                       int status, const char *why);

/* ---- session_end.c ---- */
/* The name, as the first parameter; `key` is borrowed by it. */
void hf__session_name_put(struct params *p, const char *name, size_t len,
                          char key[KEY_TEXT_MAX]);

/* Give the lock of the job's name back.  0, or -1: the link is down now. */
int hf__session_unlock_send(struct backend_conn *c, struct sql_job *job);

/* The same of a row, for which no job waits. */
int hf__session_row_unlock(struct backend_conn *c,
                           const struct session_row *row);

/* Give back what has ended. */
int hf__session_expire(struct backend_conn *c);

#endif
