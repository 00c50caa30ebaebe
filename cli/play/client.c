/*
 * play/client.c: the lines that a client writes to the stage, in both ways.
 */
#include "play/client.h"

#include <sys/wait.h>
#include <unistd.h>

void client_event(struct lab_proc *self, enum event_kind kind, int64_t at_us,
                  int64_t until_us, uint64_t fence, const char *text)
{
    lab_proc_say(self, "E %d %lld %lld %llu %.*s", (int)kind, (long long)at_us,
                 (long long)until_us, (unsigned long long)fence,
                 EVENT_TEXT_MAX - 1, text);
}

void client_done(struct lab_proc *self, int result)
{
    lab_proc_say(self, "D %d", result);
}

void client_fork(struct lab_proc *self, int (*end)(void *), void *arg)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) _exit(end(arg));
    while (pid > 0 && waitpid(pid, &status, 0) < 0) continue;
    int is_told = WIFEXITED(status) && WEXITSTATUS(status);
    client_event(self, EVENT_NOTE, record_now_us(), 0, 0,
                 is_told ? "its forked child releases the lock"
                         : "its forked child may release nothing");
    client_done(self, is_told);
}
