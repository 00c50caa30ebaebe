/*
 * session/gate.h: what holdfast latch and holdfast barrier share: waiting for
 * what has no holder, for as long as -n and -w say, or until a signal comes.
 */
#ifndef HOLDFAST_CLI_GATE_H
#define HOLDFAST_CLI_GATE_H

#include "session/session.h"

/* What is waited for: a latch or a barrier. */
struct gate {
    hf_latch *latch;     /* NULL if it is a barrier */
    hf_barrier *barrier; /* NULL if it is a latch */
    struct hf_passed passed;
};

/* Open a client, without a lock; its name is for people. */
int gate_open(struct session *s, const struct options *o, const char *name);

/* Wait.  0, or an exit code after an error message, in which `what` ("not
 * open") tells the outcome. */
int gate_wait(struct session *s, const struct options *o, struct gate *g,
              const char *what);

#endif
