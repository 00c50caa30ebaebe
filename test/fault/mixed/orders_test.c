/*
 * orders_test.c: what a drain and an audit answer, and a database that is away.
 * One rule: an answer that is no success has changed nothing.
 */
#include <stdio.h>
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
