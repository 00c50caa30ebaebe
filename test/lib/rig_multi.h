/*
 * rig_multi.h: sets of locks for behaviour tests.  One rule: a set goes with
 * the client of its first lock, after the threads that were started here.
 */
#ifndef HF_TEST_RIG_MULTI_H
#define HF_TEST_RIG_MULTI_H

#include "lib/rig.h"

hf_multi *rig_multi(hf_lock *const *locks, size_t len);

/* The locks "a", "b" and "c" of a client of its own, as a set. */
struct three {
    hf_client *client;
    hf_lock *locks[3];
    hf_multi *multi;
};

void three_open(struct three *t);
int three_are_free(const struct three *t);

/* A thread that acquires a set, and releases it again.  Static. */
struct waiter {
    hf_multi *multi;
    hf_cancel *cancel; /* may be NULL */
    int64_t wait_ms;
    atomic_int started, ended;
    int status;
    struct hf_error err;
};

/* Start it, and give it time to wait. */
void waiter_start(struct waiter *w, hf_multi *m, hf_cancel *cancel,
                  int64_t wait_ms);

/* A token; it goes with its client. */
hf_cancel *rig_cancel(hf_client *c);

#endif
