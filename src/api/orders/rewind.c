/*
 * rewind.c: the store has lost events that the database has.
 *
 * An order is known by its number, by the id of the event that began it, which
 * has the time in it, and by its user and request: a clock that is set back may
 * give the same id again.  So the last reservation that both sides have with
 * the same id ends what they have in common.  Events of other kinds between it
 * and the first foreign reservation are told once more; the tables do not count
 * them twice.
 *
 * The rule: nothing is deleted.  What was lost is marked, and stays sold if it
 * was.
 */
#include <stdlib.h>
#include <string.h>

#include "api/orders/orders.h"
#include "base/error.h"

/* The last event that both have. */
struct common {
    int is_read; /* the store has events */
    int64_t event;
    char id[STOCK_ENTRY_ID_MAX];
};

/* Rows of LEDGER_ORDERS. */
static void order_take(void *user, int len, const char *const *values)
{
    struct orders *o = user;
    for (int i = 0; i < 4; i++)
        if (len < 4 || !values[i]) return;
    if (o->page.len == 0) return;
    int64_t at = strtoll(values[0], NULL, 10) - o->page.events[0].number;
    if (at < 0 || at >= (int64_t)o->page.len) return;
    const struct stock_entry *e = &o->page.events[at];
    o->known[at] = !strcmp(e->id, values[1]) && !strcmp(e->user, values[2])
                   && !strcmp(e->request, values[3]);
}

/* Which reservations of the page does the database have? */
static int page_know(struct orders *o, uint32_t segment, struct hf_error *err)
{
    const struct stock_page *p = &o->page;
    struct ledger_job job = {.what = LEDGER_ORDERS,
                             .segment = segment,
                             .from = p->events[0].number,
                             .to = p->events[p->len - 1].number,
                             .row = order_take,
                             .row_user = o};
    memset(o->known, 0, sizeof o->known);
    return hf__orders_ask(o, &job, err);
}

/* 1 if the page has a reservation that the database does not know. */
static int page_compare(const struct orders *o, struct common *c)
{
    for (size_t i = 0; i < o->page.len; i++) {
        const struct stock_entry *e = &o->page.events[i];
        if (e->kind != 'R') continue;
        if (!o->known[i]) return 1;
        c->event = e->number;
        memcpy(c->id, e->id, strlen(e->id) + 1);
    }
    return 0;
}

/* What the store has removed was stored before. */
static void common_begin(const struct orders *o, struct common *c)
{
    if (c->is_read) return;
    c->is_read = 1;
    c->event = o->page.events[0].number - 1;
}

static int common_find(struct orders *o, uint32_t segment, struct common *c,
                       struct hf_error *err)
{
    char from[STOCK_ENTRY_ID_MAX] = "-";
    for (;;) {
        int status = hf__orders_page(o, segment, from, "", err);
        const struct stock_page *p = &o->page;
        int is_last = p->len <= (size_t)c->is_read;
        if (status != HF_OK || is_last) return status;
        common_begin(o, c);
        status = page_know(o, segment, err);
        if (status != HF_OK || page_compare(o, c)) return status;
        memcpy(from, p->events[p->len - 1].id,
               strlen(p->events[p->len - 1].id) + 1);
    }
}

/* Events that the database does not have must all be in the store. */
static int common_check(const struct orders *o, uint32_t segment,
                        const struct common *c, int64_t events,
                        struct hf_error *err)
{
    int64_t event = o->cursors[segment].event;
    if (!c->is_read && events > 0)
        return hf__error_set(err, HF_CONFLICT,
                             "drain: the events of segment %u were deleted in "
                             "the store",
                             segment);
    if (c->event <= event) return HF_OK;
    return hf__error_set(err, HF_CONFLICT,
                         "drain: event %lld of segment %u is missing in the "
                         "store, and the database does not have it: it is an "
                         "older copy, or another database was drained into",
                         (long long)event + 1, segment);
}

int hf__orders_rewind(struct orders *o, uint32_t segment, struct hf_error *err)
{
    struct common common = {.id = LEDGER_START};
    struct stock_told t;
    int status = common_find(o, segment, &common, err);
    if (status == HF_OK) status = hf__orders_look(o, segment, &t, err);
    if (status == HF_OK) status = hf__orders_held(o, err);
    if (status == HF_OK)
        status = common_check(o, segment, &common, t.events, err);
    if (status != HF_OK) return status;
    const struct orders_cursor *c = &o->cursors[segment];
    struct ledger_job job = {.what = LEDGER_LOST,
                             .segment = segment,
                             .event = c->event,
                             .losses = c->losses,
                             .to = common.event,
                             .id = common.id};
    status = hf__orders_ask(o, &job, err);
    if (status == HF_OK && job.is_refused)
        return hf__error_set(err, HF_LOST,
                             "drain: another drain has moved the cursor");
    if (status == HF_OK) o->got.losses++;
    return status == HF_OK ? hf__orders_cursors(o, err) : status;
}
