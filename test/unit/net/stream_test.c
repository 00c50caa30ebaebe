/*
 * stream_test.c: sockets that never block, and names that are looked up
 * elsewhere.
 */
#include <netdb.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "net/resolve.h"
#include "test.h"

#define WAIT_MS 10000

static int listen_fd, fd, peer;

static void close_all(void *arg)
{
    (void)arg;
    close(listen_fd);
    close(fd);
    close(peer);
    listen_fd = fd = peer = -1;
}

static int port_listen(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t len = sizeof a;
    listen_fd = fd = peer = -1;
    test_cleanup(close_all, NULL);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listen_fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(bind(listen_fd, (struct sockaddr *)&a, sizeof a) == 0);
    CHECK(listen(listen_fd, 4) == 0);
    CHECK(getsockname(listen_fd, (struct sockaddr *)&a, &len) == 0);
    return ntohs(a.sin_port);
}

static int is_ready(int which, short events)
{
    struct pollfd p = {which, events, 0};
    return poll(&p, 1, WAIT_MS) == 1;
}

static void connect_through(void)
{
    struct resolved to;
    int is_through = 0;
    CHECK_INT(hf__resolve_numeric("127.0.0.1", port_listen(), &to), 0);
    CHECK_INT(to.count, 1);
    fd = hf__stream_open(&to.addrs[0], &is_through);
    CHECK(fd >= 0);
    if (!is_through) {
        CHECK(is_ready(fd, POLLOUT));
        CHECK_INT(hf__stream_finish(fd), 1);
    }
    peer = accept(listen_fd, NULL, NULL);
    CHECK(peer >= 0);
}

TEST(stream, bytes_go_both_ways)
{
    char buf[8];
    connect_through();
    CHECK_INT(hf__stream_write(fd, "ping", 4), 4);
    CHECK_INT(recv(peer, buf, sizeof buf, 0), 4);
    CHECK_INT(send(peer, "pong", 4, 0), 4);
    CHECK(is_ready(fd, POLLIN));
    CHECK_INT(hf__stream_read(fd, buf, sizeof buf), 4);
    CHECK(!memcmp(buf, "pong", 4));
}

TEST(stream, nothing_to_read_is_zero_and_the_end_is_minus_one)
{
    char buf[8];
    connect_through();
    CHECK_INT(hf__stream_read(fd, buf, sizeof buf), 0);
    shutdown(peer, SHUT_WR);
    CHECK(is_ready(fd, POLLIN));
    CHECK_INT(hf__stream_read(fd, buf, sizeof buf), -1);
    CHECK_INT(errno, 0);
}

TEST(stream, a_full_socket_takes_no_more_and_does_not_block)
{
    static char block[65536];
    ssize_t n = 1;
    connect_through();
    for (int i = 0; i < 10000 && n > 0; i++)
        n = hf__stream_write(fd, block, sizeof block);
    CHECK_INT(n, 0);
}

TEST(stream, writing_to_the_gone_is_an_error_and_no_signal)
{
    connect_through();
    close(peer);
    peer = -1;
    ssize_t n = 1;
    for (int i = 0; i < 1000 && n > 0; i++) {
        n = hf__stream_write(fd, "x", 1);
        if (n > 0) poll(NULL, 0, 1);
    }
    CHECK_INT(n, -1);
    CHECK(errno == EPIPE || errno == ECONNRESET);
}

TEST(stream, the_socket_is_tuned_and_not_inherited)
{
    int value = 0;
    socklen_t len = sizeof value;
    connect_through();
    CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    CHECK(fcntl(fd, F_GETFL) & O_NONBLOCK);
    CHECK(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, &len) == 0);
    CHECK(value != 0);
    CHECK(getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &value, &len) == 0);
    CHECK(value != 0);
}

TEST(stream, a_port_nobody_listens_on_is_refused)
{
    struct resolved to;
    int is_through = 0, rc = -1;
    int port = port_listen();
    close(listen_fd);
    listen_fd = -1;
    CHECK_INT(hf__resolve_numeric("127.0.0.1", port, &to), 0);
    fd = hf__stream_open(&to.addrs[0], &is_through);
    if (fd >= 0) {
        CHECK(is_ready(fd, POLLOUT));
        rc = hf__stream_finish(fd);
    }
    CHECK_INT(rc, -1);
    CHECK_INT(errno, ECONNREFUSED);
}

TEST(stream, a_socket_that_meets_itself_is_refused)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t len = sizeof a;
    listen_fd = peer = -1;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    fd = socket(AF_INET, SOCK_STREAM, 0);
    test_cleanup(close_all, NULL);
    CHECK(bind(fd, (struct sockaddr *)&a, sizeof a) == 0);
    CHECK(getsockname(fd, (struct sockaddr *)&a, &len) == 0);
    CHECK(connect(fd, (struct sockaddr *)&a, sizeof a) == 0);
    CHECK_INT(hf__stream_finish(fd), -1);
    CHECK_INT(errno, ECONNREFUSED);
}

TEST(stream, a_path_that_is_too_long_is_refused)
{
    struct stream_addr a;
    char path[300];
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    CHECK_INT(hf__stream_addr_unix(&a, path), -1);
    CHECK_INT(hf__stream_addr_unix(&a, "/tmp/s"), 0);
}

TEST(resolve, numeric_addresses_need_no_lookup)
{
    struct resolved to;
    CHECK_INT(hf__resolve_numeric("127.0.0.1", 1, &to), 0);
    CHECK_INT(hf__resolve_numeric("::1", 1, &to), 0);
    CHECK_INT(hf__resolve_numeric("localhost", 1, &to), -1);
    CHECK_INT(hf__resolve_numeric("", 1, &to), -1);
}

static int resolve(const char *host, struct resolved *to)
{
    fd = hf__resolve_start(host, 77);
    listen_fd = peer = -1;
    CHECK(fd >= 0);
    test_cleanup(close_all, NULL);
    CHECK(is_ready(fd, POLLIN));
    return hf__resolve_take(fd, to);
}

TEST(resolve, a_name_becomes_addresses)
{
    struct resolved to;
    struct addrinfo *found = NULL;
    /* A bare chroot has no hosts file: then the answer is that. */
    int code = getaddrinfo("localhost", "1", NULL, &found);
    if (found) freeaddrinfo(found);
    CHECK_INT(resolve("localhost", &to), 1);
    CHECK_INT(to.code, code);
    CHECK((to.count >= 1) == (code == 0));
}

TEST(resolve, an_unknown_name_says_why)
{
    struct resolved to;
    CHECK_INT(resolve("no-such-host.invalid", &to), 1);
    CHECK(to.code != 0);
    CHECK_INT(to.count, 0);
    CHECK(hf__resolve_text(to.code)[0] != '\0');
}

TEST(resolve, giving_up_is_closing)
{
    for (int i = 0; i < 20; i++) {
        int gone = hf__resolve_start("localhost", 77);
        CHECK(gone >= 0);
        close(gone);
    }
    poll(NULL, 0, 50); /* the threads must not die of SIGPIPE meanwhile */
}

TEST(resolve, a_name_without_an_end_is_refused)
{
    char name[4096];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    CHECK_INT(hf__resolve_start(name, 77), -1);
    CHECK_INT(errno, ENAMETOOLONG);
}
