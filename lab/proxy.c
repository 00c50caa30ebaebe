/*
 * proxy.c: the proxy's thread.  One rule: it owns the lines; other threads only
 * touch the atomics, and close the port when the thread has ended.
 */
#include "lab/proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lab/own.h"
#include "lab/wait.h"

static void address_set(struct sockaddr_in *a, int port)
{
    memset(a, 0, sizeof *a);
    a->sin_family = AF_INET;
    a->sin_port = htons((uint16_t)port);
    a->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
}

static void pair_close(struct lab_proxy *p, int i)
{
    struct linger reset = {1, 0};
    struct lab_proxy_lane *up = &p->pairs[i][LAB_UP];
    if (atomic_load(&p->with_reset))
        setsockopt(up->from_fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close(up->from_fd);
    close(up->to_fd);
    p->pairs_len--;
    if (i != p->pairs_len)
        memcpy(p->pairs[i], p->pairs[p->pairs_len], sizeof p->pairs[i]);
}

static void lane_open(struct lab_proxy_lane *l, int from_fd, int to_fd)
{
    int one = 1;
    setsockopt(from_fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    l->from_fd = from_fd;
    l->to_fd = to_fd;
    l->has_ended = l->first = l->len = 0;
}

static void pair_open(struct lab_proxy *p)
{
    struct sockaddr_in to;
    int client_fd = accept4(p->listen_fd, NULL, NULL, SOCK_CLOEXEC);
    if (client_fd < 0) return;
    int server_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address_set(&to, atomic_load(&p->target_port));
    if (p->pairs_len == LAB_PROXY_PAIRS_MAX || server_fd < 0
        || atomic_load(&p->is_severed)
        || connect(server_fd, (struct sockaddr *)&to, sizeof to) != 0) {
        close(client_fd);
        if (server_fd >= 0) close(server_fd);
        return;
    }
    lane_open(&p->pairs[p->pairs_len][LAB_UP], client_fd, server_fd);
    lane_open(&p->pairs[p->pairs_len][LAB_DOWN], server_fd, client_fd);
    p->pairs_len++;
}

static int lane_has_room(const struct lab_proxy_lane *l)
{
    return !l->has_ended && l->len < LAB_PROXY_CHUNKS_MAX;
}

/* Take what has come. */
static void lane_take(struct lab_proxy_lane *l)
{
    int at = (l->first + l->len) % LAB_PROXY_CHUNKS_MAX;
    struct lab_proxy_chunk *c = &l->chunks[at];
    ssize_t n = recv(l->from_fd, c->buf, sizeof c->buf, 0);
    if (n <= 0) {
        l->has_ended = 1;
        return;
    }
    c->came_ms = lab_now_ms();
    c->at = 0;
    c->len = (size_t)n;
    l->len++;
}

/* Pass a chunk on, up to the cut.  Returns 0 when the line is to be closed. */
static int chunk_pass(struct lab_proxy *p, struct lab_proxy_lane *l,
                      enum lab_way way)
{
    struct lab_proxy_chunk *c = &l->chunks[l->first];
    long budget = atomic_load(&p->budget[way]);
    size_t want = c->len - c->at;
    if (budget >= 0 && (size_t)budget < want) want = (size_t)budget;
    if (want > 0
        && send(l->to_fd, c->buf + c->at, want, MSG_NOSIGNAL) != (ssize_t)want)
        return 0;
    atomic_fetch_add(&p->bytes[way], (long)want);
    c->at += want;
    if (c->at == c->len) {
        l->first = (l->first + 1) % LAB_PROXY_CHUNKS_MAX;
        l->len--;
    }
    if (budget < 0) return 1;
    budget -= (long)want;
    atomic_store(&p->budget[way], budget > 0 ? budget : -1);
    if (budget > 0) return 1;
    atomic_fetch_add(&p->cuts, 1);
    return 0;
}

/* Pass on what is due.  Returns 0 when the line is to be closed. */
static int lane_pass(struct lab_proxy *p, struct lab_proxy_lane *l,
                     enum lab_way way)
{
    int64_t due_ms = lab_now_ms() - atomic_load(&p->delay_ms[way]);
    while (l->len > 0 && l->chunks[l->first].came_ms <= due_ms) {
        if (!chunk_pass(p, l, way)) return 0;
    }
    return l->len > 0 || !l->has_ended;
}

static void pairs_serve(struct lab_proxy *p, const struct pollfd *fds)
{
    for (int i = p->pairs_len - 1; i >= 0; i--) {
        int is_open = !atomic_load(&p->is_severed);
        for (int way = LAB_UP; way <= LAB_DOWN && is_open; way++) {
            struct lab_proxy_lane *l = &p->pairs[i][way];
            if (fds[1 + 2 * i + way].revents && lane_has_room(l)) lane_take(l);
            is_open = lane_pass(p, l, (enum lab_way)way);
        }
        if (!is_open) pair_close(p, i);
    }
}

/* What to poll, and for how long: bytes that wait for their time are looked
 * after every millisecond. */
static int fds_fill(const struct lab_proxy *p, struct pollfd *fds)
{
    int wait_ms = 20;
    fds[0] = (struct pollfd){p->listen_fd, POLLIN, 0};
    for (int i = 0; i < 2 * p->pairs_len; i++) {
        const struct lab_proxy_lane *l = &p->pairs[i / 2][i % 2];
        fds[1 + i].fd = lane_has_room(l) ? l->from_fd : -1;
        fds[1 + i].events = POLLIN;
        fds[1 + i].revents = 0;
        if (l->len > 0) wait_ms = 1;
    }
    return wait_ms;
}

static void *proxy_run(void *arg)
{
    struct lab_proxy *p = arg;
    while (!atomic_load(&p->stop)) {
        struct pollfd fds[1 + 2 * LAB_PROXY_PAIRS_MAX];
        int wait_ms = fds_fill(p, fds);
        if (poll(fds, (nfds_t)(1 + 2 * p->pairs_len), wait_ms) < 0) continue;
        pairs_serve(p, fds);
        if (fds[0].revents) pair_open(p);
    }
    while (p->pairs_len > 0) pair_close(p, 0);
    return NULL;
}

/* ---- life --------------------------------------------------------------- */

static void proxy_stop(void *arg)
{
    lab_proxy_stop(arg);
}

void lab_proxy_stop(struct lab_proxy *p)
{
    lab__life_end(proxy_stop, p);
    if (p->has_thread) {
        atomic_store(&p->stop, 1);
        shutdown(p->listen_fd, SHUT_RDWR); /* wakes the thread */
        pthread_join(p->thread, NULL);
        p->has_thread = 0;
    }
    if (p->listen_fd > 0) close(p->listen_fd);
    p->listen_fd = 0;
}

static int port_open(struct lab_proxy *p)
{
    struct sockaddr_in a;
    socklen_t len = sizeof a;
    p->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address_set(&a, 0);
    if (p->listen_fd < 0
        || bind(p->listen_fd, (struct sockaddr *)&a, sizeof a) != 0
        || listen(p->listen_fd, 64) != 0
        || getsockname(p->listen_fd, (struct sockaddr *)&a, &len) != 0)
        return lab__fail("proxy: no port: %s", strerror(errno));
    p->port = ntohs(a.sin_port);
    return LAB_OK;
}

static int thread_start(struct lab_proxy *p)
{
    int why = pthread_create(&p->thread, NULL, proxy_run, p);
    if (why) return lab__fail("proxy: no thread: %s", strerror(why));
    p->has_thread = 1;
    return LAB_OK;
}

int lab_proxy_start(struct lab_proxy *p, int target_port)
{
    memset(p, 0, sizeof *p);
    atomic_init(&p->target_port, target_port);
    lab_proxy_arm(p, LAB_DOWN, -1, 0);
    int status = port_open(p);
    if (status == LAB_OK) status = thread_start(p);
    if (status == LAB_OK) status = lab__life_begin(proxy_stop, p);
    if (status != LAB_OK) lab_proxy_stop(p);
    return status;
}

/* ---- faults ------------------------------------------------------------- */

void lab_proxy_arm(struct lab_proxy *p, enum lab_way way, long n,
                   int with_reset)
{
    atomic_store(&p->bytes[LAB_UP], 0);
    atomic_store(&p->bytes[LAB_DOWN], 0);
    atomic_store(&p->cuts, 0);
    atomic_store(&p->with_reset, with_reset);
    atomic_store(&p->budget[way == LAB_UP ? LAB_DOWN : LAB_UP], -1);
    atomic_store(&p->budget[way], n);
}

void lab_proxy_delay(struct lab_proxy *p, enum lab_way way, long ms)
{
    atomic_store(&p->delay_ms[way], ms);
}

void lab_proxy_aim(struct lab_proxy *p, int target_port)
{
    atomic_store(&p->target_port, target_port);
}

void lab_proxy_sever(struct lab_proxy *p, int is_severed)
{
    atomic_store(&p->is_severed, is_severed);
}
