/* detached.h: holds that are a record. */
#ifndef HF_FILE_DETACHED_H
#define HF_FILE_DETACHED_H

#include "backend/file/lock.h"

int hf__file_detached_propose(struct backend_conn *c, struct file_lock *l,
                              struct request *req, struct reply *reply);
int hf__file_detached_renew(struct backend_conn *c, struct file_lock *l,
                            struct request *req, struct reply *reply);
int hf__file_detached_release(struct backend_conn *c, struct file_lock *l,
                              struct request *req, struct reply *reply);

/* Answer VERB_BREAK: no other hold can be broken. */
int hf__file_detached_break(struct backend_conn *c, struct request *req,
                            struct reply *reply);

#endif
