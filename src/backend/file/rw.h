/* rw.h: the sides of a read/write lock. */
#ifndef HF_FILE_RW_H
#define HF_FILE_RW_H

#include "backend/file/hold.h"

/* Answer a new proposal that needs no kernel lock, or can have none; else 0. */
int hf__file_rw_propose(struct backend_conn *c, struct file_lock *l,
                        const struct request *req, struct reply *reply);

/* The hold `h`, unlinked already, is given back: 1 if its kernel lock is not to
 * be dropped, for it has none, or a reader within it keeps it. */
int hf__file_rw_drop(const struct file_lock *l, struct file_hold *h);

/* The open file description that the hold rests on. */
int hf__file_rw_fd(const struct file_lock *l, const struct file_hold *h);

#endif
