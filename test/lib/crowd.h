/*
 * crowd.h: many threads that want the same lock, each a number of times.  One
 * rule: what happened is counted while it happens; the test's own thread checks
 * the counts when all have ended.
 */
#ifndef HF_TEST_CROWD_H
#define HF_TEST_CROWD_H

#include "lib/rig.h"

#define CROWD_MAX 100

/* Static: its threads may outlive a test that fails. */
struct crowd {
    hf_lock *locks[CROWD_MAX];     /* of each member */
    int members;                   /* threads */
    int rounds;                    /* of each */
    int64_t hold_ms;               /* from a grant to its release */
    struct hf_acquire_options how; /* rig_options(...) */

    atomic_int grants;          /* acquired and released again, in all */
    atomic_int errors;          /* any other status, of either call */
    atomic_int inside;          /* holders at this moment */
    atomic_int overlap;         /* how often there was more than one */
    atomic_int done[CROWD_MAX]; /* rounds of each that are over */
};

/* Start them, wait for all, and check that each thread was granted the lock in
 * every round and that no two held it at once. */
void crowd_run(struct crowd *c);

/* The same in three steps, for what is to happen meanwhile. */
void crowd_start(struct crowd *c);
int crowd_is_over(struct crowd *c);
void crowd_finish(struct crowd *c);

#endif
