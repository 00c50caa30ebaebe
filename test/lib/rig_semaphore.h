/*
 * rig_semaphore.h: semaphores for behaviour tests.  One rule: one goes with its
 * client, after the threads that were started here.
 */
#ifndef HF_TEST_RIG_SEMAPHORE_H
#define HF_TEST_RIG_SEMAPHORE_H

#include "lib/rig.h"

/* A semaphore that is opened with a number of permits.  Where the store keeps
 * permits, the first acquire sets the number. */
hf_semaphore *rig_semaphore(hf_client *c, const char *name, int permits);

/* The same on a store that keeps permits, and the number is set at once. */
hf_semaphore *rig_semaphore_set(hf_client *c, const char *name, int permits);

/* The same, as the options say; how many there are is not said. */
hf_semaphore *rig_semaphore_as(hf_client *c, const char *name,
                               const struct hf_semaphore_options *options);

/* A plain counter that begins with this number of permits. */
hf_semaphore *rig_counter(hf_client *c, const char *name, int64_t value);

/* hf_semaphore_acquire() of this number of permits. */
int rig_take(hf_semaphore *sem, int64_t permits, int64_t wait_ms,
             hf_hold **out);

/* hf_semaphore_state(), which must succeed. */
struct hf_semaphore_state rig_count(hf_semaphore *sem);

/* A thread that takes some, keeps them for a while, and gives them back.
 * Static. */
struct taker {
    hf_semaphore *sem;
    struct hf_acquire_options how;
    int64_t keep_ms;
    atomic_int *order; /* counts the grants; may be NULL */
    atomic_int started, got, ended;
    int place; /* in that order */
    int status, release_status;
    hf_hold *hold;
    struct hf_error err;
};

/* Start it, and give it time to wait. */
void taker_start(struct taker *t, hf_semaphore *sem, int64_t permits,
                 int64_t wait_ms);

#endif
