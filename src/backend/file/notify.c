/*
 * notify.c: how waiters learn of a release.  One rule: they are notified after
 * the unlock, and a waiter marks the file before the look that decides to wait.
 *
 * Three things wake a waiter:
 *  - its mark: a waiter keeps a shared byte-range lock (WAITER_OFFSET) on the
 *    record's file.  The process that unlocks sees it and touches the file's
 *    times, which inotify tells as IN_ATTRIB.  Writing a record tells nothing
 *    (IN_MODIFY is not listened to), so grants wake no waiter, and an unlock
 *    without waiters costs one fcntl(2).
 *  - the kernel closing a dead holder's file: IN_CLOSE_*.  It is told just
 *    before the lock goes, hence the second look after ECHO_US.
 *  - a tick, for programs that unlock without closing and know of no mark.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/inotify.h>
#endif

#include "backend/file/lock.h"
#include "backend/file/notify.h"
#include "sys/clock.h"

#define READS_MAX 16            /* reads of events in one call */
#define ECHO_US (1 * US_PER_MS) /* a close is told before it unlocks */

#if defined(__linux__) && defined(F_OFD_SETLK)
static struct flock waiter_range(short type)
{
    struct flock range = {0};
    range.l_type = type;
    range.l_whence = SEEK_SET;
    range.l_start = WAITER_OFFSET;
    range.l_len = 1;
    return range;
}

int hf__file_notify_waiters(const struct file_lock *l, int fd)
{
    struct flock range = waiter_range(F_WRLCK);
    if (l && l->is_path) fd = l->record_fd;
    /* Through our own mark, only those of other waiters are found. */
    int asking = l && l->watched && l->waiter_fd >= 0 ? l->waiter_fd : fd;
    if (asking < 0) return 0;
    if (fcntl(asking, F_OFD_GETLK, &range) == 0 && range.l_type == F_UNLCK)
        return 0;
    futimens(fd, NULL);
    return 1;
}

void hf__file_notify_mark(int fd, short type)
{
    struct flock range = waiter_range(type);
    if (fd >= 0) fcntl(fd, F_OFD_SETLK, &range);
}

static int inotify_add(struct backend_conn *c, int fd, uint32_t mask)
{
    char path[64];
    if (c->inotify_fd < 0 || fd < 0) return -1;
    /* By the fd, for the name may mean another file by now. */
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return inotify_add_watch(c->inotify_fd, path, mask);
}

static int wd_is_used(const struct backend_conn *c, int wd)
{
    const struct file_lock *l = c->watched;
    while (l && l->wd != wd && l->path_wd != wd) l = l->next_watched;
    return l != NULL;
}

/* Two names may be links to one file, which has one descriptor. */
void hf__file_notify_remove(struct backend_conn *c, int *wd)
{
    int old = *wd;
    *wd = -1;
    if (old >= 0 && c->inotify_fd >= 0 && !wd_is_used(c, old))
        inotify_rm_watch(c->inotify_fd, old);
}

void hf__file_notify_listen(struct backend_conn *c)
{
    if (c->inotify_fd >= 0) return;
    c->inotify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (c->inotify_fd >= 0) c->env->await_fd(c->env, c->inotify_fd, AWAIT_READ);
}

#define MASK_RECORD (IN_ATTRIB | IN_CLOSE_WRITE | IN_MOVE_SELF)
#define MASK_PATH (IN_ATTRIB | IN_CLOSE | IN_MOVE_SELF)

void hf__file_notify_add(struct backend_conn *c, struct file_lock *l)
{
    l->wd = inotify_add(c, l->waiter_fd, MASK_RECORD);
    if (l->is_path) l->path_wd = inotify_add(c, l->idle_fd, MASK_PATH);
}

static void event_note(struct backend_conn *c, const struct inotify_event *ev,
                       int64_t now_us)
{
    int is_lost = (ev->mask & IN_Q_OVERFLOW) != 0;
    for (struct file_lock *l = c->watched; l; l = l->next_watched) {
        if (!is_lost && l->wd != ev->wd && l->path_wd != ev->wd) continue;
        if (ev->mask & IN_IGNORED) {
            if (l->wd == ev->wd) l->wd = -1;
            if (l->path_wd == ev->wd) l->path_wd = -1;
        }
        l->is_woken = c->any_woken = 1;
        if (!(ev->mask & IN_CLOSE) && !is_lost) continue;
        l->echo_us = now_us + ECHO_US;
        if (l->echo_us < c->echo_us) c->echo_us = l->echo_us;
    }
}

int hf__file_notify_read(struct backend_conn *c)
{
    _Alignas(struct inotify_event) char buf[4096];
    int done = 0;
    int64_t now_us = hf__clock_us();
    for (int i = 0; i < READS_MAX; i++) {
        ssize_t n = read(c->inotify_fd, buf, sizeof buf);
        if (n <= 0) break;
        done = 1;
        for (ssize_t at = 0; at < n;) {
            struct inotify_event ev;
            memcpy(&ev, buf + at, sizeof ev);
            event_note(c, &ev, now_us);
            at += (ssize_t)(sizeof ev + ev.len);
        }
    }
    return done;
}
#else
int hf__file_notify_waiters(const struct file_lock *l, int fd)
{
    (void)l;
    (void)fd;
    return 0;
}

void hf__file_notify_mark(int fd, short type)
{
    (void)fd;
    (void)type;
}

void hf__file_notify_remove(struct backend_conn *c, int *wd)
{
    (void)c;
    *wd = -1;
}

void hf__file_notify_listen(struct backend_conn *c)
{
    (void)c;
}

void hf__file_notify_add(struct backend_conn *c, struct file_lock *l)
{
    (void)c;
    (void)l;
}

int hf__file_notify_read(struct backend_conn *c)
{
    (void)c;
    return 0;
}
#endif
