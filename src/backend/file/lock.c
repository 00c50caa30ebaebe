/*
 * lock.c: opening lock files.  One rule: nothing is followed or opened
 * that could block, and the contents of a locked path are never touched.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/sysmacros.h>
#endif

#include "backend/file/dir.h"
#include "backend/file/error.h"
#include "backend/file/lock.h"
#include "backend/file/name.h"
#include "backend/file/watch.h"
#include "base/error.h"
#include "sys/disk.h"

/* O_NONBLOCK: opening a FIFO must not wait for its other end. */
#define OPEN_FLAGS (O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
#define PATH_TRIES 8 /* a path that vanishes while we look at it */

static void fd_close(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

void hf__file_lock_shut(struct file_lock *l)
{
    fd_close(&l->idle_fd);
    fd_close(&l->record_fd);
    fd_close(&l->waiter_fd);
}

/* Which file the name means.  Only the number is asked for: asking for the
 * times, as stat(2) does, makes the kernel keep them exactly and doubles the
 * cost of the next write.  0, or -1 with errno. */
static int name_identify(int dir_fd, const char *name, int flags,
                         struct file_id *id)
{
#if defined(__linux__) && defined(STATX_INO)
    struct statx x;
    if (!statx(dir_fd, name, flags, STATX_INO, &x)) {
        id->dev = makedev(x.stx_dev_major, x.stx_dev_minor);
        id->ino = (ino_t)x.stx_ino;
        return 0;
    }
    /* An old kernel, or a sandbox that knows no statx. */
    if (errno != ENOSYS && errno != EPERM) return -1;
#endif
    struct stat st;
    if (fstatat(dir_fd, name, &st, flags)) return -1;
    id->dev = st.st_dev;
    id->ino = st.st_ino;
    return 0;
}

static int name_is(int dir_fd, const char *name, int flags,
                   const struct file_id *id)
{
    struct file_id now;
    return !name_identify(dir_fd, name, flags, &now) && now.dev == id->dev
           && now.ino == id->ino;
}

/* By the whole path, for the directory may have been replaced too.  Where that
 * leads nowhere (chroot, lost rights) the directory that we have counts. */
static int plain_is_current(const struct backend_conn *c,
                            const struct file_lock *l, const struct file_id *id)
{
    char path[PATH_MAX];
    struct file_id now;
    snprintf(path, sizeof path, "%s/%s", c->dir, l->file);
    if (!name_identify(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, &now))
        return now.dev == id->dev && now.ino == id->ino;
    return !hf__file_dir_is_replaced(c)
           && name_is(c->dir_fd, l->file, AT_SYMLINK_NOFOLLOW, id);
}

int hf__file_lock_is_current(struct backend_conn *c, const struct file_lock *l,
                             const struct file_id *id)
{
    return l->is_path ? name_is(AT_FDCWD, l->name, 0, id)
                      : plain_is_current(c, l, id);
}

/* Without O_CREAT first: where /proc/sys/fs/protected_regular is set, O_CREAT
 * is refused on other people's files in a sticky directory. */
static int open_at(int dir_fd, const char *file, int flags, int create,
                   mode_t mode)
{
    int fd = openat(dir_fd, file, flags | OPEN_FLAGS);
    if (fd < 0 && errno == ENOENT && create)
        fd = openat(dir_fd, file, flags | OPEN_FLAGS | O_CREAT, mode);
    return fd;
}

/* Note which file `fd` is; refuse what cannot hold a record. */
static int fd_identify(struct backend_conn *c, const struct file_lock *l,
                       int fd, int is_record, struct file_id *id)
{
    struct stat st;
    if (fstat(fd, &st)) return hf__file_fail(c, "stat", l->file, errno);
    if (is_record && !S_ISREG(st.st_mode))
        return hf__error_set(&c->err, HF_CONFLICT,
                             "file:%s: %s: not a regular file", c->dir,
                             l->file);
    id->dev = st.st_dev;
    id->ino = st.st_ino;
    return HF_OK;
}

static int title_set(struct backend_conn *c, struct file_lock *l,
                     const char *name, size_t len)
{
    char title[TITLE_MAX];
    size_t n = hf__file_title_encode(name, len, title, sizeof title);
    if (n == 0)
        return hf__error_set(&c->err, HF_INVALID,
                             "file:%s: %.80s: path too long", c->dir, name);
    if (l->title && l->title_len == n && !memcmp(l->title, title, n))
        return HF_OK;
    char *copy = hf__strdup(c->env->alloc, title);
    if (!copy) return hf__file_fail(c, "open", l->file, ENOMEM);
    hf__free(c->env->alloc, l->title);
    l->title = copy;
    l->title_len = n;
    return HF_OK;
}

/* Open the file in the directory: the lock itself, or a path's sidecar. */
static int record_open(struct backend_conn *c, struct file_lock *l,
                       enum file_opening how, int *fd, struct file_id *id)
{
    int flags = O_RDWR | O_NOFOLLOW, create = how == FILE_MAKE;
    hf__file_dir_follow(c);
    *fd = open_at(c->dir_fd, l->file, flags, create, c->file_mode);
    if (*fd < 0 && how == FILE_LOOK
        && (errno == EACCES || errno == EPERM || errno == EROFS)) {
        *fd = open_at(c->dir_fd, l->file, O_RDONLY | O_NOFOLLOW, 0, 0);
        l->is_look_only = *fd >= 0;
    }
    /* Nothing can be made in a directory that was deleted. */
    if (*fd < 0 && errno == ENOENT && create && !hf__file_dir_reopen(c))
        *fd = open_at(c->dir_fd, l->file, flags, create, c->file_mode);
    if (*fd < 0)
        return errno == ENOENT && !create
                   ? FILE_ABSENT
                   : hf__file_fail(c, "open", l->file, errno);
    int status = fd_identify(c, l, *fd, 1, id);
    if (status != HF_OK) fd_close(fd);
    return status;
}

static int path_open_file(struct backend_conn *c, struct file_lock *l,
                          int create)
{
    /* As flock(1) opens it, so that the same files can be locked. */
    l->idle_fd = open_at(AT_FDCWD, l->name, O_RDONLY, create, 0666);
    if (l->idle_fd < 0)
        return errno == ENOENT && !create
                   ? FILE_ABSENT
                   : hf__file_fail(c, "open", l->name, errno);
    if (!c->allow_network && hf__disk_is_network(l->idle_fd))
        return hf__error_set(&c->err, HF_UNSUPPORTED,
                             "file: %.80s: on a network file system: its "
                             "locks may not reach other hosts (network=allow "
                             "overrides)",
                             l->name);
    return fd_identify(c, l, l->idle_fd, 0, &l->id);
}

/* The sidecar belongs to the real path, whatever links lead to it. */
static int path_open(struct backend_conn *c, struct file_lock *l,
                     enum file_opening how)
{
    char path[PATH_MAX];
    int tries = PATH_TRIES, status;
    for (;;) {
        status = path_open_file(c, l, how == FILE_MAKE);
        if (status != HF_OK) break;
        if (realpath(l->name, path)) {
            size_t len = strlen(path);
            hf__file_name_path(path, len, l->file);
            status = title_set(c, l, path, len);
            break;
        }
        status = hf__file_fail(c, "realpath", l->name, errno);
        if (errno != ENOENT || --tries == 0) break;
        fd_close(&l->idle_fd);
    }
    if (status != HF_OK) fd_close(&l->idle_fd);
    return status;
}

/* If the sidecar was deleted, a new one is begun. */
static int sidecar_open(struct backend_conn *c, struct file_lock *l,
                        enum file_opening how)
{
    if (l->record_fd >= 0
        && name_is(c->dir_fd, l->file, AT_SYMLINK_NOFOLLOW, &l->record_id))
        return HF_OK;
    fd_close(&l->record_fd);
    int status = record_open(c, l, how, &l->record_fd, &l->record_id);
    return status == FILE_ABSENT ? HF_OK : status;
}

static int plain_open(struct backend_conn *c, struct file_lock *l,
                      enum file_opening how)
{
    int status = l->title ? HF_OK : title_set(c, l, l->name, l->name_len);
    if (status != HF_OK) return status;
    return record_open(c, l, how, &l->idle_fd, &l->id);
}

int hf__file_lock_open(struct backend_conn *c, struct file_lock *l,
                       enum file_opening how)
{
    int status = HF_OK;
    if (l->idle_fd < 0) {
        if (l->is_path) fd_close(&l->record_fd);
        status = l->is_path ? path_open(c, l, how) : plain_open(c, l, how);
    }
    if (status == HF_OK && l->is_path) status = sidecar_open(c, l, how);
    if (status != HF_OK) return status;
    if (l->watched
        && (l->watch_id.dev != l->id.dev || l->watch_id.ino != l->id.ino))
        hf__file_watch_again(c, l);
    return HF_OK;
}

void hf__file_lock_look_end(struct file_lock *l)
{
    if (!l->is_look_only) return;
    l->is_look_only = 0;
    fd_close(&l->idle_fd);
    fd_close(&l->record_fd);
}

void hf__file_lock_shut_idle(struct file_lock *l)
{
    fd_close(&l->idle_fd);
}
