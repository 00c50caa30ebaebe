/*
 * proxy.c: the proxy's thread.  One rule: it owns its descriptors; others only
 * touch the atomics.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/proxy.h"
#include "lib/rig.h"

static void address_set(struct sockaddr_in *a, int port)
{
    memset(a, 0, sizeof *a);
    a->sin_family = AF_INET;
    a->sin_port = htons((uint16_t)port);
    a->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
}

static void pair_close(struct proxy *p, int i)
{
    struct linger reset = {1, 0};
    if (atomic_load(&p->with_reset))
        setsockopt(p->pairs[i].client_fd, SOL_SOCKET, SO_LINGER, &reset,
                   sizeof reset);
    close(p->pairs[i].client_fd);
    close(p->pairs[i].server_fd);
    p->pairs[i] = p->pairs[--p->pairs_len];
}

static void pair_open(struct proxy *p)
{
    struct sockaddr_in to;
    int one = 1;
    int client_fd = accept4(p->listen_fd, NULL, NULL, SOCK_CLOEXEC);
    if (client_fd < 0) return;
    int server_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address_set(&to, p->target_port);
    if (p->pairs_len == PROXY_PAIRS_MAX || server_fd < 0
        || connect(server_fd, (struct sockaddr *)&to, sizeof to) != 0) {
        close(client_fd);
        if (server_fd >= 0) close(server_fd);
        return;
    }
    setsockopt(client_fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(server_fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    p->pairs[p->pairs_len].client_fd = client_fd;
    p->pairs[p->pairs_len++].server_fd = server_fd;
}

/* Pass on what has come.  Returns 0 when the line is to be closed. */
static int bytes_pass(struct proxy *p, int from, int to, enum proxy_way way)
{
    char buf[4096];
    long budget = atomic_load(&p->budget[way]);
    size_t want = sizeof buf;
    if (budget >= 0 && (size_t)budget < want) want = (size_t)budget;
    ssize_t n = want > 0 ? recv(from, buf, want, 0) : 0;
    if (n > 0 && send(to, buf, (size_t)n, MSG_NOSIGNAL) != n) return 0;
    if (n > 0) atomic_fetch_add(&p->bytes[way], n);
    if (budget < 0) return n > 0;
    if (n <= 0 && want > 0) return 0;
    atomic_store(&p->budget[way], budget - n > 0 ? budget - n : -1);
    if (budget - n > 0) return 1;
    atomic_fetch_add(&p->cuts, 1);
    return 0;
}

static void pairs_serve(struct proxy *p, const struct pollfd *fds)
{
    for (int i = p->pairs_len - 1; i >= 0; i--) {
        int client_fd = p->pairs[i].client_fd;
        int server_fd = p->pairs[i].server_fd;
        int is_open = 1;
        if (fds[1 + 2 * i].revents)
            is_open = bytes_pass(p, client_fd, server_fd, PROXY_UP);
        if (is_open && fds[2 + 2 * i].revents)
            is_open = bytes_pass(p, server_fd, client_fd, PROXY_DOWN);
        if (!is_open) pair_close(p, i);
    }
}

static void proxy_run(void *arg)
{
    struct proxy *p = arg;
    while (!atomic_load(&p->stop)) {
        struct pollfd fds[1 + 2 * PROXY_PAIRS_MAX] = {
            {p->listen_fd, POLLIN, 0}};
        for (int i = 0; i < p->pairs_len; i++) {
            fds[1 + 2 * i].fd = p->pairs[i].client_fd;
            fds[2 + 2 * i].fd = p->pairs[i].server_fd;
            fds[1 + 2 * i].events = fds[2 + 2 * i].events = POLLIN;
        }
        if (poll(fds, (nfds_t)(1 + 2 * p->pairs_len), 20) <= 0) continue;
        pairs_serve(p, fds);
        if (fds[0].revents) pair_open(p);
    }
    while (p->pairs_len > 0) pair_close(p, 0);
    close(p->listen_fd);
}

static void proxy_end(void *arg)
{
    struct proxy *p = arg;
    atomic_store(&p->stop, 1);
}

void proxy_begin(struct proxy *p, int target_port)
{
    struct sockaddr_in a;
    socklen_t len = sizeof a;
    memset(p, 0, sizeof *p);
    p->target_port = target_port;
    proxy_arm(p, PROXY_DOWN, -1, 0);
    p->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(p->listen_fd >= 0);
    address_set(&a, 0);
    CHECK(bind(p->listen_fd, (struct sockaddr *)&a, sizeof a) == 0);
    CHECK(listen(p->listen_fd, 64) == 0);
    CHECK(getsockname(p->listen_fd, (struct sockaddr *)&a, &len) == 0);
    p->port = ntohs(a.sin_port);
    rig_spawn(proxy_run, p);
    test_cleanup(proxy_end, p); /* runs before the rig joins its threads */
}

void proxy_arm(struct proxy *p, enum proxy_way way, long n, int with_reset)
{
    atomic_store(&p->bytes[PROXY_UP], 0);
    atomic_store(&p->bytes[PROXY_DOWN], 0);
    atomic_store(&p->cuts, 0);
    atomic_store(&p->with_reset, with_reset);
    atomic_store(&p->budget[way == PROXY_UP ? PROXY_DOWN : PROXY_UP], -1);
    atomic_store(&p->budget[way], n);
}
