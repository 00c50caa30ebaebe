/*
 * proc.h: child processes of a test.  One rule: start them before the test
 * opens a client, so that no thread is copied; they are killed and reaped when
 * the test ends.
 *
 * A child talks in lines: it says what happened, the test hears it.
 */
#ifndef HF_TEST_PROC_H
#define HF_TEST_PROC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROC_LINE_MAX 256

/* Both ends see the same: the child through its own copy. */
struct lab_proc {
    pid_t pid;   /* 0 once it was reaped */
    int from_fd; /* lines of the other side are read here */
    int to_fd;   /* and ours are written here */
};

/* What a child runs; its result is the exit status. */
typedef int (*proc_fn)(struct lab_proc *self, const void *arg);

/* Fork a child that runs fn(self, arg).  `p` must outlive the test: static. */
void proc_start(struct lab_proc *p, proc_fn fn, const void *arg);

/* fork() where threads run already, once all the others sleep: what they do
 * while they start (a sanitizer's own locks, for one) would stay locked in the
 * child for ever.  Fails the test if it cannot. */
pid_t proc_fork(void);

/* Say one line to the other side. */
void proc_say(struct lab_proc *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Hear one line of the other side, without its newline.  Returns 1, or 0 if
 * none came within `timeout_ms` or the other side is gone. */
int proc_hear(struct lab_proc *p, char line[PROC_LINE_MAX], int64_t timeout_ms);

/* Hear one line and compare its beginning; 1 if it is the expected one. */
int proc_hears(struct lab_proc *p, const char *prefix, int64_t timeout_ms);

/* Send a signal. */
void proc_signal(struct lab_proc *p, int sig);

/* Reap it.  Returns its exit status, -signal, or 1000 if it still runs after
 * `timeout_ms`. */
int proc_wait(struct lab_proc *p, int64_t timeout_ms);

#endif
