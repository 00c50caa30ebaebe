/*
 * run/process/signal.c: signals as messages in a pipe, so that one poll(2)
 * waits for them, for the store and for the command.
 *
 * What was ignored when we were started stays ignored, for us and for the
 * command.
 */
#include "run/process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static const int caught[] = {SIGINT,  SIGTERM, SIGHUP,   SIGQUIT,
                             SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT,
                             SIGTSTP, SIGCHLD, SIGPIPE};
#define CAUGHT_LEN (sizeof(caught) / sizeof(caught[0]))

struct note {
    int sig;
    int from_tty;
};

static struct {
    int is_set;
    int pipe[2];
    sigset_t mask; /* as we found it */
    struct sigaction found[CAUGHT_LEN];
} signals;

static void signal_note(int sig, siginfo_t *info, void *context)
{
    (void)context;
    int saved = errno;
    struct note note = {sig, info->si_code > 0};
    /* If the pipe is full, the signal is dropped: thousands are waiting. */
    if (write(signals.pipe[1], &note, sizeof(note)) < 0) errno = saved;
    errno = saved;
}

static void signal_catch(size_t i)
{
    struct sigaction act;
    memset(&act, 0, sizeof(act));
    sigfillset(&act.sa_mask);
    act.sa_sigaction = signal_note;
    act.sa_flags = SA_SIGINFO | SA_RESTART;
    if (caught[i] == SIGPIPE) {
        act.sa_flags = 0;
        act.sa_handler = SIG_IGN;
    } else if (caught[i] != SIGCHLD && signals.found[i].sa_handler == SIG_IGN) {
        return;
    }
    sigaction(caught[i], &act, NULL);
}

int signals_setup(void)
{
    /* Keep the handlers that were there first: at the next set-up, for another
     * command, ours would be found. */
    if (!signals.is_set) {
        if (pipe2(signals.pipe, O_CLOEXEC | O_NONBLOCK) != 0) return errno;
        sigprocmask(SIG_SETMASK, NULL, &signals.mask);
        for (size_t i = 0; i < CAUGHT_LEN; i++)
            sigaction(caught[i], NULL, &signals.found[i]);
        signals.is_set = 1;
    }
    for (size_t i = 0; i < CAUGHT_LEN; i++) signal_catch(i);
    return 0;
}

int signals_fd(void)
{
    return signals.pipe[0];
}

int signals_next(int *from_tty)
{
    struct note note;
    ssize_t n = read(signals.pipe[0], &note, sizeof(note));
    if (n != (ssize_t)sizeof(note)) return 0;
    *from_tty = note.from_tty;
    return note.sig;
}

void signals_block(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
}

void signals_unblock(void)
{
    sigprocmask(SIG_SETMASK, &signals.mask, NULL);
}

void signals_restore(void)
{
    for (size_t i = 0; i < CAUGHT_LEN; i++) {
        struct sigaction act = signals.found[i];
        if (act.sa_handler != SIG_IGN) act.sa_handler = SIG_DFL;
        act.sa_flags = 0;
        sigaction(caught[i], &act, NULL);
    }
    signals_unblock();
}
