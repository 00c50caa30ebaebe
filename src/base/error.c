/*
 * error.c: filling struct hf_error.  One rule: it never fails, never allocates
 * and leaves errno as it was; a text that is too long is cut.
 */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ERRNO_TEXT_MAX 128

/* strerror_r() returns an int by POSIX and a pointer by glibc. */
__attribute__((unused)) static const char *words_gnu(const char *text,
                                                     const char *buf)
{
    (void)buf;
    return text;
}

__attribute__((unused)) static const char *words_posix(int rc, const char *buf)
{
    return rc == 0 ? buf : "unknown error";
}

#define ERRNO_WORDS(code, buf, size)                                           \
    _Generic(strerror_r((code), (buf), (size)),                               \
        char *: words_gnu,                                                    \
        int: words_posix)(strerror_r((code), (buf), (size)), (buf))

static void error_fill(struct hf_error *err, int status, int sys_errno,
                       const char *format, va_list ap)
{
    err->status = status;
    err->node = -1;
    err->sys_errno = sys_errno;
    if (vsnprintf(err->text, sizeof err->text, format, ap) < 0)
        err->text[0] = '\0';
}

int hf__error_set(struct hf_error *err, int status, const char *format, ...)
{
    if (!err) return status;
    int saved = errno;
    va_list ap;
    va_start(ap, format);
    error_fill(err, status, 0, format, ap);
    va_end(ap);
    errno = saved;
    return status;
}

int hf__error_errno(struct hf_error *err, int status, int sys_errno,
                    const char *format, ...)
{
    if (!err) return status;
    int saved = errno;
    va_list ap;
    va_start(ap, format);
    error_fill(err, status, sys_errno, format, ap);
    va_end(ap);
    char buf[ERRNO_TEXT_MAX] = "";
    size_t len = strlen(err->text);
    snprintf(err->text + len, sizeof err->text - len, ": %s",
             ERRNO_WORDS(sys_errno, buf, sizeof buf));
    errno = saved;
    return status;
}
