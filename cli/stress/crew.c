/*
 * stress/crew.c: the processes of stress, and their leader.
 *
 * The leader has no client and no thread, so that it may fork; it signals only
 * processes that it started and has not reaped.
 */
#include "common/duration.h"
#include "common/exit.h"
#include "common/say.h"
#include "stress/stress.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS 5
#define END_MS_LONGEST 60000 /* for a worker to come to its end */

struct child {
    pid_t pid;          /* 0: reaped */
    int64_t stopped_ms; /* since when it is stopped; 0: it is not */
};

struct crew {
    struct stress *s;
    struct child *children;
    unsigned running;
    int code; /* the first exit code that was not 0 */
};

static volatile sig_atomic_t ended_by;

static void signal_note(int sig)
{
    ended_by = sig;
}

static void signals_take(void)
{
    static const int taken[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction act, old;
    memset(&act, 0, sizeof(act));
    act.sa_handler = signal_note;
    sigemptyset(&act.sa_mask);
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
        if (sigaction(taken[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(taken[i], &act, NULL);
    }
}

/* A worker ignores the signals of the terminal, which go to all processes: the
 * leader ends it. */
static _Noreturn void child_run(struct crew *c, const struct options *o,
                                unsigned first, int history_fd, pid_t leader)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != leader) _exit(EXIT_BUG);
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    (void)signal(SIGQUIT, SIG_IGN);
    (void)signal(SIGTERM, SIG_DFL);
    int code = stress_worker(c->s, o, first, history_fd);
    free(c->children); /* the copy of this process */
    exit(code);
}

static int crew_fork(struct crew *c, const struct options *o, int history_fd)
{
    pid_t leader = getpid();
    (void)fflush(NULL);
    for (unsigned i = 0; i < c->s->clients; i++) {
        pid_t pid = fork();
        if (pid == 0) child_run(c, o, i * c->s->threads, history_fd, leader);
        if (pid < 0) {
            say_error("stress: cannot fork: %s", strerror(errno));
            return EXIT_BUG;
        }
        c->children[i].pid = pid;
        c->running++;
    }
    return EXIT_OK;
}

static void child_ended(struct crew *c, struct child *m, int status)
{
    if (WIFSIGNALED(status)) {
        say_error("stress: worker %ld was ended by signal %d: the run proves "
                  "nothing",
                  (long)m->pid, WTERMSIG(status));
        c->code = EXIT_BUG;
    } else if (WEXITSTATUS(status) != 0 && !c->code) {
        c->code = WEXITSTATUS(status);
    }
    if (c->code) atomic_store(&c->s->stop, 1);
    m->pid = 0;
    c->running--;
}

/* Longer than the lease: the worker's holds must have ended when it wakes. */
static int64_t pause_ms(const struct stress *s, const struct child *m)
{
    return s->lease_ms + s->lease_ms / 4 + m->pid % (s->lease_ms / 4 + 1);
}

/* Note which workers stopped or ended, and continue those that were stopped for
 * long enough. */
static void crew_look(struct crew *c)
{
    int is_over = atomic_load(&c->s->stop);
    for (unsigned i = 0; i < c->s->clients; i++) {
        struct child *m = &c->children[i];
        int status;
        if (m->pid <= 0) continue;
        if (waitpid(m->pid, &status, WNOHANG | WUNTRACED) == m->pid) {
            if (WIFSTOPPED(status))
                m->stopped_ms = clock_ms();
            else
                child_ended(c, m, status);
        }
        if (m->pid <= 0 || !m->stopped_ms) continue;
        if (!is_over && clock_ms() - m->stopped_ms < pause_ms(c->s, m))
            continue;
        m->stopped_ms = 0;
        kill(m->pid, SIGCONT);
    }
}

static void crew_wait(struct crew *c, int64_t time_ms)
{
    static const struct timespec look = {0, LOOK_MS * 1000000};
    int64_t end_ms = clock_ms() + time_ms;
    while (c->running > 0 && clock_ms() < end_ms) {
        if (ended_by) atomic_store(&c->s->stop, 1);
        crew_look(c);
        if (time_ms != END_MS_LONGEST && atomic_load(&c->s->stop)) return;
        nanosleep(&look, NULL);
    }
}

/* End all workers, also one that hangs, which would be a bug: none may outlive
 * the leader. */
static void crew_end(struct crew *c)
{
    atomic_store(&c->s->stop, 1);
    crew_wait(c, END_MS_LONGEST);
    for (unsigned i = 0; i < c->s->clients; i++) {
        struct child *m = &c->children[i];
        if (m->pid <= 0) continue;
        say_error("stress: worker %ld does not come to its end", (long)m->pid);
        c->code = EXIT_BUG;
        kill(m->pid, SIGKILL);
        while (waitpid(m->pid, NULL, 0) < 0 && errno == EINTR) continue;
    }
}

int crew_run(struct stress *s, const struct options *o, int history_fd,
             int64_t time_ms)
{
    struct crew c = {.s = s,
                     .children = calloc(s->clients, sizeof(*c.children))};
    if (!c.children) return EXIT_BUG;
    signals_take();
    c.code = crew_fork(&c, o, history_fd);
    if (!c.code) crew_wait(&c, time_ms);
    crew_end(&c);
    free(c.children);
    if (!c.code && ended_by) c.code = EXIT_SIGNAL + (int)ended_by;
    return c.code;
}
