/*
 * stock/drain.c: moving the orders of a sale into a database, and comparing the
 * two.
 *
 * The rule: one drain works, and the others wait for its lock; a store or a
 * database that is away is waited for, unless --once says that nobody would.
 */
#include "common/environment.h"
#include "common/exit.h"
#include "common/json.h"
#include "common/say.h"
#include "session/interrupt.h"
#include "stock/stock.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>

#define IDLE_MS 100
#define AWAY_MS 500

struct drain {
    const struct stock_call *c;
    hf_client *database;
    hf_cancel *cancel;
    hf_lock *lock;
    hf_hold *hold; /* NULL: not held */
    int is_away;   /* it was said what is waited for */
    int has_lost;  /* the last pass had lost the lock, or was too old */
    int64_t events, refused, losses;
};

static int database_fail(int status, const struct hf_error *err)
{
    char shown[2 * HF_ERROR_TEXT_MAX];
    say_error("%s",
              text_escape(status_why(status, err->text), shown, sizeof(shown)));
    return status_exit(status);
}

const char *stock_into(const struct stock_call *c)
{
    const char *url =
        c->o->into ? c->o->into : environment_get("HOLDFAST_INTO");
    return url && *url ? url : NULL;
}

/* 0, or an exit code after having said what is wrong. */
static int database_open(const struct stock_call *c, hf_client **out)
{
    struct hf_client_options co = HF_CLIENT_OPTIONS_INIT;
    struct hf_error err = {0};
    const char *url = stock_into(c);
    if (!url) {
        say_error("no database: --into or HOLDFAST_INTO tells its URL");
        return EXIT_USAGE;
    }
    int status = hf_client_open(url, &co, out, &err);
    return status == HF_OK ? EXIT_OK : database_fail(status, &err);
}

/* ---- draining ---- */

static int lock_open(struct drain *d)
{
    char name[HF_STOCK_NAME_MAX + 8];
    struct hf_error err = {0};
    snprintf(name, sizeof(name), "%s#drain", d->c->words[1]);
    int status = hf_lock_open(d->c->s->client, name, &d->lock, &err);
    return status == HF_OK ? EXIT_OK : session_fail(d->c->s, status, &err);
}

static void nap(int ms)
{
    if (!interrupt_signal()) (void)poll(NULL, 0, ms);
}

static int may_pass(struct drain *d, int status)
{
    if (d->c->o->drain_once || interrupt_signal()) return 0;
    return status == HF_UNAVAILABLE || status == HF_EMPTY || status == HF_LOST;
}

/* It may come back: say once what it is, and wait. */
static int is_passing(struct drain *d, int status, const struct hf_error *err)
{
    if (!may_pass(d, status)) return 0;
    if (!d->is_away) session_warn(d->c->s, "waiting", err->text);
    d->is_away = 1;
    nap(AWAY_MS);
    return 1;
}

static int lock_take(struct drain *d, struct hf_error *err)
{
    struct hf_acquire_options ao = HF_ACQUIRE_OPTIONS_INIT;
    ao.cancel = d->cancel;
    return hf_lock_acquire(d->lock, &ao, &d->hold, err);
}

static void lock_drop(struct drain *d)
{
    if (d->hold) (void)hf_hold_release(d->hold, NULL);
    d->hold = NULL;
}

static int pass(struct drain *d, struct hf_error *err)
{
    struct hf_orders_options oo = HF_ORDERS_OPTIONS_INIT;
    struct hf_orders_drained got = HF_ORDERS_DRAINED_INIT;
    oo.keep = d->c->o->keep;
    int status =
        hf_orders_drain(d->c->stock, d->hold, d->database, &oo, &got, err);
    d->events += got.events;
    d->refused += got.refused;
    d->losses += got.losses;
    if (got.losses && !d->c->o->quiet)
        say_warn("%s: the store has lost events that the database has",
                 d->c->s->shown);
    if (got.refused && !d->c->o->quiet)
        say_warn("%s: the database refused %" PRId64
                 " sales: refund those of state 'refused'",
                 d->c->s->shown, got.refused);
    return status;
}

/* Until a signal, or with --once until nothing is left.  A status. */
static int drain_run(struct drain *d, struct hf_error *err)
{
    while (!interrupt_signal()) {
        int status = d->hold ? HF_OK : lock_take(d, err);
        if (status == HF_OK) status = pass(d, err);
        int is_again = d->has_lost;
        d->has_lost = status == HF_LOST;
        if (status == HF_LOST) lock_drop(d);
        if (status == HF_LOST && !is_again) continue;
        if (status != HF_OK && !is_passing(d, status, err)) return status;
        if (status != HF_OK) continue;
        d->is_away = 0;
        if (d->c->o->drain_once) return HF_OK;
        nap(IDLE_MS);
    }
    return HF_CANCELLED;
}

static int drained_show(const struct drain *d)
{
    struct json j;
    int code = d->refused || d->losses ? EXIT_VIOLATED : EXIT_OK;
    if (d->c->o->json) {
        json_begin(&j);
        json_text(&j, "sale", d->c->words[1]);
        json_int(&j, "events", d->events);
        json_int(&j, "refused", d->refused);
        json_int(&j, "losses", d->losses);
        json_end(&j);
        fputs(j.buf, stdout);
    } else if (!d->c->o->quiet) {
        printf("events %" PRId64 "\nrefused %" PRId64 "\nlosses %" PRId64 "\n",
               d->events, d->refused, d->losses);
    }
    int end = stdout_end();
    return end ? end : code;
}

static int drain_locked(struct drain *d)
{
    struct hf_error err = {0};
    int status = hf_cancel_open(d->c->s->client, &d->cancel);
    if (status != HF_OK) return session_fail(d->c->s, status, &err);
    interrupt_setup(d->cancel);
    status = drain_run(d, &err);
    interrupt_setup(NULL);
    lock_drop(d);
    hf_cancel_close(d->cancel);
    if (interrupt_signal()) {
        (void)drained_show(d);
        return EXIT_SIGNAL + interrupt_signal();
    }
    return status == HF_OK ? drained_show(d) : stock_fail(d->c, status, &err);
}

int stock_drain(const struct stock_call *c)
{
    struct drain d = {.c = c};
    struct hf_error err = {0};
    int code = database_open(c, &d.database);
    if (code) return code;
    int status = c->o->install ? hf_orders_install(d.database, &err) : HF_OK;
    code = status == HF_OK ? lock_open(&d) : database_fail(status, &err);
    if (!code) code = drain_locked(&d);
    hf_lock_close(d.lock);
    hf_client_close(d.database);
    return code;
}

/* ---- comparing ---- */

static int report_show(const struct stock_call *c,
                       const struct hf_orders_report *r)
{
    struct json j;
    if (c->o->json) {
        json_begin(&j);
        json_text(&j, "sale", c->words[1]);
        json_bool(&j, "database_balanced", r->is_balanced);
        json_int(&j, "database_quantity", r->quantity);
        json_int(&j, "database_sold", r->sold);
        json_int(&j, "orders", r->orders);
        json_int(&j, "behind", r->behind);
        json_int(&j, "missing", r->missing);
        json_int(&j, "refused", r->refused);
        json_int(&j, "refused_units", r->refused_units);
        json_int(&j, "lost", r->lost);
        json_end(&j);
        fputs(j.buf, stdout);
    } else if (!c->o->quiet) {
        printf("database: quantity %" PRId64 ", sold %" PRId64
               ", orders %" PRId64 ", %" PRId64 " events behind; missing "
               "%" PRId64 ", refused %" PRId64 ", lost %" PRId64 ": %s\n",
               r->quantity, r->sold, r->orders, r->behind, r->missing,
               r->refused, r->lost, r->is_balanced ? "ok" : "WRONG");
    }
    int end = stdout_end();
    return end ? end : r->is_balanced ? EXIT_OK : EXIT_VIOLATED;
}

int stock_compare(const struct stock_call *c)
{
    struct hf_orders_report r = HF_ORDERS_REPORT_INIT;
    struct hf_error err = {0};
    hf_client *database;
    int code = database_open(c, &database);
    if (code) return code;
    int status = hf_orders_audit(c->stock, database, &r, &err);
    code = status == HF_OK ? report_show(c, &r) : stock_fail(c, status, &err);
    hf_client_close(database);
    return code;
}
