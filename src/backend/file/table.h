/* table.h: the names in use. */
#ifndef HF_FILE_TABLE_H
#define HF_FILE_TABLE_H

#include "backend/file/lock.h"

#define IDLE_LOCKS_MAX 64 /* lock files kept open without a hold */

/* The lock of that name, made if there is none; NULL: no memory. */
struct file_lock *hf__file_table_get(struct backend_conn *c, const char *name,
                                     size_t len);

/* It has one hold or watch more, or less: only without any it is idle. */
void hf__file_table_pin(struct backend_conn *c, struct file_lock *l);
void hf__file_table_unpin(struct backend_conn *c, struct file_lock *l);

/* Close and forget the least recently used beyond IDLE_LOCKS_MAX. */
void hf__file_table_trim(struct backend_conn *c);

/* Close everything; in a forked child that unlocks nothing. */
void hf__file_table_shut(struct backend_conn *c);

/* Free everything, after that. */
void hf__file_table_free(struct backend_conn *c);

#endif
