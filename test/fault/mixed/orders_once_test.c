/*
 * orders_once_test.c: the orders of a sale on a real Redis, moved into each
 * real database by drains that are killed, suspended, or too many.  One rule:
 * what the database says afterwards is what was sold, once.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>

#include "lib/database.h"
#include "lib/proc.h"
#include "lib/rig.h"
#include "lib/rig_orders.h"

#define KILLS 25
#define BUYERS 4000
#define LEASE_MS 300 /* of a drain that is killed: the next waits for it */

/* ---- killed at any point ---- */

struct worker {
    const char *redis, *database;
};

/* Sells until all are asked: some orders are left held, some are cancelled. */
static int seller_run(struct lab_proc *self, const void *arg)
{
    const struct worker *w = arg;
    struct hf_client_options co = HF_CLIENT_OPTIONS_INIT;
    hf_client *c = NULL;
    hf_stock *stock = NULL;
    char user[32];
    co.timeout_ms = co.patience_ms = RIG_PATIENCE_MS;
    if (hf_client_open(w->redis, &co, &c, NULL) != HF_OK) return 1;
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
    hf_client *database = orders_begin(kind);
    hf_client *c = rig_client_at(orders_redis.url, NULL);
    hf_stock *stock = orders_sale(c, "kill", BUYERS / 2, 1, 3);
    w = (struct worker){orders_redis.url, orders_url};
    rig_close(database); /* no thread may run when a child is made */
    rig_close(c);
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
    c = rig_client_at(orders_redis.url, NULL);
    CHECK_INT(hf_stock_open(c, "kill", &stock, NULL), HF_OK);
    hf_hold *hold = orders_lock(c, "kill#drain");
    CHECK_INT(orders_drain(stock, hold, database, &got), HF_OK);
    CHECK_INT(got.refused, 0);
    struct hf_orders_report r = orders_audit(stock, database);
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
static void is_fenced(hf_client *database, const char *sale)
{
    struct hf_orders_drained got;
    char lock[64];
    snprintf(lock, sizeof lock, "%s#drain", sale);
    hf_client *a = rig_client_at(orders_redis.url, NULL);
    hf_client *b = rig_client_at(orders_redis.url, NULL);
    hf_stock *stock = orders_sale(a, sale, 10, 0, 1);
    CHECK(orders_sell(stock, "x", 1));
    hf_hold *old = orders_lock(a, lock);
    CHECK_INT(orders_drain(stock, old, database, &got), HF_OK);
    CHECK_INT(got.events, 2);
    CHECK_INT(hf_lock_break(rig_lock(b, lock), NULL, NULL), HF_OK);
    hf_hold *fresh = orders_lock(b, lock);
    CHECK(hf_hold_fence(fresh) > hf_hold_fence(old));
    CHECK(orders_sell(stock, "x", 2));
    hf_stock *other;
    CHECK_INT(hf_stock_open(b, sale, &other, NULL), HF_OK);
    CHECK_INT(orders_drain(other, fresh, database, &got), HF_OK);
    CHECK_INT(got.events, 2);
    CHECK(orders_sell(stock, "x", 3));
    CHECK_INT(orders_drain(stock, old, database, &got), HF_LOST);
    CHECK_INT(got.events, 0);
    struct hf_orders_report r = orders_audit(stock, database);
    CHECK_INT(r.sold, 2);
    CHECK_INT(r.behind, 2);
    CHECK_INT(orders_drain(other, fresh, database, &got), HF_OK);
    CHECK_INT(orders_audit(stock, database).sold, 3);
}

TEST(orders, in_sqlite_are_not_written_by_a_drain_with_an_older_token)
{
    is_fenced(orders_begin("sqlite"), "two");
}

TEST(orders, in_postgres_are_not_written_by_a_drain_with_an_older_token)
{
    is_fenced(orders_begin("postgres"), "two");
}

TEST(orders, in_mysql_are_not_written_by_a_drain_with_an_older_token)
{
    is_fenced(orders_begin("mysql"), "two");
}

/* Older MySQL ignores CHECK: a token is refused without. */
static void is_fenced_without(const struct database *db, const char *check)
{
    char sql[128];
    hf_client *database = orders_begin(db->kind);
    snprintf(sql, sizeof sql,
             "ALTER TABLE holdfast_sale_cursor DROP CONSTRAINT %s", check);
    (void)db->ask(sql);
    is_fenced(database, "unchecked");
}

TEST(orders, in_postgres_without_checks_are_not_written_with_an_older_token)
{
    is_fenced_without(&database_postgres, "holdfast_sale_cursor_event_check");
}

TEST(orders, in_mysql_without_checks_are_not_written_with_an_older_token)
{
    is_fenced_without(&database_mysql, "CONSTRAINT_1");
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
    hf_client *database = orders_begin(kind);
    hf_client *c = rig_client_at(orders_redis.url, NULL);
    hf_stock *stock = orders_sale(c, "both", BOTH_BUYERS, 1, 2);
    atomic_store(&left, BOTH_BUYERS);
    a = (struct both){c, database, "drain a", &left, HF_OK};
    b = (struct both){c, rig_client(NULL), "drain b", &left, HF_OK};
    rig_spawn(both_run, &a);
    rig_spawn(both_run, &b);
    for (; atomic_load(&left) > 0; atomic_fetch_sub(&left, 1))
        CHECK(orders_sell(stock, "x", atomic_load(&left)));
    rig_join();
    CHECK_INT(a.status, HF_OK);
    CHECK_INT(b.status, HF_OK);
    hf_hold *hold = orders_lock(c, "drain c");
    CHECK_INT(orders_drain(stock, hold, database, &got), HF_OK);
    struct hf_orders_report r = orders_audit(stock, database);
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
