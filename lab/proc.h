/*
 * proc.h: child processes that run a function, to be paused, woken and killed.
 * One rule: start them before the process has threads, so that none is copied
 * in the middle of something.
 *
 * A child talks in lines: it says what happened, and its parent hears it.
 */
#ifndef LAB_PROC_H
#define LAB_PROC_H

#include <stdint.h>
#include <sys/types.h>

#define LAB_PROC_LINE_MAX 256
#define LAB_PROC_RUNS 1000 /* instead of an exit status */

/* Both ends see the same: the child through its own copy. */
struct lab_proc {
    pid_t pid;   /* 0 once it was reaped */
    int from_fd; /* lines of the other side are read here */
    int to_fd;   /* lines to the other side are written here */
};

/* What a child runs; its result is the exit status. */
typedef int (*lab_proc_fn)(struct lab_proc *self, const void *arg);

/* Fork a child that runs fn(self, arg), and ends when its parent does.  `p`
 * must stay until it is stopped.  SIGPIPE is ignored from now on. */
int lab_proc_start(struct lab_proc *p, lab_proc_fn fn, const void *arg);

/* Kill it if it still runs, and reap it. */
void lab_proc_stop(struct lab_proc *p);

/* fork() where threads run already, once all the others sleep: what they do
 * while they start (a sanitizer's own locks, for one) would stay locked in the
 * child for ever.  Returns the pid, 0 in the child. */
pid_t lab_proc_fork(void);

/* Say one line to the other side. */
void lab_proc_say(struct lab_proc *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Hear one line of the other side, without its newline.  Returns 1, or 0 if
 * none came within `timeout_ms` or the other side is gone. */
int lab_proc_hear(struct lab_proc *p, char line[LAB_PROC_LINE_MAX],
                  int64_t timeout_ms);

/* Hear one line, which must begin with `prefix`. */
int lab_proc_expect(struct lab_proc *p, const char *prefix, int64_t timeout_ms);

/* Send a signal: SIGSTOP, SIGCONT, SIGKILL. */
void lab_proc_signal(struct lab_proc *p, int sig);

/* Reap it.  Returns its exit status, -signal, or LAB_PROC_RUNS if it still runs
 * after `timeout_ms`. */
int lab_proc_wait(struct lab_proc *p, int64_t timeout_ms);

#endif
