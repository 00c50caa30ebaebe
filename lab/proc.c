/*
 * proc.c: see proc.h.  One rule: a child never returns into what its parent was
 * doing; it ends with _exit().
 */
#include "lab/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/own.h"
#include "lab/wait.h"

#define LOOK_MS 5
#define CALM_LOOKS 3 /* in a row, before it is calm enough to fork */

/* ---- life --------------------------------------------------------------- */

static void proc_stop(void *arg)
{
    lab_proc_stop(arg);
}

void lab_proc_stop(struct lab_proc *p)
{
    lab__life_end(proc_stop, p);
    if (p->pid > 0) {
        kill(p->pid, SIGKILL);
        kill(p->pid, SIGCONT);
        while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR) continue;
        p->pid = 0;
    }
    if (p->from_fd > 0) close(p->from_fd);
    if (p->to_fd > 0) close(p->to_fd);
    p->from_fd = p->to_fd = 0;
}

static _Noreturn void child_run(int from_fd, int to_fd, lab_proc_fn fn,
                                const void *arg)
{
    struct lab_proc self = {getpid(), from_fd, to_fd};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    int status = fn(&self, arg);
    fflush(NULL);
    _exit(status);
}

static void pipe_close(int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

static int pipes_open(int down[2], int up[2])
{
    if (pipe2(down, O_CLOEXEC) != 0)
        return lab__fail("child: no pipe: %s", strerror(errno));
    if (pipe2(up, O_CLOEXEC) == 0) return LAB_OK;
    lab__fail("child: no pipe: %s", strerror(errno));
    pipe_close(down);
    return LAB_FAILED;
}

int lab_proc_start(struct lab_proc *p, lab_proc_fn fn, const void *arg)
{
    int down[2], up[2];
    *p = (struct lab_proc){0};
    if (pipes_open(down, up) != LAB_OK) return LAB_FAILED;
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) {
        lab__fail("child: cannot be forked: %s", strerror(errno));
        pipe_close(down);
        pipe_close(up);
        return LAB_FAILED;
    }
    if (pid == 0) {
        close(down[1]);
        close(up[0]);
        child_run(down[0], up[1], fn, arg);
    }
    close(down[0]);
    close(up[1]);
    *p = (struct lab_proc){pid, up[0], down[1]};
    signal(SIGPIPE, SIG_IGN);
    if (lab__life_begin(proc_stop, p) == LAB_OK) return LAB_OK;
    lab_proc_stop(p);
    return LAB_FAILED;
}

/* ---- fork among threads ------------------------------------------------- */

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

pid_t lab_proc_fork(void)
{
    for (int calm = 0; calm < CALM_LOOKS; calm++) {
        if (!lab_until(others_sleep, NULL))
            return lab__fail("fork: other threads never sleep all at once");
        lab_pause_ms(1);
    }
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) return lab__fail("fork: %s", strerror(errno));
    return pid;
}

/* ---- talking ------------------------------------------------------------ */

void lab_proc_say(struct lab_proc *p, const char *format, ...)
{
    char line[LAB_PROC_LINE_MAX];
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(line, sizeof line - 1, format, ap);
    va_end(ap);
    if (n < 0) return;
    size_t len = (size_t)n < sizeof line - 1 ? (size_t)n : sizeof line - 2;
    line[len] = '\n';
    ssize_t done = write(p->to_fd, line, len + 1);
    (void)done; /* a reader that is gone shows in the next lab_proc_hear() */
}

int lab_proc_hear(struct lab_proc *p, char line[LAB_PROC_LINE_MAX],
                  int64_t timeout_ms)
{
    int64_t end_ms = lab_now_ms() + timeout_ms;
    size_t len = 0;
    while (len < LAB_PROC_LINE_MAX - 1) {
        char c;
        if (!lab_until_readable(p->from_fd, end_ms - lab_now_ms())) break;
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

int lab_proc_expect(struct lab_proc *p, const char *prefix, int64_t timeout_ms)
{
    char line[LAB_PROC_LINE_MAX];
    if (lab_proc_hear(p, line, timeout_ms)
        && strncmp(line, prefix, strlen(prefix)) == 0)
        return LAB_OK;
    return lab__fail("child: said \"%s\", not \"%s\"", line, prefix);
}

/* ---- signals ------------------------------------------------------------ */

void lab_proc_signal(struct lab_proc *p, int sig)
{
    if (p->pid > 0) kill(p->pid, sig);
}

int lab_proc_wait(struct lab_proc *p, int64_t timeout_ms)
{
    int64_t end_ms = lab_now_ms() + timeout_ms;
    int status = 0;
    for (;;) {
        pid_t got = waitpid(p->pid, &status, WNOHANG);
        if (got == p->pid) break;
        if (lab_now_ms() >= end_ms) return LAB_PROC_RUNS;
        lab_pause_ms(LOOK_MS);
    }
    p->pid = 0;
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}
