/*
 * table.h: the records of a store, by name.
 *
 * A record is never removed while the store lives, for the highest number seen
 * must be remembered for ever; so a record's place in `entries` is a cursor
 * that stays true however the table grows.
 */
#ifndef HF_RULES_TABLE_H
#define HF_RULES_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "sys/alloc.h"

struct stored;
struct guarded;
struct permits;
struct share;
struct latch;
struct barrier;
struct waiter;
struct stock_segment;

#define HELD_INFO_MAX 192 /* "<pid> <host> <label>", with the NUL */

/* One hold.  Unused ones are kept for the next grant. */
struct held {
    char owner[OWNER_LEN_MAX];
    uint64_t attempt;
    int64_t ballot; /* T: the number it was proposed under */
    int64_t fence;  /* the token that was given */
    int64_t count;
    int64_t since_us;
    int64_t expires_ms; /* gone once the clock shows more than this */
    int detached;
    int is_marked; /* others queue for it: it is to be handed over */
    char info[HELD_INFO_MAX];
    struct held *next_free;
};

/* All that is known under one name. */
struct entry {
    int64_t counter;         /* highest number ever accepted or given up */
    struct held *held;       /* NULL: free */
    struct share *shares;    /* rw.c: readers, writers, waiters */
    int64_t floor;           /* ... numbers up to this were given back */
    int64_t floor_ends_ms;   /* ... remembered until then */
    struct waiter *queue;    /* queue.c: waiters; NULL: none */
    int64_t broken;          /* ... numbers up to this get no new place */
    struct stored *value;    /* value.c; NULL: none */
    uint64_t dropped;        /* ... the highest version that is gone */
    uint64_t guard;          /* guard.c: highest token; 0: none */
    uint64_t claim;          /* ... the claim set last */
    struct guarded *guarded; /* ... the value behind them; NULL: none */
    struct permits *permits; /* permit.c; NULL: none */
    struct latch *latch;     /* latch.c; NULL: none so far */
    struct barrier *barrier; /* barrier.c; NULL: not in use */
    /* stock.c; NULL: none so far */
    struct stock_segment *stock;
    void *tag; /* whatever the store's user keeps by name */
    uint64_t hash;
    size_t name_len;
    char name[]; /* with a NUL behind it */
};

struct table {
    const struct allocator *alloc;
    struct entry **entries; /* in the order of their first use */
    size_t len, room;
    uint32_t *index;   /* place + 1 of an entry, 0: empty */
    size_t index_size; /* a power of two, or 0 */
};

/* The record of a name, or NULL. */
struct entry *hf__rules_table_find(const struct table *t, const char *name,
                                   size_t name_len);

/* The record of a name, made if there is none; NULL: no memory. */
struct entry *hf__rules_table_need(struct table *t, const char *name,
                                   size_t name_len);

/* Free all records; the table can be used again, and keeps its memory. */
void hf__rules_table_empty(struct table *t);

/* The same, and free that. */
void hf__rules_table_clear(struct table *t);

#endif
