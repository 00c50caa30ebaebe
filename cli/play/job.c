/*
 * play/job.c: see play/job.h.
 */
#include "play/job.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/wait.h"

const char *const job_argv[] = {"sh", "-c", "echo runs; read line", NULL};

static _Noreturn void supervisor_run(int in_fd, int out_fd,
                                     void (*supervise)(void *), void *arg)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)dup2(in_fd, 0);
    (void)dup2(out_fd, 1);
    /* Or the job would live for as long as its supervisor. */
    for (int fd = 3; fd < 256; fd++) close(fd);
    supervise(arg);
    _exit(0);
}

void job_begin(struct job *j, struct lab_proc *self, void (*supervise)(void *),
               void *arg)
{
    int life[2], said[2];
    *j = (struct job){0};
    if (pipe2(life, O_CLOEXEC) != 0 || pipe2(said, O_CLOEXEC) != 0) {
        client_done(self, 0);
        return;
    }
    pid_t pid = fork();
    if (pid == 0) supervisor_run(life[0], said[1], supervise, arg);
    close(life[0]);
    close(said[1]);
    *j = (struct job){pid, life[1], said[0]};
    client_done(self, pid > 0);
}

void job_look(struct job *j, struct lab_proc *self)
{
    char word[64];
    if (j->said_fd <= 0 || !lab_until_readable(j->said_fd, 0)) return;
    if (read(j->said_fd, word, sizeof(word)) > 0) {
        client_event(self, EVENT_BELIEVES, record_now_us(), UNTIL_TOLD, 0,
                     "its job runs");
        return;
    }
    close(j->said_fd);
    j->said_fd = 0;
    client_event(self, EVENT_ENDS, record_now_us(), 0, 0, "its job has ended");
}

void job_bereave(struct job *j, struct lab_proc *self)
{
    kill(j->supervisor, SIGKILL);
    while (waitpid(j->supervisor, NULL, 0) < 0) continue;
    client_event(self, EVENT_NOTE, record_now_us(), 0, 0,
                 "its supervisor is killed");
    client_done(self, 1);
}
