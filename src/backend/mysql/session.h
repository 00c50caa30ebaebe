/*
 * session.h: session=on: locks that are user locks of the connection,
 * GET_LOCK().  The rows are kept by src/backend/sql/session.c; here is what the
 * server is asked.
 */
#ifndef HF_MYSQL_SESSION_H
#define HF_MYSQL_SESSION_H

#include "backend/mysql/mysql.h"
#include "backend/mysql/row.h"
#include "backend/sql/session.h"

#define LOCK_NAME_MAX 65 /* of MySQL, and a NUL */

extern const struct sql_driver hf__mysql_session_driver;

/* The name by which the server knows a lock: the name itself if it is plain
 * ASCII of at most 60 characters, else "hf:" and a hash of it. */
void hf__mysql_session_key(const char *name, size_t len,
                           char out[LOCK_NAME_MAX]);

/* Which connection answers the greeting?  And then: what the session needs, and
 * which connection answers that? */
void hf__mysql_session_greet(struct link *l);
void hf__mysql_session_more(struct link *l);
/* Is the answer from the connection that was made?  If not, a proxy is in
 * between, and the link is down now. */
int hf__mysql_session_check(struct link *l, const struct fields *f);

/* Give back what has ended, and put what waits in the queue into the packet. */
void hf__mysql_session_pack(struct backend_conn *c);

/* The statement of the job has this result. */
void hf__mysql_session_answer(struct backend_conn *c, struct sql_job *job,
                              MYSQL_RES *result);

/* Which of the watched names are free? */
unsigned hf__mysql_session_write_look(struct text *t,
                                      const struct sql_core *core);
/* Returns whether any is. */
int hf__mysql_session_looked(struct backend_conn *c, MYSQL_RES *result);

#endif
