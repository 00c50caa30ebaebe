/*
 * orders_lost_test.c: a Redis that has lost writes sells the same units again.
 * One rule: the database refuses what does not fit, and says which orders.
 */
#include "lib/database.h"
#include "lib/rig.h"
#include "lib/rig_orders.h"

/* Redis comes back without anything, the sale is made anew, and sells the same
 * units to others. */
static void is_emptied(hf_client *database, const char *sale)
{
    struct hf_orders_drained got;
    hf_client *c = rig_client_at(orders_redis.url, NULL);
    hf_stock *stock = orders_sale(c, sale, 10, 0, 1);
    hf_hold *hold = orders_lock(c, "drain");
    for (int i = 0; i < 7; i++) CHECK(orders_sell(stock, "first", i));
    CHECK_INT(orders_drain(stock, hold, database, &got), HF_OK);
    CHECK(orders_audit(stock, database).is_balanced);
    (void)redis_say(&orders_redis,
                    "DEL holdfast_stock:{%s#0}"
                    " holdfast_stock:{%s#0}:users"
                    " holdfast_stock:{%s#0}:events",
                    sale, sale, sale);
    stock = orders_sale(c, sale, 10, 0, 1);
    for (int i = 0; i < 8; i++) CHECK(orders_sell(stock, "second", i));
    CHECK_INT(orders_drain(stock, hold, database, &got), HF_OK);
    CHECK_INT(got.losses, 1);
    CHECK_INT(got.refused, 5);
    struct hf_orders_report r = orders_audit(stock, database);
    CHECK_INT(r.quantity, 10);
    CHECK_INT(r.sold, 10);
    CHECK_INT(r.refused, 5);
    CHECK_INT(r.lost, 7);
    CHECK_INT(r.missing, 0);
    CHECK(!r.is_balanced);
    CHECK_INT(orders_drain(stock, hold, database, &got), HF_OK);
    CHECK_INT(got.events, 0);
    CHECK_INT(got.losses, 0);
}

TEST(orders, in_sqlite_are_refused_beyond_the_quantity)
{
    is_emptied(orders_begin("sqlite"), "lost");
}

TEST(orders, in_postgres_are_refused_beyond_the_quantity)
{
    is_emptied(orders_begin("postgres"), "lost");
}

TEST(orders, in_mysql_are_refused_beyond_the_quantity)
{
    is_emptied(orders_begin("mysql"), "lost");
}

/* A server that ignores CHECK unless a session says otherwise. */
TEST(orders, in_mysql_are_refused_though_the_server_ignores_checks)
{
    (void)orders_begin("mysql");
    (void)database_mysql.ask("SET GLOBAL check_constraint_checks=0");
    is_emptied(rig_client(NULL), "unchecked");
    (void)database_mysql.ask("SET GLOBAL check_constraint_checks=1");
}

/* The sale is made anew with more segments, which the database has no cursors
 * of; its quantity did not grow. */
TEST(orders, of_segments_that_were_added_with_a_new_sale_are_moved)
{
    struct hf_orders_drained got;
    hf_client *database = orders_begin("sqlite");
    hf_client *c = rig_client_at(orders_redis.url, NULL);
    hf_stock *stock = orders_sale(c, "lost", 100, 0, 1);
    hf_hold *hold = orders_lock(c, "lost#drain");
    for (int i = 0; i < 3; i++) CHECK(orders_sell(stock, "first", i));
    CHECK_INT(orders_drain(stock, hold, database, &got), HF_OK);
    (void)redis_say(&orders_redis, "FLUSHALL");
    stock = orders_sale(c, "lost", 100, 0, 3);
    hold = orders_lock(c, "another#drain");
    for (int i = 0; i < 20; i++) CHECK(orders_sell(stock, "second", i));
    CHECK_INT(orders_drain(stock, hold, database, &got), HF_OK);
    CHECK_INT(got.losses, 1);
    CHECK_INT(got.events, 40);
    struct hf_orders_report r = orders_audit(stock, database);
    CHECK_INT(r.orders, 23);
    CHECK_INT(r.missing, 0);
    CHECK_INT(r.lost, 3);
}

static void keys_copy(const char *from, const char *to)
{
    static const char *const kinds[] = {"", ":users", ":events"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        (void)redis_say(&orders_redis, "COPY %s%s %s%s REPLACE", from, kinds[i],
                        to, kinds[i]);
}

/* Redis comes back as an older copy: what is common stays, and one user is sold
 * more than the limit. */
static void is_older(const char *kind)
{
    struct hf_orders_drained got;
    hf_client *database = orders_begin(kind);
    hf_client *c = rig_client_at(orders_redis.url, NULL);
    hf_stock *stock = orders_sale(c, "older", 100, 1, 1);
    hf_hold *hold = orders_lock(c, "older#drain");
    for (int i = 0; i < 3; i++) CHECK(orders_sell(stock, "common", i));
    keys_copy("holdfast_stock:{older#0}", "copy");
    CHECK(orders_sell(stock, "forgotten", 0));
    CHECK(orders_sell(stock, "twice", 0));
    CHECK_INT(orders_drain(stock, hold, database, &got), HF_OK);
    CHECK_INT(got.events, 10);
    keys_copy("copy", "holdfast_stock:{older#0}");
    CHECK(orders_sell(stock, "twice", 0));
    CHECK(orders_sell(stock, "later", 0));
    CHECK_INT(orders_drain(stock, hold, database, &got), HF_OK);
    CHECK_INT(got.losses, 1);
    CHECK_INT(got.refused, 1);
    struct hf_orders_report r = orders_audit(stock, database);
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

/* A clock that is behind gives the same ids to others. */
TEST(orders, of_other_buyers_with_the_same_ids_are_no_common_ones)
{
    struct hf_orders_drained got;
    hf_client *database = orders_begin("sqlite");
    hf_client *c = rig_client_at(orders_redis.url, NULL);
    hf_stock *stock = orders_sale(c, "same", 100, 0, 1);
    hf_hold *hold = orders_lock(c, "same#drain");
    for (int i = 0; i < 5; i++) CHECK(orders_sell(stock, "first", i));
    CHECK_INT(orders_drain(stock, hold, database, &got), HF_OK);
    keys_copy("holdfast_stock:{same#0}", "copy");
    (void)redis_say(&orders_redis, "DEL holdfast_stock:{same#0}"
                                   " holdfast_stock:{same#0}:users"
                                   " holdfast_stock:{same#0}:events");
    stock = orders_sale(c, "same", 100, 0, 1);
    for (int i = 0; i < 5; i++) CHECK(orders_sell(stock, "second", i));
    (void)redis_say(
        &orders_redis,
        "EVAL \"local o=redis.call('XRANGE',KEYS[1],'-','+','COUNT',4) "
        "local n=redis.call('XRANGE',KEYS[2],'-','+') "
        "redis.call('DEL',KEYS[2]) for i,e in ipairs(n) do "
        "redis.call('XADD',KEYS[2],o[i] and o[i][1] or e[1],unpack(e[2])) "
        "end\" 2 copy:events holdfast_stock:{same#0}:events");
    CHECK_INT(
        redis_number(&orders_redis, "XLEN holdfast_stock:{same#0}:events"), 10);
    CHECK_INT(orders_drain(stock, hold, database, &got), HF_OK);
    CHECK_INT(got.losses, 1);
    struct hf_orders_report r = orders_audit(stock, database);
    CHECK_INT(r.lost, 5);
    CHECK_INT(r.sold, 10);
    CHECK_INT(r.missing, 0);
}
