/* hold.h: holds that are a kernel lock. */
#ifndef HF_FILE_HOLD_H
#define HF_FILE_HOLD_H

#include "backend/file/lock.h"

/* One kernel hold. */
struct file_hold {
    struct file_hold *next;
    int fd;            /* its own open file description; -1: of a writer that
                        * also reads, within its other hold */
    struct file_id id; /* of that fd */
    int shared;
    char owner[OWNER_LEN_MAX];
    uint64_t attempt;
    int64_t ballot;
    int64_t fence;
    int64_t counter; /* highest number in the record, as far as we know */
    int64_t count;
    int64_t deadline_us; /* TIME_NEVER: as long as the process lives */
};

/* Answer VERB_PROPOSE, VERB_RENEW and VERB_RELEASE, also of a detached hold. */
int hf__file_hold_propose(struct backend_conn *c, struct request *req,
                          struct reply *reply);
int hf__file_hold_renew(struct backend_conn *c, struct request *req,
                        struct reply *reply);
int hf__file_hold_release(struct backend_conn *c, struct request *req,
                          struct reply *reply);

/* Give a kernel hold back.  1 if others wait. */
int hf__file_hold_drop(struct backend_conn *c, struct file_lock *l,
                       struct file_hold *h);

/* Fill it in as granted by `req`, with the record's numbers. */
void hf__file_hold_set(struct backend_conn *c, struct file_hold *h,
                       const struct request *req, const struct record *r);

/* End the holds whose fixed lease is over. */
void hf__file_holds_expire(struct backend_conn *c, int64_t now_us);

#endif
