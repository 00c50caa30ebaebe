/*
 * orders.h: what draining a sale and auditing it share: what is asked of the
 * store's segments and of the database.
 */
#ifndef HF_API_ORDERS_H
#define HF_API_ORDERS_H

#include "api/stock/stock.h"
#include "base/ledger.h"
#include "holdfast/orders.h"

/* Where the database is in one segment. */
struct orders_cursor {
    int is_there;
    int64_t event, fence, losses;
    char id[STOCK_ENTRY_ID_MAX]; /* of that event, or LEDGER_START */
};

struct orders {
    hf_stock *stock;
    hf_client *database;
    char sale[STOCK_ESCAPED(HF_STOCK_NAME_MAX)];
    /* A drain: */
    hf_hold *hold;
    int64_t fence;
    int keep;
    int64_t quantity; /* as the database knows it */
    int64_t limit;
    struct hf_orders_drained got;
    struct orders_cursor cursors[HF_STOCK_SEGMENTS_MAX];
    int has_goals;
    int64_t goals[HF_STOCK_SEGMENTS_MAX]; /* the last event of each segment as
                                           * the drain begins */
    unsigned char known[STOCK_PAGE_EVENTS];
    struct stock_page page;
};

/* HF_OK, or the database keeps no orders. */
int hf__orders_check(hf_client *database, struct hf_error *err);

/* Both clients are checked, and entered until hf__orders_close().  NULL: `err`
 * says why not. */
struct orders *hf__orders_open(hf_stock *stock, hf_client *database,
                               struct hf_error *err);
void hf__orders_close(struct orders *o);

/* Ask the database, and wait. */
int hf__orders_ask(struct orders *o, struct ledger_job *job,
                   struct hf_error *err);

/* A page of events from `id` on; `cut`: remove what is before it, or "". */
int hf__orders_page(struct orders *o, uint32_t segment, const char *id,
                    const char *cut, struct hf_error *err);

/* The numbers of a segment. */
int hf__orders_look(struct orders *o, uint32_t segment, struct stock_told *out,
                    struct hf_error *err);

/* Read the cursors and the quantity. */
int hf__orders_cursors(struct orders *o, struct hf_error *err);

/* The drain still has its lock. */
int hf__orders_held(const struct orders *o, struct hf_error *err);

/* The event at the cursor is not in the store any more: find the last event
 * that both have, and go on from there. */
int hf__orders_rewind(struct orders *o, uint32_t segment, struct hf_error *err);

#endif
