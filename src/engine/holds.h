/*
 * holds.h: a hold and what the engine knows of it, and the step of one hold.
 */
#ifndef HF_ENGINE_HOLDS_H
#define HF_ENGINE_HOLDS_H

#include "core/hold.h"
#include "engine/heap.h"
#include "holdfast/hold.h"

struct engine;
struct lock_entry;
struct op;

/* A function of the user's that is told of the changes of one hold's state, by
 * one of the hold's handles. */
struct hold_ear {
    struct hold_ear *next;
    hf_hold *hold;
    hf_hold_state_fn fn;
    void *user;
    int is_due; /* a change is being told, and not yet to this one */
};

struct slot {
    struct timer timer; /* first: the heap's timers are slots */
    struct hold hold;
    struct lock_entry *entry;
    struct slot *next; /* in entry->slots */
    struct slot *queue_next;
    struct slot *notice_next;
    uint64_t holder;
    int64_t seen_us; /* the node's clock when it last said BUSY; 0 */
    char *why;       /* the store's words: why it was lost, or not renewed the
                      * last time; or NULL */
    union {
        char *owner;          /* ATTACHED: of its ticket */
        uint64_t chain_owner; /* otherwise: instead of the holder, with
                               * hand-over; or 0: hf__slot_chain() */
    };
    hf_hold *handle; /* the first that was given of it; or NULL */
    struct hold_ear *ears;
    struct op *op;           /* under way */
    struct op *pending_last; /* last of the holder's operations behind `op`; its
                              * next is the first; NULL: there are none */
    int32_t permits;         /* of a semaphore or counter; at a barrier */
    uint32_t requests;       /* on their way */
    uint32_t pins;           /* handles of it, and calls that look at it */
    uint16_t replicas;       /* that confirmed the grant */
    uint8_t notices;         /* bits by enum hf_state, not yet told */
    unsigned linked : 1;     /* found by its holder: in entry->slots */
    unsigned queued : 1;
    unsigned getting : 1;
    unsigned followed : 1; /* the next hold's proposal goes out right behind its
                            * release */
    unsigned attached : 1; /* by a ticket */
};

struct slot *hf__slot_new(struct engine *e, struct lock_entry *entry,
                          uint64_t holder);
struct slot *hf__slot_find(struct lock_entry *entry, uint64_t holder);
void hf__slot_unlink(struct slot *s);
void hf__slot_free(struct engine *e, struct slot *s);
/* Free it if it is over and nothing refers to it. */
void hf__slot_let_go(struct engine *e, struct slot *s);
/* Take one reference (`pins`) away; may free the hold. */
void hf__slot_unpin(struct engine *e, struct slot *s);

/* One step of the core, and its effects. */
void hf__slot_step(struct engine *e, struct slot *s, struct hold_event *ev);

/* Its fencing token; 0 for a hold of this host. */
uint64_t hf__slot_fence(const struct slot *s);
/* The owner as the store knows it. */
void hf__slot_owner(const struct engine *e, const struct slot *s,
                    char out[OWNER_LEN_MAX]);
/* The owner that stands for its chain of hand-overs; 0: it has none. */
uint64_t hf__slot_chain(const struct slot *s);
void hf__owner_text(const struct engine *e, uint64_t holder,
                    char out[OWNER_LEN_MAX]);

/* Why its state is `state`: a text of its own, or in `buf`; NULL for HELD. */
const char *hf__slot_cause(struct engine *e, const struct slot *s, int state,
                           char *buf, size_t size);
/* Keep a copy of `text` as the reason; NULL: none. */
void hf__slot_why(struct engine *e, struct slot *s, const char *text);
/* Keep what the answer says about why the hold is not kept. */
void hf__slot_heard(struct engine *e, struct slot *s, const struct request *r,
                    const struct reply *rep);

void hf__ear_remove(struct engine *e, struct slot *s, const hf_hold *hold);
void hf__ears_free(struct engine *e, struct slot *s);

#endif
