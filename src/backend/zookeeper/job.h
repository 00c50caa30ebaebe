/*
 * job.h: the engine's requests, from the first step to the reply.
 */
#ifndef HF_ZOOKEEPER_JOB_H
#define HF_ZOOKEEPER_JOB_H

#include "backend/backend.h"

struct look;
struct page;

/* A request that is being carried out. */
struct job {
    struct job *next, **link; /* all that are open */
    struct job *next_waiting; /* in conn.waiting, or conn.proving */
    struct request *req;
    int is_begun;         /* it left conn.waiting */
    int is_lost;          /* with the link */
    int may_have_changed; /* a call that writes is under way */
    struct look *look;    /* INSPECT, BREAK */
    struct page *page;    /* LIST */
};

/* backend->submit(); and what was submitted is begun, or waits. */
void hf__zookeeper_jobs_submit(struct backend_conn *c, struct request *req);
void hf__zookeeper_jobs_flush(struct backend_conn *c);
/* The link is up: begin those that wait. */
void hf__zookeeper_jobs_begin(struct backend_conn *c);
/* The session has answered: those that it carries now are done. */
void hf__zookeeper_jobs_prove(struct backend_conn *c);
/* The link is lost, or none will come: answer all that there are. */
void hf__zookeeper_jobs_fail(struct backend_conn *c, int status,
                             const char *text);
/* Answer those whose time is over; 1 if the link is to be given up. */
int hf__zookeeper_jobs_expire(struct backend_conn *c, int64_t now_us);
int64_t hf__zookeeper_jobs_due_us(const struct backend_conn *c);

/* Answer one, and free it.  NULL: nothing happens. */
void hf__zookeeper_reply(struct backend_conn *c, struct job *job,
                         const struct reply *reply);
void hf__zookeeper_tell(struct backend_conn *c, struct job *job,
                        enum verdict verdict);
/* The store's own word: V_ERROR, and nothing was changed. */
void hf__zookeeper_refuse(struct backend_conn *c, struct job *job, int status,
                          const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same, of an error of the server's. */
void hf__zookeeper_refuse_error(struct backend_conn *c, struct job *job,
                                int32_t err);

/* ---- look.c ---- */
void hf__zookeeper_look_begin(struct backend_conn *c, struct job *job);
void hf__zookeeper_look_free(struct backend_conn *c, struct look *look);
void hf__zookeeper_list_begin(struct backend_conn *c, struct job *job);
void hf__zookeeper_list_free(struct backend_conn *c);
void hf__zookeeper_page_free(struct backend_conn *c, struct page *page);

#endif
