/*
 * session/interrupt.c: a signal while waiting for a lock leaves the queue at
 * once.
 *
 * The handler only notes the signal and fires the cancel token; both are
 * async-signal-safe.  A signal that was ignored when we were started (nohup,
 * a shell's background job) stays ignored.
 */
#include "session/interrupt.h"

#include <signal.h>
#include <string.h>

static const int leaving[] = {SIGINT,  SIGTERM, SIGHUP,
                              SIGQUIT, SIGUSR1, SIGUSR2};

static volatile sig_atomic_t first_signal;
static hf_cancel *volatile token;

static void interrupt_note(int sig)
{
    if (!first_signal) first_signal = sig;
    if (token) hf_cancel_fire(token);
}

void interrupt_setup(hf_cancel *cancel)
{
    struct sigaction act, old;
    memset(&act, 0, sizeof(act));
    act.sa_handler = interrupt_note;
    sigemptyset(&act.sa_mask);
    token = cancel;
    if (!cancel) return;
    for (size_t i = 0; i < sizeof(leaving) / sizeof(leaving[0]); i++) {
        if (sigaction(leaving[i], NULL, &old) != 0) continue;
        if (old.sa_handler != SIG_IGN) sigaction(leaving[i], &act, NULL);
    }
}

int interrupt_signal(void)
{
    return first_signal;
}
