/*
 * drain.c: moving the events of a sale into a database.
 *
 * The rule: what is applied is what comes next behind the cursor, with no gap;
 * the database checks that the cursor is where we believe.
 */
#include <string.h>

#include "api/orders/orders.h"
#include "base/error.h"

int hf_orders_install(hf_client *database, struct hf_error *err)
{
    struct op op;
    struct ledger_job job = {.what = LEDGER_MAKE, .sale = ""};
    int status = hf__orders_check(database, err);
    if (status != HF_OK) return status;
    hf__call_init(&op, OP_TYPE_STOCK, NULL, 0);
    op.ledger = &job;
    return hf__call_wait(database, &op, err);
}

/* ---- the sale ---- */

/* A sale that was made anew may have more segments than before. */
static int has_cursors(const struct orders *o)
{
    for (uint32_t i = 0; i < o->stock->segments; i++)
        if (!o->cursors[i].is_there) return 0;
    return 1;
}

/* The database learns of units that were added, and of segments; behind the
 * events, so that it knows all units that they can have sold. */
static int quantity_tell(struct orders *o, struct hf_error *err)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < o->stock->segments; i++) {
        struct stock_told t;
        int status = hf__orders_look(o, i, &t, err);
        if (status != HF_OK) return status;
        sum += t.init;
        o->limit = t.terms.limit;
        if (!o->has_goals) o->goals[i] = t.events;
    }
    o->has_goals = 1;
    if (sum <= o->quantity && has_cursors(o)) return HF_OK;
    struct ledger_job job = {.what = LEDGER_OPEN, .quantity = sum};
    int status = hf__orders_ask(o, &job, err);
    if (status == HF_OK && sum > o->quantity) o->quantity = sum;
    return status;
}

static int sale_open(struct orders *o, struct hf_error *err)
{
    int status = hf__orders_cursors(o, err);
    if (status == HF_OK) status = quantity_tell(o, err);
    if (status != HF_OK || has_cursors(o)) return status;
    return hf__orders_cursors(o, err); /* they were made just now */
}

/* ---- events ---- */

static void cursor_set(struct orders_cursor *c, const struct stock_entry *e)
{
    c->event = e->number;
    memcpy(c->id, e->id, strlen(e->id) + 1);
}

static int is_sale(const struct stock_entry *e)
{
    return e->kind == 'S' || e->kind == 'L';
}

/* The database refused to move the cursor or to sell.  HF_OK: to sell. */
static int refusal_look(struct orders *o, uint32_t segment,
                        struct hf_error *err)
{
    struct orders_cursor was = o->cursors[segment];
    const struct orders_cursor *c = &o->cursors[segment];
    int status = hf__orders_cursors(o, err);
    if (status != HF_OK) return status;
    if (c->is_there && c->event == was.event && c->losses == was.losses
        && c->fence <= o->fence)
        return HF_OK;
    return hf__error_set(err, HF_LOST,
                         "drain: another drain has moved the cursor, or has a "
                         "newer token");
}

/* Apply `len` events from place `at` of the page.  `*is_refused`: nothing was
 * changed, for the database's check of the units or of the limit. */
static int apply(struct orders *o, uint32_t segment, size_t at, size_t len,
                 enum ledger_do what, int *is_refused, struct hf_error *err)
{
    struct orders_cursor *c = &o->cursors[segment];
    struct ledger_job job = {.what = what,
                             .segment = segment,
                             .limit = o->limit,
                             .event = c->event,
                             .losses = c->losses,
                             .events = o->page.events + at,
                             .events_len = len};
    int status = hf__orders_held(o, err);
    if (status == HF_OK) status = hf__orders_ask(o, &job, err);
    *is_refused = status == HF_OK && job.is_refused;
    if (status != HF_OK) return status;
    if (job.is_refused) return refusal_look(o, segment, err);
    cursor_set(c, &o->page.events[at + len - 1]);
    o->got.events += (int64_t)len;
    return HF_OK;
}

/* One event that was refused by itself. */
static int refuse(struct orders *o, uint32_t segment, size_t at,
                  struct hf_error *err)
{
    int is_refused = !is_sale(&o->page.events[at]);
    int status = HF_OK;
    if (!is_refused)
        status = apply(o, segment, at, 1, LEDGER_REFUSE, &is_refused, err);
    if (status == HF_OK && is_refused)
        return hf__error_set(err, HF_CONFLICT,
                             "drain: the database refuses event %s of segment "
                             "%u: the tables are not what they should be",
                             o->page.events[at].id, segment);
    if (status == HF_OK) o->got.refused++;
    return status;
}

/* The page from place `at` on.  What is refused together is tried in halves,
 * until the sales are found that do not fit. */
static int page_apply(struct orders *o, uint32_t segment, size_t at,
                      struct hf_error *err)
{
    size_t end = o->page.len, len = end - at;
    int status = HF_OK;
    while (at < end && status == HF_OK) {
        int is_refused;
        if (len > end - at) len = end - at;
        status = apply(o, segment, at, len, LEDGER_APPLY, &is_refused, err);
        if (status != HF_OK) break;
        if (is_refused && len > 1) {
            len /= 2;
            continue;
        }
        if (is_refused) status = refuse(o, segment, at, err);
        at += len;
        len *= 2;
    }
    return status;
}

/* From place `at` on, the page must go on behind the cursor. */
static int page_check(const struct orders *o, uint32_t segment, size_t at,
                      struct hf_error *err)
{
    int64_t number = o->cursors[segment].event;
    for (; at < o->page.len; at++)
        if (o->page.events[at].number != ++number)
            return hf__error_set(
                err, HF_CONFLICT,
                "drain: event %lld of segment %u is missing in the store: "
                "another drain has moved it, or it was deleted",
                (long long)number, segment);
    return HF_OK;
}

static int has_sale(const struct orders *o, size_t at)
{
    for (; at < o->page.len; at++)
        if (is_sale(&o->page.events[at])) return 1;
    return 0;
}

/* One page.  `*is_done`: nothing was new, or the segment was where the drain
 * is to end; then the events up to there could be removed. */
static int page_move(struct orders *o, uint32_t segment, int *is_done,
                     struct hf_error *err)
{
    struct orders_cursor *c = &o->cursors[segment];
    int is_first = !strcmp(c->id, LEDGER_START);
    int status = hf__orders_page(o, segment, is_first ? "-" : c->id,
                                 is_first || o->keep ? "" : c->id, err);
    if (status != HF_OK) return status;
    const struct stock_page *p = &o->page;
    if (!is_first
        && (p->len == 0 || strcmp(p->events[0].id, c->id) != 0
            || p->events[0].number != c->event))
        return hf__orders_rewind(o, segment, err);
    size_t at = is_first ? 0 : 1;
    *is_done = at >= p->len || c->event >= o->goals[segment];
    status = page_check(o, segment, at, err);
    if (status == HF_OK && has_sale(o, at)) status = quantity_tell(o, err);
    if (status == HF_OK) status = page_apply(o, segment, at, err);
    return status;
}

static int drain(struct orders *o, struct hf_error *err)
{
    int status = sale_open(o, err);
    for (uint32_t i = 0; i < o->stock->segments && status == HF_OK; i++)
        for (int is_done = 0; !is_done && status == HF_OK;)
            status = page_move(o, i, &is_done, err);
    return status;
}

int hf_orders_drain(hf_stock *stock, hf_hold *hold, hf_client *database,
                    const struct hf_orders_options *options,
                    struct hf_orders_drained *out, struct hf_error *err)
{
    struct hf_orders_options opt = HF_ORDERS_OPTIONS_INIT;
    struct hf_error why = {0};
    uint64_t fence = hf_hold_fence(hold);
    int status = hf__result_check(out, err);
    if (status == HF_OK && options)
        status = hf__options_copy(&opt, sizeof opt, options,
                                  options->struct_size, err);
    if (status != HF_OK) return status;
    if (fence == 0 || fence > INT64_MAX)
        return hf__error_set(err, HF_INVALID,
                             "drain: its hold has no fencing token");
    struct orders *o = hf__orders_open(stock, database, &why);
    if (!o) {
        if (err) *err = why;
        return why.status;
    }
    o->hold = hold;
    o->fence = (int64_t)fence;
    o->keep = opt.keep;
    o->got.struct_size = sizeof o->got;
    status = drain(o, err);
    hf__result_fill(out, &o->got);
    hf__orders_close(o);
    return status;
}
