/*
 * run/process/hook.c: --on-lost exec:CMD, run before the command is ended.
 *
 * It runs beside the command, with the same environment, and is given no more
 * than half of the time that is left.
 */
#include "common/exit.h"
#include "common/say.h"
#include "run/process/process.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void hook_become(const struct run *r)
{
    (void)setpgid(0, 0);
    run_environment(r);
    signals_restore();
    execl("/bin/sh", "sh", "-c", r->lost_command, (char *)NULL);
    _exit(EXIT_NOT_FOUND);
}

void hook_start(struct run *r)
{
    signals_block();
    r->hook = fork();
    if (r->hook == 0) hook_become(r);
    signals_unblock();
    if (r->hook < 0)
        say_warn("%s: --on-lost: cannot be run", r->s.shown);
    else
        (void)setpgid(r->hook, r->hook);
}

int hook_is_over(struct run *r)
{
    int status;
    if (r->hook <= 0) return 1;
    if (waitpid(r->hook, &status, WNOHANG) == 0) return 0;
    r->hook = 0;
    return 1;
}

void hook_end(struct run *r)
{
    if (hook_is_over(r)) return;
    kill(-r->hook, SIGKILL);
    (void)waitpid(r->hook, NULL, 0);
    r->hook = 0;
}
