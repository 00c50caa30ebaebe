/* notify.h: how waiters learn of a release. */
#ifndef HF_FILE_NOTIFY_H
#define HF_FILE_NOTIFY_H

#include "backend/file/lock.h"

#define WAITER_OFFSET (1 << 20) /* waiters lock this byte */

/* Notify the waiters on the record's file (`l` may be NULL).  1 if others than
 * this connection wait. */
int hf__file_notify_waiters(const struct file_lock *l, int fd);

/* Show by a byte-range lock that this client waits: F_RDLCK; or no longer:
 * F_UNLCK. */
void hf__file_notify_mark(int fd, short type);

/* Listen to what happens to the record's file, and the locked path. */
void hf__file_notify_listen(struct backend_conn *c);
void hf__file_notify_add(struct backend_conn *c, struct file_lock *l);
void hf__file_notify_remove(struct backend_conn *c, int *wd);

/* Read what has happened, and note the locks to be woken.  1 if anything. */
int hf__file_notify_read(struct backend_conn *c);

#endif
