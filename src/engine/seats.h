/*
 * seats.h: a hold and what the engine knows of it, and the step of one hold.
 */
#ifndef HF_ENGINE_SEATS_H
#define HF_ENGINE_SEATS_H

#include "core/hold.h"
#include "engine/heap.h"
#include "holdfast/hold.h"

struct engine;
struct lock_entry;
struct op;

/* A function of the user's that is told of the changes of one hold's state, by
 * one of the hold's handles. */
struct hold_listener {
    struct hold_listener *next;
    hf_hold *hold;
    hf_hold_state_fn fn;
    void *user;
    int is_due; /* a change is being told, and not yet to this one */
};

struct seat {
    struct timer timer; /* first: the heap's timers are seats */
    struct hold hold;
    struct lock_entry *entry;
    struct seat *next; /* in entry->seats */
    struct seat *line_next;
    struct seat *notice_next;
    uint64_t holder;
    int64_t held_us; /* since when it has been held */
    int64_t seen;    /* of the last BUSY, for the next request; 0 */
    char *why;       /* the store's words: why it was lost, or not renewed the
                   * last time; or NULL */
    union {
        char *owner;          /* ATTACHED: of its ticket */
        uint64_t chain_owner; /* otherwise: instead of the holder, with
                               * hand-over; or 0: hf__seat_chain() */
    };
    hf_hold *handle; /* the first that was given of it; or NULL */
    struct hold_listener *listeners;
    struct op *op;           /* under way */
    struct op *pending_last; /* last of the holder's operations behind `op`; its
                              * next is the first; NULL: there are none */
    int32_t permits;         /* of a semaphore or counter; at a barrier */
    uint32_t requests;       /* on their way */
    uint32_t pins;           /* handles of it, and calls that look at it */
    uint16_t replicas;       /* that confirmed the grant */
    uint8_t notices;         /* bits by enum hf_state, not yet told */
    unsigned linked : 1;     /* found by its holder: in entry->seats */
    unsigned in_line : 1;
    unsigned getting : 1;
    unsigned followed : 1; /* the next hold's proposal goes out right behind its
                            * release */
    unsigned attached : 1; /* by a ticket */
};

struct seat *hf__seat_new(struct engine *e, struct lock_entry *entry,
                          uint64_t holder);
struct seat *hf__seat_find(struct lock_entry *entry, uint64_t holder);
void hf__seat_unlink(struct engine *e, struct seat *s);
void hf__seat_free(struct engine *e, struct seat *s);
/* Free it if it is over and nothing refers to it. */
void hf__seat_let_go(struct engine *e, struct seat *s);
/* Take one reference (`pins`) away; may free the hold. */
void hf__seat_unpin(struct engine *e, struct seat *s);

/* A walk over the holds of a name.  A step may free any of them, so the walk
 * goes on with what is still linked; one that is made meanwhile is left out. */
struct seat_walk {
    struct seat *next;
    struct seat_walk *outer;
};
void hf__walk_begin(struct engine *e, struct seat_walk *walk,
                    const struct lock_entry *entry);
/* The next hold, or NULL: the walk is over. */
struct seat *hf__walk_next(struct engine *e, struct seat_walk *walk);

/* One step of the core, and its effects. */
void hf__seat_step(struct engine *e, struct seat *s, struct hold_event *ev);

/* Its fencing token; 0 for a hold of this host. */
uint64_t hf__seat_fence(const struct seat *s);
/* The owner as the store knows it. */
void hf__seat_owner(const struct engine *e, const struct seat *s,
                    char out[OWNER_LEN_MAX]);
/* The owner that stands for its chain of hand-overs; 0: it has none. */
uint64_t hf__seat_chain(const struct seat *s);
void hf__owner_text(const struct engine *e, uint64_t holder,
                    char out[OWNER_LEN_MAX]);

/* Why its state is `state`: a text of its own, or in `buf`; NULL for HELD. */
const char *hf__seat_cause(struct engine *e, const struct seat *s, int state,
                           char *buf, size_t size);
/* Keep a copy of `text` as the reason; NULL: none. */
void hf__seat_why(struct engine *e, struct seat *s, const char *text);
/* Keep what the answer says about why the hold is not kept. */
void hf__seat_heard(struct engine *e, struct seat *s, const struct request *r,
                    const struct reply *rep);

void hf__listener_remove(struct engine *e, struct seat *s, const hf_hold *hold);
void hf__listeners_free(struct engine *e, struct seat *s);

#endif
