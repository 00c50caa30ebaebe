/*
 * run/process/guardian.c: the process between the supervisor and the command.
 *
 * It is a subreaper: every orphan below it, also one that called setsid(2) or
 * was forked twice, becomes its child, so "no children left" means that the
 * whole tree is gone.  It outlives the supervisor just long enough to end the
 * tree, and with its copy of a kernel lock no other process gets the lock
 * before that.
 */
#include "common/duration.h"
#include "common/exit.h"
#include "run/process/process.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#define KILL_AGAIN_MS 5   /* while killing: what was forked meanwhile */
#define SLEEP_MS_MAX 5000 /* a sleep does not run while suspended: look again */
#define LEFT_TOLD_MAX 8   /* pids told of those left behind */
#define ORDER_TRIES 5     /* to send one order to the guardian */
#define ORDER_WAIT_MS 20  /* for each of them */

struct guardian {
    const struct run *r;
    int ctl_fd;
    pid_t command;
    int command_gone;
    int wait_status;
    int until_idle; /* end only when no descendant is left */
    int killing;
};

int ctl_send(int fd, enum ctl_kind kind, int value)
{
    struct ctl msg = {(int32_t)kind, value};
    ssize_t n;
    do {
        n = send(fd, &msg, sizeof(msg), MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof(msg) ? 0 : -1;
}

/* A guardian that was stopped is continued when its messages pile up: they are
 * orders. */
void ctl_order(const struct run *r, enum ctl_kind kind, int value)
{
    struct ctl msg = {(int32_t)kind, value};
    struct pollfd ready = {.fd = r->ctl_fd, .events = POLLOUT};
    for (int tries = 0; tries < ORDER_TRIES; tries++) {
        ssize_t n =
            send(r->ctl_fd, &msg, sizeof(msg), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n >= 0 || (errno != EAGAIN && errno != EINTR)) return;
        kill(r->guardian, SIGCONT);
        (void)poll(&ready, 1, ORDER_WAIT_MS);
    }
}

int ctl_receive(int fd, struct ctl *msg)
{
    ssize_t n = recv(fd, msg, sizeof(*msg), MSG_DONTWAIT);
    if (n == (ssize_t)sizeof(*msg)) return 1;
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return -1;
    return 0;
}

/* Take notice of all that ended or stopped.  1 if no child is left. */
static int children_reap(struct guardian *g)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
        if (pid != g->command) continue;
        if (WIFSTOPPED(status)) {
            ctl_send(g->ctl_fd, CTL_STOPPED, WSTOPSIG(status));
        } else {
            g->command_gone = 1;
            g->wait_status = status;
        }
    }
    return pid < 0 && errno == ECHILD;
}

static _Noreturn void guardian_end(struct guardian *g)
{
    pid_t left[LEFT_TOLD_MAX];
    size_t len = tree_list(getpid(), left, LEFT_TOLD_MAX);
    for (size_t i = 0; i < len; i++)
        ctl_send(g->ctl_fd, CTL_LEFT, (int)left[i]);
    ctl_send(g->ctl_fd, CTL_ENDED, g->wait_status);
    _exit(0);
}

/* The lock is not renewed any more: end everything, now. */
static _Noreturn void supervisor_gone(struct guardian *g)
{
    for (long ms = 1;; ms = ms < 50 ? ms * 2 : ms) {
        tree_signal(getpid(), SIGKILL);
        if (children_reap(g)) _exit(EXIT_SIGNAL + SIGKILL);
        struct timespec pause = {0, ms * 1000000};
        nanosleep(&pause, NULL);
    }
}

static void signal_forward(const struct guardian *g, int sig)
{
    if (g->command_gone)
        tree_signal(getpid(), sig);
    else
        kill(g->r->o->foreground ? g->command : -g->command, sig);
}

static void order_take(struct guardian *g, const struct ctl *msg)
{
    switch (msg->kind) {
    case CTL_SIGNAL:
        signal_forward(g, msg->value);
        break;
    case CTL_TERM_TREE:
        g->until_idle = 1;
        tree_signal(getpid(), msg->value);
        /* What is stopped takes notice of TERM, or of another signal, only
         * when it goes on. */
        tree_signal(getpid(), SIGCONT);
        break;
    case CTL_KILL_TREE:
        g->until_idle = 1;
        g->killing = 1;
        break;
    default:
        break;
    }
}

static int64_t guarded_until_ms(const struct guardian *g)
{
    return atomic_load(g->r->guarded_ms);
}

/* The supervisor should have ended the tree by now.  It has not, so it is
 * probably stopped: end the tree here. */
static void validity_check(struct guardian *g)
{
    if (g->killing || clock_ms() < guarded_until_ms(g)) return;
    g->until_idle = 1;
    g->killing = 1;
    ctl_send(g->ctl_fd, CTL_EXPIRED, 0);
}

static int64_t sleep_ms(const struct guardian *g)
{
    if (g->killing) return KILL_AGAIN_MS;
    int64_t until_ms = guarded_until_ms(g);
    if (until_ms == INT64_MAX) return SLEEP_MS_MAX;
    int64_t left_ms = until_ms - clock_ms();
    if (left_ms < 0) return 0;
    return left_ms < SLEEP_MS_MAX ? left_ms : SLEEP_MS_MAX;
}

/* Sleep until the supervisor says something or a child ends.  SIGCHLD is
 * blocked but in here, so that none is missed in between. */
static void guardian_sleep(struct guardian *g, const sigset_t *open_mask)
{
    int64_t ms = sleep_ms(g);
    struct timespec until = {ms / 1000, ms % 1000 * 1000000};
    int for_ever = !g->killing && guarded_until_ms(g) == INT64_MAX;
    struct ctl msg;
    fd_set fds;
    FD_ZERO(&fds);
    FD_SET(g->ctl_fd, &fds);
    int n = pselect(g->ctl_fd + 1, &fds, NULL, NULL, for_ever ? NULL : &until,
                    open_mask);
    if (n <= 0) return;
    int got = ctl_receive(g->ctl_fd, &msg);
    if (got == 0) supervisor_gone(g);
    if (got == 1) order_take(g, &msg);
}

static _Noreturn void guardian_loop(struct guardian *g)
{
    sigset_t open_mask;
    sigfillset(&open_mask);
    sigdelset(&open_mask, SIGCHLD);
    for (;;) {
        validity_check(g);
        if (g->killing) tree_signal(getpid(), SIGKILL);
        int idle = children_reap(g);
        if (g->command_gone && (idle || !g->until_idle)) guardian_end(g);
        guardian_sleep(g, &open_mask);
    }
}

static void child_seen(int sig)
{
    (void)sig; /* it only has to interrupt pselect */
}

static void guardian_setup(void)
{
    struct sigaction act;
    memset(&act, 0, sizeof(act));
    act.sa_handler = child_seen;
    sigemptyset(&act.sa_mask);
    sigaction(SIGCHLD, &act, NULL);
    /* A group of its own: a kill of the supervisor's group must not hit the
     * guardian. */
    (void)setpgid(0, 0);
#ifdef __linux__
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
#endif
}

_Noreturn void guardian_main(struct run *r, int ctl_fd)
{
    struct guardian g = {.r = r, .ctl_fd = ctl_fd};
    pid_t supervisor_group = getpgrp();
    g.until_idle = r->o->hold_until_idle;
    guardian_setup();
    if (run_is_late(r)) {
        ctl_send(ctl_fd, CTL_LATE, 0);
        ctl_send(ctl_fd, CTL_ENDED, 0);
        _exit(0);
    }
    g.command = fork();
    if (g.command == 0) {
        (void)setpgid(0, r->o->foreground ? supervisor_group : 0);
        run_become(r, ctl_fd);
    }
    if (g.command < 0) {
        ctl_send(ctl_fd, CTL_CANNOT_FORK, errno);
        _exit(EXIT_BUG);
    }
    /* Also here, for a signal may be forwarded before the child has run. */
    (void)setpgid(g.command, r->o->foreground ? supervisor_group : g.command);
    if (r->child_status_fd >= 0) close(r->child_status_fd);
    output_forget(r);
    ctl_send(ctl_fd, CTL_STARTED, (int)g.command);
    guardian_loop(&g);
}
