/*
 * proc.c: child processes of a test.  One rule: a child never returns into the
 * test runner; it ends with _exit().
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/proc.h"
#include "lib/rig.h"

static void proc_end(void *arg)
{
    struct lab_proc *p = arg;
    if (p->pid > 0) {
        kill(p->pid, SIGKILL);
        kill(p->pid, SIGCONT);
        while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR) continue;
        p->pid = 0;
    }
    close(p->from_fd);
    close(p->to_fd);
}

static _Noreturn void child_run(int from_fd, int to_fd, proc_fn fn,
                                const void *arg)
{
    struct lab_proc self = {getpid(), from_fd, to_fd};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    int status = fn(&self, arg);
    fflush(NULL);
    _exit(status);
}

void proc_start(struct lab_proc *p, proc_fn fn, const void *arg)
{
    int down[2], up[2];
    fflush(NULL);
    CHECK(pipe2(down, O_CLOEXEC) == 0);
    CHECK(pipe2(up, O_CLOEXEC) == 0);
    p->pid = fork();
    CHECK(p->pid >= 0);
    if (p->pid == 0) {
        close(down[1]);
        close(up[0]);
        child_run(down[0], up[1], fn, arg);
    }
    close(down[0]);
    close(up[1]);
    p->from_fd = up[0];
    p->to_fd = down[1];
    signal(SIGPIPE, SIG_IGN);
    test_cleanup(proc_end, p);
}

/* The letter after the name, whatever the name holds. */
static char thread_state(const char *tid)
{
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/self/task/%.16s/stat", tid);
    FILE *in = fopen(path, "re");
    if (!in) return 'S'; /* gone meanwhile */
    char *end = fgets(line, sizeof line, in) ? strrchr(line, ')') : NULL;
    fclose(in);
    return end && end[1] == ' ' ? end[2] : '?';
}

static int others_sleep(void *arg)
{
    (void)arg;
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks) return 1; /* another system: as well as can be */
    int asleep = 1;
    for (struct dirent *d; (d = readdir(tasks));) {
        if (d->d_name[0] == '.' || strtol(d->d_name, NULL, 10) == getpid())
            continue;
        if (thread_state(d->d_name) != 'S') asleep = 0;
    }
    closedir(tasks);
    return asleep;
}

pid_t proc_fork(void)
{
    for (int calm = 0; calm < 3; calm++) {
        CHECK(rig_until(others_sleep, NULL));
        rig_pause_ms(1);
    }
    fflush(NULL);
    pid_t pid = fork();
    CHECK(pid >= 0);
    return pid;
}

void proc_say(struct lab_proc *p, const char *format, ...)
{
    char line[PROC_LINE_MAX];
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(line, sizeof line - 1, format, ap);
    va_end(ap);
    if (n < 0) return;
    size_t len = (size_t)n < sizeof line - 1 ? (size_t)n : sizeof line - 2;
    line[len] = '\n';
    ssize_t done = write(p->to_fd, line, len + 1);
    (void)done; /* a reader that is gone shows in the next proc_hear() */
}

int proc_hear(struct lab_proc *p, char line[PROC_LINE_MAX], int64_t timeout_ms)
{
    int64_t end_ms = rig_now_ms() + timeout_ms;
    size_t len = 0;
    while (len < PROC_LINE_MAX - 1) {
        char c;
        if (!rig_until_readable(p->from_fd, end_ms - rig_now_ms())) break;
        if (read(p->from_fd, &c, 1) != 1) break;
        if (c == '\n') {
            line[len] = 0;
            return 1;
        }
        line[len++] = c;
    }
    line[len] = 0;
    return 0;
}

int proc_hears(struct lab_proc *p, const char *prefix, int64_t timeout_ms)
{
    char line[PROC_LINE_MAX];
    if (proc_hear(p, line, timeout_ms)
        && strncmp(line, prefix, strlen(prefix)) == 0)
        return 1;
    printf("    heard \"%s\", not \"%s\"\n", line, prefix);
    return 0;
}

void proc_signal(struct lab_proc *p, int sig)
{
    if (p->pid > 0) kill(p->pid, sig);
}

int proc_wait(struct lab_proc *p, int64_t timeout_ms)
{
    int64_t end_ms = rig_now_ms() + timeout_ms;
    int status = 0;
    for (;;) {
        pid_t got = waitpid(p->pid, &status, WNOHANG);
        if (got == p->pid) break;
        if (rig_now_ms() >= end_ms) return 1000;
        rig_pause_ms(5);
    }
    p->pid = 0;
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}
