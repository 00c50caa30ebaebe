/*
 * holdfast/orders.h: the orders of a sale, moved into a database.
 *
 *     hf_client *database;
 *     hf_stock *stock;
 *     struct hf_orders_drained done = HF_ORDERS_DRAINED_INIT;
 *     if (hf_client_open("sqlite:shop.db", NULL, &database, &err) == HF_OK
 *         && hf_orders_install(database, &err) == HF_OK
 *         && hf_stock_open(client, "phone", &stock, &err) == HF_OK
 *         && hf_lock_acquire(lock, NULL, &hold, &err) == HF_OK)
 *         hf_orders_drain(stock, hold, database, NULL, &done, &err);
 *
 * A sale (stock.h) writes each change as an event.  A drain moves the events
 * into tables of SQLite, PostgreSQL or MariaDB, with one row for each order.
 * The number of the last event is stored in the same transaction as what the
 * events say, so a drain may be killed at any point, and the next one goes on
 * behind what was stored: each event counts once.
 *
 * The fencing token of a hold keeps two drains apart: the database refuses a
 * drain whose token is older than one that it has seen.
 *
 * The database checks for itself that no more units are sold than there are,
 * and no more to a user than the limit allows.  So a sale whose store has lost
 * writes, and has sold the same units again, is found out here: the order is
 * stored as refused, with the reason, and its buyer is to be refunded.
 *
 * Tables (docs/flash-sale.md): holdfast_sale, holdfast_sale_cursor,
 * holdfast_sale_order, holdfast_sale_user.
 */
#ifndef HOLDFAST_ORDERS_H
#define HOLDFAST_ORDERS_H

#include "hold.h"
#include "stock.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How to drain. */
struct hf_orders_options {
    uint32_t struct_size; /* set by HF_ORDERS_OPTIONS_INIT */
    int32_t keep; /* 1: remove no events from the store.  0: remove those
                           * that are stored in the database, once their hold
                           * time is over */
};
#define HF_ORDERS_OPTIONS_INIT                                                 \
    {                                                                          \
        sizeof(struct hf_orders_options), 0                                    \
    }
static inline void hf_orders_options_init(struct hf_orders_options *o)
{
    const struct hf_orders_options init = HF_ORDERS_OPTIONS_INIT;
    *o = init;
}

/* What a drain has done. */
struct hf_orders_drained {
    uint32_t struct_size; /* set by HF_ORDERS_DRAINED_INIT */
    int32_t losses;  /* segments whose store had lost events that the database
                      * has */
    int64_t events;  /* moved by this call */
    int64_t refused; /* of them: sales that the database refused */
};
#define HF_ORDERS_DRAINED_INIT                                                 \
    {                                                                          \
        sizeof(struct hf_orders_drained), 0, 0, 0                              \
    }
static inline void hf_orders_drained_init(struct hf_orders_drained *d)
{
    const struct hf_orders_drained init = HF_ORDERS_DRAINED_INIT;
    *d = init;
}

/* A sale in the store and in the database, compared where the database is. */
struct hf_orders_report {
    uint32_t struct_size; /* set by HF_ORDERS_REPORT_INIT */
    int32_t is_balanced;  /* 1 if the differences below are 0 */
    int64_t quantity;     /* units, as the database knows it */
    int64_t sold;         /* units sold, by the database */
    int64_t orders;       /* rows */
    int64_t behind;       /* events that the database does not have yet */
    /* Differences: */
    int64_t missing;       /* units held or sold in the store that have no row
                            * of that state, or the other way round */
    int64_t refused;       /* orders sold by the store that the database has
                            * refused: refund them */
    int64_t refused_units; /* ... their units */
    int64_t lost;          /* orders that the store has forgotten, and that the
                            * database has as sold or held */
};
#define HF_ORDERS_REPORT_INIT                                                  \
    {                                                                          \
        sizeof(struct hf_orders_report), 0, 0, 0, 0, 0, 0, 0, 0, 0             \
    }
static inline void hf_orders_report_init(struct hf_orders_report *r)
{
    const struct hf_orders_report init = HF_ORDERS_REPORT_INIT;
    *r = init;
}

/**
 * Make the tables, unless they are there.  Nothing else makes or changes a
 * table.
 *
 * @param database  borrowed; needs HF_CAP_LEDGER
 * @param err       filled when this fails; may be NULL
 *
 * @return HF_OK           the tables are there
 *         HF_DENIED       the user may not make tables
 *         HF_UNAVAILABLE  no answer; call again
 *         HF_UNSUPPORTED  the store has no HF_CAP_LEDGER
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any.
 */
HF_API int hf_orders_install(hf_client *database, struct hf_error *err);

/**
 * Move all events that are there into the database.  It ends, also while the
 * sale goes on: events that come meanwhile may be left for the next call.
 *
 * @param stock     borrowed; of Redis: `memory:` keeps no events to be moved
 * @param hold      borrowed: a hold of the lock that all drains of this sale
 *                  into this database take, with a fencing token.  It is not
 *                  released
 * @param database  borrowed; needs HF_CAP_LEDGER, and the tables
 * @param options   copied; NULL means all defaults
 * @param out       HF_ORDERS_DRAINED_INIT; filled also if the drain fails on
 *                  the way: what was moved before stays moved
 * @param err       filled when this fails; may be NULL
 *
 * @return HF_OK           all events that were there when it was called are in
 *                         the database
 *         HF_LOST         the hold is lost, or the database has seen a newer
 *                         token: take the lock again
 *         HF_EMPTY        there is no such sale, or not all of it
 *         HF_INVALID      the tables are missing, the hold has no token, or an
 *                         argument is out of range
 *         HF_CONFLICT     events are missing in the store, because another
 *                         database was drained into, this one is an older copy
 *                         of itself, or they were deleted; or the tables are
 *                         not what they should be
 *         HF_UNAVAILABLE  the store or the database does not answer: call
 *                         again.  What was under way is stored wholly or not
 *                         at all
 *         HF_UNSUPPORTED  the store keeps no events, or the database has no
 *                         HF_CAP_LEDGER
 *         others          as for hf_orders_install()
 *
 * If the store has lost events that the database has, as after a failover, the
 * orders behind the last common one are marked as lost, those that are sold
 * stay sold, and the drain goes on with what the store has now.
 *
 * Threads: any.
 */
HF_API int hf_orders_drain(hf_stock *stock, hf_hold *hold, hf_client *database,
                           const struct hf_orders_options *options,
                           struct hf_orders_drained *out, struct hf_error *err);

/**
 * Compare the sale with the database; also while it sells and is drained.
 *
 * @param stock     borrowed
 * @param database  borrowed; needs HF_CAP_LEDGER, and the tables
 * @param out       HF_ORDERS_REPORT_INIT; filled on HF_OK
 * @param err       filled when this fails; may be NULL
 *
 * @return HF_OK        `out` is filled: look at is_balanced
 *         HF_EMPTY     there is no such sale, in the store or in the database
 *         others       as for hf_orders_drain()
 *
 * Events behind the cursor of the database are read and taken off, so that both
 * sides are compared at the same event.
 *
 * Threads: any.
 */
HF_API int hf_orders_audit(hf_stock *stock, hf_client *database,
                           struct hf_orders_report *out, struct hf_error *err);

#ifdef __cplusplus
}
#endif
#endif
