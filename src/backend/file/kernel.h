/* kernel.h: the kernel lock on the file that a name means. */
#ifndef HF_FILE_KERNEL_H
#define HF_FILE_KERNEL_H

#include "backend/file/lock.h"

#define REOPENS_MAX 64 /* a file that is replaced again and again */

struct kernel_lock;

/* Lock the file that the name means now; idle_fd has it then.  HF_OK,
 * FILE_ABSENT, FILE_BUSY, or a status with c->err. */
int hf__file_kernel_take(struct backend_conn *c, struct file_lock *l,
                         int operation, enum file_opening how);

/* Unlock `fd` and notify the waiters.  1 if there are any. */
int hf__file_kernel_drop(struct file_lock *l, int fd);

/* Is `fd` locked?  Asks by trying; the caller notifies waiters afterwards. */
int hf__file_kernel_probe(int fd, struct kernel_lock *out);

#endif
