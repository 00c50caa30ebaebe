/*
 * proc.h: lab/proc.h in a test: child processes that talk in lines.  One rule:
 * start them before the test opens a client, so that no thread is copied; they
 * are killed and reaped when the test ends.
 */
#ifndef HF_TEST_PROC_H
#define HF_TEST_PROC_H

#include "lab/proc.h"

#define PROC_LINE_MAX LAB_PROC_LINE_MAX

/* Fork a child that runs fn(self, arg).  `p` must outlive the test: static. */
void proc_start(struct lab_proc *p, lab_proc_fn fn, const void *arg);

/* fork() where threads run already, once all the others sleep. */
pid_t proc_fork(void);

/* Hear one line and compare its beginning; 1 if it is the expected one. */
int proc_hears(struct lab_proc *p, const char *prefix, int64_t timeout_ms);

/* These cannot fail: the lab's own, by a short name. */
#define proc_say(...) lab_proc_say(__VA_ARGS__)
#define proc_hear(p, line, timeout_ms) lab_proc_hear(p, line, timeout_ms)
#define proc_signal(p, sig) lab_proc_signal(p, sig)
#define proc_wait(p, timeout_ms) lab_proc_wait(p, timeout_ms)

#endif
