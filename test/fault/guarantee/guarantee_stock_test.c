/*
 * guarantee_stock_test.c: a sale on servers whose clock is set, whose scripts
 * are forgotten, and that take over without all that was written.  One rule: no
 * unit is sold twice by a segment that remembers it, and the audit tells if one
 * has forgotten.
 */
#include <stdio.h>
#include <string.h>

#include "api/stock/stock.h"
#include "lab/clock.h"
#include "lib/cluster_rig.h"
#include "lib/lab_check.h"
#include "lib/rig.h"

#define HOUR_MS INT64_C(3600000)
#define FAILOVER_MS 60000

static struct lab_server server;
static struct lab_clock wall;
static struct lab_cluster cluster;

static hf_stock *sale(hf_client *c, int64_t quantity, uint32_t segments)
{
    struct hf_stock_spec spec = HF_STOCK_SPEC_INIT;
    struct hf_error err = {0};
    hf_stock *stock = NULL;
    spec.quantity = quantity;
    spec.segments = segments;
    if (hf_stock_create(c, "sale", &spec, &err)) TEST_FAIL("%s", err.text);
    if (hf_stock_open(c, "sale", &stock, &err)) TEST_FAIL("%s", err.text);
    return stock;
}

/* A user of that segment; no two are the same. */
static void user_of(uint32_t segment, uint32_t segments, char user[16])
{
    static int made;
    do snprintf(user, 16, "user%d", made++);
    while (hf__sale_home(user, segments) != segment);
}

static struct hf_reservation take(hf_stock *s, const char *user, int64_t units)
{
    static int made;
    char id[16];
    struct hf_reservation got = HF_RESERVATION_INIT;
    struct hf_error err = {0};
    snprintf(id, sizeof id, "id%d", made++);
    if (hf_stock_reserve(s, user, units, id, &got, &err))
        TEST_FAIL("reserve: %s", err.text);
    return got;
}

static struct hf_stock_report books(hf_stock *s)
{
    struct hf_stock_report r = HF_STOCK_REPORT_INIT;
    struct hf_error err = {0};
    if (hf_stock_audit(s, NULL, NULL, &r, &err)) TEST_FAIL("%s", err.text);
    return r;
}

/* ---- one server ---------------------------------------------------------- */

static void wall_end(void *arg)
{
    (void)arg;
    lab_clock_stop(&wall);
}

static void server_begin(void)
{
    LAB_CHECK(lab_clock_start(&wall, TEST_CLOCK_SHIM));
    test_cleanup(wall_end, NULL);
    server.env = wall.env;
    redis_begin(&server, NULL);
    rig_begin_at(server.url);
}

/* What a segment believes for a moment, it must not believe for the hour by
 * which its clock was set back. */
TEST(guarantee_stock, is_not_sold_out_for_as_long_as_the_clock_is_set_back)
{
    char near[16], far[16];
    server_begin();
    hf_stock *s = sale(rig_client(NULL), 2, 2);
    user_of(0, 2, near);
    user_of(1, 2, far);
    struct hf_reservation all = take(s, far, 2);
    CHECK_INT(all.verdict, HF_STOCK_RESERVED);
    CHECK_INT(take(s, near, 1).verdict, HF_STOCK_SOLD_OUT);
    lab_clock_jump(&wall, -HOUR_MS);
    CHECK_INT(hf_stock_cancel(s, all.token, NULL, NULL), HF_OK);
    CHECK_INT(take(s, near, 1).verdict, HF_STOCK_RESERVED);
    CHECK(books(s).is_balanced);
}

/* A client that asked to fetch units and died does not keep the others waiting
 * for that hour. */
TEST(guarantee_stock, is_not_busy_for_as_long_as_the_clock_is_set_back)
{
    char user[16];
    server_begin();
    hf_stock *s = sale(rig_client(NULL), 1, 2);
    user_of(1, 2, user);
    int64_t now_ms = redis_number(&server, "EVAL \"return redis.call('TIME')[1]"
                                           " * 1000\" 0");
    redis_say(&server, "HSET holdfast_stock:{sale#1} dry %lld",
              (long long)(now_ms + HOUR_MS));
    CHECK_INT(take(s, user, 1).verdict, HF_STOCK_RESERVED);
}

TEST(guarantee_stock, orders_go_on_when_the_clock_is_set_back)
{
    char user[16];
    server_begin();
    hf_stock *s = sale(rig_client(NULL), 10, 1);
    user_of(0, 1, user);
    struct hf_reservation first = take(s, user, 1);
    lab_clock_jump(&wall, -HOUR_MS);
    struct hf_reservation second = take(s, user, 1);
    CHECK_INT(second.verdict, HF_STOCK_RESERVED);
    CHECK_INT(second.order, first.order + 1);
    CHECK_INT(hf_stock_confirm(s, first.token, NULL, NULL), HF_OK);
    CHECK_INT(hf_stock_confirm(s, second.token, NULL, NULL), HF_OK);
    CHECK_INT(books(s).sold, 2);
}

/* Lua prints 14 digits of a number and rounds the rest. */
TEST(guarantee_stock, counts_exactly_beyond_what_lua_prints)
{
    server_begin();
    hf_stock *s = sale(rig_client(NULL), 10, 1);
    redis_say(&server, "HSET holdfast_stock:{sale#0} init 99999999999999"
                       " avail 99999999999999");
    CHECK_INT(hf_stock_restock(s, 4, "more", NULL), HF_OK);
    CHECK_INT(take(s, "ann", 1).verdict, HF_STOCK_RESERVED);
    struct hf_stock_report r = books(s);
    CHECK(r.quantity == INT64_C(100000000000003));
    CHECK(r.available == INT64_C(100000000000002));
    CHECK(r.is_balanced);
}

TEST(guarantee_stock, is_settled_although_the_scripts_are_flushed_each_time)
{
    server_begin();
    hf_stock *s = sale(rig_client(NULL), 10, 2);
    for (int i = 0; i < 5; i++) {
        redis_say(&server, "SCRIPT FLUSH");
        struct hf_reservation got = take(s, "ann", 2);
        CHECK_INT(got.verdict, HF_STOCK_RESERVED);
        redis_say(&server, "SCRIPT FLUSH");
        CHECK_INT(hf_stock_extend(s, got.token, 1000000, NULL, NULL), HF_OK);
        redis_say(&server, "SCRIPT FLUSH");
        CHECK_INT(hf_stock_confirm(s, got.token, NULL, NULL), HF_OK);
        redis_say(&server, "SCRIPT FLUSH");
        CHECK(books(s).is_balanced);
    }
    CHECK_INT(books(s).sold, 10);
}

/* A server that is full refuses a whole request, and changes nothing. */
TEST(guarantee_stock, of_a_full_server_stays_balanced)
{
    struct hf_error err = {0};
    struct hf_reservation got = HF_RESERVATION_INIT;
    server_begin();
    hf_stock *s = sale(rig_client(NULL), 10, 1);
    struct hf_reservation held = take(s, "ann", 1);
    redis_say(&server, "CONFIG SET maxmemory 1");
    CHECK(hf_stock_reserve(s, "bob", 1, "b", &got, &err) != HF_OK);
    CHECK(hf_stock_confirm(s, held.token, NULL, &err) != HF_OK);
    redis_say(&server, "CONFIG SET maxmemory 0");
    struct hf_stock_report r = books(s);
    CHECK(r.is_balanced);
    CHECK_INT(r.held, 1);
    CHECK_INT(hf_stock_confirm(s, held.token, NULL, &err), HF_OK);
    CHECK_INT(take(s, "bob", 1).verdict, HF_STOCK_RESERVED);
}

/* ---- failover ------------------------------------------------------------ */

#define SEGMENTS 8
#define EACH 4

static int node_of(uint32_t segment)
{
    char key[32];
    snprintf(key, sizeof key, "{sale#%u}", segment);
    return cluster_rig_at(&cluster, key);
}

/* The node's replica takes over, without what is written from here on. */
static void forget_begin(int node)
{
    cluster_rig_stop(&cluster, node + cluster.masters);
    redis_say(&cluster.nodes[node], "CLIENT KILL TYPE replica");
}

static void forget_end(int node, uint32_t segment)
{
    cluster_rig_kill(&cluster, node);
    cluster_rig_cont(&cluster, node + cluster.masters);
    CHECK(node_of(segment) != node);
}

static int is_in_step(void *arg)
{
    return strstr(redis_say(arg, "INFO replication"), "state=online") != NULL
           && redis_number(arg, "WAIT 1 1000") == 1;
}

static hf_stock *cluster_sale(uint32_t *other)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.patience_ms = FAILOVER_MS;
    cluster_rig_begin(&cluster, 3, 1);
    hf_stock *s = sale(rig_client(&o), SEGMENTS * EACH, SEGMENTS);
    *other = 1;
    while (*other < SEGMENTS - 1 && node_of(*other) == node_of(0)) ++*other;
    CHECK(node_of(*other) != node_of(0));
    CHECK(rig_until(is_in_step, &cluster.nodes[node_of(0)]));
    CHECK(rig_until(is_in_step, &cluster.nodes[node_of(*other)]));
    return s;
}

/* The segment that gave units has them again, and they are there twice.  The
 * audit says so, and later transfers between the two are taken. */
TEST(guarantee_stock, moves_that_a_failover_forgot_are_named_by_the_audit)
{
    uint32_t other;
    char user[16];
    hf_stock *s = cluster_sale(&other);
    int node = node_of(0);
    user_of(other, SEGMENTS, user);
    CHECK_INT(take(s, user, EACH).verdict, HF_STOCK_RESERVED);
    CHECK(books(s).is_balanced);
    forget_begin(node);
    /* All others have as many: the first of them gives. */
    CHECK_INT(take(s, user, 1).verdict, HF_STOCK_RESERVED);
    CHECK_INT(books(s).given, EACH / 2);
    CHECK(books(s).is_balanced);
    forget_end(node, 0);
    struct hf_stock_report r = books(s);
    CHECK_INT(r.given, 0);
    CHECK_INT(r.received, EACH / 2);
    CHECK_INT(r.is_balanced, 0);
    CHECK_INT(take(s, user, EACH / 2).verdict, HF_STOCK_RESERVED);
    r = books(s);
    CHECK_INT(r.received - r.given, EACH / 2);
    CHECK_INT(r.is_balanced, 0);
}

/* The segment that received units has forgotten them, and its giver has been
 * told: they are lost. */
TEST(guarantee_stock, units_that_a_failover_lost_are_named_by_the_audit)
{
    uint32_t other;
    char user[16];
    hf_stock *s = cluster_sale(&other);
    int node = node_of(other);
    user_of(other, SEGMENTS, user);
    CHECK_INT(take(s, user, EACH).verdict, HF_STOCK_RESERVED);
    CHECK(rig_until(is_in_step, &cluster.nodes[node]));
    forget_begin(node);
    CHECK_INT(take(s, user, 1).verdict, HF_STOCK_RESERVED);
    CHECK(books(s).is_balanced);
    forget_end(node, other);
    struct hf_stock_report r = books(s);
    CHECK_INT(r.given, EACH / 2);
    CHECK_INT(r.received, 0);
    CHECK_INT(r.is_balanced, 0);
}

/* What a segment has forgotten is told by its token, and is sold once more. */
TEST(guarantee_stock, orders_that_a_failover_lost_are_told_by_their_tokens)
{
    uint32_t other;
    char user[16];
    hf_stock *s = cluster_sale(&other);
    int node = node_of(0);
    user_of(0, SEGMENTS, user);
    struct hf_reservation kept = take(s, user, 1);
    CHECK(rig_until(is_in_step, &cluster.nodes[node]));
    forget_begin(node);
    struct hf_reservation lost = take(s, user, 1);
    CHECK_INT(hf_stock_confirm(s, lost.token, NULL, NULL), HF_OK);
    CHECK_INT(books(s).sold, 1);
    forget_end(node, 0);
    struct hf_stock_report r = books(s);
    CHECK_INT(r.sold, 0);
    CHECK(r.is_balanced && r.events < lost.order);
    CHECK_INT(hf_stock_confirm(s, lost.token, NULL, NULL), HF_EMPTY);
    CHECK_INT(hf_stock_confirm(s, kept.token, NULL, NULL), HF_OK);
}
