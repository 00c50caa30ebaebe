/* flight.h: statements that the server has not answered yet. */
#ifndef HF_POSTGRES_FLIGHT_H
#define HF_POSTGRES_FLIGHT_H

#include <libpq-fe.h>
#include <stddef.h>
#include <stdint.h>

struct link;
struct sql_job;
struct params;

enum flight_kind {
    FLIGHT_GREET_FACTS, /* the first: which server answers */
    FLIGHT_GREET,       /* others without which the link is no use */
    FLIGHT_GREET_LAST,
    FLIGHT_SYSTEM, /* which data the server has; it may refuse to tell */
    FLIGHT_JOB,    /* a statement of `jobs`: one, or many renewals */
    FLIGHT_SCRIPT, /* the statements of one job */
    FLIGHT_LISTEN, /* no answer is needed, but an error is told */
    FLIGHT_MARK    /* the same; then the waiters of `name` ask again */
};

struct flight {
    struct flight *next;
    enum flight_kind kind;
    /* The first that came; of a SCRIPT the last, or the error that ended it.
     * NULL: none yet. */
    PGresult *result;
    size_t jobs_len;
    size_t name_len;
    struct sql_job **jobs;
    char *name;
};

/* First in, first out. */
struct flights {
    struct flight *first, *last;
};

/* A flight for the statement that was just given to libpq, with its sync.
 * `jobs` and `name` are copied, and may be NULL.  NULL: no memory. */
struct flight *hf__postgres_flight_add(struct link *l, enum flight_kind kind,
                                       struct sql_job *const *jobs,
                                       size_t jobs_len);
struct flight *hf__postgres_flight_add_named(struct link *l,
                                             enum flight_kind kind,
                                             const char *name, size_t name_len);

/* Run a statement, which is prepared before its first use on the link
 * (flight_send, enum statement), or a text without parameters (flight_say).  0,
 * or -1: libpq has no memory, or the connection is gone; the link is to be
 * given up. */
int hf__postgres_flight_send(struct link *l, int statement,
                             const struct params *p);
int hf__postgres_flight_prepare(struct link *l, int statement);
int hf__postgres_flight_say(struct link *l, const char *sql);

/* Take what libpq has read, and answer.  Returns whether anything was done. */
int hf__postgres_flights_take(struct link *l);

/* Forget them all; nothing is answered. */
void hf__postgres_flights_drop(struct link *l);

#endif
