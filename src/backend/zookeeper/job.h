/*
 * job.h: jobs: the engine's requests, from the first call to the reply.
 */
#ifndef HF_ZOOKEEPER_JOB_H
#define HF_ZOOKEEPER_JOB_H

#include "backend/backend.h"

struct look;
struct page;

/* A request that is being carried out. */
struct job {
    struct job *next, **link; /* the list of all open jobs */
    struct job *next_waiting; /* in conn.waiting, or conn.proving */
    struct request *req;
    int is_begun;         /* it has left conn.waiting */
    int is_lost;          /* the link was lost under it */
    int may_have_changed; /* a call that writes is under way */
    struct look *look;    /* INSPECT, BREAK */
    struct page *page;    /* LIST */
};

/* backend->submit(); and begin what was submitted, or let it wait. */
void hf__zookeeper_jobs_submit(struct backend_conn *c, struct request *req);
void hf__zookeeper_jobs_flush(struct backend_conn *c);
/* The link is up: begin those that wait. */
void hf__zookeeper_jobs_begin(struct backend_conn *c);
/* The session has answered: finish the jobs whose lease it covers now. */
void hf__zookeeper_jobs_prove(struct backend_conn *c);
/* The link is lost, or none will come: answer all jobs. */
void hf__zookeeper_jobs_fail(struct backend_conn *c, int status,
                             const char *text);
/* Answer the jobs whose deadline has passed; 1 if the link must be given up. */
int hf__zookeeper_jobs_expire(struct backend_conn *c, int64_t now_us);
int64_t hf__zookeeper_jobs_due_us(const struct backend_conn *c);

/* Answer a job, and free it; NULL is ignored. */
void hf__zookeeper_reply(struct backend_conn *c, struct job *job,
                         const struct reply *reply);
void hf__zookeeper_tell(struct backend_conn *c, struct job *job,
                        enum verdict verdict);
/* Refuse a job by V_ERROR: nothing was changed. */
void hf__zookeeper_refuse(struct backend_conn *c, struct job *job, int status,
                          const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same, with the meaning of a server's error. */
void hf__zookeeper_refuse_error(struct backend_conn *c, struct job *job,
                                int32_t err);

/* ---- look.c ---- */
void hf__zookeeper_look_begin(struct backend_conn *c, struct job *job);
void hf__zookeeper_look_free(struct backend_conn *c, struct look *look);
void hf__zookeeper_list_begin(struct backend_conn *c, struct job *job);
void hf__zookeeper_list_free(struct backend_conn *c);
void hf__zookeeper_page_free(struct backend_conn *c, struct page *page);

#endif
