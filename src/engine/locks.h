/*
 * locks.h: the names in use, whose turn it is in this process, and wake-ups.
 */
#ifndef HF_ENGINE_LOCKS_H
#define HF_ENGINE_LOCKS_H

#include "core/hold.h"
#include "engine/heap.h"

struct engine;
struct seat;

enum watch_state { WATCH_OFF, WATCH_ASKED, WATCH_ON };

/* A name in use: held, waited for, or open as a lock object.  Ordered for
 * size, as the hold is. */
struct lock_entry {
    struct lock_entry *hash_next;
    struct ballot ballot;
    struct seat *seats;     /* holds of this name */
    struct seat *line_head; /* holds that wait for their turn */
    struct seat *line_tail;
    struct seat *turn;    /* the hold that contends or is held; of a semaphore
                           * the holds that contend, by line_next, each for
                           * fewer permits than the one before it */
    struct timer linger;  /* unwatch then */
    uint32_t hash;        /* of kind and name */
    int32_t told;         /* processes told of the last release; -1: unknown */
    int32_t debt;         /* wake-ups at which other processes go first */
    uint32_t refs;        /* lock objects, operations, seats, requests */
    uint32_t getting;     /* holds that are being acquired */
    int32_t turns;        /* hand-overs in a row within this process */
    uint32_t granted_us;  /* the store's last grant: low bits of the clock */
    uint32_t held_us;     /* how long that was held when a turn was left */
    uint32_t watch_round; /* the VERB_WATCH whose answer counts */
    uint16_t watch_open;  /* nodes, by bit, that have not answered VERB_WATCH */
    uint16_t watch_on;    /* nodes, by bit, that send wake-ups */
    uint8_t watch;        /* enum watch_state */
    uint8_t crowded : 1;  /* holds of this process were in line while it was
                           * last held; or it has not been held so far */
    uint8_t is_host : 1;  /* of this host instead of the store: host.c */
    uint8_t queues;       /* hand-overs by the store are to be told as well */
    uint8_t kind;         /* enum lock_kind */
    uint16_t name_len;
    char name[]; /* NUL behind it */
};

/* The entry of the store, with a reference for the caller; NULL without
 * memory. */
struct lock_entry *hf__entry_get(struct engine *e, enum lock_kind kind,
                                 const char *name, size_t name_len);
/* The same name and kind, of this host instead of the store. */
struct lock_entry *hf__entry_get_host(struct engine *e,
                                      const struct lock_entry *entry);
/* The entry if it is in use, without a reference; or NULL. */
struct lock_entry *hf__entry_find_host(struct engine *e,
                                       const struct lock_entry *entry);
struct lock_entry *hf__entry_find_at(struct engine *e, int is_host,
                                     enum lock_kind kind, const char *name,
                                     size_t name_len);
void hf__entry_unref(struct engine *e, struct lock_entry *entry);

/* The state of `s` was `before` its step. */
void hf__turn_update(struct engine *e, struct seat *s, enum hold_state before);
void hf__turn_pass_all(struct engine *e);
/* May a holder that wants `permits` contend for the name now? */
int hf__turn_is_open(const struct lock_entry *entry, unsigned hold_flags,
                     int64_t permits);
void hf__turn_leave(struct seat *s);
int hf__turn_is_hushed(const struct engine *e, const struct seat *s);

/* Will the store hand the lock over?  For other kinds it only keeps places. */
static inline int hf__is_handed_over(const struct lock_entry *entry,
                                     unsigned hold_flags)
{
    return hold_flags & HOLD_QUEUES && entry->kind == KIND_PLAIN;
}

void hf__watch_want(struct engine *e, struct seat *s);
void hf__watch_answer(struct engine *e, struct lock_entry *entry,
                      const struct request *r, const struct reply *reply);
void hf__watch_follow(struct engine *e, int node);
void hf__watch_wake(struct engine *e, struct lock_entry *entry);
/* Unwatch the names whose last waiter left long enough ago. */
void hf__watch_sweep(struct engine *e);

#endif
