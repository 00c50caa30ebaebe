/*
 * rig_rw.h: read/write locks for behaviour tests.  One rule: both sides of a
 * lock are opened in the same order, so that a test says it once.
 *
 *     struct rw a;
 *     rw_open(&a, rig_client(NULL), "a", HF_ORDER_ANY);
 *     CHECK_INT(hf_lock_try(a.read, NULL, NULL), HF_OK);
 */
#ifndef HF_TEST_RIG_RW_H
#define HF_TEST_RIG_RW_H

#include "lib/rig.h"

struct rw {
    hf_lock *read, *write;
};

/* Both sides; closed with the client. */
void rw_open(struct rw *rw, hf_client *client, const char *name, int order);

/* A thread that acquires as a fresh holder, tells, and keeps it until it may
 * go.  Static: it may outlive a test that fails. */
struct rw_actor {
    hf_lock *lock;
    int64_t wait_ms; /* 0: for ever */
    uint64_t holder;
    atomic_int is_in; /* has it */
    atomic_int may_go;
    int status;   /* of the acquire */
    int released; /* of the release */
    int order;    /* the how many-th it was, of all that got in */
    hf_hold *hold;
};

/* Start it. */
void rw_actor_start(struct rw_actor *a, hf_lock *lock, int64_t wait_ms);

/* The same, and come back when it is in the store's queue, as the `len`-th. */
void rw_actor_queue(struct rw_actor *a, hf_lock *lock, int64_t len);

/* Wait until it has it; let it go. */
int rw_actor_until_in(struct rw_actor *a);
void rw_actor_go(struct rw_actor *a);

#endif
