/*
 * run/process/tty.c: which process group may read from the terminal.  A command
 * in a process group of its own would be stopped at its first read unless the
 * terminal is given to that group.
 */
#include "run/process/process.h"

#include <signal.h>
#include <unistd.h>

int tty_is_ours(void)
{
    return isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

/* SIGTTOU must be blocked: in the background tcsetpgrp(3) would stop us. */
void tty_give(pid_t group)
{
    sigset_t ttou, old;
    sigemptyset(&ttou);
    sigaddset(&ttou, SIGTTOU);
    sigprocmask(SIG_BLOCK, &ttou, &old);
    (void)tcsetpgrp(STDIN_FILENO, group);
    sigprocmask(SIG_SETMASK, &old, NULL);
}

void tty_take(void)
{
    tty_give(getpgrp());
}
