/*
 * run/process/start.c: the guardian, the command, and what the command is
 * given.
 *
 * The command gets the three standard streams, the read end of the status pipe
 * and its environment; everything else of ours is close-on-exec.  Neither the
 * ticket nor the password is ever in its environment.
 */
#include "common/duration.h"
#include "common/environment.h"
#include "common/exit.h"
#include "common/say.h"
#include "run/outer.h"
#include "run/process/process.h"
#include "run/supervise.h"
#include "session/holder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

/* The period is told in seconds, which date(1) understands. */
static void once_environment(const struct run *r)
{
    int64_t per_ms = r->o->per_ms;
    unsetenv("HOLDFAST_ONCE_PERIOD");
    if (!r->once_began_ms || !per_ms) return;
    environment_number("HOLDFAST_ONCE_PERIOD",
                       (r->once_began_ms - r->once_began_ms % per_ms) / 1000);
}

/* All locks, and all tokens; what was inherited is of other locks. */
static void locks_environment(const struct run *r)
{
    static char names[HF_MULTI_MAX * (HF_NAME_MAX + 1)];
    static char fences[HF_MULTI_MAX * 24];
    size_t names_at = 0, fences_at = 0;
    size_t len = r->s.multi ? r->s.all_len : 1;
    for (size_t i = 0; i < len; i++) {
        const char *name = r->s.multi ? hf_lock_name(r->s.all[i]) : r->name;
        uint64_t fence = r->held.fences[i];
        names_at += (size_t)snprintf(names + names_at, sizeof(names) - names_at,
                                     "%s%s", i ? "\n" : "", name);
        fences_at +=
            (size_t)snprintf(fences + fences_at, sizeof(fences) - fences_at,
                             "%s%" PRIu64, i ? " " : "", fence);
    }
    setenv("HOLDFAST_LOCKS", names, 1);
    setenv("HOLDFAST_FENCES", fences, 1);
}

void run_environment(const struct run *r)
{
    char host[HF_HOST_MAX] = "";
    char text[HF_HOST_MAX + 64];
    setenv("HOLDFAST_LOCK", r->name, 1);
    snprintf(text, sizeof(text), "%" PRIu64, r->held.fence);
    if (r->held.fence)
        setenv("HOLDFAST_FENCE", text, 1);
    else
        unsetenv("HOLDFAST_FENCE"); /* an inherited one is of another lock */
    locks_environment(r);
    outer_environment(r);
    setenv("HOLDFAST_GUARANTEE",
           r->held.guarantee != HF_GUARANTEE_LOCAL
                   && (hf_url_traits(r->url) & HF_URL_HOST)
               ? "host"
               : guarantee_name(r->held.guarantee),
           1);
    once_environment(r);
    if (gethostname(host, sizeof(host) - 1) != 0) host[0] = '\0';
    snprintf(text, sizeof(text), "%s:%ld:%" PRIu64, host, (long)r->supervisor,
             r->held.fence);
    setenv("HOLDFAST_HOLDER", text, 1);
    environment_number("HOLDFAST_TTL_MS",
                       r->lease_ms == INT64_MAX ? -1 : r->held.valid_ms);
    if (r->child_status_fd >= 0)
        environment_number("HOLDFAST_STATUS_FD", r->child_status_fd);
    else
        unsetenv("HOLDFAST_STATUS_FD");
    session_environment(&r->s);
    environment_clean(r->url);
}

void run_exec(const struct run *r)
{
    char *shell[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
                     (char *)(uintptr_t)r->o->shell, NULL};
    if (r->o->shell)
        execv("/bin/sh", shell);
    else
        execvp(r->argv[0], r->argv);
}

/* A shell can only read from descriptors below 10, so the status pipe gets the
 * first number there that is free, or that is ours and closes with exec. */
static void status_fd_place(struct run *r, int ctl_fd)
{
    int from = r->child_status_fd;
    if (from < 0) return;
    for (int fd = STDERR_FILENO + 1; fd <= 9; fd++) {
        int flags = fcntl(fd, F_GETFD);
        if (fd == ctl_fd || fd == say_json_fd()) continue;
        if (flags >= 0 && !(flags & FD_CLOEXEC)) continue;
        if (fd != from && dup2(from, fd) < 0) continue;
        r->child_status_fd = fd;
        break;
    }
    (void)fcntl(r->child_status_fd, F_SETFD, 0);
}

int run_is_late(const struct run *r)
{
    return clock_ms() >= atomic_load(r->guarded_ms);
}

_Noreturn void run_become(struct run *r, int ctl_fd)
{
#ifdef __linux__
    /* If the guardian is killed, the command is killed with it. */
    pid_t guardian = getppid();
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != guardian) _exit(EXIT_BUG);
#endif
    if (r->has_tty) tty_give(getpgrp());
    output_give(r);
    status_fd_place(r, ctl_fd);
    run_environment(r);
    signals_restore();
    /* The last moment to check that the lock is still held, whatever delayed
     * the process so far. */
    if (run_is_late(r)) {
        ctl_send(ctl_fd, CTL_LATE, 0);
        _exit(EXIT_LOST);
    }
    run_exec(r);
    int why = errno;
    ctl_send(ctl_fd, CTL_CANNOT_EXEC, why);
    _exit(why == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN);
}

/* The pipe for HOLDFAST_STATUS_FD; the run goes on without it if it cannot be
 * made. */
static void status_pipe_open(struct run *r)
{
    int fds[2];
    r->status_fd = r->child_status_fd = -1;
    if (pipe2(fds, O_CLOEXEC) != 0) return;
    (void)fcntl(fds[1], F_SETFL, O_NONBLOCK);
    r->child_status_fd = fds[0];
    r->status_fd = fds[1];
}

/* With a copy of the kernel lock's descriptor the guardian keeps the lock until
 * the last descendant is gone, even if the supervisor is killed. */
static void lock_share(struct run *r, hf_hold *hold)
{
    int fd;
    if (r->lease_ms != INT64_MAX) return;
    if (hf_hold_inherit(hold, &fd, NULL) != HF_OK) return;
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    r->lock_fds[r->lock_fds_len++] = fd;
}

static void locks_share(struct run *r)
{
    r->lock_fds_len = 0;
    for (size_t i = 0; i < hf_hold_parts(r->hold); i++)
        lock_share(r, hf_hold_part(r->hold, i));
}

static void close_if_open(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

/* Map the memory that the supervisor, the guardian and, until its exec, the
 * command share. */
static int guarded_share(struct run *r)
{
    if (r->guarded_ms) return 0;
    void *page = mmap(NULL, sizeof(*r->guarded_ms), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return errno;
    r->guarded_ms = page;
    return 0;
}

int run_start(struct run *r)
{
    int ctl[2];
    int no_page = guarded_share(r);
    if (no_page) return no_page;
    supervise_prepare(r);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ctl) != 0)
        return errno;
    int why = output_open(r);
    if (why) {
        close(ctl[0]);
        close(ctl[1]);
        return why;
    }
    status_pipe_open(r);
    locks_share(r);
    r->has_tty = !r->o->foreground && tty_is_ours();
#ifdef __linux__
    /* If the guardian is killed, its children become ours. */
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
#endif
    signals_block();
    r->guardian = fork();
    if (r->guardian == 0) {
        close(ctl[0]);
        close_if_open(&r->status_fd);
        close_if_open(&r->out.fd); /* or writers would never get SIGPIPE */
        guardian_main(r, ctl[1]);
    }
    why = errno;
    signals_unblock();
    close(ctl[1]);
    output_forget(r);
    close_if_open(&r->child_status_fd);
    while (r->lock_fds_len > 0) close(r->lock_fds[--r->lock_fds_len]);
    r->ctl_fd = ctl[0];
    return r->guardian < 0 ? why : 0;
}
