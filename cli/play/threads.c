/*
 * play/threads.c: see play/threads.h.  The second thread has a pair of pipes of
 * its own, so that it is told and heard as a process is.
 */
#include "play/threads.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "lab/lab.h"

struct twins {
    lab_proc_fn fn;
    const struct role *first_role, *second_role;
    struct lab_proc second; /* its ends */
    int parent_fds[2];      /* the other ends: of the run's process */
};

static void *second_run(void *arg)
{
    struct twins *t = arg;
    (void)t->fn(&t->second, t->second_role);
    return NULL;
}

static int twins_run(struct lab_proc *self, const void *arg)
{
    static struct twins t;
    pthread_t thread;
    t = *(const struct twins *)arg;
    close(t.parent_fds[0]);
    close(t.parent_fds[1]);
    t.second.pid = getpid();
    if (pthread_create(&thread, NULL, second_run, &t) != 0) return 1;
    return t.fn(self, t.first_role);
}

int threads_start(struct lab_proc *first, const struct role *first_role,
                  struct lab_proc *second, const struct role *second_role,
                  lab_proc_fn fn)
{
    int down[2], up[2];
    if (pipe2(down, O_CLOEXEC) != 0 || pipe2(up, O_CLOEXEC) != 0)
        return LAB_FAILED;
    struct twins t = {.fn = fn,
                      .first_role = first_role,
                      .second_role = second_role,
                      .second = {0, down[0], up[1]},
                      .parent_fds = {down[1], up[0]}};
    int status = lab_proc_start(first, twins_run, &t);
    close(down[0]);
    close(up[1]);
    *second = (struct lab_proc){0, up[0], down[1]};
    return status;
}
