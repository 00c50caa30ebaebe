/*
 * guard/file.c: a file that refuses stale holders.  One rule: the token is on
 * disk before the new contents get their name, so that a crash in between
 * leaves the old file behind a higher token, never the new one behind a lower.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/guard/mark.h"
#include "base/error.h"
#include "sys/random.h"
#include "sys/write.h"

#define TEMP_TRIES 8

/* What is to be replaced: 1 and its mode, 0 if there is nothing, or a status:
 * a link would be replaced instead of the file behind it. */
static int target_look(const char *path, mode_t *mode, struct hf_error *err)
{
    struct stat st;
    if (lstat(path, &st) != 0) {
        if (errno == ENOENT) return 0;
        return hf__guard_path_fail(err, path, "look");
    }
    *mode = st.st_mode & 0777;
    if (S_ISREG(st.st_mode)) return 1;
    return hf__error_set(err, HF_INVALID,
                         "guard: %.120s: not a file: a link, a directory or a "
                         "device cannot be replaced",
                         path);
}

int hf_guard_file_touch(const char *path, uint64_t token, struct hf_error *err)
{
    struct guard_mark m;
    char name[GUARD_PATH_MAX];
    mode_t mode;
    int status = hf__guard_token_check(token, err);
    if (status == HF_OK) status = hf__guard_path(name, path, "", err);
    if (status != HF_OK) return status;
    status = target_look(path, &mode, err);
    if (status < 0) return status;
    status = hf__guard_mark_open(&m, path, 1, err);
    if (status == HF_OK) status = hf__guard_mark_admit(&m, token, err);
    hf__guard_mark_close(&m);
    return status;
}

int hf_guard_file_token(const char *path, uint64_t *out, struct hf_error *err)
{
    struct guard_mark m;
    int status = hf__guard_mark_open(&m, path, 0, err);
    hf__guard_mark_close(&m);
    if (status == HF_OK) *out = m.token;
    return status;
}

/* ---- putting a file in its place ---- */

static int file_sync(const char *path, struct hf_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return hf__guard_path_fail(err, path, "open");
    int failed = fsync(fd);
    int why = errno;
    close(fd);
    errno = why;
    return failed ? hf__guard_path_fail(err, path, "sync") : HF_OK;
}

/* The guard is locked, and has admitted the token. */
static int file_move(const char *from, const char *path, struct hf_error *err)
{
    if (rename(from, path) != 0)
        return hf__guard_path_fail(err, path, "rename");
    if (hf__guard_directory_sync(path) == 0) return HF_OK;
    return hf__error_errno(err, HF_UNAVAILABLE, errno,
                           "guard: %.100s: replaced, but its directory could "
                           "not be synced: it may or may not survive a power "
                           "loss",
                           path);
}

/* `from` is synced already. */
static int file_replace(const char *path, uint64_t token, const char *from,
                        struct hf_error *err)
{
    struct guard_mark m;
    int status = hf__guard_mark_open(&m, path, 1, err);
    if (status == HF_OK) status = hf__guard_mark_admit(&m, token, err);
    if (status == HF_OK) status = file_move(from, path, err);
    hf__guard_mark_close(&m);
    return status;
}

int hf_guard_file_rename(const char *path, uint64_t token, const char *new_path,
                         struct hf_error *err)
{
    char name[GUARD_PATH_MAX];
    mode_t mode;
    int status = hf__guard_token_check(token, err);
    if (status == HF_OK) status = hf__guard_path(name, path, "", err);
    if (status == HF_OK) status = hf__guard_path(name, new_path, "", err);
    if (status != HF_OK) return status;
    int found = target_look(path, &mode, err);
    if (found < 0) return found;
    status = file_sync(new_path, err);
    return status == HF_OK ? file_replace(path, token, new_path, err) : status;
}

/* ---- contents from memory ---- */

/* A new file beside `path`, with the permissions of the old one or those that
 * the umask leaves.  Its fd, or a status. */
static int temp_make(const char *path, char name[GUARD_PATH_MAX],
                     struct hf_error *err)
{
    char suffix[32];
    mode_t mode = 0666;
    int found = target_look(path, &mode, err);
    if (found < 0) return found;
    for (int i = 0; i < TEMP_TRIES; i++) {
        uint64_t bits;
        if (hf__random_bytes(&bits, sizeof bits) != 0) break;
        snprintf(suffix, sizeof suffix, ".%016" PRIx64 ".new", bits);
        int status = hf__guard_path(name, path, suffix, err);
        if (status != HF_OK) return status;
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd < 0 && errno == EEXIST) continue;
        if (fd < 0) break;
        if (!found || fchmod(fd, mode) == 0) return fd;
        int why = errno;
        close(fd);
        unlink(name);
        errno = why;
        break;
    }
    return hf__guard_path_fail(err, path, "a new file cannot be made");
}

static int temp_write(int fd, const char *path, const char *data, size_t len,
                      struct hf_error *err)
{
    if (hf__write_at(fd, data, len, 0) != 0)
        return hf__guard_path_fail(err, path, "write");
    return fsync(fd) == 0 ? HF_OK : hf__guard_path_fail(err, path, "sync");
}

int hf_guard_file_replace(const char *path, uint64_t token, const void *data,
                          size_t len, struct hf_error *err)
{
    char name[GUARD_PATH_MAX];
    int status = hf__guard_token_check(token, err);
    if (status == HF_OK) status = hf__guard_path(name, path, "", err);
    if (status == HF_OK && len > 0 && !data)
        status = hf__error_set(err, HF_INVALID, "guard: %.120s: no bytes given",
                               path);
    if (status != HF_OK) return status;
    int fd = temp_make(path, name, err);
    if (fd < 0) return fd;
    status = temp_write(fd, path, data, len, err);
    close(fd);
    if (status == HF_OK) status = file_replace(path, token, name, err);
    if (status != HF_OK) unlink(name);
    return status;
}
