/*
 * run/process/process.h: the processes of a run, their signals and their
 * terminal.
 */
#ifndef HOLDFAST_CLI_RUN_PROCESS_PROCESS_H
#define HOLDFAST_CLI_RUN_PROCESS_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "run/run.h"

/* What supervisor and guardian say to each other. */
enum ctl_kind {
    CTL_SIGNAL = 1,  /* -> signal `value` to the command's group */
    CTL_TERM_TREE,   /* -> `value` to all descendants, stay until all end */
    CTL_KILL_TREE,   /* -> KILL to every descendant until all are gone */
    CTL_STARTED,     /* <- the command is pid `value` */
    CTL_CANNOT_FORK, /* <- errno `value` */
    CTL_CANNOT_EXEC, /* <- errno `value`; CTL_ENDED follows */
    CTL_STOPPED,     /* <- by signal `value` */
    CTL_EXPIRED,     /* <- the lock's time is over: all is being killed */
    CTL_LATE,        /* <- the lock's time was over before the command began:
                      * it is not run; CTL_ENDED follows */
    CTL_LEFT,        /* <- descendant `value` is left behind */
    CTL_ENDED        /* <- wait status `value`; the guardian is going */
};

struct ctl {
    int32_t kind;
    int32_t value;
};

/* ---- run/process/guardian.c ---- */

_Noreturn void guardian_main(struct run *r, int ctl_fd);
int ctl_send(int fd, enum ctl_kind kind, int value);
/* The supervisor's: never waits for a guardian that does not read. */
void ctl_order(const struct run *r, enum ctl_kind kind, int value);
/* 1 got one, 0 the other side is gone, -1 nothing now. */
int ctl_receive(int fd, struct ctl *msg);

/* ---- run/process/start.c ---- */

/* Make the pipes, the guardian and the command.  0 or errno. */
int run_start(struct run *r);
/* 1 if the lock's time is over, so that the command must not be run. */
int run_is_late(const struct run *r);
/* Set what the command finds in its environment. */
void run_environment(const struct run *r);
/* In the command's process: become the command, or tell why not. */
_Noreturn void run_become(struct run *r, int ctl_fd);
/* The words of -c, or of the command line. */
void run_exec(const struct run *r);

/* run/process/tree.c: the descendants of `root`, nearest first; how many. */
size_t tree_list(pid_t root, pid_t *out, size_t out_max);
void tree_signal(pid_t root, int sig);

/* run/process/hook.c: --on-lost exec:CMD */
void hook_start(struct run *r);
int hook_is_over(struct run *r);
void hook_end(struct run *r);

/* ---- run/process/signal.c ---- */

int signals_setup(void); /* 0 or errno */
int signals_fd(void);
/* The next signal that came, 0 if none; `from_tty`: a key was pressed. */
int signals_next(int *from_tty);
void signals_block(void); /* all of them, before a fork */
void signals_unblock(void);
void signals_restore(void); /* in a child: everything as we found it */

/* ---- run/process/tty.c: the terminal ---- */

int tty_is_ours(void);
void tty_give(pid_t group);
void tty_take(void);

#endif
