/*
 * write.c: see write.h.  One rule: no signal is raised, and the program's own
 * handling of signals stays as it is.
 */
#include "sys/write.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

static int is_too_far(size_t len, off_t at)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0) return 0;
    return limit.rlim_cur != RLIM_INFINITY
           && (rlim_t)at + (rlim_t)len > limit.rlim_cur;
}

int hf__write_at(int fd, const void *data, size_t len, off_t at)
{
    const char *bytes = data;
    if (is_too_far(len, at)) {
        errno = EFBIG;
        return -1;
    }
    while (len > 0) {
        ssize_t n = pwrite(fd, bytes, len, at);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -1;
        bytes += n;
        at += n;
        len -= (size_t)n;
    }
    return 0;
}
