/*
 * slots.h: semaphores where the store keeps no permits: one lock for each.
 *
 *   slots.c       the calls: acquire, state
 *   slots_step.c  one acquire: what to ask next, of which locks
 */
#ifndef HF_API_SLOTS_H
#define HF_API_SLOTS_H

#include "api/semaphore/semaphore.h"
#include "api/client/sequence.h"

struct slots_part {
    struct op op;
    hf_lock *lock;
    int is_asked; /* in this batch */
    int is_held;  /* taken by this call */
    int is_tried; /* once, and another holder had it */
};

enum slots_phase {
    SLOTS_BEGIN,     /* nothing asked yet */
    SLOTS_COLLECTOR, /* several are wanted: the collector first */
    SLOTS_TRY,       /* some are tried, without a wait */
    SLOTS_RACE,      /* whichever of the others is free first */
    SLOTS_BACK,      /* the collector was lost: what was taken is given back */
    SLOTS_UNDO,      /* what was taken is given back */
    SLOTS_DONE, /* what was taken beyond what is wanted, and the collector */
    SLOTS_OVER
};

/* An acquire under way: batches of operations, one after the other. */
struct slots_call {
    struct sequence seq; /* first; with the result */
    hf_semaphore *sem;
    enum slots_phase phase;
    struct hf_acquire_options options;
    uint64_t holder;
    int64_t deadline_us;
    int64_t want;
    size_t from; /* the first to be tried: random for each acquire */
    struct op_race race;

    hf_semaphore_acquired_fn fn; /* started */
    void *user;
    struct hold_set *set; /* reserved for what it gets */
    hf_hold *hold;        /* OVER, HF_OK: what it got */

    size_t len;
    struct slots_part collector;
    struct slots_part parts[];
};

/* slots_step.c: take what this batch has come to, and ask for the next. */
void hf__slots_step(struct sequence *s);
/* The acquire is over: its slots become call->hold.  It still fails if one of
 * them was lost meanwhile. */
void hf__slots_give(struct slots_call *call);

/* slots.c: as the calls of semaphore.h. */
int hf__slots_open(hf_semaphore *sem, const char *name, struct hf_error *err);
void hf__slots_close(hf_semaphore *sem);
int hf__slots_acquire(hf_semaphore *sem, const struct hf_acquire_options *given,
                      hf_hold **hold, struct hf_error *err);
int hf__slots_acquire_start(hf_semaphore *sem,
                            const struct hf_acquire_options *given,
                            hf_semaphore_acquired_fn cb, void *user,
                            struct hf_error *err);
int hf__slots_state(hf_semaphore *sem, struct hf_semaphore_state *out,
                    struct hf_error *err);
int hf__slots_state_start(hf_semaphore *sem, hf_semaphore_fn cb, void *user,
                          struct hf_error *err);

#endif
