/*
 * rig_orders.h: a sale on a real Redis, and a database that it is drained into.
 *
 *     hf_client *database = orders_begin("sqlite");
 *     hf_client *c = rig_client_at(orders_redis.url, NULL);
 *     hf_stock *stock = orders_sale(c, "phone", 10, 0, 1);
 *     hf_hold *hold = orders_lock(c, "phone#drain");
 */
#ifndef HF_TEST_RIG_ORDERS_H
#define HF_TEST_RIG_ORDERS_H

#include "holdfast/holdfast.h"
#include "lib/rig_redis.h"

extern struct lab_server orders_redis; /* of this test */
extern const char *orders_url;         /* of the database */

/* Start that Redis, and open a fresh database of this kind (rig_begin_on) with
 * its tables. */
hf_client *orders_begin(const char *kind);

/* A sale whose units are held for an hour. */
hf_stock *orders_sale(hf_client *c, const char *name, int64_t quantity,
                      int64_t limit, uint32_t segments);

/* Reserve and confirm a unit for the user "<name>-<number>", which makes two
 * events.  1: sold; 0: not. */
int orders_sell(hf_stock *stock, const char *name, int number);

/* A hold of this lock. */
hf_hold *orders_lock(hf_client *c, const char *name);

/* Drain; its status, whose text is printed.  `out` is written. */
int orders_drain(hf_stock *stock, hf_hold *hold, hf_client *database,
                 struct hf_orders_drained *out);

/* What both sides say. */
struct hf_orders_report orders_audit(hf_stock *stock, hf_client *database);

#endif
