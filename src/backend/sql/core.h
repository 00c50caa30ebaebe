/*
 * core.h: the core of a connection to a database, for the files of this folder.
 */
#ifndef HF_SQL_CORE_H
#define HF_SQL_CORE_H

#include "backend/sql/sql.h"

#define SQL_WHERE_MAX 160

struct sql_page;

struct sql_core {
    struct backend_env *env;
    struct backend_conn *conn;
    const struct sql_driver *driver;
    struct store *store;   /* the row that is loaded */
    struct request *first; /* submitted, without a job yet */
    struct request **last;
    struct sql_job *jobs; /* under way, the oldest first */
    struct sql_job **jobs_end;
    struct sql_job *spare; /* unused ones */
    struct sql_watch *watches;
    struct sql_page *page; /* of LIST; NULL until the first */
    int is_busy;           /* in flush(): do not nest */
    int quorum_of;         /* members of its quorum; 0 if it is in none */
    int member_is_meant;   /* member=ok */
    char member_fact[24];
    char where[SQL_WHERE_MAX];
};

/* Start a statement of the job now or, inside start(), when that has
 * returned. */
void hf__sql_job_step(struct sql_job *job, enum sql_step step);

/* Answer its request, and free it. */
void hf__sql_job_finish(struct sql_job *job, const struct reply *reply);

/* The same, with a reply of this verdict alone. */
void hf__sql_job_tell(struct sql_job *job, enum verdict verdict,
                      int64_t now_us);

/* Has its time run out? */
int hf__sql_job_is_late(const struct sql_job *job);

/* What the rules do not know: how the lock is stored, and the holder if it is
 * another program's.  `info` may be NULL. */
void hf__sql_row_tell(const struct sql_row *row, struct hf_info *info);

/* The first step of each verb that has its own file. */
void hf__sql_row_begin(struct sql_job *job);
void hf__sql_boot_begin(struct sql_job *job);
void hf__sql_ledger_begin(struct sql_job *job);
void hf__sql_watch_begin(struct sql_job *job);
void hf__sql_watch_end(struct sql_job *job);

/* SQL_WATCH and SQL_UNWATCH are answered. */
void hf__sql_watch_done(struct sql_job *job);
/* The job will not be answered by the driver. */
void hf__sql_watch_failed(struct sql_job *job);

void hf__sql_watch_free_all(struct sql_core *core);
/* Empty the page: a list that failed or is repeated starts anew. */
void hf__sql_page_begin(struct sql_core *core);
void hf__sql_page_free(struct sql_core *core);

#endif
