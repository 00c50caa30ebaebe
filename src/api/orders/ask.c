/*
 * ask.c: what is asked of a sale's segments and of its database.
 *
 * The rule: each request is waited for, and nothing is asked twice by itself.
 */
#include <stdio.h>
#include <stdlib.h>

#include "api/orders/orders.h"
#include "base/error.h"

int hf__orders_check(hf_client *database, struct hf_error *err)
{
    int status = hf__client_check(database, err);
    if (status != HF_OK) return status;
    if (database->pump.engine.caps & HF_CAP_LEDGER) return HF_OK;
    return hf__error_set(err, HF_UNSUPPORTED,
                         "orders: %.100s keeps no orders of sales: name one "
                         "database of SQLite, PostgreSQL or MariaDB",
                         database->url);
}

struct orders *hf__orders_open(hf_stock *stock, hf_client *database,
                               struct hf_error *err)
{
    if (hf__client_check(stock->client, err) != HF_OK) return NULL;
    if (hf__orders_check(database, err) != HF_OK) return NULL;
    struct orders *o = hf__alloc_zero(&stock->client->alloc, sizeof *o);
    if (!o) {
        hf__error_set(err, HF_NOMEM, "out of memory");
        return NULL;
    }
    o->stock = stock;
    o->database = database;
    hf__sale_escape(stock->name, o->sale);
    hf__call_enter(stock->client);
    hf__call_enter(database);
    return o;
}

void hf__orders_close(struct orders *o)
{
    hf_client *client = o->stock->client;
    hf__call_leave(o->database);
    hf__free(&client->alloc, o);
    hf__call_leave(client);
}

int hf__orders_ask(struct orders *o, struct ledger_job *job,
                   struct hf_error *err)
{
    struct op op;
    job->sale = o->sale;
    job->segments = o->stock->segments;
    job->fence = o->fence;
    hf__call_init(&op, OP_TYPE_STOCK, NULL, 0);
    op.ledger = job;
    int status = hf__call_wait(o->database, &op, err);
    if (status == HF_OK && job->is_missing)
        return hf__error_set(err, HF_INVALID,
                             "orders: the tables are missing: run: holdfast "
                             "stock drain --install");
    return status;
}

static int segment_ask(struct orders *o, struct stock_op *op,
                       struct hf_error *err)
{
    op->job.segments = o->stock->segments;
    hf__sale_op(op, o->stock->name);
    int status = hf__call_wait(o->stock->client, &op->op, err);
    return status == HF_OK ? hf__sale_says_status(&op->job, err) : status;
}

int hf__orders_page(struct orders *o, uint32_t segment, const char *id,
                    const char *cut, struct hf_error *err)
{
    struct stock_op op;
    op.job = (struct stock_job){.what = STOCK_EVENTS,
                                .segment = segment,
                                .id = id,
                                .cut = cut,
                                .page = &o->page};
    o->page.is_told = 0;
    int status = segment_ask(o, &op, err);
    if (status == HF_OK && !o->page.is_told)
        return hf__error_set(err, HF_UNSUPPORTED,
                             "orders: %.100s keeps no events to be drained",
                             o->stock->client->url);
    return status;
}

int hf__orders_look(struct orders *o, uint32_t segment, struct stock_told *out,
                    struct hf_error *err)
{
    struct stock_op op;
    op.job = (struct stock_job){.what = STOCK_LOOK, .segment = segment};
    int status = segment_ask(o, &op, err);
    if (status == HF_OK) *out = op.job.told;
    return status;
}

static int64_t number_of(const char *text)
{
    return text ? strtoll(text, NULL, 10) : 0;
}

/* Rows of LEDGER_READ. */
static void cursor_take(void *user, int len, const char *const *values)
{
    struct orders *o = user;
    int64_t segment = number_of(values[0]);
    if (len < 7 || segment < 0 || segment >= o->stock->segments) return;
    struct orders_cursor *c = &o->cursors[segment];
    c->is_there = 1;
    c->event = number_of(values[1]);
    snprintf(c->id, sizeof c->id, "%s", values[2] ? values[2] : "");
    c->fence = number_of(values[3]);
    c->losses = number_of(values[4]);
    o->quantity = number_of(values[5]);
}

int hf__orders_cursors(struct orders *o, struct hf_error *err)
{
    struct ledger_job job = {
        .what = LEDGER_READ, .row = cursor_take, .row_user = o};
    for (uint32_t i = 0; i < o->stock->segments; i++)
        o->cursors[i].is_there = 0;
    o->quantity = 0;
    return hf__orders_ask(o, &job, err);
}

int hf__orders_held(const struct orders *o, struct hf_error *err)
{
    int state = hf_hold_state(o->hold);
    if (state == HF_STATE_HELD || state == HF_STATE_AT_RISK) return HF_OK;
    return hf__error_set(err, HF_LOST, "drain: its lock is lost");
}
