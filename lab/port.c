/*
 * port.c: see port.h.  One rule: a reservation has the scope of the port
 * itself, the network namespace.
 *
 * It is a Unix socket with an abstract name that says the port: only one socket
 * can have that name, the kernel drops it with its last descriptor, and it is
 * no file, so that programs in another directory tree or of another user see
 * it.
 */
#include "lab/port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lab/own.h"

/* Even ports, so that the next one is free for TLS.  The range ends where the
 * bus ports begin, and these end below the ports that the kernel gives to
 * outgoing connections. */
#define PORT_FIRST 10000
#define PORT_COUNT 5000
#define TRIES 5000

/* -1, with errno, if another process has it. */
static int name_take(int port)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int len = snprintf(a.sun_path + 1, sizeof a.sun_path - 1,
                       "holdfast-test-port-%d", port);
    socklen_t size =
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&a, size) == 0) return fd;
    int why = errno;
    if (fd >= 0) close(fd);
    errno = why;
    return -1;
}

int lab_port_take(int port)
{
    int fd = name_take(port);
    if (fd >= 0) return fd;
    return lab__fail("port %d: cannot be reserved: %s", port,
                     errno == EADDRINUSE ? "another program has it"
                                         : strerror(errno));
}

/* No socket has it, at any address. */
static int port_is_free(int port)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    a.sin_addr.s_addr = htonl(INADDR_ANY);
    int is_free = fd >= 0 && bind(fd, (struct sockaddr *)&a, sizeof a) == 0;
    if (fd >= 0) close(fd);
    return is_free;
}

int lab_port_reserve(int *port)
{
    for (int tries = 0; tries < TRIES; tries++) {
        uint32_t random = 0;
        if (getrandom(&random, sizeof random, 0) != sizeof random)
            return lab__fail("port: no random number: %s", strerror(errno));
        int candidate = PORT_FIRST + 2 * (int)(random % PORT_COUNT);
        int fd = name_take(candidate);
        if (fd < 0) continue;
        if (port_is_free(candidate) && port_is_free(candidate + 1)
            && port_is_free(candidate + LAB_PORT_BUS)) {
            *port = candidate;
            return fd;
        }
        close(fd);
    }
    return lab__fail("port: none is free: looked at %d", TRIES);
}

int lab_port_dead(int *port)
{
    int reserved_fd = lab_port_reserve(port);
    if (reserved_fd < 0) return reserved_fd;
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons((uint16_t)*port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    /* Bound and not listening, to the end of the process. */
    if (fd >= 0 && bind(fd, (struct sockaddr *)&a, sizeof a) == 0)
        return reserved_fd;
    lab__fail("port %d: cannot be bound: %s", *port, strerror(errno));
    if (fd >= 0) close(fd);
    close(reserved_fd);
    return LAB_FAILED;
}
