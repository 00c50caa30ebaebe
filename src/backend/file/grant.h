/* grant.h: the rule of acceptance, and what is written down with a grant. */
#ifndef HF_FILE_GRANT_H
#define HF_FILE_GRANT_H

#include "backend/file/lock.h"

/* The acceptance rule.  1, or 0 with `reply` filled. */
int hf__file_grant_accept(const struct backend_conn *c,
                          const struct request *req, const struct record *r,
                          int64_t wall_us, struct reply *reply);

/* Make `r` what a granted proposal writes. */
void hf__file_grant_record(struct backend_conn *c, const struct request *req,
                           struct record *r, int64_t wall_us);

/* The kernel lock on `fd` is ours: may we have the lock?  HF_OK (and it is
 * written down), FILE_BUSY with `reply` filled, or a status. */
int hf__file_grant_check(struct backend_conn *c, struct file_lock *l, int fd,
                         const struct request *req, struct record *r,
                         struct reply *reply);

/* When the lease that is asked for ends; TIME_NEVER. */
int64_t hf__file_grant_deadline(const struct request *req);

#endif
