/*
 * rig_gate.h: latches and barriers for behaviour tests, and threads that wait
 * for them.  One rule: a thread writes down what it saw, and the test's own
 * thread looks at that once it has ended.
 *
 *     static struct gate_wait w;
 *     gate_wait_latch(&w, rig_latch(c, "a"), RIG_WAIT_MS);
 *     CHECK_INT(gate_ended(&w), HF_OK);
 */
#ifndef HF_TEST_RIG_GATE_H
#define HF_TEST_RIG_GATE_H

#include "lib/rig.h"

/* Objects of the client; they go with it. */
hf_latch *rig_latch(hf_client *client, const char *name);
hf_barrier *rig_barrier(hf_client *client, const char *name, int64_t parties);

/* Options for one wait. */
struct hf_wait_options rig_wait_options(int64_t wait_ms);

/* Blocking waits with these. */
int rig_latch_wait(hf_latch *latch, int64_t wait_ms, struct hf_error *err);
int rig_barrier_wait(hf_barrier *barrier, int64_t wait_ms,
                     struct hf_passed *passed, struct hf_error *err);

/* What is left; the test fails if it cannot be told. */
int64_t rig_latch_left(hf_latch *latch);
/* Wait until this number of parties wait at the barrier. */
int rig_until_waiting(hf_barrier *barrier, int64_t wanted);

/* A thread that waits, or an asynchronous wait.  Static. */
struct gate_wait {
    hf_latch *latch;     /* either */
    hf_barrier *barrier; /* ... or */
    struct hf_wait_options options;
    atomic_int begun, ended; /* `ended` counts */
    int status;
    struct hf_passed passed;
    struct hf_error err;
};

void gate_wait_latch(struct gate_wait *w, hf_latch *latch, int64_t wait_ms,
                     hf_cancel *cancel);
void gate_wait_barrier(struct gate_wait *w, hf_barrier *barrier,
                       int64_t wait_ms, hf_cancel *cancel);
/* The same by the calls that return at once. */
void gate_start_latch(struct gate_wait *w, hf_latch *latch, int64_t wait_ms,
                      hf_cancel *cancel);
void gate_start_barrier(struct gate_wait *w, hf_barrier *barrier,
                        int64_t wait_ms, hf_cancel *cancel);
/* Wait for its end: its status. */
int gate_ended(struct gate_wait *w);

/* A cancel token; it goes with its client. */
hf_cancel *rig_gate_cancel(hf_client *client);

#endif
