/* bell.c: see bell.h. */
#include "sys/bell.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/eventfd.h>
#endif

int hf__bell_open(struct bell *b)
{
#ifdef __linux__
    b->read_fd = b->write_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return b->read_fd < 0 ? -1 : 0;
#else
    int fds[2];
    if (pipe(fds) != 0) return -1;
    for (int i = 0; i < 2; i++) {
        fcntl(fds[i], F_SETFD, FD_CLOEXEC);
        fcntl(fds[i], F_SETFL, O_NONBLOCK);
    }
    b->read_fd = fds[0];
    b->write_fd = fds[1];
    return 0;
#endif
}

void hf__bell_close(struct bell *b)
{
    if (b->read_fd >= 0) close(b->read_fd);
    if (b->write_fd >= 0 && b->write_fd != b->read_fd) close(b->write_fd);
    b->read_fd = b->write_fd = -1;
}

void hf__bell_ring(struct bell *b)
{
    uint64_t one = 1;
    int keep = errno;
    ssize_t n = write(b->write_fd, &one, sizeof one);
    (void)n; /* full means that it rings already */
    errno = keep;
}

void hf__bell_hush(struct bell *b)
{
    uint64_t buf[8];
    while (read(b->read_fd, buf, sizeof buf) == (ssize_t)sizeof buf) continue;
}
