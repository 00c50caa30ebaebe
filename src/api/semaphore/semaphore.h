/*
 * semaphore.h: what the files of semaphores share.
 *
 *   semaphore.c   an object: its life; acquire
 *   tally.c       how many permits there are
 *   ticket.c      permits that go to another process
 *   slots.c       one lock per permit: the same calls
 *   slots_step.c  one acquire of slots: what to ask next
 */
#ifndef HF_API_SEMAPHORE_H
#define HF_API_SEMAPHORE_H

#include "api/client/client.h"
#include "holdfast/semaphore.h"

struct hf_semaphore {
    struct object object; /* first */
    hf_client *client;
    hf_lock *lock; /* of the store's own permits, or of the counter; of slots:
                    * the first */
    int is_plain;
    int64_t permits;    /* as it was opened; 0: not given */
    int32_t slots_len;  /* 0: the store keeps them */
    hf_lock *collector; /* of slots: an acquire of several takes this first */
    hf_lock *slots[];
};

/* Start a copy of `op`; its callback is given the semaphore. */
int hf__semaphore_start(hf_semaphore *sem, const struct op *op,
                        hf_semaphore_acquired_fn cb, void *user,
                        struct hf_error *err);

#define NOT_WITH_SLOTS "not with slots, which are one lock for each permit"

#endif
