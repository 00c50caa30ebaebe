/*
 * orders_test.c: what a drain and an audit answer, and a database that is away.
 * One rule: an answer that is no success has changed nothing.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/database.h"
#include "lib/rig.h"
#include "lib/rig_orders.h"

/* ---- a database that is away for a while ---- */

static void is_away(const struct database *db)
{
    struct hf_client_options co = HF_CLIENT_OPTIONS_INIT;
    struct hf_orders_drained got;
    co.timeout_ms = co.patience_ms = 1000;
    redis_begin(&orders_redis, NULL);
    rig_begin_at(orders_redis.url);
    hf_client *c = rig_client(NULL);
    const char *own = db->begin();
    hf_client *database = rig_client_at(own, &co);
    CHECK_INT(hf_orders_install(database, NULL), HF_OK);
    hf_stock *stock = orders_sale(c, "away", 10, 0, 1);
    hf_hold *hold = orders_lock(c, "away#drain");
    CHECK(orders_sell(stock, "x", 1));
    CHECK_INT(orders_drain(stock, hold, database, &got), HF_OK);
    CHECK(orders_sell(stock, "x", 2));
    CHECK_INT(db->shutdown(0), 0);
    CHECK_INT(orders_drain(stock, hold, database, &got), HF_UNAVAILABLE);
    CHECK_INT(got.events, 0);
    CHECK(orders_sell(stock, "x", 3)); /* the sale goes on */
    CHECK_INT(db->restart(), 0);
    int64_t until_ms = rig_now_ms() + RIG_PATIENCE_MS;
    int status = HF_UNAVAILABLE;
    while (status == HF_UNAVAILABLE && rig_now_ms() < until_ms)
        status = orders_drain(stock, hold, database, &got);
    CHECK_INT(status, HF_OK);
    CHECK_INT(got.events, 4);
    CHECK_INT(orders_audit(stock, database).sold, 3);
    CHECK(orders_audit(stock, database).is_balanced);
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
    redis_begin(&orders_redis, NULL);
    rig_begin_on("sqlite");
    hf_client *c = rig_client_at(orders_redis.url, NULL);
    hf_client *database = rig_client(NULL);
    hf_stock *stock = orders_sale(c, "s", 10, 0, 1);
    hf_hold *hold = orders_lock(c, "s#drain");
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
    hf_client *database = orders_begin("sqlite");
    hf_client *c = rig_client_at(orders_redis.url, NULL);
    hf_client *m = rig_client_at("memory:", NULL);
    hf_stock *stock = orders_sale(c, "s", 10, 0, 1);
    hf_stock *of_memory = orders_sale(m, "s", 10, 0, 1);
    hf_hold *hold = orders_lock(c, "s#drain");
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
    hf_client *database = orders_begin("sqlite");
    hf_client *c = rig_client_at(orders_redis.url, NULL);
    hf_stock *stock = orders_sale(c, "more", 2, 0, 2);
    hf_hold *hold = orders_lock(c, "more#drain");
    for (int i = 0; i < 2; i++) CHECK(orders_sell(stock, "x", i));
    CHECK_INT(orders_drain(stock, hold, database, &got), HF_OK);
    CHECK_INT(hf_stock_restock(stock, 3, "r1", NULL), HF_OK);
    for (int i = 2; i < 5; i++) CHECK(orders_sell(stock, "x", i));
    CHECK_INT(orders_drain(stock, hold, database, &got), HF_OK);
    CHECK_INT(got.refused, 0);
    struct hf_orders_report r = orders_audit(stock, database);
    CHECK_INT(r.quantity, 5);
    CHECK_INT(r.sold, 5);
    CHECK(r.is_balanced);
}

#define LIVE_SEGMENTS 3
#define LIVE_BUYERS 2000 /* many more than the drain asks the database */

static struct {
    hf_stock *stock;
    atomic_int is_on, is_busy, buyers;
} live;

/* A buyer of segment 0. */
static void live_sell(void)
{
    struct hf_reservation got = HF_RESERVATION_INIT;
    char user[32];
    got.segment = 1;
    while (got.segment != 0 && atomic_load(&live.buyers) < LIVE_BUYERS) {
        snprintf(user, sizeof user, "live %d",
                 atomic_fetch_add(&live.buyers, 1));
        CHECK_INT(hf_stock_reserve(live.stock, user, 1, "r", &got, NULL),
                  HF_OK);
    }
}

/* Whenever the database is asked, another one has come. */
static void *live_take(size_t size, void *user)
{
    (void)user;
    if (atomic_load(&live.is_on) && !atomic_exchange(&live.is_busy, 1)) {
        live_sell();
        atomic_store(&live.is_busy, 0);
    }
    return malloc(size);
}

static void *live_resize(void *ptr, size_t size, void *user)
{
    (void)user;
    return realloc(ptr, size);
}

static void live_give(void *ptr, void *user)
{
    (void)user;
    free(ptr);
}

TEST(orders, of_all_segments_are_moved_while_the_sale_goes_on)
{
    struct hf_client_options co = HF_CLIENT_OPTIONS_INIT;
    struct hf_orders_drained got;
    co.allocator =
        (struct hf_allocator){live_take, live_resize, live_give, NULL};
    (void)orders_begin("sqlite");
    hf_client *database = rig_client(&co);
    hf_client *c = rig_client_at(orders_redis.url, NULL);
    hf_stock *stock =
        orders_sale(c, "live", LIVE_BUYERS + 100, 0, LIVE_SEGMENTS);
    hf_hold *hold = orders_lock(c, "live#drain");
    for (int i = 0; i < 100; i++) CHECK(orders_sell(stock, "before", i));
    live.stock = stock;
    atomic_store(&live.is_on, 1);
    CHECK_INT(orders_drain(stock, hold, database, &got), HF_OK);
    atomic_store(&live.is_on, 0);
    int buyers = atomic_load(&live.buyers);
    CHECK(buyers > 0 && buyers < LIVE_BUYERS);
    CHECK(got.events >= 200);
    CHECK_INT(orders_audit(stock, database).sold, 100);
    CHECK_INT(orders_drain(stock, hold, database, &got), HF_OK);
    CHECK_INT(orders_audit(stock, database).orders, 100 + buyers);
    CHECK(orders_audit(stock, database).is_balanced);
}

#define PAGES_BUYERS 700 /* events: more than one page has */

/* What is compared is compared at the event that the database is at. */
TEST(orders, are_audited_while_the_drain_is_behind)
{
    struct hf_orders_drained got;
    hf_client *database = orders_begin("sqlite");
    hf_client *c = rig_client_at(orders_redis.url, NULL);
    hf_stock *stock = orders_sale(c, "behind", PAGES_BUYERS + 10, 0, 1);
    hf_hold *hold = orders_lock(c, "behind#drain");
    for (int i = 0; i < 10; i++) CHECK(orders_sell(stock, "x", i));
    CHECK_INT(orders_drain(stock, hold, database, &got), HF_OK);
    for (int i = 10; i < PAGES_BUYERS; i++) CHECK(orders_sell(stock, "x", i));
    struct hf_orders_report r = orders_audit(stock, database);
    CHECK_INT(r.behind, 2 * (PAGES_BUYERS - 10));
    CHECK_INT(r.sold, 10);
    CHECK(r.is_balanced);
    CHECK_INT(orders_drain(stock, hold, database, &got), HF_OK);
    CHECK_INT(got.events, 2 * (PAGES_BUYERS - 10));
    r = orders_audit(stock, database);
    CHECK_INT(r.behind, 0);
    CHECK_INT(r.orders, PAGES_BUYERS);
    CHECK(r.is_balanced);
    (void)redis_say(&orders_redis, "HINCRBY holdfast_stock:{behind#0} sold 1");
    CHECK_INT(orders_audit(stock, database).missing, 1);
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
    hf_client *database = orders_begin("sqlite");
    hf_client *c = rig_client_at(orders_redis.url, NULL);
    const char *length = "XLEN holdfast_stock:{trim#0}:events";
    spec.quantity = 100;
    spec.hold_ms = 50;
    CHECK_INT(hf_stock_create(c, "trim", &spec, NULL), HF_OK);
    CHECK_INT(hf_stock_open(c, "trim", &stock, NULL), HF_OK);
    hf_hold *hold = orders_lock(c, "trim#drain");
    for (int i = 0; i < 20; i++) CHECK(orders_sell(stock, "x", i));
    CHECK_INT(hf_stock_reserve(stock, "y", 1, "r", &res, NULL), HF_OK);
    CHECK(rig_until(is_expired, stock));
    CHECK_INT(redis_number(&orders_redis, "%s", length), 42);
    oo.keep = 1;
    CHECK_INT(hf_orders_drain(stock, hold, database, &oo, &got, NULL), HF_OK);
    CHECK_INT(got.events, 42);
    CHECK_INT(redis_number(&orders_redis, "%s", length), 42);
    CHECK_INT(orders_drain(stock, hold, database, &got), HF_OK);
    CHECK(redis_number(&orders_redis, "%s", length) <= 2);
    CHECK(orders_sell(stock, "x", 20));
    CHECK_INT(orders_drain(stock, hold, database, &got), HF_OK);
    CHECK_INT(got.events, 2);
    CHECK_INT(got.losses, 0);
    CHECK(orders_audit(stock, database).is_balanced);
    /* Another database comes too late. */
    char other[256];
    snprintf(other, sizeof other, "%s-other", orders_url);
    hf_client *late = rig_client_at(other, NULL);
    CHECK_INT(hf_orders_install(late, NULL), HF_OK);
    CHECK_INT(hf_orders_drain(stock, hold, late, NULL, &got, &err),
              HF_CONFLICT);
    CHECK(strstr(err.text, "event 1 of segment 0 is missing") != NULL);
}

/* Sell, wait until no unit is held any more, and drain with removal. */
static void is_trimmed(hf_stock *stock, hf_hold *hold, hf_client *database)
{
    struct hf_orders_drained got;
    struct hf_reservation res = HF_RESERVATION_INIT;
    for (int i = 0; i < 10; i++) CHECK(orders_sell(stock, "later", i));
    CHECK_INT(hf_stock_reserve(stock, "y", 1, "r", &res, NULL), HF_OK);
    CHECK(rig_until(is_expired, stock));
    CHECK_INT(orders_drain(stock, hold, database, &got), HF_OK);
    CHECK_INT(orders_drain(stock, hold, database, &got), HF_OK);
    CHECK(redis_number(&orders_redis, "XLEN holdfast_stock:{old#0}:events")
          <= 2);
}

/* A database that was restored from a copy is where `old` is here. */
TEST(orders, that_were_removed_are_missed_by_an_older_copy_of_the_database)
{
    struct hf_stock_spec spec = HF_STOCK_SPEC_INIT;
    struct hf_orders_options oo = HF_ORDERS_OPTIONS_INIT;
    struct hf_orders_drained got = HF_ORDERS_DRAINED_INIT;
    struct hf_error err;
    hf_stock *stock;
    char copy[256];
    hf_client *database = orders_begin("sqlite");
    hf_client *c = rig_client_at(orders_redis.url, NULL);
    snprintf(copy, sizeof copy, "%s-copy", orders_url);
    hf_client *old = rig_client_at(copy, NULL);
    CHECK_INT(hf_orders_install(old, NULL), HF_OK);
    spec.quantity = 100;
    spec.hold_ms = 50;
    CHECK_INT(hf_stock_create(c, "old", &spec, NULL), HF_OK);
    CHECK_INT(hf_stock_open(c, "old", &stock, NULL), HF_OK);
    hf_hold *hold = orders_lock(c, "old#drain");
    for (int i = 0; i < 10; i++) CHECK(orders_sell(stock, "first", i));
    oo.keep = 1;
    CHECK_INT(hf_orders_drain(stock, hold, old, &oo, &got, NULL), HF_OK);
    is_trimmed(stock, hold, database);
    CHECK_INT(hf_orders_drain(stock, hold, old, NULL, &got, &err), HF_CONFLICT);
    CHECK(strstr(err.text, "is missing in the store") != NULL);
    CHECK_INT(got.events, 0);
    CHECK_INT(got.losses, 0);
    struct hf_orders_report r = orders_audit(stock, old);
    CHECK_INT(r.orders, 10);
    CHECK_INT(r.sold, 10);
    CHECK_INT(r.lost, 0);
}
