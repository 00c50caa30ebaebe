/*
 * fair.h: threads that wait for a fair lock, one behind the other.  One rule:
 * the next one starts when the store says that the last one has its place, so
 * that the order in which they came is known.
 */
#ifndef HF_TEST_FAIR_H
#define HF_TEST_FAIR_H

#include "lib/rig.h"

#define FAIR_MAX 32

/* One of them; static, for its thread may outlive a test that fails. */
struct fair_waiter {
    hf_lock *lock;
    int64_t wait_ms;      /* 0: RIG_WAIT_MS */
    int64_t lease_ms;     /* 0: the client's */
    unsigned flags;       /* HF_ACQUIRE_* */
    int64_t hold_ms;      /* from the grant to the release, */
    int is_kept;          /* 1: it is not released at all */
    hf_cancel *cancel;    /* or NULL */
    atomic_int *turns;    /* counts the grants, or NULL */
    atomic_ullong holder; /* its own, once it runs */
    atomic_int is_over;   /* what is below is set */
    int status;           /* of the acquire */
    int turn;             /* grants by then, this one included */
    int release_status;
    hf_hold *hold;
};

/* A lock of this order, closed with its client. */
hf_lock *fair_lock_as(hf_client *client, const char *name, int order);
hf_lock *fair_lock(hf_client *client, const char *name);

/* The length of the queue, as the store says; and the place of one waiter. */
int64_t fair_queued(hf_lock *lock);
int64_t fair_position(hf_lock *lock, uint64_t holder);
int fair_until_queued(hf_lock *lock, int64_t wanted);

/* What its thread runs; the argument is a struct fair_waiter. */
void fair_run(void *arg);

/* Start one, and wait until it is in the queue as the last one. */
void fair_join(struct fair_waiter *w);

#endif
