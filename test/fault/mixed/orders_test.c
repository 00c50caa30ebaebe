/*
 * orders_test.c: the orders of a sale on a real Redis, moved into each real
 * database.  One rule: what is claimed is claimed of all three databases, and
 * judged by what the database says afterwards.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "lib/database.h"
#include "lib/proc.h"
#include "lib/rig.h"
#include "lib/rig_redis.h"

#define KILLS 25
#define BUYERS 4000
#define LEASE_MS 300 /* of a drain that is killed: the next waits for it */

static struct lab_server redis;
static const char *url; /* of the database */

/* A sale on a Redis of its own, and a database with its tables. */
static hf_client *begin(const char *kind)
{
    redis_begin(&redis, NULL);
    rig_begin_on(kind);
    url = rig_url();
    hf_client *database = rig_client(NULL);
    CHECK_INT(hf_orders_install(database, NULL), HF_OK);
    return database;
}

static hf_stock *sale_make(hf_client *c, const char *name, int64_t quantity,
                           int64_t limit, uint32_t segments)
{
    struct hf_stock_spec spec = HF_STOCK_SPEC_INIT;
    hf_stock *stock;
    spec.quantity = quantity;
    spec.limit = limit;
    spec.segments = segments;
    spec.hold_ms = 3600000;
    CHECK_INT(hf_stock_create(c, name, &spec, NULL), HF_OK);
    CHECK_INT(hf_stock_open(c, name, &stock, NULL), HF_OK);
    return stock;
}

/* 1: sold; 0: not. */
static int sell(hf_stock *stock, const char *name, int number)
{
    char user[64];
    struct hf_reservation got = HF_RESERVATION_INIT;
    snprintf(user, sizeof user, "%s-%d", name, number);
    if (hf_stock_reserve(stock, user, 1, "r", &got, NULL) != HF_OK) return 0;
    if (got.verdict != HF_STOCK_RESERVED) return 0;
    return hf_stock_confirm(stock, got.token, NULL, NULL) == HF_OK;
}

static hf_hold *lock_take(hf_client *c, const char *name)
{
    hf_hold *hold;
    CHECK_INT(rig_acquire(rig_lock(c, name), 0, RIG_WAIT_MS, &hold), HF_OK);
    return hold;
}

static int drain(hf_stock *stock, hf_hold *hold, hf_client *database,
                 struct hf_orders_drained *out)
{
    struct hf_error err = {0};
    *out = (struct hf_orders_drained)HF_ORDERS_DRAINED_INIT;
    int status = hf_orders_drain(stock, hold, database, NULL, out, &err);
    if (status != HF_OK) printf("# %s\n", err.text);
    return status;
}

static struct hf_orders_report audit(hf_stock *stock, hf_client *database)
{
    struct hf_orders_report r = HF_ORDERS_REPORT_INIT;
    struct hf_error err = {0};
    int status = hf_orders_audit(stock, database, &r, &err);
    if (status != HF_OK) TEST_FAIL("audit: %s", err.text);
    return r;
}

/* ---- killed at any point ---- */

struct worker {
    const char *redis, *database;
};

/* Sells until all are asked: some orders are left held, some are cancelled. */
static int seller_run(struct lab_proc *self, const void *arg)
{
    const struct worker *w = arg;
    hf_client *c = NULL;
    hf_stock *stock = NULL;
    char user[32];
    if (hf_client_open(w->redis, NULL, &c, NULL) != HF_OK) return 1;
    if (hf_stock_open(c, "kill", &stock, NULL) != HF_OK) return 1;
    for (int i = 0; i < BUYERS; i++) {
        struct hf_reservation got = HF_RESERVATION_INIT;
        snprintf(user, sizeof user, "user %d", i);
        if (hf_stock_reserve(stock, user, 1, "r", &got, NULL) != HF_OK)
            return 1;
        if (got.verdict != HF_STOCK_RESERVED) continue;
        if (i % 4 == 0) continue;
        (void)(i % 4 == 1 ? hf_stock_cancel
                          : hf_stock_confirm)(stock, got.token, NULL, NULL);
    }
    proc_say(self, "sold");
    return 0;
}

static int drainer_run(struct lab_proc *self, const void *arg)
{
    const struct worker *w = arg;
    struct hf_acquire_options ao = HF_ACQUIRE_OPTIONS_INIT;
    struct hf_orders_drained got = HF_ORDERS_DRAINED_INIT;
    hf_client *c = NULL, *d = NULL;
    hf_stock *stock = NULL;
    hf_lock *lock = NULL;
    hf_hold *hold = NULL;
    if (hf_client_open(w->redis, NULL, &c, NULL) != HF_OK) return 1;
    if (hf_client_open(w->database, NULL, &d, NULL) != HF_OK) return 1;
    if (hf_stock_open(c, "kill", &stock, NULL) != HF_OK) return 1;
    if (hf_lock_open(c, "kill#drain", &lock, NULL) != HF_OK) return 1;
    ao.lease_ms = LEASE_MS;
    for (;;) {
        int status = hf_lock_acquire(lock, &ao, &hold, NULL);
        if (status != HF_OK) return 2;
        proc_say(self, "drains");
        while (status == HF_OK || status == HF_UNAVAILABLE)
            status = hf_orders_drain(stock, hold, d, NULL, &got, NULL);
        if (status != HF_LOST) return 3;
        (void)hf_hold_release(hold, NULL);
    }
}

static void is_killed(const char *kind)
{
    static struct lab_proc seller, drainers[KILLS];
    static struct worker w;
    struct hf_orders_drained got;
    hf_client *database = begin(kind);
    hf_client *c = rig_client_at(redis.url, NULL);
    hf_stock *stock = sale_make(c, "kill", BUYERS / 2, 1, 3);
    w = (struct worker){redis.url, url};
    rig_close(database); /* a child may not open a file that its parent has */
    proc_start(&seller, seller_run, &w);
    for (int i = 0; i < KILLS; i++) {
        proc_start(&drainers[i], drainer_run, &w);
        CHECK(proc_hears(&drainers[i], "drains", RIG_PATIENCE_MS));
        rig_pause_ms((i * 7) % 40);
        proc_signal(&drainers[i], SIGKILL);
        CHECK_INT(proc_wait(&drainers[i], RIG_PATIENCE_MS), -SIGKILL);
    }
    CHECK(proc_hears(&seller, "sold", RIG_PATIENCE_MS));
    database = rig_client(NULL);
    hf_hold *hold = lock_take(c, "kill#drain");
    CHECK_INT(drain(stock, hold, database, &got), HF_OK);
    CHECK_INT(got.refused, 0);
    struct hf_orders_report r = audit(stock, database);
    struct hf_stock_report books = HF_STOCK_REPORT_INIT;
    CHECK_INT(hf_stock_audit(stock, NULL, NULL, &books, NULL), HF_OK);
    CHECK_INT(r.missing, 0);
    CHECK_INT(r.behind, 0);
    CHECK(r.is_balanced);
    CHECK_INT(r.quantity, BUYERS / 2);
    CHECK_INT(r.sold, books.sold);
    CHECK(r.orders >= books.sold + books.held);
}

TEST(orders, in_sqlite_count_once_however_often_the_drain_is_killed)
{
    is_killed("sqlite");
}

TEST(orders, in_postgres_count_once_however_often_the_drain_is_killed)
{
    is_killed("postgres");
}

TEST(orders, in_mysql_count_once_however_often_the_drain_is_killed)
{
    is_killed("mysql");
}

/* ---- two drains ---- */

/* A drain that was stopped for long believes that it has the lock. */
static void is_fenced(const char *kind)
{
    struct hf_orders_drained got;
    hf_client *database = begin(kind);
    hf_client *a = rig_client_at(redis.url, NULL);
    hf_client *b = rig_client_at(redis.url, NULL);
    hf_stock *stock = sale_make(a, "two", 10, 0, 1);
    CHECK(sell(stock, "x", 1));
    hf_hold *old = lock_take(a, "two#drain");
    CHECK_INT(drain(stock, old, database, &got), HF_OK);
    CHECK_INT(got.events, 2);
    CHECK_INT(hf_lock_break(rig_lock(b, "two#drain"), NULL, NULL), HF_OK);
    hf_hold *fresh = lock_take(b, "two#drain");
    CHECK(hf_hold_fence(fresh) > hf_hold_fence(old));
    CHECK(sell(stock, "x", 2));
    hf_stock *other;
    CHECK_INT(hf_stock_open(b, "two", &other, NULL), HF_OK);
    CHECK_INT(drain(other, fresh, database, &got), HF_OK);
    CHECK_INT(got.events, 2);
    CHECK(sell(stock, "x", 3));
    CHECK_INT(drain(stock, old, database, &got), HF_LOST);
    CHECK_INT(got.events, 0);
    struct hf_orders_report r = audit(stock, database);
    CHECK_INT(r.sold, 2);
    CHECK_INT(r.behind, 2);
    CHECK_INT(drain(other, fresh, database, &got), HF_OK);
    CHECK_INT(audit(stock, database).sold, 3);
}

TEST(orders, in_sqlite_are_not_written_by_a_drain_with_an_older_token)
{
    is_fenced("sqlite");
}

TEST(orders, in_postgres_are_not_written_by_a_drain_with_an_older_token)
{
    is_fenced("postgres");
}

TEST(orders, in_mysql_are_not_written_by_a_drain_with_an_older_token)
{
    is_fenced("mysql");
}

/* ---- a store that has lost writes ---- */

/* Redis comes back without anything, the sale is made anew, and sells the same
 * units to others. */
static void is_emptied(const char *kind)
{
    struct hf_orders_drained got;
    hf_client *database = begin(kind);
    hf_client *c = rig_client_at(redis.url, NULL);
    hf_stock *stock = sale_make(c, "lost", 10, 0, 1);
    hf_hold *hold = lock_take(c, "lost#drain");
    for (int i = 0; i < 7; i++) CHECK(sell(stock, "first", i));
    CHECK_INT(drain(stock, hold, database, &got), HF_OK);
    CHECK(audit(stock, database).is_balanced);
    (void)redis_say(&redis, "DEL holdfast_stock:{lost#0}"
                            " holdfast_stock:{lost#0}:users"
                            " holdfast_stock:{lost#0}:events");
    stock = sale_make(c, "lost", 10, 0, 1);
    for (int i = 0; i < 8; i++) CHECK(sell(stock, "second", i));
    CHECK_INT(drain(stock, hold, database, &got), HF_OK);
    CHECK_INT(got.losses, 1);
    CHECK_INT(got.refused, 5);
    struct hf_orders_report r = audit(stock, database);
    CHECK_INT(r.quantity, 10);
    CHECK_INT(r.sold, 10);
    CHECK_INT(r.refused, 5);
    CHECK_INT(r.lost, 7);
    CHECK_INT(r.missing, 0);
    CHECK(!r.is_balanced);
    CHECK_INT(drain(stock, hold, database, &got), HF_OK);
    CHECK_INT(got.events, 0);
    CHECK_INT(got.losses, 0);
}

TEST(orders, in_sqlite_are_refused_beyond_the_quantity)
{
    is_emptied("sqlite");
}

TEST(orders, in_postgres_are_refused_beyond_the_quantity)
{
    is_emptied("postgres");
}

TEST(orders, in_mysql_are_refused_beyond_the_quantity)
{
    is_emptied("mysql");
}

static void keys_copy(const char *from, const char *to)
{
    static const char *const kinds[] = {"", ":users", ":events"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        (void)redis_say(&redis, "COPY %s%s %s%s REPLACE", from, kinds[i], to,
                        kinds[i]);
}

/* Redis comes back as an older copy: what is common stays, and one user is sold
 * more than the limit. */
static void is_older(const char *kind)
{
    struct hf_orders_drained got;
    hf_client *database = begin(kind);
    hf_client *c = rig_client_at(redis.url, NULL);
    hf_stock *stock = sale_make(c, "older", 100, 1, 1);
    hf_hold *hold = lock_take(c, "older#drain");
    for (int i = 0; i < 3; i++) CHECK(sell(stock, "common", i));
    keys_copy("holdfast_stock:{older#0}", "copy");
    CHECK(sell(stock, "forgotten", 0));
    CHECK(sell(stock, "twice", 0));
    CHECK_INT(drain(stock, hold, database, &got), HF_OK);
    CHECK_INT(got.events, 10);
    keys_copy("copy", "holdfast_stock:{older#0}");
    CHECK(sell(stock, "twice", 0));
    CHECK(sell(stock, "later", 0));
    CHECK_INT(drain(stock, hold, database, &got), HF_OK);
    CHECK_INT(got.losses, 1);
    CHECK_INT(got.refused, 1);
    struct hf_orders_report r = audit(stock, database);
    CHECK_INT(r.sold, 6); /* 3 common, 2 forgotten, 1 later */
    CHECK_INT(r.lost, 2);
    CHECK_INT(r.refused, 1);
    CHECK_INT(r.orders, 7);
    CHECK_INT(r.missing, 0);
}

TEST(orders, in_sqlite_are_refused_beyond_a_users_limit)
{
    is_older("sqlite");
}

TEST(orders, in_postgres_are_refused_beyond_a_users_limit)
{
    is_older("postgres");
}

TEST(orders, in_mysql_are_refused_beyond_a_users_limit)
{
    is_older("mysql");
}

/* ---- two drains at the same moment ---- */

#define BOTH_BUYERS 600

struct both {
    hf_client *store, *database;
    const char *lock;
    atomic_int *left; /* buyers that have not asked yet */
    int status;       /* the first that is none of a drain's */
};

/* Each has a lock of its own, as if they had agreed on none. */
static void both_run(void *arg)
{
    struct both *b = arg;
    hf_stock *stock;
    hf_lock *lock;
    hf_hold *hold;
    struct hf_orders_drained got = HF_ORDERS_DRAINED_INIT;
    b->status = hf_stock_open(b->store, "both", &stock, NULL);
    if (b->status == HF_OK)
        b->status = hf_lock_open(b->store, b->lock, &lock, NULL);
    while (b->status == HF_OK && atomic_load(b->left) > 0) {
        b->status = hf_lock_acquire(lock, NULL, &hold, NULL);
        if (b->status != HF_OK) return;
        int status = HF_OK;
        while (status == HF_OK && atomic_load(b->left) > 0)
            status =
                hf_orders_drain(stock, hold, b->database, NULL, &got, NULL);
        if (status != HF_OK && status != HF_LOST && status != HF_UNAVAILABLE)
            b->status = status;
        (void)hf_hold_release(hold, NULL);
    }
}

static void is_drained_twice(const char *kind)
{
    static struct both a, b;
    static atomic_int left;
    struct hf_orders_drained got;
    hf_client *database = begin(kind);
    hf_client *c = rig_client_at(redis.url, NULL);
    hf_stock *stock = sale_make(c, "both", BOTH_BUYERS, 1, 2);
    atomic_store(&left, BOTH_BUYERS);
    a = (struct both){c, database, "drain a", &left, HF_OK};
    b = (struct both){c, rig_client(NULL), "drain b", &left, HF_OK};
    rig_spawn(both_run, &a);
    rig_spawn(both_run, &b);
    for (; atomic_load(&left) > 0; atomic_fetch_sub(&left, 1))
        CHECK(sell(stock, "x", atomic_load(&left)));
    rig_join();
    CHECK_INT(a.status, HF_OK);
    CHECK_INT(b.status, HF_OK);
    hf_hold *hold = lock_take(c, "drain c");
    CHECK_INT(drain(stock, hold, database, &got), HF_OK);
    struct hf_orders_report r = audit(stock, database);
    CHECK_INT(r.orders, BOTH_BUYERS);
    CHECK_INT(r.sold, BOTH_BUYERS);
    CHECK(r.is_balanced);
}

TEST(orders, in_sqlite_count_once_if_two_drains_run_at_the_same_moment)
{
    is_drained_twice("sqlite");
}

TEST(orders, in_postgres_count_once_if_two_drains_run_at_the_same_moment)
{
    is_drained_twice("postgres");
}

TEST(orders, in_mysql_count_once_if_two_drains_run_at_the_same_moment)
{
    is_drained_twice("mysql");
}

/* ---- a database that is away for a while ---- */

static void is_away(const struct database *db)
{
    struct hf_client_options co = HF_CLIENT_OPTIONS_INIT;
    struct hf_orders_drained got;
    co.timeout_ms = co.patience_ms = 1000;
    redis_begin(&redis, NULL);
    rig_begin_at(redis.url);
    hf_client *c = rig_client(NULL);
    const char *own = db->begin();
    hf_client *database = rig_client_at(own, &co);
    CHECK_INT(hf_orders_install(database, NULL), HF_OK);
    hf_stock *stock = sale_make(c, "away", 10, 0, 1);
    hf_hold *hold = lock_take(c, "away#drain");
    CHECK(sell(stock, "x", 1));
    CHECK_INT(drain(stock, hold, database, &got), HF_OK);
    CHECK(sell(stock, "x", 2));
    CHECK_INT(db->shutdown(0), 0);
    CHECK_INT(drain(stock, hold, database, &got), HF_UNAVAILABLE);
    CHECK_INT(got.events, 0);
    CHECK(sell(stock, "x", 3)); /* the sale goes on */
    CHECK_INT(db->restart(), 0);
    int64_t until_ms = rig_now_ms() + RIG_PATIENCE_MS;
    int status = HF_UNAVAILABLE;
    while (status == HF_UNAVAILABLE && rig_now_ms() < until_ms)
        status = drain(stock, hold, database, &got);
    CHECK_INT(status, HF_OK);
    CHECK_INT(got.events, 4);
    CHECK_INT(audit(stock, database).sold, 3);
    CHECK(audit(stock, database).is_balanced);
}

TEST(orders, of_a_postgres_that_was_away_are_moved_when_it_is_back)
{
    is_away(&database_postgres);
}

TEST(orders, of_a_mysql_that_was_away_are_moved_when_it_is_back)
{
    is_away(&database_mysql);
}

/* ---- the rest, on SQLite ---- */

TEST(orders, go_into_tables_that_only_install_makes)
{
    struct hf_error err;
    struct hf_orders_drained got = HF_ORDERS_DRAINED_INIT;
    struct hf_orders_report r = HF_ORDERS_REPORT_INIT;
    redis_begin(&redis, NULL);
    rig_begin_on("sqlite");
    hf_client *c = rig_client_at(redis.url, NULL);
    hf_client *database = rig_client(NULL);
    hf_stock *stock = sale_make(c, "s", 10, 0, 1);
    hf_hold *hold = lock_take(c, "s#drain");
    CHECK_INT(hf_orders_drain(stock, hold, database, NULL, &got, &err),
              HF_INVALID);
    CHECK(strstr(err.text, "the tables are missing") != NULL);
    CHECK_INT(hf_orders_audit(stock, database, &r, NULL), HF_INVALID);
    CHECK_INT(hf_orders_install(database, NULL), HF_OK);
    CHECK_INT(hf_orders_install(database, NULL), HF_OK);
    CHECK_INT(hf_orders_audit(stock, database, &r, NULL), HF_EMPTY);
    CHECK_INT(hf_orders_drain(stock, hold, database, NULL, &got, NULL), HF_OK);
    CHECK_INT(hf_orders_audit(stock, database, &r, NULL), HF_OK);
    CHECK(r.is_balanced);
}

TEST(orders, are_refused_by_a_store_that_cannot_keep_them)
{
    struct hf_orders_drained got = HF_ORDERS_DRAINED_INIT;
    hf_client *database = begin("sqlite");
    hf_client *c = rig_client_at(redis.url, NULL);
    hf_client *m = rig_client_at("memory:", NULL);
    hf_stock *stock = sale_make(c, "s", 10, 0, 1);
    hf_stock *of_memory = sale_make(m, "s", 10, 0, 1);
    hf_hold *hold = lock_take(c, "s#drain");
    CHECK_INT(hf_orders_install(c, NULL), HF_UNSUPPORTED);
    CHECK_INT(hf_orders_drain(stock, hold, c, NULL, &got, NULL),
              HF_UNSUPPORTED);
    CHECK_INT(hf_orders_drain(of_memory, hold, database, NULL, &got, NULL),
              HF_UNSUPPORTED);
    CHECK_INT(hf_orders_drain(stock, NULL, database, NULL, &got, NULL),
              HF_INVALID);
    CHECK_INT(hf_hold_release(hold, NULL), HF_OK);
    CHECK(hf_orders_drain(stock, hold, database, NULL, &got, NULL) != HF_OK);
}

TEST(orders, may_be_sold_of_units_that_were_added_later)
{
    struct hf_orders_drained got;
    hf_client *database = begin("sqlite");
    hf_client *c = rig_client_at(redis.url, NULL);
    hf_stock *stock = sale_make(c, "more", 2, 0, 2);
    hf_hold *hold = lock_take(c, "more#drain");
    for (int i = 0; i < 2; i++) CHECK(sell(stock, "x", i));
    CHECK_INT(drain(stock, hold, database, &got), HF_OK);
    CHECK_INT(hf_stock_restock(stock, 3, "r1", NULL), HF_OK);
    for (int i = 2; i < 5; i++) CHECK(sell(stock, "x", i));
    CHECK_INT(drain(stock, hold, database, &got), HF_OK);
    CHECK_INT(got.refused, 0);
    struct hf_orders_report r = audit(stock, database);
    CHECK_INT(r.quantity, 5);
    CHECK_INT(r.sold, 5);
    CHECK(r.is_balanced);
}

#define PAGES_BUYERS 700 /* events: more than one page has */

/* What is compared is compared at the event that the database is at. */
TEST(orders, are_audited_while_the_drain_is_behind)
{
    struct hf_orders_drained got;
    hf_client *database = begin("sqlite");
    hf_client *c = rig_client_at(redis.url, NULL);
    hf_stock *stock = sale_make(c, "behind", PAGES_BUYERS + 10, 0, 1);
    hf_hold *hold = lock_take(c, "behind#drain");
    for (int i = 0; i < 10; i++) CHECK(sell(stock, "x", i));
    CHECK_INT(drain(stock, hold, database, &got), HF_OK);
    for (int i = 10; i < PAGES_BUYERS; i++) CHECK(sell(stock, "x", i));
    struct hf_orders_report r = audit(stock, database);
    CHECK_INT(r.behind, 2 * (PAGES_BUYERS - 10));
    CHECK_INT(r.sold, 10);
    CHECK(r.is_balanced);
    CHECK_INT(drain(stock, hold, database, &got), HF_OK);
    CHECK_INT(got.events, 2 * (PAGES_BUYERS - 10));
    r = audit(stock, database);
    CHECK_INT(r.behind, 0);
    CHECK_INT(r.orders, PAGES_BUYERS);
    CHECK(r.is_balanced);
    (void)redis_say(&redis, "HINCRBY holdfast_stock:{behind#0} sold 1");
    CHECK_INT(audit(stock, database).missing, 1);
}

static int is_expired(void *arg)
{
    struct hf_stock_report r = HF_STOCK_REPORT_INIT;
    CHECK_INT(hf_stock_audit(arg, NULL, NULL, &r, NULL), HF_OK);
    return r.held == 0;
}

/* The stream is also the list of what expires: an event goes when it is in the
 * database and its hold time is over, and the last one stays. */
TEST(orders, are_removed_from_the_store_once_their_hold_time_is_over)
{
    struct hf_stock_spec spec = HF_STOCK_SPEC_INIT;
    struct hf_orders_options oo = HF_ORDERS_OPTIONS_INIT;
    struct hf_orders_drained got = HF_ORDERS_DRAINED_INIT;
    struct hf_reservation res = HF_RESERVATION_INIT;
    struct hf_error err;
    hf_stock *stock;
    hf_client *database = begin("sqlite");
    hf_client *c = rig_client_at(redis.url, NULL);
    const char *length = "XLEN holdfast_stock:{trim#0}:events";
    spec.quantity = 100;
    spec.hold_ms = 50;
    CHECK_INT(hf_stock_create(c, "trim", &spec, NULL), HF_OK);
    CHECK_INT(hf_stock_open(c, "trim", &stock, NULL), HF_OK);
    hf_hold *hold = lock_take(c, "trim#drain");
    for (int i = 0; i < 20; i++) CHECK(sell(stock, "x", i));
    CHECK_INT(hf_stock_reserve(stock, "y", 1, "r", &res, NULL), HF_OK);
    CHECK(rig_until(is_expired, stock));
    CHECK_INT(redis_number(&redis, "%s", length), 42);
    oo.keep = 1;
    CHECK_INT(hf_orders_drain(stock, hold, database, &oo, &got, NULL), HF_OK);
    CHECK_INT(got.events, 42);
    CHECK_INT(redis_number(&redis, "%s", length), 42);
    CHECK_INT(drain(stock, hold, database, &got), HF_OK);
    CHECK(redis_number(&redis, "%s", length) <= 2);
    CHECK(sell(stock, "x", 20));
    CHECK_INT(drain(stock, hold, database, &got), HF_OK);
    CHECK_INT(got.events, 2);
    CHECK_INT(got.losses, 0);
    CHECK(audit(stock, database).is_balanced);
    /* Another database comes too late. */
    char other[256];
    snprintf(other, sizeof other, "%s-other", url);
    hf_client *late = rig_client_at(other, NULL);
    CHECK_INT(hf_orders_install(late, NULL), HF_OK);
    CHECK_INT(hf_orders_drain(stock, hold, late, NULL, &got, &err),
              HF_CONFLICT);
    CHECK(strstr(err.text, "event 1 of segment 0 is missing") != NULL);
}
