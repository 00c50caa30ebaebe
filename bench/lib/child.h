/*
 * child.h: the driver's child processes.  Every one is known here from its
 * start to its end, so that none outlives the driver.
 */
#ifndef BENCH_CHILD_H
#define BENCH_CHILD_H

#include <stdint.h>
#include <sys/types.h>

#define CHILDREN_MAX 64
#define CHILD_LINE_MAX (512 * 1024) /* END with all buckets fits well */

struct child {
    pid_t pid;
    int in;  /* to its standard input, -1 if there is none */
    int out; /* from its standard output, -1 if there is none */
    char *line;
    size_t len;
};

/* Call once: ends with the driver what is still running. */
void child_setup(void);

/* 1 after SIGINT or SIGTERM: wind up. */
int child_interrupted(void);

/* Start a runner with pipes on both ends.  0, or -1. */
int child_start(struct child *c, char *const argv[]);

/* Start `argv` with its output in the file `log`.  The pid, or -1. */
pid_t child_daemon(char *const argv[], const char *log);

/* fork(), known here; 0 in the child. */
pid_t child_fork(void);

/* The rest of the next line that begins with `word`; NULL if the runner ends
 * or is silent for `secs`.  Borrowed until the next call. */
const char *child_expect(struct child *c, const char *word, double secs);

/* Send one line. */
void child_send(struct child *c, const char *line);

/* Send `sig`, and reap.  A process that ignores it for 5 s is killed. */
void child_end(pid_t pid, int sig);

/* Reap a process that ends by itself; its wait status, or -1 after `secs`. */
int child_wait(pid_t pid, double secs);

/* child_end() with SIGKILL, and close the pipes. */
void child_close(struct child *c);

#endif
