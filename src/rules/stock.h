/*
 * stock.h: one segment of a sale: a job in, its answer out.
 *
 * The scripts stock_*.lua follow it, answer for answer.
 */
#ifndef HF_RULES_STOCK_H
#define HF_RULES_STOCK_H

#include "base/stock.h"
#include "sys/alloc.h"

/* Bugs for the seeded test to find, one at a time; only with HF_MUTATIONS. */
enum stock_mutation {
    STOCK_MUT_NONE,
    STOCK_MUT_ACCEPT_TWICE,   /* a transfer that is accepted twice adds twice */
    STOCK_MUT_DONATE_FORGETS, /* a transfer without its ACK is overwritten */
    STOCK_MUT_ACK_ANY,        /* an old acknowledgement ends a new transfer */
    STOCK_MUT_SETTLE_TWICE,   /* a second confirm sells again */
    STOCK_MUT_NO_DEDUPE,      /* the request id is not looked for */
    STOCK_MUT_LIMIT_STAYS,    /* an expiry gives units back, not the limit */
    STOCK_MUT_EXPIRE_SOLD,    /* an expiry gives back what is sold */
    STOCK_MUT_SELL_REFUNDED,  /* a confirm that was refused succeeds later */
    STOCK_MUT_CANCEL_SOLD,    /* a cancel gives back what is sold */
    STOCK_MUT_NONCE_IGNORED,  /* a token's nonce is not compared */
    STOCK_MUT_EXTEND_FOREVER, /* an extension may pass max_hold_ms */
    STOCK_MUT_EVENT_LOST,     /* a cancel has no event */
    STOCK_MUT_HALF_TAKEN,     /* less than asked for is reserved */
    STOCK_NMUTATIONS
};

struct stock_segment;

/* A segment that is not made yet; NULL without memory. */
struct stock_segment *hf__rules_stock_open(const struct allocator *alloc);
void hf__rules_stock_close(struct stock_segment *s);
void hf__rules_stock_mutate(struct stock_segment *s, enum stock_mutation bug);

/* Do `job` at `now_ms` of the store's clock and fill job->told.  HF_OK, or
 * HF_NOMEM with nothing changed. */
int hf__rules_stock_apply(struct stock_segment *s, int64_t now_ms,
                          struct stock_job *job);

/* Each change of a reservation is an event; their numbers have no gap. */
enum stock_event {
    STOCK_EVENT_RESERVED = 'R',
    STOCK_EVENT_SOLD = 'S',
    STOCK_EVENT_CANCELLED = 'K',
    STOCK_EVENT_EXPIRED = 'X',
    STOCK_EVENT_REFUSED = 'F', /* a confirm that came too late */
    STOCK_EVENT_LATE = 'L'     /* a late confirm that took the units again */
};

/* The kind of event `number` (from 1), and what it is about; 0 if there is
 * none. */
int hf__rules_stock_event(const struct stock_segment *s, int64_t number,
                          int64_t *order, int64_t *units);

#endif
