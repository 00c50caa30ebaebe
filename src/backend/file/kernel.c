/*
 * kernel.c: the kernel lock.  One rule: a lock counts only if, after taking it,
 * the name still means the file that was locked; otherwise two processes could
 * hold two files of one name.
 */
#include <errno.h>
#include <sys/file.h>

#include "backend/file/error.h"
#include "backend/file/kernel.h"
#include "backend/file/lock.h"
#include "backend/file/notify.h"
#include "backend/file/proc.h"

static int flock_now(int fd, int operation)
{
    int failed;
    do {
        failed = flock(fd, operation | LOCK_NB);
    } while (failed && errno == EINTR);
    return failed ? errno : 0;
}

int hf__file_kernel_take(struct backend_conn *c, struct file_lock *l,
                         int operation, enum file_opening how)
{
    for (int i = 0; i < REOPENS_MAX; i++) {
        int status = hf__file_lock_open(c, l, how);
        if (status != HF_OK) return status;
        int refused = flock_now(l->idle_fd, operation);
        if (refused && refused != EWOULDBLOCK)
            return hf__file_fail(c, "flock", l->is_path ? l->name : l->file,
                                 refused);
        if (hf__file_lock_is_current(c, l, &l->id))
            return refused ? FILE_BUSY : HF_OK;
        /* Deleted or replaced.  Closing gives back what we may have got. */
        hf__file_lock_shut_idle(l);
    }
    return FILE_BUSY;
}

int hf__file_kernel_drop(struct file_lock *l, int fd)
{
    flock(fd, LOCK_UN);
    /* After the unlock: a waiter that is notified must find it free. */
    return hf__file_notify_waiters(l, fd);
}

/* Ask by trying, where the kernel's list does not show all processes.  A try
 * that fails by that is notified afterwards. */
int hf__file_kernel_probe(int fd, struct kernel_lock *out)
{
    *out = (struct kernel_lock){0};
    if (flock(fd, LOCK_SH | LOCK_NB)) return 1;
    out->shared = flock(fd, LOCK_EX | LOCK_NB) != 0;
    flock(fd, LOCK_UN);
    return out->shared;
}
