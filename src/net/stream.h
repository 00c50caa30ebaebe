/*
 * stream.h: a byte stream to a server that never blocks.
 */
#ifndef HF_NET_STREAM_H
#define HF_NET_STREAM_H

#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

/* Where a stream goes: an internet address or a unix socket. */
struct stream_addr {
    struct sockaddr_storage sa;
    socklen_t len;
};

/* Fill `addr` with the unix socket `path`.  0, or -1: the path is too long. */
int hf__stream_addr_unix(struct stream_addr *addr, const char *path);

/* Begin to connect.  Returns the fd: non-blocking, close-on-exec, TCP without
 * delay and with keepalive; `*connected` tells whether it is through already.
 * -1 with errno. */
int hf__stream_open(const struct stream_addr *addr, int *connected);

/* How the connect went: 1 through, 0 still under way, -1 with errno. */
int hf__stream_finish(int fd);

/* Bytes read (1 or more), 0 if there are none now, -1 with errno; the other
 * side's end is -1 with errno 0. */
ssize_t hf__stream_read(int fd, void *buf, size_t size);

/* Bytes written (1 or more), 0 if there is no room now, -1 with errno.  Never
 * raises SIGPIPE. */
ssize_t hf__stream_write(int fd, const void *data, size_t len);

#endif
