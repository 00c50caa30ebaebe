/*
 * rig_orders.c: see rig_orders.h.  One rule: what fails here ends the test.
 */
#include "lib/rig_orders.h"

#include <stdio.h>

#include "lib/rig.h"

struct lab_server orders_redis;
const char *orders_url;

/* A sale on a Redis of its own, and a database with its tables. */
hf_client *orders_begin(const char *kind)
{
    redis_begin(&orders_redis, NULL);
    rig_begin_on(kind);
    orders_url = rig_url();
    hf_client *database = rig_client(NULL);
    CHECK_INT(hf_orders_install(database, NULL), HF_OK);
    return database;
}

hf_stock *orders_sale(hf_client *c, const char *name, int64_t quantity,
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
int orders_sell(hf_stock *stock, const char *name, int number)
{
    char user[64];
    struct hf_reservation got = HF_RESERVATION_INIT;
    snprintf(user, sizeof user, "%s-%d", name, number);
    if (hf_stock_reserve(stock, user, 1, "r", &got, NULL) != HF_OK) return 0;
    if (got.verdict != HF_STOCK_RESERVED) return 0;
    return hf_stock_confirm(stock, got.token, NULL, NULL) == HF_OK;
}

hf_hold *orders_lock(hf_client *c, const char *name)
{
    hf_hold *hold;
    CHECK_INT(rig_acquire(rig_lock(c, name), 0, RIG_WAIT_MS, &hold), HF_OK);
    return hold;
}

int orders_drain(hf_stock *stock, hf_hold *hold, hf_client *database,
                 struct hf_orders_drained *out)
{
    struct hf_error err = {0};
    *out = (struct hf_orders_drained)HF_ORDERS_DRAINED_INIT;
    int status = hf_orders_drain(stock, hold, database, NULL, out, &err);
    if (status != HF_OK) printf("# %s\n", err.text);
    return status;
}

struct hf_orders_report orders_audit(hf_stock *stock, hf_client *database)
{
    struct hf_orders_report r = HF_ORDERS_REPORT_INIT;
    struct hf_error err = {0};
    int status = hf_orders_audit(stock, database, &r, &err);
    if (status != HF_OK) TEST_FAIL("audit: %s", err.text);
    return r;
}
