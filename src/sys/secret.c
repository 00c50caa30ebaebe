/*
 * secret.c: a password that is kept in a file.  One rule: what was read is in
 * the caller's copy only; nothing of it stays behind, and no text shows it.
 */
#include "sys/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

static int fail(const char *what, const char *path, int code,
                struct hf_error *err)
{
    int is_denied = code == EACCES || code == EPERM;
    return hf__error_errno(err, is_denied ? HF_DENIED : HF_INVALID, code,
                           "%s: %.150s", what, path);
}

/* Bytes read, or -1 with errno; one more than fits means that it is longer. */
static ssize_t file_read(int fd, char *buf, size_t size)
{
    size_t len = 0;
    while (len < size) {
        ssize_t n = read(fd, buf + len, size - len);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -1;
        if (n == 0) break;
        len += (size_t)n;
    }
    return (ssize_t)len;
}

static int line_take(const char *what, const char *path, char *buf, size_t len,
                     const struct allocator *a, char **out,
                     struct hf_error *err)
{
    size_t end = 0;
    while (end < len && buf[end] != '\n' && buf[end] != '\r') end++;
    if (end == 0 || end > SECRET_LEN_MAX || memchr(buf, '\0', end))
        return hf__error_set(err, HF_INVALID, "%s: %.150s: %s", what, path,
                             end == 0               ? "its first line is empty"
                             : end > SECRET_LEN_MAX ? "its first line is too "
                                                      "long"
                                                    : "it is no text");
    buf[end] = '\0';
    char *copy = hf__strdup(a, buf);
    if (!copy) return hf__error_set(err, HF_NOMEM, "%s: out of memory", what);
    *out = copy;
    return HF_OK;
}

int hf__secret_read(const char *what, const char *path,
                    const struct allocator *a, char **out, int *is_open,
                    struct hf_error *err)
{
    char buf[SECRET_LEN_MAX + 2];
    struct stat st;
    /* Not to wait for the other end of a pipe; those are refused. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return fail(what, path, errno, err);
    int status = HF_OK;
    ssize_t n = 0;
    if (fstat(fd, &st) != 0
        || (S_ISREG(st.st_mode)
            && (n = file_read(fd, buf, sizeof buf - 1)) < 0))
        status = fail(what, path, errno, err);
    else if (!S_ISREG(st.st_mode))
        status = hf__error_set(err, HF_INVALID, "%s: %.150s: it is no file",
                               what, path);
    close(fd);
    if (status == HF_OK)
        status = line_take(what, path, buf, (size_t)n, a, out, err);
    if (status == HF_OK && is_open) *is_open = (st.st_mode & S_IROTH) != 0;
    hf__wipe(buf, sizeof buf);
    return status;
}
