/*
 * guard/mark.c: the highest token of a guarded file, in `<path>.guard`.
 *
 * One rule: the file is only believed and only changed under its flock(2).  No
 * call waits for that longer than MARK_WAIT_MS: the process that has it may be
 * stopped.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "api/guard/mark.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/url.h"
#include "sys/clock.h"
#include "sys/write.h"

#define MARK_MAGIC "holdfast guard "
#define MARK_TEXT_MAX 64
#define MARK_WAIT_MS 10000
#define MARK_PAUSE_MS 5

static int status_of(int sys_errno)
{
    switch (sys_errno) {
    case EACCES:
    case EPERM:
    case EROFS:
        return HF_DENIED;
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
    case EISDIR:
    case EXDEV:
        return HF_INVALID;
    case ELOOP: /* a symbolic link is where the guard should be */
        return HF_CONFLICT;
    default:
        return HF_UNAVAILABLE;
    }
}

int hf__guard_path_fail(struct hf_error *err, const char *path,
                        const char *what)
{
    int why = errno;
    return hf__error_errno(err, status_of(why), why, "guard: %.120s: %s", path,
                           what);
}

int hf__guard_token_check(uint64_t token, struct hf_error *err)
{
    if (token > 0 && token <= INT64_MAX) return HF_OK;
    return hf__error_set(
        err, HF_INVALID,
        "guard: token %" PRIu64 ": out of range: 1 to 2^63-1%s", token,
        token ? "" : "; a hold without a fence has none");
}

int hf__guard_path(char out[GUARD_PATH_MAX], const char *path,
                   const char *suffix, struct hf_error *err)
{
    int len = path && path[0]
                  ? snprintf(out, GUARD_PATH_MAX, "%s%s", path, suffix)
                  : -1;
    if (len > 0 && len < GUARD_PATH_MAX) return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "guard: path: empty or too long: at most %d bytes",
                         GUARD_PATH_MAX - 32);
}

int hf__guard_directory_sync(const char *path)
{
    char name[GUARD_PATH_MAX];
    snprintf(name, sizeof name, "%s", path);
    char *slash = strrchr(name, '/');
    if (!slash)
        snprintf(name, sizeof name, ".");
    else
        slash[slash == name] = '\0';
    int fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return -1;
    int failed = fsync(fd);
    int why = errno;
    close(fd);
    errno = why;
    return failed;
}

/* ---- the file ---- */

static int conflict(const struct guard_mark *m, struct hf_error *err)
{
    return hf__error_set(err, HF_CONFLICT,
                         "guard: %.120s.guard: not a guard: something else is "
                         "stored there, or it was damaged",
                         m->path);
}

/* "holdfast guard <token>\n", or an empty file: no token yet. */
static int mark_read(struct guard_mark *m, struct hf_error *err)
{
    char text[MARK_TEXT_MAX + 1];
    size_t magic = sizeof MARK_MAGIC - 1;
    int64_t token;
    ssize_t len = pread(m->fd, text, MARK_TEXT_MAX, 0);
    if (len < 0) return hf__guard_path_fail(err, m->path, "read its guard");
    if (len == 0) return HF_OK;
    if ((size_t)len <= magic || text[len - 1] != '\n') return conflict(m, err);
    text[len - 1] = '\0';
    if (memcmp(text, MARK_MAGIC, magic) != 0
        || hf__number_parse(text + magic, 1, INT64_MAX, &token) != 0)
        return conflict(m, err);
    m->token = (uint64_t)token;
    return HF_OK;
}

static int mark_lock(struct guard_mark *m, struct hf_error *err)
{
    int64_t end_us = hf__clock_us() + MARK_WAIT_MS * US_PER_MS;
    while (flock(m->fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EINTR) continue;
        if (errno != EWOULDBLOCK)
            return hf__guard_path_fail(err, m->path, "lock its guard");
        if (hf__clock_us() >= end_us)
            return hf__error_set(err, HF_UNAVAILABLE,
                                 "guard: %.120s: another process has been "
                                 "changing it for %d s; if it is stopped, end "
                                 "it",
                                 m->path, MARK_WAIT_MS / 1000);
        (void)poll(NULL, 0, MARK_PAUSE_MS);
    }
    return HF_OK;
}

int hf__guard_mark_open(struct guard_mark *m, const char *path, int make,
                        struct hf_error *err)
{
    char name[GUARD_PATH_MAX];
    struct stat st;
    *m = (struct guard_mark){.path = path, .fd = -1};
    int status = hf__guard_path(name, path, ".guard", err);
    if (status != HF_OK) return status;
    /* O_NONBLOCK: a FIFO in its place must not stop us. */
    int flags = (make ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW
                | O_NONBLOCK;
    m->fd = open(name, flags, 0666);
    if (m->fd < 0 && errno == ENOENT && !make) return HF_OK;
    if (m->fd < 0 || fstat(m->fd, &st) != 0)
        return hf__guard_path_fail(err, path, "its guard cannot be opened");
    if (!S_ISREG(st.st_mode)) return conflict(m, err);
    status = mark_lock(m, err);
    return status == HF_OK ? mark_read(m, err) : status;
}

void hf__guard_mark_close(struct guard_mark *m)
{
    if (m->fd >= 0) close(m->fd); /* and unlocked */
    m->fd = -1;
}

/* A higher token is never shorter, so the new text covers the old one. */
static int mark_write(struct guard_mark *m, uint64_t token,
                      struct hf_error *err)
{
    char text[MARK_TEXT_MAX];
    int len = snprintf(text, sizeof text, MARK_MAGIC "%" PRIu64 "\n", token);
    if (hf__write_at(m->fd, text, (size_t)len, 0) != 0) {
        int status = hf__guard_path_fail(err, m->path, "write its guard");
        if (m->token == 0) (void)!ftruncate(m->fd, 0); /* no token, as before */
        return status;
    }
    /* A new file is there after a power loss only if its directory says so. */
    if (fdatasync(m->fd) != 0
        || (m->token == 0 && hf__guard_directory_sync(m->path) != 0))
        return hf__guard_path_fail(err, m->path, "sync its guard");
    return HF_OK;
}

int hf__guard_mark_admit(struct guard_mark *m, uint64_t token,
                         struct hf_error *err)
{
    if (token < m->token)
        return hf__error_set(err, HF_STALE,
                             "guard: %.120s: token %" PRIu64
                             " is refused: the resource has already seen"
                             " token %" PRIu64,
                             m->path, token, m->token);
    return token > m->token ? mark_write(m, token, err) : HF_OK;
}
