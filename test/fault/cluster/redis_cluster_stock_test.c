/*
 * redis_cluster_stock_test.c: a sale in a real cluster, whose slots move and
 * whose masters fail over while it sells.  One rule: a segment is one slot, so
 * it moves whole, and buyers notice nothing but the time it takes.
 */
#include <stdio.h>
#include <string.h>

#include "api/stock/stock.h"
#include "lib/cluster_rig.h"
#include "lib/rig.h"
#include "lib/shoppers.h"

#define SEGMENTS 6
#define UNITS 1500
#define ORDERS 4000
#define MOVES 12

static struct lab_cluster c;

static hf_stock *sale(int64_t quantity)
{
    struct hf_stock_spec spec = HF_STOCK_SPEC_INIT;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_error err = {0};
    hf_stock *stock = NULL;
    cluster_rig_begin(&c, 3, 0);
    o.patience_ms = RIG_PATIENCE_MS;
    hf_client *client = rig_client_at(c.url, &o);
    spec.quantity = quantity;
    spec.segments = SEGMENTS;
    spec.limit = 1;
    spec.hold_ms = 3600000;
    if (hf_stock_create(client, "sale", &spec, &err)) TEST_FAIL("%s", err.text);
    if (hf_stock_open(client, "sale", &stock, &err)) TEST_FAIL("%s", err.text);
    return stock;
}

static const char *key_of(uint32_t segment)
{
    static char key[48];
    snprintf(key, sizeof key, "holdfast_stock:{sale#%u}", segment);
    return key;
}

TEST(redis_cluster_stock, segments_are_spread_over_the_masters)
{
    unsigned used = 0;
    sale(UNITS);
    for (uint32_t i = 0; i < SEGMENTS; i++) {
        int at = cluster_rig_at(&c, key_of(i));
        CHECK_INT(redis_number(&c.nodes[at], "EXISTS %s", key_of(i)), 1);
        used |= 1u << at;
    }
    CHECK(used & (used - 1)); /* more than one */
}

TEST(redis_cluster_stock, sells_all_and_no_more_while_its_slots_move)
{
    hf_stock *stock = sale(UNITS);
    shoppers_begin(stock, ORDERS);
    for (int i = 0; i < MOVES; i++) {
        uint32_t segment = (uint32_t)i % SEGMENTS;
        int slot = cluster_rig_slot(&c, key_of(segment));
        int from = cluster_rig_at(&c, key_of(segment));
        shoppers_wait(i * UNITS / MOVES);
        cluster_rig_move(&c, slot, from, (from + 1) % 3);
    }
    shoppers_end(UNITS);
}

/* Some keys of the segment are here and some there, and one that it has only
 * with extended reservations is nowhere: requests wait. */
static void on_reserved(hf_stock *stock, int status,
                        const struct hf_reservation *got,
                        const struct hf_error *err, void *user)
{
    (void)stock;
    (void)err;
    if (status == HF_OK && got->verdict == HF_STOCK_RESERVED)
        atomic_store((atomic_int *)user, 1);
    else
        atomic_store((atomic_int *)user, -1);
}

TEST(redis_cluster_stock,
     a_request_in_the_middle_of_a_move_is_answered_after_it)
{
    static atomic_int said;
    char user[16];
    int made = 0;
    struct hf_reservation got = HF_RESERVATION_INIT;
    hf_stock *stock = sale(UNITS);
    do snprintf(user, sizeof user, "u%d", made++);
    while (hf__sale_home(user, SEGMENTS) != 0);
    CHECK_INT(hf_stock_reserve(stock, user, 1, "first", &got, NULL), HF_OK);
    int slot = cluster_rig_slot(&c, key_of(0));
    int from = cluster_rig_at(&c, key_of(0)), to = (from + 1) % 3;
    do snprintf(user, sizeof user, "u%d", made++);
    while (hf__sale_home(user, SEGMENTS) != 0);
    atomic_store(&said, 0);
    cluster_rig_move_begin(&c, slot, from, to);
    CHECK_INT(hf_stock_reserve_start(stock, user, 1, "only", on_reserved, &said,
                                     NULL),
              HF_OK);
    cluster_rig_move_keys(&c, slot, from, to);
    cluster_rig_move_end(&c, slot, to);
    CHECK(rig_until_equal(&said, 1));
    CHECK_INT(hf_stock_confirm(stock, got.token, NULL, NULL), HF_OK);
    CHECK_INT(hf_stock_reserve(stock, user, 1, "only", &got, NULL), HF_OK);
    CHECK_INT(got.verdict, HF_STOCK_DUPLICATE);
}
