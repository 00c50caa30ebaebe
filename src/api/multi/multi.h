/*
 * multi.h: sets of locks.
 *
 *   multi.c    a set: its life, its order
 *   step.c     one call on it: what to ask next, of which locks
 *   call.c     one call on it: its life, and the clients it keeps open
 *   acquire.c  the public calls; what they got is a hold: hold/set.h
 */
#ifndef HF_API_MULTI_H
#define HF_API_MULTI_H

#include "api/client/sequence.h"
#include "engine/pump_event.h"
#include "holdfast/multi.h"

struct hf_multi {
    struct object object; /* first */
    hf_client *client;    /* of its first lock; closing it frees the set */
    size_t len;
    struct hf_lock *locks[HF_MULTI_MAX]; /* borrowed, in the fixed order */
    size_t given[HF_MULTI_MAX];          /* index in hf_multi_open()'s list */
};

/* A call in its client's list; under the lock of the client's pump. */
struct multi_link {
    struct multi_call *call;
    struct multi_link *next, *prev;
};

/* One client of a call. */
struct multi_client {
    hf_client *client;
    struct multi_link link;
    struct cancel_listener listener;
    int is_listening; /* the cancel token has the listener in its list */
};

/* One lock of a call. */
struct multi_part {
    struct op op;
    struct hf_lock *lock;
    hf_client *client;
    int is_asked; /* in this batch */
    int is_held;  /* taken by this call */
};

enum multi_phase {
    MULTI_BEGIN, /* nothing asked yet */
    MULTI_ALL,   /* every lock that is not held is tried */
    MULTI_ONE,   /* wait for parts[at], with nothing held */
    MULTI_ORDER, /* wait for parts[at], with those before it held */
    MULTI_UNDO,  /* what was taken is given back */
    MULTI_OVER
};

/* A call under way: batches of operations, one after the other. */
struct multi_call {
    struct sequence seq; /* first; with the result */
    struct allocator alloc;
    hf_multi *multi;
    enum multi_phase phase;
    enum multi_phase next; /* UNDO: the phase behind it */
    struct hf_acquire_options options;
    uint64_t holder;
    int64_t deadline_us; /* of the whole */
    size_t at;
    int rounds;       /* refusals since names were last taken in order */
    int64_t order_us; /* how long to wait for one of them then */
    int64_t bound_us; /* of this wait; 0: the deadline's */
    atomic_int stop;  /* a client is being closed */

    hf_multi_acquired_fn fn; /* started only */
    void *user;

    struct hold_set *set; /* reserved for what it gets */
    size_t clients_len, len;
    struct multi_client *clients; /* behind the parts */
    struct multi_part parts[];    /* in the fixed order */
};

/* multi.c: HF_OK, or HF_FORKED with `err` filled. */
int hf__multi_check(const hf_multi *m, struct hf_error *err);

/* step.c: take the answers of this batch and prepare the next one: is_asked,
 * and their operations.  0 if there is none and the call is over. */
int hf__multi_step(struct multi_call *call);

/* call.c */
struct multi_call *hf__multi_call_new(hf_multi *m, uint64_t holder,
                                      struct hf_error *err);
/* From here on its clients are kept open, and the cancel token ends it. */
void hf__multi_call_enter(struct multi_call *call);
void hf__multi_call_leave(struct multi_call *call); /* and frees it */
/* The call has acquired all locks: make them one hold, in the order of
 * hf_multi_open().  It still fails if one of them was lost meanwhile. */
void hf__multi_give(struct multi_call *call, hf_hold **out);
/* The client is being closed: end the calls that use it.  Afterwards they only
 * give back what they took. */
void hf__multis_stop(hf_client *c);

#endif
