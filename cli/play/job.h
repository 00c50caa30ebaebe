/*
 * play/job.h: a job under a supervisor, both processes of their own.  One rule:
 * the job ends when its client does, because it reads from it; so none is left
 * behind, whatever has become of the supervisor.
 */
#ifndef HOLDFAST_CLI_PLAY_JOB_H
#define HOLDFAST_CLI_PLAY_JOB_H

#include <sys/types.h>

#include "play/client.h"

struct job {
    pid_t supervisor; /* 0: none */
    int life_fd;      /* the job ends when this is closed */
    int said_fd;      /* what the job says; at its end when the job is */
};

/* What the job is, for execvp(): it says that it runs. */
extern const char *const job_argv[];

/* Fork a supervisor, which runs supervise(arg) with the lines to and from the
 * job as its standard input and output; the answer. */
void job_begin(struct job *j, struct lab_proc *self, void (*supervise)(void *),
               void *arg);
/* Say what has become of the job since. */
void job_look(struct job *j, struct lab_proc *self);
/* Kill the supervisor; the answer. */
void job_bereave(struct job *j, struct lab_proc *self);

#endif
