/*
 * holder.h: a process that holds a lock and tells what happens to it, to be
 * killed, stopped and woken.
 *
 * It says "held FENCE" or "failed STATUS", then "state STATE" at every change
 * of state; told "release", it says "released STATUS".  One rule: it does
 * nothing unasked.
 */
#ifndef HF_TEST_HOLDER_H
#define HF_TEST_HOLDER_H

#include "lib/proc.h"

struct holder {
    const char *url;
    const char *name;
    int64_t lease_ms;
    unsigned flags; /* HF_ACQUIRE_* */
};

/* Start it, and wait until it holds its lock.  Returns its fence. */
uint64_t holder_start(struct lab_proc *p, const struct holder *h);

/* Wait until it says the line; lines before it are skipped. */
int holder_says(struct lab_proc *p, const char *line);

#endif
