/*
 * multi.h: sets of locks.
 *
 *   multi.c          a set: its life, its order
 *   multi_step.c     one call on it: what to ask next, of which locks
 *   multi_call.c     one call on it: its life, and the clients it keeps open
 *   multi_acquire.c  the public calls; what they got is a hold: hold_set.h
 */
#ifndef HF_API_MULTI_H
#define HF_API_MULTI_H

#include "api/client/sequence.h"
#include "engine/pump_event.h"
#include "holdfast/multi.h"

struct hf_multi {
    struct object object; /* first */
    hf_client *client;    /* it is closed with this: of its first lock */
    size_t len;
    struct hf_lock *locks[HF_MULTI_MAX]; /* borrowed, in the fixed order */
    size_t given[HF_MULTI_MAX];          /* which of hf_multi_open()'s it is */
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
    struct cancel_ear ear;
    int is_listening; /* the ear is lent to the token */
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

/* multi_step.c: take what this batch has come to, and prepare the next:
 * is_asked, and their operations.  0: there is none, the call is over. */
int hf__multi_step(struct multi_call *call);

/* multi_call.c */
struct multi_call *hf__multi_call_new(hf_multi *m, uint64_t holder,
                                      struct hf_error *err);
/* Its clients are kept open from here on, and a token is listened to. */
void hf__multi_call_enter(struct multi_call *call);
void hf__multi_call_leave(struct multi_call *call); /* and frees it */
/* It has got all: they become one hold, in the order of hf_multi_open(); or it
 * fails after all. */
void hf__multi_give(struct multi_call *call, hf_hold **out);
/* The client is being closed: end the calls that use it.  Afterwards they only
 * give back what they took. */
void hf__multis_stop(hf_client *c);

#endif
