/*
 * stock.h: what the layers share of sales: the jobs for one segment, and its
 * answers.
 *
 * The rule: every job may be repeated.  A segment knows by a request id, an
 * order number or a transfer number what it has done, and gives the same
 * answer.
 */
#ifndef HF_BASE_STOCK_H
#define HF_BASE_STOCK_H

#include <stddef.h>
#include <stdint.h>

#include "holdfast/stock.h"

#define STOCK_NONCE_LEN 11   /* characters in a token that cannot be guessed */
#define STOCK_SWEEP 6        /* events looked at by each request */
#define STOCK_SWEEP_MOST 100 /* ... by one that finds too little, or audits */
#define STOCK_DRY_MS 50      /* how long one client alone fetches units */
#define STOCK_GONE_MS 250    /* how long GONE makes "sold out" the answer */
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
    STOCK_GONE,    /* no segment has units: answer "sold out" for a while */
    STOCK_EVENTS   /* a page of events, from `id` on; remove those before `cut`
                    */
};
#define STOCK_DOS (STOCK_EVENTS + 1)

enum stock_says {
    STOCK_DONE,
    STOCK_RESERVED,
    STOCK_DUPLICATE,
    STOCK_REUSED, /* the request id was used with other units */
    STOCK_LIMIT,
    STOCK_SOLD_OUT,
    STOCK_NOT_OPEN,
    STOCK_BUSY,
    STOCK_DRY,    /* RESERVE: too few units here; this client must fetch some */
    STOCK_ABSENT, /* no such sale */
    STOCK_OTHER   /* the sale has other terms, or another number of segments */
};

/* The terms of a sale, as each segment keeps them. */
struct stock_terms {
    int64_t limit; /* units of one user; 0: none */
    int64_t hold_ms, max_hold_ms;
    int64_t opens_ms, closes_ms; /* server's clock; 0: always, never */
};

/* One entry of a segment's event stream.  The texts are escaped. */
struct stock_entry {
    int64_t number, order, units;
    char kind;      /* as in the scripts: R S L K X F */
    const char *id; /* "<ms>-<number>" */
    const char *user, *request;
};

#define STOCK_ENTRY_ID_MAX 48 /* bytes, with the NUL */
#define STOCK_PAGE_EVENTS 500
#define STOCK_PAGE_TEXT ((size_t)256 * 1024)

/* A page of events.  What does not fit is in the next one. */
struct stock_page {
    int is_told; /* the store keeps events */
    size_t len, text_len;
    struct stock_entry events[STOCK_PAGE_EVENTS];
    char text[STOCK_PAGE_TEXT];
};

/* Units put aside for another segment, until that has accepted them. */
struct stock_transfer {
    uint32_t to;
    int64_t number;
    int64_t units;
};

struct stock_told {
    enum stock_says says;
    /* A reservation: */
    enum hf_stock_state state;
    int changed; /* 1 if this request has set the state */
    int late;    /* CONFIRM: it had expired, and was taken again */
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

/* A job for one segment; borrowed by a store until it has answered.  The store
 * fills `told`. */
struct stock_job {
    enum stock_do what;
    const char *name; /* of the segment, as the store knows it */
    size_t name_len;
    uint32_t segments;     /* of the sale; LOOK: 0 if that is not known */
    uint32_t segment;      /* its number */
    int leads;             /* RESERVE: this client was told DRY, and fetches */
    const char *user, *id; /* escaped: letters, digits and -_.~@:+% */
    char nonce[STOCK_NONCE_LEN + 1];
    int64_t units, order, ms, number;
    uint32_t peer;
    const char *cut;         /* EVENTS: an id; "": remove nothing */
    struct stock_page *page; /* EVENTS: filled */
    struct stock_terms terms;
    struct stock_told told;
};

#endif
