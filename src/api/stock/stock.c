/*
 * stock.c: sales: making, opening, restocking, ending and auditing them.
 *
 * The rule: segment 0 says what a sale is.  It is made first, so that of two
 * creates with different terms one changes nothing.
 */
#include "api/stock/stock.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

#define AUDIT_TRIES 8 /* passes, if units move between the segments */

/* ---- one request ---- */

void hf__sale_op(struct stock_op *o, const char *sale)
{
    hf__call_init(&o->op, OP_TYPE_STOCK, NULL, 0);
    snprintf(o->name, sizeof o->name, "%.*s#%u", HF_STOCK_NAME_MAX, sale,
             o->job.segment);
    o->job.name = o->name;
    o->job.name_len = strlen(o->name);
    o->op.stock = &o->job;
}

int hf__sale_says_status(const struct stock_job *job, struct hf_error *err)
{
    if (job->told.says == STOCK_ABSENT)
        return hf__error_set(err, HF_EMPTY,
                             "stock: no such sale, or not segment %u of it: "
                             "create it, again with the same terms",
                             job->segment);
    if (job->told.says == STOCK_OTHER)
        return hf__error_set(err, HF_CONFLICT,
                             "stock: a sale of this name has other terms");
    return HF_OK;
}

/* Send one request to one segment, and wait for its answer. */
static int segment_ask(hf_client *c, const char *sale, struct stock_op *o,
                       struct hf_error *err)
{
    hf__sale_op(o, sale);
    int status = hf__call_wait(c, &o->op, err);
    return status == HF_OK ? hf__sale_says_status(&o->job, err) : status;
}

/* ---- making and opening ---- */

static int sale_check(const hf_client *client, const char *name,
                      struct hf_error *err)
{
    int status = hf__client_check(client, err);
    if (status == HF_OK)
        status = hf__sale_text_check("the name of a sale", name,
                                     HF_STOCK_NAME_MAX, err);
    if (status != HF_OK) return status;
    if (!(client->pump.engine.caps & HF_CAP_STOCK))
        return hf__error_set(err, HF_UNSUPPORTED,
                             "stock: %.100s keeps no sales", client->url);
    return HF_OK;
}

static int range_check(const char *what, int64_t number, int64_t least,
                       int64_t most, struct hf_error *err)
{
    if (number >= least && number <= most) return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "%s of %lld: out of range: %lld to %lld", what,
                         (long long)number, (long long)least, (long long)most);
}

/* Check the terms, and put defaults for those that are 0. */
static int spec_check(struct hf_stock_spec *s, struct hf_error *err)
{
    const int64_t most_ms = HF_STOCK_HOLD_MS_MAX, ever_ms = INT64_C(1) << 48;
    if (!s->hold_ms) s->hold_ms = INT64_C(600000);
    if (!s->max_hold_ms && s->hold_ms > 0 && s->hold_ms <= most_ms)
        s->max_hold_ms = s->hold_ms < most_ms / 2 ? 2 * s->hold_ms : most_ms;
    const struct {
        const char *what;
        int64_t number, least, most;
    } rows[] = {
        {"segments", s->segments, 1, HF_STOCK_SEGMENTS_MAX},
        {"quantity", s->quantity, 1, HF_STOCK_UNITS_MAX},
        {"limit", s->limit, 0, HF_STOCK_UNITS_MAX},
        {"hold_ms", s->hold_ms, 1, most_ms},
        {"max_hold_ms", s->max_hold_ms, s->hold_ms, most_ms},
        {"opens_ms", s->opens_ms, 0, ever_ms},
        {"closes_ms", s->closes_ms, s->closes_ms ? s->opens_ms + 1 : 0,
         ever_ms},
    };
    int status = HF_OK;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && status == HF_OK; i++)
        status = range_check(rows[i].what, rows[i].number, rows[i].least,
                             rows[i].most, err);
    return status;
}

int hf_stock_create(hf_client *client, const char *name,
                    const struct hf_stock_spec *spec, struct hf_error *err)
{
    struct hf_stock_spec s = HF_STOCK_SPEC_INIT;
    int status = sale_check(client, name, err);
    if (status == HF_OK)
        status = hf__options_copy(&s, sizeof s, spec, spec->struct_size, err);
    if (status == HF_OK) status = spec_check(&s, err);
    if (status != HF_OK) return status;
    hf__call_enter(client);
    for (uint32_t i = 0; i < s.segments && status == HF_OK; i++) {
        struct stock_op o;
        o.job = (struct stock_job){.what = STOCK_MAKE,
                                   .segments = s.segments,
                                   .segment = i,
                                   .units = s.quantity / s.segments
                                            + (i < s.quantity % s.segments),
                                   .terms = {s.limit, s.hold_ms, s.max_hold_ms,
                                             s.opens_ms, s.closes_ms}};
        status = segment_ask(client, name, &o, err);
    }
    hf__call_leave(client);
    return status;
}

int hf_stock_open(hf_client *client, const char *name, hf_stock **out,
                  struct hf_error *err)
{
    struct stock_op o;
    int status = sale_check(client, name, err);
    if (status != HF_OK) return status;
    hf__call_enter(client);
    o.job = (struct stock_job){.what = STOCK_LOOK};
    status = segment_ask(client, name, &o, err);
    hf__call_leave(client);
    if (status != HF_OK) return status;
    size_t len = strlen(name);
    hf_stock *stock = hf__alloc_zero(&client->alloc, sizeof *stock + len + 1);
    if (!stock) return hf__error_set(err, HF_NOMEM, "out of memory");
    stock->client = client;
    stock->segments = o.job.told.segments;
    memcpy(stock->name, name, len + 1);
    hf__object_add(client, &stock->object);
    *out = stock;
    return HF_OK;
}

void hf_stock_close(hf_stock *stock)
{
    if (!stock) return;
    hf_client *client = stock->client;
    hf__object_remove(client, &stock->object);
    hf__free(&client->alloc, stock);
}

/* ---- restocking ---- */

int hf_stock_restock(hf_stock *stock, int64_t units, const char *request_id,
                     struct hf_error *err)
{
    struct stock_op o;
    char id[STOCK_ESCAPED(HF_STOCK_ID_MAX)];
    int status = hf__client_check(stock->client, err);
    if (status == HF_OK) status = hf__sale_units_check(units, err);
    if (status == HF_OK)
        status =
            hf__sale_text_check("request id", request_id, HF_STOCK_ID_MAX, err);
    if (status != HF_OK) return status;
    hf__sale_escape(request_id, id);
    o.job = (struct stock_job){.what = STOCK_RESTOCK,
                               .segments = stock->segments,
                               .segment =
                                   hf__sale_home(request_id, stock->segments),
                               .units = units,
                               .id = id};
    hf__call_enter(stock->client);
    status = segment_ask(stock->client, stock->name, &o, err);
    hf__call_leave(stock->client);
    if (status == HF_OK && o.job.told.says == STOCK_REUSED)
        return hf__error_set(err, HF_CONFLICT,
                             "restock: the request id was used for another "
                             "number of units");
    if (status == HF_OK && o.job.told.says == STOCK_NOT_OPEN)
        return hf__error_set(err, HF_EXPIRED, "restock: the sale was ended");
    return status;
}

/* ---- books ---- */

static void report_make(const struct stock_told *t, struct hf_stock_report *r)
{
    *r = (struct hf_stock_report){.struct_size = sizeof *r,
                                  .segments = t->segments,
                                  .is_ended = t->is_ended,
                                  .quantity = t->init,
                                  .received = t->in,
                                  .given = t->out,
                                  .available = t->avail,
                                  .held = t->held,
                                  .sold = t->sold,
                                  .events = t->events,
                                  .limit = t->terms.limit,
                                  .hold_ms = t->terms.hold_ms,
                                  .max_hold_ms = t->terms.max_hold_ms,
                                  .opens_ms = t->terms.opens_ms,
                                  .closes_ms = t->terms.closes_ms};
    r->is_balanced = t->init + t->in - t->out == t->avail + t->held + t->sold;
}

static void report_add(struct hf_stock_report *sum,
                       const struct hf_stock_report *r)
{
    if (!sum->struct_size) {
        *sum = *r;
        return;
    }
    sum->is_ended &= r->is_ended;
    sum->is_balanced &= r->is_balanced;
    sum->quantity += r->quantity;
    sum->received += r->received;
    sum->given += r->given;
    sum->available += r->available;
    sum->held += r->held;
    sum->sold += r->sold;
    sum->events += r->events;
}

/* What all segments said, one after the other. */
struct books {
    struct hf_stock_report of[HF_STOCK_SEGMENTS_MAX], sum;
    int64_t aside; /* units put aside for other segments */
};

/* Ask all segments once. */
static int books_read(hf_stock *stock, enum stock_do what, struct books *b,
                      struct hf_error *err)
{
    struct stock_op o;
    int status = HF_OK;
    b->sum = (struct hf_stock_report){0};
    b->aside = 0;
    for (uint32_t i = 0; i < stock->segments && status == HF_OK; i++) {
        o.job = (struct stock_job){
            .what = what, .segments = stock->segments, .segment = i};
        status = segment_ask(stock->client, stock->name, &o, err);
        if (status != HF_OK) break;
        report_make(&o.job.told, &b->of[i]);
        report_add(&b->sum, &b->of[i]);
        for (uint32_t j = 0; j < o.job.told.transfers_len; j++)
            b->aside += o.job.told.transfers[j].units;
    }
    return status;
}

/* What was given and not received is put aside with its giver; less than that
 * is on its way if a transfer was received and is not yet acknowledged. */
static int are_moves_whole(const struct books *b)
{
    int64_t moving = b->sum.given - b->sum.received;
    return moving >= 0 && moving <= b->aside;
}

/* If units moved between two segments while one of them was read and the other
 * not yet, all are read again. */
static int audit(hf_stock *stock, enum stock_do what, struct books *b,
                 struct hf_error *err)
{
    int status = hf__client_check(stock->client, err);
    if (status != HF_OK) return status;
    hf__call_enter(stock->client);
    for (int i = 0; i < AUDIT_TRIES && status == HF_OK; i++) {
        status = books_read(stock, what, b, err);
        if (are_moves_whole(b)) break;
    }
    hf__call_leave(stock->client);
    if (!are_moves_whole(b)) b->sum.is_balanced = 0;
    return status;
}

int hf_stock_end(hf_stock *stock, struct hf_stock_report *report,
                 struct hf_error *err)
{
    struct books books;
    int status = report ? hf__result_check(report, err) : HF_OK;
    if (status == HF_OK) status = audit(stock, STOCK_END, &books, err);
    if (status == HF_OK && report) hf__result_fill(report, &books.sum);
    return status;
}

int hf_stock_audit(hf_stock *stock, hf_stock_books_fn fn, void *user,
                   struct hf_stock_report *report, struct hf_error *err)
{
    struct books books;
    int status = hf__result_check(report, err);
    if (status == HF_OK) status = audit(stock, STOCK_LOOK, &books, err);
    if (status != HF_OK) return status;
    for (uint32_t i = 0; fn && i < stock->segments; i++)
        fn(i, &books.of[i], user);
    hf__result_fill(report, &books.sum);
    return HF_OK;
}
