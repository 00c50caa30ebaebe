/*
 * ledger.h: the tables of a database into which the events of a sale are moved,
 * and what is asked of them.
 *
 * The rule: whatever changes a ledger names the event that its cursor is at,
 * and moves the cursor in the same transaction.  So each event counts once,
 * whatever is repeated, and a client with an older fence changes nothing.
 */
#ifndef HF_BASE_LEDGER_H
#define HF_BASE_LEDGER_H

#include <stddef.h>
#include <stdint.h>

#include "base/stock.h"

#define LEDGER_START "0-0" /* a cursor before all entries of the stream */

enum ledger_do {
    LEDGER_MAKE,   /* the tables, unless they are there */
    LEDGER_OPEN,   /* the sale and its cursors; at least `quantity` */
    LEDGER_READ,   /* rows: segment, event, id, fence, losses, quantity, sold */
    LEDGER_APPLY,  /* `events` behind the cursor */
    LEDGER_REFUSE, /* the same, of one event: its order is not sold */
    LEDGER_LOST,   /* the store has lost the orders behind the event `to`, which
                    * has this `id`: the cursor goes back */
    LEDGER_ORDERS, /* rows: number, id; of numbers `from` to `to` */
    LEDGER_SUMS    /* rows: segment, what, and of
                    *   order, lost: state, why, orders, units
                    *   cursor: id, "", event, losses
                    *   sale: "", "", quantity, sold */
};

/* Called with each row, as text; the texts are borrowed, NULL is null. */
typedef void (*ledger_row_fn)(void *user, int len, const char *const *values);

/* What is asked; borrowed by a store until it has answered. */
struct ledger_job {
    enum ledger_do what;
    const char *sale; /* escaped, as all texts here */
    uint32_t segments, segment;
    int64_t quantity, limit;
    /* APPLY, REFUSE, LOST: where the cursor is, and the fence of
     * the client. */
    int64_t event, losses, fence;
    const struct stock_entry *events;
    size_t events_len;
    const char *id;
    int64_t from, to;
    ledger_row_fn row;
    void *row_user;
    /* What is told: */
    int is_refused; /* a check of the database; nothing was changed */
    int is_missing; /* the tables are */
};

#endif
