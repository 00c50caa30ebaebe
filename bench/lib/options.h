/*
 * options.h: what a driver tells a runner, as key=value arguments.  Keys that a
 * runner does not know are ignored, for one driver serves many runners.
 */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stdint.h>

#define PORTS_MAX 16
#define THREADS_MAX 4096
#define LOCKS_MAX 10000000

struct options {
    const char *peer; /* which lock */
    const char *mode; /* loop, contend, hold, holder, waiter */
    const char *shm;  /* file of the shared page; NULL: a private one */
    const char *dir;  /* where files to lock may be made */
    const char *url;  /* where holdfast's locks live; NULL: by ports */
    double secs;      /* how long to measure */
    double warm;      /* how long to warm up */
    int64_t lease_ms;
    int threads;
    int proc;    /* which of several runners this one is */
    int count;   /* mode=hold: locks to hold */
    int permits; /* of a semaphore: most holders at once */
    int known;   /* locks used once and kept open beside the measured */
    int held;    /* locks held beside the measured */
    int ports[PORTS_MAX];
    int ports_len;
};

/* Read the arguments, or fail(). */
void options_parse(struct options *o, int argc, char **argv);

/* The first Redis port, or fail(). */
int options_port(const struct options *o);

#endif
