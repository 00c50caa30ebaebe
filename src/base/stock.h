/*
 * stock.h: the words that the parts of a sale share: what is asked of one
 * segment, and what it answers.
 *
 * The rule: each of these may be asked twice.  A segment knows what it did by a
 * request id, an order number or a transfer number, and answers the same.
 */
#ifndef HF_BASE_STOCK_H
#define HF_BASE_STOCK_H

#include <stddef.h>
#include <stdint.h>

#include "holdfast/stock.h"

#define STOCK_NONCE_LEN 11   /* characters in a token that cannot be guessed */
#define STOCK_SWEEP 6        /* events looked at by each request */
#define STOCK_SWEEP_MOST 100 /* ... by one that finds too little, or audits */
#define STOCK_DRY_MS 50      /* a leader has this long to fetch units */
#define STOCK_GONE_MS 250    /* "sold out everywhere" is believed this long */
#define STOCK_ENDED_MAX 16   /* ended reservations of a user kept */

enum stock_do {
    STOCK_MAKE,    /* the segment, with `terms` and `units` */
    STOCK_LOOK,    /* tell terms, numbers, and transfers not yet settled */
    STOCK_RESERVE, /* `units` for `user` under the request `id` */
    STOCK_CONFIRM, /* the reservation `order` of `user`, if `nonce` matches */
    STOCK_CANCEL,
    STOCK_EXTEND,  /* ... to `ms` from now */
    STOCK_RESTOCK, /* `units` more, under the request `id` */
    STOCK_END,     /* no more reservations */
    STOCK_DONATE,  /* put about `units` aside for segment `peer` */
    STOCK_ACCEPT,  /* take transfer `number` of `units` from segment `peer` */
    STOCK_ACK,     /* transfer `number` to `peer` has been accepted */
    STOCK_GONE     /* no segment has units: answer "sold out" for a while */
};
#define STOCK_DOS (STOCK_GONE + 1)

enum stock_says {
    STOCK_DONE,
    STOCK_RESERVED,
    STOCK_DUPLICATE,
    STOCK_REUSED, /* the request id was here with other units */
    STOCK_LIMIT,
    STOCK_SOLD_OUT,
    STOCK_NOT_OPEN,
    STOCK_BUSY,
    STOCK_DRY,    /* RESERVE: too little here; the client that asked is to fetch
                   * more */
    STOCK_ABSENT, /* no such sale */
    STOCK_OTHER   /* the sale has other terms, or another number of segments */
};

/* The terms of a sale, as each segment keeps them. */
struct stock_terms {
    int64_t limit; /* units of one user; 0: none */
    int64_t hold_ms, max_hold_ms;
    int64_t opens_ms, closes_ms; /* server's clock; 0: always, never */
};

/* Units set aside for another segment, and not known to be there. */
struct stock_transfer {
    uint32_t to;
    int64_t number;
    int64_t units;
};

struct stock_told {
    enum stock_says says;
    /* A reservation: */
    enum hf_stock_state state;
    int changed; /* by this request; else it was so before */
    int late;    /* CONFIRM: it had expired, and was taken once more */
    int64_t order;
    int64_t units; /* DONATE: of the transfer, 0 none */
    int64_t left_ms;
    char nonce[STOCK_NONCE_LEN + 1];
    int64_t number; /* DONATE */
    /* A segment, by LOOK and END: */
    uint32_t segments;
    int is_ended;
    struct stock_terms terms;
    int64_t first; /* units it was made with */
    int64_t init, in, out, avail, held, sold, events;
    uint32_t transfers_len;
    struct stock_transfer transfers[HF_STOCK_SEGMENTS_MAX];
};

/* What is asked; borrowed by a store until it has answered, and it fills
 * `told`. */
struct stock_job {
    enum stock_do what;
    const char *name; /* of the segment, as the store knows it */
    size_t name_len;
    uint32_t segments;     /* of the sale; LOOK: 0 if that is not known */
    uint32_t segment;      /* which is asked */
    int leads;             /* RESERVE: after STOCK_DRY; fetching goes on */
    const char *user, *id; /* escaped: letters, digits and -_.~@:+% */
    char nonce[STOCK_NONCE_LEN + 1];
    int64_t units, order, ms, number;
    uint32_t peer;
    struct stock_terms terms;
    struct stock_told told;
};

#endif
