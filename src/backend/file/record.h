/* record.h: the record in a lock's file, or in the sidecar of a path. */
#ifndef HF_FILE_RECORD_H
#define HF_FILE_RECORD_H

#include "backend/file/lock.h"

/* Read the record, from `fd` or the sidecar.  HF_OK or a status. */
int hf__file_record_load(struct backend_conn *c, struct file_lock *l, int fd,
                         int is_locked, struct record *r);
/* Write it there, under the kernel lock.  HF_OK or a status. */
int hf__file_record_store(struct backend_conn *c, struct file_lock *l, int fd,
                          struct record *r);

/* 1 if `r` is a detached hold that lasts; `left_us` (may be NULL) how long. */
int hf__file_record_is_live(const struct backend_conn *c,
                            const struct record *r, int64_t now_us,
                            int64_t *left_us);

#endif
