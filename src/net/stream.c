/*
 * stream.c: non-blocking sockets.  One rule: no call here ever waits, and none
 * raises a signal.
 */
#include "net/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

/* A dead peer is noticed after 15 + 3 * 5 seconds of silence. */
#define KEEPALIVE_IDLE_S 15
#define KEEPALIVE_INTERVAL_S 5
#define KEEPALIVE_COUNT 3

int hf__stream_addr_unix(struct stream_addr *addr, const char *path)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    size_t len = strlen(path);
    if (len >= sizeof un.sun_path) return -1;
    memcpy(un.sun_path, path, len + 1);
    memset(addr, 0, sizeof *addr);
    memcpy(&addr->sa, &un, sizeof un);
    addr->len = sizeof un;
    return 0;
}

static void option_set(int fd, int level, int option, int value)
{
    /* Comfort only: a stream without it still works. */
    (void)setsockopt(fd, level, option, &value, sizeof value);
}

static void tcp_tune(int fd)
{
    option_set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    option_set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
#ifdef TCP_KEEPIDLE
    option_set(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S);
    option_set(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S);
    option_set(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_COUNT);
#endif
}

static int socket_make(int family)
{
#ifdef SOCK_CLOEXEC
    return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
#else
    int fd = socket(family, SOCK_STREAM, 0);
    if (fd < 0) return -1;
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0
        || fcntl(fd, F_SETFL, O_NONBLOCK) < 0) {
        close(fd);
        return -1;
    }
    return fd;
#endif
}

static int fail(int fd, int code)
{
    close(fd);
    errno = code;
    return -1;
}

int hf__stream_open(const struct stream_addr *addr, int *connected)
{
    int fd = socket_make(addr->sa.ss_family);
    if (fd < 0) return -1;
    if (addr->sa.ss_family != AF_UNIX) tcp_tune(fd);
    *connected = 0;
    if (connect(fd, (const struct sockaddr *)&addr->sa, addr->len) == 0) {
        int done = hf__stream_finish(fd);
        if (done < 0) return fail(fd, errno);
        *connected = done;
        return fd;
    }
    if (errno == EINPROGRESS || errno == EINTR) return fd;
    return fail(fd, errno);
}

/* TCP lets a socket connect to itself when the kernel happens to choose the
 * port that nobody listens on as its source.  We would talk to our own echo,
 * and keep the server from binding the port. */
static int is_own_echo(int fd)
{
    struct stream_addr me = {.len = sizeof me.sa};
    struct stream_addr peer = {.len = sizeof peer.sa};
    if (getsockname(fd, (struct sockaddr *)&me.sa, &me.len) != 0) return 0;
    if (me.sa.ss_family != AF_INET && me.sa.ss_family != AF_INET6) return 0;
    if (getpeername(fd, (struct sockaddr *)&peer.sa, &peer.len) != 0) return 0;
    return me.len == peer.len && !memcmp(&me.sa, &peer.sa, me.len);
}

int hf__stream_finish(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    int code = 0;
    socklen_t len = sizeof code;
    int n = poll(&p, 1, 0);
    if (n < 0) return errno == EINTR ? 0 : -1;
    if (n == 0) return 0;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &len) != 0) return -1;
    if (code == 0 && is_own_echo(fd)) code = ECONNREFUSED;
    errno = code;
    return code == 0 ? 1 : -1;
}

static int is_not_now(int code)
{
    return code == EAGAIN || code == EWOULDBLOCK || code == EINTR;
}

ssize_t hf__stream_read(int fd, void *buf, size_t size)
{
    ssize_t n = recv(fd, buf, size, 0);
    if (n > 0) return n;
    if (n < 0 && is_not_now(errno)) return 0;
    if (n == 0) errno = 0;
    return -1;
}

ssize_t hf__stream_write(int fd, const void *data, size_t len)
{
    ssize_t n = send(fd, data, len, MSG_NOSIGNAL);
    if (n >= 0) return n;
    return is_not_now(errno) ? 0 : -1;
}
