/*
 * stock_book.h: a segment from inside: its numbers, its users with their
 * reservations, its events.
 */
#ifndef HF_RULES_STOCK_BOOK_H
#define HF_RULES_STOCK_BOOK_H

#include "rules/stock.h"

/* The stage of a reservation, with the letter that the scripts use. */
enum stock_stage {
    STAGE_HELD = 'H',
    STAGE_EXTENDED = 'P',
    STAGE_SOLD = 'S',
    STAGE_CANCELLED = 'K',
    STAGE_EXPIRED = 'X',
    STAGE_REFUSED = 'F' /* expired, and a confirm was refused */
};

struct stock_hold {
    struct stock_hold *next; /* of the same user, oldest first */
    struct stock_buyer *buyer;
    int64_t units, order, born_ms, until_ms;
    char stage;
    char nonce[STOCK_NONCE_LEN + 1];
    char id[];
};

struct stock_buyer {
    struct stock_buyer *next;
    struct stock_hold *holds;
    uint64_t hash;
    int64_t units; /* held and sold */
    int records, ended;
    char name[];
};

struct stock_event_row {
    char kind;
    int64_t ms, order, units;
    struct stock_hold *hold; /* RESERVED: NULL once it is freed */
};

struct stock_restock {
    struct stock_restock *next;
    int64_t units;
    char id[];
};

struct stock_segment {
    const struct allocator *alloc;
    int is_made, is_ended;
    uint32_t segments;
    struct stock_terms terms;
    int64_t first;
    int64_t init, in, out, avail, held, sold;
    int64_t last_ms;  /* of the last event */
    int64_t swept;    /* events that the sweep has passed */
    int64_t extended; /* holds in that stage */
    int64_t due_ms;   /* nothing expires before this */
    int64_t dry_ms, gone_ms;
    int64_t given[HF_STOCK_SEGMENTS_MAX]; /* last transfer to each */
    int64_t taken[HF_STOCK_SEGMENTS_MAX]; /* ... from each */
    struct stock_transfer aside[HF_STOCK_SEGMENTS_MAX]; /* units > 0 */
    struct stock_buyer **buckets;
    uint64_t buckets_len, buyers_len;
    struct stock_event_row *events;
    int64_t events_len, events_room;
    struct stock_restock *restocks;
    enum stock_mutation bug;
};

#ifdef HF_MUTATIONS
#define STOCK_BUG(s, which) ((s)->bug == STOCK_MUT_##which)
#else
#define STOCK_BUG(s, which) ((void)(s), 0)
#endif

int hf__rules_book_is_held(const struct stock_hold *h);
struct stock_buyer *hf__rules_book_buyer_find(const struct stock_segment *s,
                                              const char *user);
/* Find the user, or make one; NULL without memory. */
struct stock_buyer *hf__rules_book_buyer_need(struct stock_segment *s,
                                              const char *user);
struct stock_hold *hf__rules_book_hold_by_id(const struct stock_buyer *b,
                                             const char *id);
struct stock_hold *hf__rules_book_hold_by_order(const struct stock_buyer *b,
                                                int64_t order);
/* Add a hold at the end of the user's list, not yet counted; NULL without
 * memory. */
struct stock_hold *hf__rules_book_hold_add(struct stock_segment *s,
                                           struct stock_buyer *b,
                                           const struct stock_job *job);
/* Only this changes the stage of a hold. */
void hf__rules_book_stage_set(struct stock_segment *s, struct stock_hold *h,
                              char stage);
/* End a hold with this stage.  Of each user the last STOCK_ENDED_MAX ended ones
 * are kept. */
void hf__rules_book_hold_end(struct stock_segment *s, struct stock_hold *h,
                             char stage);
/* Make room for this many more events; HF_OK or HF_NOMEM. */
int hf__rules_book_events_need(struct stock_segment *s, int64_t more);
void hf__rules_book_event_add(struct stock_segment *s, int64_t now_ms,
                              char kind, struct stock_hold *h);
/* Give back the units of a hold. */
void hf__rules_book_give_back(struct stock_segment *s, struct stock_hold *h);
/* Expire what is due, looking at no more than `most` events and `most`
 * extended holds. */
void hf__rules_book_sweep(struct stock_segment *s, int64_t now_ms,
                          int64_t most);
void hf__rules_book_free(struct stock_segment *s);

#endif
