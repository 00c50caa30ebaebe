/*
 * client_world.c: what stands in for the clock, the network and poll(2).  One
 * rule: time passes only when nobody can do anything, so that a run takes as
 * long as its work, and the same input makes the same run.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "fuzz/lib/client.h"
#include "sys/clock.h"

#define START_US (1000 * US_PER_S)
#define WALL_AHEAD_US INT64_C(1700000000000000)

static int64_t now_us = START_US;
static int is_running;
static uint64_t dice;

int64_t world_now_us(void)
{
    return now_us;
}

int64_t world_wall_us(void)
{
    return now_us + WALL_AHEAD_US;
}

void world_pass_us(int64_t us)
{
    if (us > 0) now_us += us;
}

void world_begin(const uint8_t *data, size_t size, int answers_all,
                 enum script_end end)
{
    now_us = START_US;
    dice = 1;
    is_running = 1;
    server_begin(data, size, answers_all, end);
}

void world_end(void)
{
    server_end();
    is_running = 0;
}

/* ---- instead of sys/clock.c ---- */

int64_t hf__clock_us(void)
{
    return world_now_us();
}

int64_t hf__clock_wall_us(void)
{
    return world_wall_us();
}

/* ---- instead of the C library's ---- */

static int poll_now(struct pollfd *fds, nfds_t len)
{
    struct timespec none = {0, 0};
    return (int)syscall(SYS_ppoll, fds, len, &none, NULL, 0);
}

static int poll_until(struct pollfd *fds, nfds_t len, int64_t wait_us)
{
    if (!is_running) {
        struct timespec ts = {.tv_sec = (time_t)(wait_us / US_PER_S)};
        ts.tv_nsec = (long)(wait_us % US_PER_S * 1000);
        return (int)syscall(SYS_ppoll, fds, len, wait_us < 0 ? NULL : &ts, NULL,
                            0);
    }
    server_step();
    int ready = poll_now(fds, len);
    if (ready == 0) world_pass_us(wait_us < 0 ? US_PER_S : wait_us);
    return ready;
}

int poll(struct pollfd *fds, nfds_t len, int wait_ms)
{
    return poll_until(fds, len, wait_ms < 0 ? -1 : wait_ms * US_PER_MS);
}

int ppoll(struct pollfd *fds, nfds_t len, const struct timespec *wait,
          const sigset_t *signals)
{
    (void)signals;
    if (!wait) return poll_until(fds, len, -1);
    return poll_until(fds, len,
                      (int64_t)wait->tv_sec * US_PER_S + wait->tv_nsec / 1000);
}

/* A thread that spins lets time pass, too: the server answers when it polls. */
int sched_yield(void)
{
    world_pass_us(1);
    return 0;
}

/* What a fortified build calls where it knows how large `fds` is. */
int __poll_chk(struct pollfd *fds, nfds_t len, int wait_ms, size_t room);
int __poll_chk(struct pollfd *fds, nfds_t len, int wait_ms, size_t room)
{
    (void)room;
    return poll(fds, len, wait_ms);
}

int __ppoll_chk(struct pollfd *fds, nfds_t len, const struct timespec *wait,
                const sigset_t *signals, size_t room);
int __ppoll_chk(struct pollfd *fds, nfds_t len, const struct timespec *wait,
                const sigset_t *signals, size_t room)
{
    (void)room;
    return ppoll(fds, len, wait, signals);
}

/* Whatever the address is: the server is there.  The C library declares it with
 * a type of its own, so it has another name here. */
int world_connect(int fd, const struct sockaddr *addr,
                  socklen_t len) __asm__("connect");

int world_connect(int fd, const struct sockaddr *addr, socklen_t len)
{
    if (!is_running) return (int)syscall(SYS_connect, fd, addr, len);
    int end = server_connect();
    if (end < 0) {
        errno = ECONNREFUSED;
        return -1;
    }
    int rc = dup3(end, fd, O_CLOEXEC);
    close(end);
    return rc < 0 ? -1 : 0;
}

/* Names are not looked up: no thread is started for it, nothing is asked. */
int socketpair(int domain, int type, int protocol, int fds[2])
{
    if (!is_running)
        return (int)syscall(SYS_socketpair, domain, type, protocol, fds);
    errno = EMFILE;
    return -1;
}

ssize_t getrandom(void *buf, size_t len, unsigned flags)
{
    unsigned char *at = buf;
    if (!is_running) return syscall(SYS_getrandom, buf, len, flags);
    for (size_t i = 0; i < len; i++) {
        dice = dice * UINT64_C(6364136223846793005) + 1;
        at[i] = (unsigned char)(dice >> 56);
    }
    return (ssize_t)len;
}
