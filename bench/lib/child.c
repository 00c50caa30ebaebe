/*
 * child.c: start, talk to and end child processes.  The rule: a pid is in the
 * table exactly from fork() until it is reaped, so only our own processes are
 * ever signalled.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "tool.h"

static pid_t children[CHILDREN_MAX]; /* 0: a free place */
static pid_t driver;
static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
    (void)sig;
    interrupted = 1;
}

static void children_end(void)
{
    if (getpid() != driver) return; /* a forked child that failed to exec */
    for (int i = 0; i < CHILDREN_MAX; i++)
        if (children[i]) child_end(children[i], SIGTERM);
}

void child_setup(void)
{
    struct sigaction act = {.sa_handler = on_signal};

    driver = getpid();
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    act.sa_handler = SIG_IGN; /* a runner that ended is seen by its silence */
    sigaction(SIGPIPE, &act, NULL);
    atexit(children_end);
}

int child_interrupted(void)
{
    return interrupted != 0;
}

static void child_reset(void)
{
    struct sigaction act = {.sa_handler = SIG_DFL};

    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    sigaction(SIGPIPE, &act, NULL);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* even if the driver is killed */
    if (getppid() != driver) _exit(1);
#endif
}

pid_t child_fork(void)
{
    int place = 0;

    while (place < CHILDREN_MAX && children[place]) place++;
    if (place == CHILDREN_MAX) return -1;
    pid_t pid = fork();
    if (pid == 0) child_reset();
    if (pid > 0) children[place] = pid;
    return pid;
}

static void exec_or_end(char *const argv[])
{
    execvp(argv[0], argv);
    fprintf(stderr, "bench: %s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

int child_start(struct child *c, char *const argv[])
{
    int in[2], out[2];

    if (pipe2(in, O_CLOEXEC) != 0) return -1;
    if (pipe2(out, O_CLOEXEC) != 0) {
        close(in[0]);
        close(in[1]);
        return -1;
    }
    pid_t pid = child_fork();
    if (pid == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        exec_or_end(argv);
    }
    close(in[0]);
    close(out[1]);
    *c = (struct child){pid, in[1], out[0], NULL, 0};
    c->line = allocate(1, CHILD_LINE_MAX);
    if (pid > 0) return 0;
    child_close(c);
    return -1;
}

pid_t child_daemon(char *const argv[], const char *log)
{
    pid_t pid = child_fork();

    if (pid != 0) return pid;
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (null < 0 || fd < 0) _exit(126);
    dup2(null, STDIN_FILENO);
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    exec_or_end(argv);
    return -1;
}

/* 1 if the buffer begins with a whole line; it is made a string. */
static int line_is_whole(struct child *c)
{
    char *end = memchr(c->line, '\n', c->len);

    if (end) *end = '\0';
    return end != NULL;
}

static void line_drop(struct child *c)
{
    size_t used = strlen(c->line) + 1;

    memmove(c->line, c->line + used, c->len - used);
    c->len -= used;
}

static int more_read(struct child *c, uint64_t until)
{
    struct pollfd p = {.fd = c->out, .events = POLLIN};
    uint64_t now = now_ns();

    if (now >= until || child_interrupted()) return -1;
    int ms = (int)((until - now) / NS_PER_MS) + 1;
    if (poll(&p, 1, ms) <= 0) return 0; /* the clock is looked at again */
    if (c->len == CHILD_LINE_MAX) return -1;
    ssize_t n = read(c->out, c->line + c->len, CHILD_LINE_MAX - c->len);
    if (n <= 0) return n < 0 && errno == EINTR ? 0 : -1;
    c->len += (size_t)n;
    return 0;
}

const char *child_expect(struct child *c, const char *word, double secs)
{
    uint64_t until = now_ns() + (uint64_t)(secs * (double)NS_PER_S);
    size_t len = strlen(word);

    if (c->len && memchr(c->line, '\0', c->len)) line_drop(c); /* the last */
    for (;;) {
        if (line_is_whole(c)) {
            if (strncmp(c->line, word, len) == 0)
                return c->line + len + (c->line[len] == ' ');
            line_drop(c);
        } else if (more_read(c, until) != 0) {
            return NULL;
        }
    }
}

void child_send(struct child *c, const char *line)
{
    size_t len = strlen(line);

    while (len > 0) {
        ssize_t n = write(c->in, line, len);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return; /* its silence will be noticed */
        line += n;
        len -= (size_t)n;
    }
}

static void child_forget(pid_t pid)
{
    for (int i = 0; i < CHILDREN_MAX; i++)
        if (children[i] == pid) children[i] = 0;
}

int child_wait(pid_t pid, double secs)
{
    uint64_t until = now_ns() + (uint64_t)(secs * (double)NS_PER_S);
    int status;

    for (;;) {
        pid_t got = waitpid(pid, &status, WNOHANG);
        if (got == pid || (got < 0 && errno == ECHILD)) {
            child_forget(pid);
            return got == pid ? status : -1;
        }
        if (now_ns() >= until) return -1;
        pause_ns(NS_PER_MS / 5);
    }
}

void child_end(pid_t pid, int sig)
{
    int known = 0;

    for (int i = 0; i < CHILDREN_MAX; i++) known |= children[i] == pid;
    if (pid <= 0 || !known) return;
    kill(pid, sig);
    if (child_wait(pid, 5) != -1) return;
    kill(pid, SIGKILL);
    child_wait(pid, 5);
}

void child_close(struct child *c)
{
    child_end(c->pid, SIGKILL);
    if (c->in >= 0) close(c->in);
    if (c->out >= 0) close(c->out);
    free(c->line);
    *c = (struct child){0, -1, -1, NULL, 0};
}
