/*
 * ledger_events.c: the statements that move events into the tables of sales.
 *
 * One rule: each begins with the cursor, and fails if that is not where its
 * caller believes, or a later fence was here: it would be NULL, which each
 * database refuses, also one that ignores CHECK.  The units that become sold
 * are what the tables say, not what the events say, so that a sale that is told
 * twice counts once.
 */
#include <inttypes.h>
#include <string.h>

#include "backend/sql/script.h"

/* What is final: no event changes it. */
#define NOT_FINAL " AND state NOT IN ('sold','refused')"
#define ORDERS_LEN_MAX STOCK_PAGE_EVENTS

static void cursor_move(struct sql_script *s, const struct ledger_job *job,
                        int64_t event, const char *id, int64_t losses)
{
    hf__sql_put(s,
                "UPDATE holdfast_sale_cursor SET event=CASE WHEN event=%" PRId64
                " AND losses=%" PRId64 " AND fence<=%" PRId64 " THEN %" PRId64
                " ELSE NULL END,fence=%" PRId64 ",id='%s',losses=%" PRId64
                " WHERE sale='%s' AND segment=%u",
                job->event, job->losses, job->fence, event, job->fence, id,
                losses, job->sale, job->segment);
    hf__sql_put_end(s);
}

/* " WHERE ..." of the orders whose numbers follow. */
static void put_orders(struct sql_script *s, const struct ledger_job *job)
{
    hf__sql_put(s, " WHERE sale='%s' AND segment=%u AND lost=0 AND number IN ",
                job->sale, job->segment);
}

/* ---- what the events come to -------------------------------------------- */

/* An order and the last event about it. */
struct fate {
    int64_t order;
    char kind;
};

struct fates {
    size_t len;
    struct fate list[ORDERS_LEN_MAX];
};

static void fates_make(struct fates *f, const struct ledger_job *job)
{
    f->len = 0;
    for (size_t i = 0; i < job->events_len; i++) {
        const struct stock_entry *e = &job->events[i];
        size_t at = 0;
        while (at < f->len && f->list[at].order != e->order) at++;
        if (at == f->len) f->list[f->len++] = (struct fate){.order = e->order};
        f->list[at].kind = e->kind;
    }
}

static const char *state_of(char kind)
{
    switch (kind) {
    case 'S':
    case 'L':
        return "sold";
    case 'K':
        return "cancelled";
    case 'X':
        return "expired";
    case 'F':
        return "refunded";
    default:
        return "held";
    }
}

/* Put the numbers of the orders that come to this state, "(1,2)"; 0: there are
 * none, and nothing was put. */
static int put_numbers(struct sql_script *s, const struct fates *f,
                       const char *state)
{
    int len = 0;
    for (size_t i = 0; i < f->len; i++)
        if (!strcmp(state_of(f->list[i].kind), state))
            hf__sql_put(s, "%s%" PRId64, len++ ? "," : "(", f->list[i].order);
    if (len > 0) hf__sql_put(s, ")");
    return len;
}

static int has_state(const struct fates *f, const char *state)
{
    for (size_t i = 0; i < f->len; i++)
        if (!strcmp(state_of(f->list[i].kind), state)) return 1;
    return 0;
}

/* ---- statements --------------------------------------------------------- */

static void orders_insert(struct sql_script *s, const struct ledger_job *job)
{
    int len = 0;
    for (size_t i = 0; i < job->events_len; i++) {
        const struct stock_entry *e = &job->events[i];
        if (e->kind != 'R') continue;
        hf__sql_put(s, "%s",
                    len++ ? ","
                          : "INSERT INTO holdfast_sale_order (sale,segment,"
                            "lost,number,usr,request,units,state,why,id)"
                            " VALUES ");
        hf__sql_put(s, "('%s',%u,0,%" PRId64 ",'%s','%s',%" PRId64, job->sale,
                    job->segment, e->order, e->user, e->request, e->units);
        hf__sql_put(s, ",'held','','%s')", e->id);
    }
    if (len > 0) hf__sql_put_end(s);
}

static void orders_set(struct sql_script *s, const struct ledger_job *job,
                       const struct fates *f, const char *state)
{
    if (!has_state(f, state)) return;
    hf__sql_put(s, "UPDATE holdfast_sale_order SET state='%s'", state);
    put_orders(s, job);
    (void)put_numbers(s, f, state);
    hf__sql_put(s, NOT_FINAL);
    hf__sql_put_end(s);
}

/* Before the orders are set to sold: they count once. */
static void sale_count(struct sql_script *s, const struct ledger_job *job,
                       const struct fates *f)
{
    hf__sql_put(s, "UPDATE holdfast_sale SET sold=sold+"
                   "(SELECT COALESCE(SUM(units),0) FROM holdfast_sale_order");
    put_orders(s, job);
    (void)put_numbers(s, f, "sold");
    hf__sql_put(s, NOT_FINAL ") WHERE sale='%s'", job->sale);
    hf__sql_put_end(s);
}

static void users_count(struct sql_script *s, enum sql_dialect dialect,
                        const struct ledger_job *job, const struct fates *f)
{
    hf__sql_put(s,
                "INSERT INTO holdfast_sale_user (sale,usr,units,most)"
                " SELECT sale,usr,SUM(units),%" PRId64
                " FROM holdfast_sale_order",
                job->limit);
    put_orders(s, job);
    (void)put_numbers(s, f, "sold");
    hf__sql_put(s, NOT_FINAL " GROUP BY sale,usr%s",
                dialect == SQL_MYSQL
                    ? " ON DUPLICATE KEY UPDATE holdfast_sale_user.units="
                      "holdfast_sale_user.units+VALUES(units)"
                    : " ON CONFLICT (sale,usr) DO UPDATE SET units="
                      "holdfast_sale_user.units+excluded.units");
    hf__sql_put_end(s);
}

void hf__sql_ledger_apply(struct sql_script *s, enum sql_dialect dialect,
                          const struct ledger_job *job)
{
    const struct stock_entry *last = &job->events[job->events_len - 1];
    struct fates f;
    fates_make(&f, job);
    cursor_move(s, job, last->number, last->id, job->losses);
    orders_insert(s, job);
    if (has_state(&f, "sold")) {
        sale_count(s, job, &f);
        users_count(s, dialect, job, &f);
    }
    orders_set(s, job, &f, "sold");
    orders_set(s, job, &f, "cancelled");
    orders_set(s, job, &f, "expired");
    orders_set(s, job, &f, "refunded");
}

void hf__sql_ledger_refuse(struct sql_script *s, const struct ledger_job *job)
{
    const struct stock_entry *e = job->events;
    cursor_move(s, job, e->number, e->id, job->losses);
    hf__sql_put(s,
                "UPDATE holdfast_sale_order SET why=CASE WHEN units>"
                "(SELECT quantity-sold FROM holdfast_sale WHERE sale='%s')"
                " THEN 'quantity' ELSE 'limit' END,state='refused'",
                job->sale);
    put_orders(s, job);
    hf__sql_put(s, "(%" PRId64 ")" NOT_FINAL, e->order);
    hf__sql_put_end(s);
}

/* What was sold stays sold: its buyer was told so. */
void hf__sql_ledger_lost(struct sql_script *s, const struct ledger_job *job)
{
    cursor_move(s, job, job->to, job->id, job->losses + 1);
    hf__sql_put(s,
                "UPDATE holdfast_sale_order SET lost=%" PRId64
                ",state=CASE WHEN state='held' THEN 'lost' ELSE state END"
                " WHERE sale='%s' AND segment=%u AND lost=0"
                " AND number>%" PRId64,
                job->losses + 1, job->sale, job->segment, job->to);
    hf__sql_put_end(s);
}
