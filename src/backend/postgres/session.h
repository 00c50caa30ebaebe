/*
 * session.h: session=on: locks that are advisory locks of the connection.
 *
 * A hold is kept here, as a row in memory, and by the server, as an advisory
 * lock that ends with the connection.  The core reads and swaps the row as it
 * does with one of a table; a swap asks the server first.
 */
#ifndef HF_POSTGRES_SESSION_H
#define HF_POSTGRES_SESSION_H

#include "backend/postgres/key.h"
#include "backend/postgres/params.h"
#include "backend/postgres/postgres.h"

#define SESSION_BUCKETS 256

struct session_row {
    struct session_row *next;
    struct cell_plain plain;
    int64_t version;
    int is_locked; /* the server has it, or will when it has read our words */
    size_t name_len;
    char name[];
};

struct session {
    struct session_row *rows[SESSION_BUCKETS];
    int64_t base_us; /* of the clock */
    int64_t version; /* the last one given to a row */
    int64_t ends_us; /* the earliest end of a hold, or earlier */
    int horizon_s;   /* how long the server waits for a silent client */
    int is_sending;  /* what follows from a row comes before the rest */
};

extern const struct sql_driver hf__session_driver;

#define SESSION_CAPS (HF_CAP_LEASE | HF_CAP_WATCH)

/* 0, or -1: no memory. */
int hf__session_open(struct backend_conn *c);
void hf__session_free(struct backend_conn *c);

/* The clock by which its rows count: the wall clock at the open, and from then
 * on one that cannot be set. */
int64_t hf__session_now_us(const struct backend_conn *c);

/* What a link needs before its first lock.  0, or -1: not sent. */
int hf__session_greet(struct link *l);

/* The server waits for at least as long as the lease of the request.  0, or -1:
 * the link is down now. */
int hf__session_horizon_reach(struct backend_conn *c,
                              const struct request *req);

/* Where the row of a name is, or belongs; make one (NULL: no memory); forget
 * it; tell it to a job. */
struct session_row **hf__session_row(struct session *s, const char *name,
                                     size_t len);
struct session_row *hf__session_row_make(struct backend_conn *c,
                                         const char *name, size_t len);
void hf__session_row_drop(struct backend_conn *c, struct session_row **at);
void hf__session_row_answer(struct backend_conn *c, struct sql_job *job);

/* The connection is lost, and every lock with it.  Returns whether there were
 * any. */
int hf__session_forget(struct backend_conn *c);

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

/* Give back what has ended, and when to call this again. */
int hf__session_expire(struct backend_conn *c);
int64_t hf__session_due_us(const struct backend_conn *c);

#endif
