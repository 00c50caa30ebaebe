/*
 * error.c: filling struct hf_error.  One rule: it never fails, never allocates
 * and leaves errno as it was; a text that is too long is cut, at a word.
 */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ERRNO_TEXT_MAX 128
#define WORD_LEN_MAX 60 /* what is longer may be cut in two */

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

/* The mark must end within the buffer: a blank counts only if the mark still
 * fits behind it. */
void hf__text_cut(char *text, size_t size)
{
    static const char mark[] = "...";
    char *last = text + size - sizeof mark;
    char *at = last;
    while (at > text && last - at < WORD_LEN_MAX && at[-1] != ' ') at--;
    memcpy(at > text && at[-1] == ' ' ? at : last, mark, sizeof mark);
}

static void error_fill(struct hf_error *err, int status, int sys_errno,
                       const char *format, va_list ap)
{
    err->status = status;
    err->node = -1;
    err->sys_errno = sys_errno;
    err->unasked = 0;
    memset(err->reserved, 0, sizeof err->reserved);
    int len = vsnprintf(err->text, sizeof err->text, format, ap);
    if (len < 0) err->text[0] = '\0';
    if (len >= (int)sizeof err->text) hf__text_cut(err->text, sizeof err->text);
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

void hf__error_about(struct hf_error *err, const char *name)
{
    char text[HF_ERROR_TEXT_MAX];
    if (!err) return;
    memcpy(text, err->text, sizeof text);
    int len =
        snprintf(err->text, sizeof err->text, "lock %.80s: %s", name, text);
    if (len >= (int)sizeof err->text) hf__text_cut(err->text, sizeof err->text);
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
