/*
 * orders_live_test.c: a drain while the sale goes on, an audit while a drain
 * goes on, and events that another drain has removed.  One rule: each ends, and
 * leaves out nothing.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/rig.h"
#include "lib/rig_orders.h"

/* ---- a drain, and buyers that go on ---- */

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

/* ---- events that are gone ---- */

static int is_expired(void *arg)
{
    struct hf_stock_report r = HF_STOCK_REPORT_INIT;
    CHECK_INT(hf_stock_audit(arg, NULL, NULL, &r, NULL), HF_OK);
    return r.held == 0;
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
    CHECK(r.behind >= 22);
}

/* ---- an audit, and a drain in the middle of it ---- */

static struct {
    hf_stock *stock;
    hf_hold *hold;
    hf_client *database;
    atomic_int is_due;
} amid;

static void *amid_take(size_t size, void *user)
{
    (void)user;
    return malloc(size);
}

/* The audit has read what the database says. */
static void amid_give(void *ptr, void *user)
{
    (void)user;
    free(ptr);
    if (atomic_exchange(&amid.is_due, 0))
        is_trimmed(amid.stock, amid.hold, amid.database);
}

TEST(orders, are_balanced_though_a_drain_removes_events_amid_the_audit)
{
    struct hf_client_options co = HF_CLIENT_OPTIONS_INIT;
    struct hf_stock_spec spec = HF_STOCK_SPEC_INIT;
    struct hf_orders_drained got;
    co.allocator =
        (struct hf_allocator){amid_take, live_resize, amid_give, NULL};
    amid.database = orders_begin("sqlite");
    hf_client *audited = rig_client(&co);
    hf_client *c = rig_client_at(orders_redis.url, NULL);
    spec.quantity = 100;
    spec.hold_ms = 50;
    CHECK_INT(hf_stock_create(c, "old", &spec, NULL), HF_OK);
    CHECK_INT(hf_stock_open(c, "old", &amid.stock, NULL), HF_OK);
    amid.hold = orders_lock(c, "old#drain");
    for (int i = 0; i < 10; i++) CHECK(orders_sell(amid.stock, "first", i));
    CHECK_INT(orders_drain(amid.stock, amid.hold, amid.database, &got), HF_OK);
    atomic_store(&amid.is_due, 1);
    struct hf_orders_report r = orders_audit(amid.stock, audited);
    CHECK_INT(atomic_load(&amid.is_due), 0);
    CHECK_INT(r.missing, 0);
    CHECK_INT(r.sold, 20);
    CHECK_INT(r.behind, 0);
    CHECK(r.is_balanced);
}
