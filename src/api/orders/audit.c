/*
 * audit.c: a sale in the store and in the database, compared at the event that
 * the database is at.
 *
 * The rule: what the database says is of one moment, and so is what a segment
 * says; the events between the two are taken off.
 */
#include <stdlib.h>
#include <string.h>

#include "api/orders/orders.h"
#include "base/error.h"

#define TRIES_MAX 8

/* One segment, as the database has it. */
struct side {
    int is_there;
    int64_t event;
    char id[STOCK_ENTRY_ID_MAX];
    int64_t held, sold; /* units; of refused orders, too: the store sold them */
};

struct audit {
    struct orders *o;
    int is_there; /* the database knows the sale */
    int is_cut;   /* events that had to be taken off are gone */
    struct hf_orders_report *report;
    struct side sides[HF_STOCK_SEGMENTS_MAX];
};

static int64_t number_of(const char *text)
{
    return text ? strtoll(text, NULL, 10) : 0;
}

/* A row of orders that the store has, too, or had. */
static void orders_take(struct audit *a, struct side *s, int is_lost,
                        const char *const *values)
{
    const char *state = values[2] ? values[2] : "";
    int64_t orders = number_of(values[4]), units = number_of(values[5]);
    struct hf_orders_report *r = a->report;
    r->orders += orders;
    if (is_lost) {
        if (!strcmp(state, "sold") || !strcmp(state, "lost")) r->lost += orders;
        return;
    }
    if (!strcmp(state, "held")) s->held += units;
    if (!strcmp(state, "sold") || !strcmp(state, "refused")) s->sold += units;
    if (strcmp(state, "refused") != 0) return;
    r->refused += orders;
    r->refused_units += units;
}

/* Rows of LEDGER_SUMS. */
static void row_take(void *user, int len, const char *const *values)
{
    struct audit *a = user;
    int64_t segment = number_of(values[0]);
    if (len < 6 || !values[1] || segment < 0
        || segment >= a->o->stock->segments)
        return;
    struct side *s = &a->sides[segment];
    if (!strcmp(values[1], "sale")) {
        a->is_there = 1;
        a->report->quantity = number_of(values[4]);
        a->report->sold = number_of(values[5]);
    } else if (!strcmp(values[1], "cursor")) {
        size_t id_len = values[2] ? strlen(values[2]) : 0;
        s->is_there = id_len < sizeof s->id;
        if (s->is_there) memcpy(s->id, values[2] ? values[2] : "", id_len + 1);
        s->event = number_of(values[4]);
    } else {
        orders_take(a, s, !strcmp(values[1], "lost"), values);
    }
}

/* Take an event that the database does not have off the segment's numbers. */
static void entry_take_off(struct stock_told *t, const struct stock_entry *e)
{
    if (e->kind == 'R') t->held -= e->units;
    if (e->kind == 'S') t->held += e->units;
    if (e->kind == 'K' || e->kind == 'X') t->held += e->units;
    if (e->kind == 'S' || e->kind == 'L') t->sold -= e->units;
}

/* The events behind the cursor, up to the last that `t` counts.  A drain may
 * have removed some of them since. */
static int events_take_off(struct audit *a, uint32_t segment,
                           struct stock_told *t, struct hf_error *err)
{
    const struct side *s = &a->sides[segment];
    const struct stock_page *p = &a->o->page;
    int is_first = s->event == 0, is_more = 1;
    char from[STOCK_ENTRY_ID_MAX] = "-";
    int64_t last = s->event;
    if (!is_first) memcpy(from, s->id, sizeof from);
    while (is_more && last < t->events) {
        int status = hf__orders_page(a->o, segment, from, "", err);
        if (status != HF_OK) return status;
        is_more = 0;
        for (size_t i = 0; i < p->len && last < t->events; i++) {
            const struct stock_entry *e = &p->events[i];
            if (e->number != last + 1) continue;
            entry_take_off(t, e);
            last++;
            is_more = 1;
            memcpy(from, e->id, strlen(e->id) + 1);
        }
    }
    if (last < t->events) a->is_cut = 1;
    a->report->behind += (last < t->events ? t->events : last) - s->event;
    return HF_OK;
}

static int64_t difference(int64_t a, int64_t b)
{
    return a > b ? a - b : b - a;
}

static int segment_audit(struct audit *a, uint32_t segment,
                         struct hf_error *err)
{
    struct stock_told t;
    const struct side *s = &a->sides[segment];
    int status = hf__orders_look(a->o, segment, &t, err);
    if (status == HF_OK) status = events_take_off(a, segment, &t, err);
    if (status != HF_OK) return status;
    a->report->missing +=
        difference(t.sold, s->sold) + difference(t.held, s->held);
    return HF_OK;
}

static int sides_compare(struct audit *a, struct hf_error *err)
{
    struct ledger_job job = {
        .what = LEDGER_SUMS, .row = row_take, .row_user = a};
    struct hf_orders_report *r = a->report;
    *a = (struct audit){.o = a->o, .report = r};
    *r = (struct hf_orders_report){.struct_size = sizeof *r};
    int status = hf__orders_ask(a->o, &job, err);
    if (status == HF_OK && !a->is_there)
        status = hf__error_set(err, HF_EMPTY,
                               "orders: the database has no such sale: it was "
                               "not drained yet");
    for (uint32_t i = 0; i < a->o->stock->segments && status == HF_OK; i++)
        status = segment_audit(a, i, err);
    r->is_balanced = !r->missing && !r->refused && !r->lost;
    return status;
}

/* A drain that removes what the audit is about to read has moved the database's
 * cursor before, so the next look finds it further on. */
static int audit(struct audit *a, struct hf_error *err)
{
    int status = HF_OK;
    a->is_cut = 1;
    for (int i = 0; i < TRIES_MAX && a->is_cut && status == HF_OK; i++)
        status = sides_compare(a, err);
    return status;
}

int hf_orders_audit(hf_stock *stock, hf_client *database,
                    struct hf_orders_report *out, struct hf_error *err)
{
    struct hf_error why = {0};
    struct hf_orders_report report = {.struct_size = sizeof report};
    struct audit a = {.report = &report};
    int status = hf__result_check(out, err);
    if (status != HF_OK) return status;
    a.o = hf__orders_open(stock, database, &why);
    if (!a.o) {
        if (err) *err = why;
        return why.status;
    }
    status = audit(&a, err);
    hf__orders_close(a.o);
    if (status == HF_OK) hf__result_fill(out, &report);
    return status;
}
