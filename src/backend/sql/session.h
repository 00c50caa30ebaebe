/*
 * session.h: locks that live and die with a connection, on a server that has
 * such locks.
 *
 * A hold is kept here, as a row in memory, and by the server, as a lock of the
 * connection.  The core reads and swaps the row as it does with one of a table;
 * the driver sends a swap as one of these statements:
 *
 *   a swap makes the row    and the server has it   asks
 *     held                    no                      SESSION_TRIES
 *     held                    yes                     SESSION_PROVES it
 *     free                    yes                     SESSION_FREES
 *     free                    no                      nothing
 *
 * The row is changed when its statement is sent, so that the order of the
 * statements is that of the rows.
 */
#ifndef HF_SQL_SESSION_H
#define HF_SQL_SESSION_H

#include "backend/sql/queue.h"
#include "backend/sql/sql.h"

#define SESSION_BUCKETS 256
#define SESSION_CAPS (HF_CAP_LEASE | HF_CAP_WATCH)

/* What a swap asks of the server, in sql_job.priv. */
#define SESSION_TRIES 4u
#define SESSION_PROVES 8u
#define SESSION_FREES 16u

/* The server must not end a silent connection before its holds have ended. */
#define SESSION_HORIZON_S_MIN 60

struct session_row {
    struct session_row *next;
    struct cell_plain plain;
    int64_t version;
    int is_locked; /* the server has the lock, or will have it */
    size_t name_len;
    char name[];
};

struct session {
    const struct allocator *alloc;
    struct session_row *rows[SESSION_BUCKETS];
    int64_t base_us; /* wall clock minus local clock, when opened */
    int64_t version; /* the last version given to a row */
    int64_t ends_us; /* the earliest end of a hold, or earlier */
    int horizon_s;   /* how long the server waits for a silent client */
    int is_sending;  /* while jobs are sent a SWAP goes to the front */
};

/* NULL without memory. */
struct session *hf__sql_session_open(const struct allocator *alloc);
void hf__sql_session_free(struct session *s); /* NULL: nothing */

/* The time for its rows: the wall clock as it was when opened, counted on by
 * the local clock, which is never set. */
int64_t hf__sql_session_now_us(const struct session *s);

/* When a hold ends, by the client's clock; TIME_NEVER; `s` may be NULL. */
int64_t hf__sql_session_due_us(const struct session *s);

/* Take out the next row whose hold has ended; the caller unlocks its name and
 * frees it with hf__free(s->alloc).  NULL if there is none; then ends_us is the
 * time of the next one. */
struct session_row *hf__sql_session_expired(struct session *s);

/* The link to the row of a name, or to NULL; and drop a row by its link. */
struct session_row **hf__sql_session_row(struct session *s, const char *name,
                                         size_t len);
void hf__sql_session_drop(struct session *s, struct session_row **at);

/* The connection is lost, and every lock with it.  Returns whether there were
 * any. */
int hf__sql_session_forget(struct session *s);

/* Answer a READ with the row. */
void hf__sql_session_read(struct session *s, struct sql_job *job);

/* A SWAP is about to be sent: change the row.  Returns the SESSION_* statement
 * to send, which is in job->priv, too; 0 if the job is answered already. */
unsigned hf__sql_session_swap(struct session *s, struct sql_job *job);

/* The server has answered the statement.  `is_done` (TRIES, PROVES): the server
 * has the lock for this connection.  After FREES the driver may have set
 * job->reply.waiters. */
void hf__sql_session_swapped(struct session *s, struct sql_job *job,
                             int is_done);

/* The row that the job has made; NULL if it was changed since. */
struct session_row **hf__sql_session_row_of(struct session *s,
                                            const struct sql_job *job);

/* Must the server be asked?  So it must for a name that no hold of this
 * connection has. */
int hf__sql_session_is_foreign(struct session *s, const struct request *req);
/* Answer such a request: `holder` (NULL if the name is free) has the lock, from
 * `host`. */
void hf__sql_session_looked(struct session *s, struct sql_job *job,
                            const char *holder, const char *host,
                            const char *layout, int is_foreign);

/* The driver's start(): put the job into the queue, or answer it.  Returns
 * whether it is in the queue. */
int hf__sql_session_start(struct session *s, struct sql_queue *queue,
                          struct sql_job *job, int is_up);

#endif
