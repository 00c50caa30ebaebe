/*
 * shedlock.h: layout=shedlock: plain locks in the table of ShedLock, a library
 * for Java.
 *
 *   shedlock(name, lock_until, locked_at, locked_by)
 *
 * A lock is held while lock_until is later than the server's clock, as ShedLock
 * counts with usingDbTime().  locked_by is text: a host name of ShedLock's, or
 * what this file writes:
 *
 *   holdfast OWNER ATTEMPT NUMBER COUNTER COUNT FLAGS PID HOST LABEL
 *
 * A row is read, the rules are applied, and the row is replaced if lock_until
 * and locked_by are what was read: that is all that the row has, so no version
 * is needed.  A driver has READ, SWAP, LIST and FACTS; the rest is refused.
 */
#ifndef HF_SQL_SHEDLOCK_H
#define HF_SQL_SHEDLOCK_H

#include "backend/sql/sql.h"
#include "base/url.h"

#define SHED_CAPS (HF_CAP_LEASE | HF_CAP_DETACHED | HF_CAP_BREAK | HF_CAP_LIST)
#define SHED_NAME_MAX 64 /* bytes; ShedLock's column has as many characters */
#define SHED_BY_MAX 255  /* characters of locked_by */

/* A row of the table, as it was read: times in microseconds, of which
 * SHED_NEVER_US is any that is later.  What it points to is borrowed. */
#define SHED_NEVER_US INT64_C(7258118400000000) /* the year 2200 */
struct shed_row {
    int is_there;
    int64_t id; /* LIST: its place in the order of the names, from 1 on */
    const char *name;
    size_t name_len;
    int64_t until_us, at_us;
    const char *by; /* with a NUL behind it */
};

/* The table, as the server describes it. */
struct shed_table {
    int is_there;
    int64_t columns;   /* that have the four names */
    int64_t times;     /* of lock_until and locked_at, those that keep times
                        * without a zone in milliseconds or finer */
    int64_t keys;      /* unique indexes on name alone */
    int64_t by_length; /* what locked_by has room for */
};

/* What a SWAP has to do. */
struct shed_next {
    int is_nothing;   /* the row is to stay as it is: the SWAP is done */
    int is_new;       /* insert it, if the name has no row */
    int64_t seen_us;  /* lock_until as it was read, */
    const char *seen; /* and locked_by */
    int64_t until_us; /* whole milliseconds, */
    int64_t at_us;    /* and so is this; -1: locked_at stays as it is */
    char by[SHED_BY_MAX + 1];
};

/* Read the option layout=, and refuse what cannot be asked together with it. */
int hf__sql_shed_option(const struct url *url, int is_session, int *out,
                        struct hf_error *err);

/* 1: it was refused; 0: the driver goes on with it. */
int hf__sql_shed_refuses(struct sql_job *job);

/* Why the table cannot be shared, or NULL; the status with it. */
const char *hf__sql_shed_table_fault(const struct shed_table *table,
                                     int *status);

/* A READ, or a SWAP that has matched nothing: tell the core the row. */
void hf__sql_shed_answer(struct sql_job *job, const struct shed_row *row,
                         int64_t now_us);

/* LIST: the next row. */
void hf__sql_shed_list(struct sql_job *job, const struct shed_row *row,
                       int64_t now_us);

/* What the SWAP of the job is; it borrows from the job. */
void hf__sql_shed_next(const struct sql_job *job, struct shed_next *next);

#endif
