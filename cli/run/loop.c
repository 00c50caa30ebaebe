/*
 * run/loop.c: the supervisor's one loop: the store, the clock, signals, and
 * the guardian's messages.
 */
#include "common/duration.h"
#include "common/say.h"
#include "run/event.h"
#include "run/process/process.h"
#include "run/supervise.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define TTY_LOOK_MS 250 /* a shell's fg sends no signal to a running process */

/* If the shell has given us the terminal, give it to the command. */
static int tty_pass_on(struct run *r)
{
    if (r->o->foreground || r->command <= 0 || !tty_is_ours()) return 0;
    tty_give(r->command);
    r->has_tty = 1;
    r->wants_tty = 0;
    return 1;
}

/* The shell must see us stop too, or the terminal would be dead.  While we are
 * stopped nothing is renewed; when we go on, the clock decides.  A command that
 * only waits for the terminal (TTIN) does not stop us: the lock is kept. */
static void command_stopped(struct run *r, int sig)
{
    if (!r->has_tty && (sig == SIGTTIN || sig == SIGTTOU)) {
        r->wants_tty = 1;
        return;
    }
    if (!r->has_tty && !r->stop_asked) return;
    r->stop_asked = 0;
    if (r->has_tty) tty_take();
    r->has_tty = 0;
    kill(getpid(), SIGSTOP);
}

static void message_take(struct run *r, const struct ctl *msg)
{
    switch (msg->kind) {
    case CTL_STARTED:
        r->command = msg->value;
        say_note("%s: running pid %d", r->s.shown, msg->value);
        event_number(r, "started", "pid", msg->value);
        break;
    case CTL_CANNOT_FORK:
        r->fork_errno = msg->value;
        break;
    case CTL_CANNOT_EXEC:
        r->exec_errno = msg->value;
        break;
    case CTL_STOPPED:
        command_stopped(r, msg->value);
        break;
    case CTL_EXPIRED:
        r->cause = CAUSE_LOST;
        r->phase = PHASE_KILL;
        say_warn("%s: lost: we were stopped, and renewed nothing", r->s.shown);
        break;
    case CTL_LATE:
        r->late = 1;
        break;
    case CTL_LEFT:
        say_warn("%s: the command has ended, but its descendant pid %d goes "
                 "on without the lock",
                 r->s.shown, msg->value);
        event_number(r, "left", "pid", msg->value);
        break;
    case CTL_ENDED:
        r->ended = 1;
        r->wait_status = msg->value;
        break;
    default:
        break;
    }
}

/* Without its guardian the command has no parent: its descendants have
 * come to us, and we end them. */
static void guardian_lost(struct run *r)
{
    r->ended = 1;
    r->guardian_died = 1;
    int status;
    for (;;) {
        tree_signal(getpid(), SIGKILL);
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid < 0 && errno == ECHILD) return;
        if (pid == 0) poll(NULL, 0, 5);
    }
}

static void messages_take(struct run *r)
{
    struct ctl msg;
    int got = -1;
    while (!r->ended && (got = ctl_receive(r->ctl_fd, &msg)) == 1)
        message_take(r, &msg);
    if (!r->ended && got == 0) guardian_lost(r);
}

static void signal_take(struct run *r, int sig, int from_tty)
{
    if (sig == SIGCHLD) return; /* it only had to wake the loop */
    if (sig == SIGTERM || sig == SIGINT || sig == SIGQUIT || sig == SIGHUP)
        r->told = sig;
    if (sig == SIGTSTP && from_tty) r->stop_asked = 1;
    if (sig == SIGCONT) (void)tty_pass_on(r);
    /* With --foreground the terminal has sent the signal to the command as
     * well. */
    if (r->o->foreground && from_tty) return;
    event_number(r, "signal", "signal", sig);
    ctl_order(r, CTL_SIGNAL, sig);
}

static void signals_take(struct run *r)
{
    int from_tty = 0, sig;
    while ((sig = signals_next(&from_tty)) != 0) signal_take(r, sig, from_tty);
}

/* The sooner of two timeouts, of which -1 never comes. */
static int64_t sooner_ms(int64_t a, int64_t b)
{
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

static int loop_timeout_ms(struct run *r, int client_fd)
{
    int64_t now_ms = clock_ms();
    int64_t timeout_ms = supervise_timeout_ms(r, now_ms);
    int64_t due_ms = hf_client_timeout_ms(r->s.client);
    if (r->wants_tty) timeout_ms = sooner_ms(timeout_ms, TTY_LOOK_MS);
    supervise_sleep(r, now_ms, sooner_ms(timeout_ms, due_ms));
    if (client_fd >= 0 || due_ms < 0) return (int)timeout_ms;
    return (int)sooner_ms(timeout_ms, due_ms < 1000 ? due_ms : 1000);
}

enum { FD_CTL, FD_SIGNALS, FD_CLIENT, FD_OUT, FD_STDOUT, FD_LEN };

/* poll(2) skips what is -1. */
static void fds_choose(const struct run *r, struct pollfd *fds)
{
    fds[FD_OUT].fd = output_wants_read(r) ? r->out.fd : -1;
    fds[FD_STDOUT].fd = output_wants_write(r) ? STDOUT_FILENO : -1;
}

static void fds_serve(struct run *r, const struct pollfd *fds)
{
    if (fds[FD_SIGNALS].revents) signals_take(r);
    if (fds[FD_OUT].revents || fds[FD_STDOUT].revents) output_step(r);
    if (fds[FD_CTL].revents) messages_take(r);
}

void run_loop(struct run *r)
{
    int client_fd = hf_client_fd(r->s.client);
    struct pollfd fds[FD_LEN] = {
        [FD_CTL] = {.fd = r->ctl_fd, .events = POLLIN},
        [FD_SIGNALS] = {.fd = signals_fd(), .events = POLLIN},
        [FD_CLIENT] = {.fd = client_fd, .events = POLLIN},
        [FD_OUT] = {.fd = -1, .events = POLLIN},
        [FD_STDOUT] = {.fd = -1, .events = POLLOUT},
    };
    while (!r->ended) {
        fds_choose(r, fds);
        int n = poll(fds, FD_LEN, loop_timeout_ms(r, client_fd));
        if (n < 0 && errno != EINTR) {
            guardian_lost(r);
            return;
        }
        if (n <= 0 || fds[FD_CLIENT].revents || client_fd < 0)
            (void)hf_client_process(r->s.client);
        if (n > 0) fds_serve(r, fds);
        if (r->ended) break;
        if (r->wants_tty && tty_pass_on(r)) ctl_order(r, CTL_SIGNAL, SIGCONT);
        keep_step(r, clock_ms());
        supervise_step(r, clock_ms());
    }
    hook_end(r);
    if (!r->guardian_died) (void)waitpid(r->guardian, NULL, 0);
    if (r->has_tty) tty_take();
}
