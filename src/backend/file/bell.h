/* bell.h: how a release is heard. */
#ifndef HF_FILE_BELL_H
#define HF_FILE_BELL_H

#include "backend/file/lock.h"

#define BELL_OFFSET (1 << 20) /* waiters lock this byte */

/* Ring for the waiters on the record's file (`l` may be NULL).  1 if others
 * than this connection wait. */
int hf__file_bell_ring(const struct file_lock *l, int fd);

/* Show by a byte-range lock that this client waits: F_RDLCK, or F_UNLCK. */
void hf__file_bell_hang(int fd, short type);

/* Listen to what happens to the bell's file, and the locked path. */
void hf__file_bell_listen(struct backend_conn *c);
void hf__file_bell_add(struct backend_conn *c, struct file_lock *l);
void hf__file_bell_remove(struct backend_conn *c, int *wd);

/* Take what was heard: marks the locks to be woken.  1 if there was any. */
int hf__file_bell_read(struct backend_conn *c);

#endif
