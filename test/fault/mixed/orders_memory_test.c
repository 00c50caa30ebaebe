/*
 * orders_memory_test.c: every allocation of a drain and an audit fails in
 * turn.  One rule: it is told, and the next drain goes on.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "lib/rig.h"
#include "lib/rig_orders.h"

static struct {
    atomic_long count, fail_at; /* 0: none fails */
    atomic_int fired;
} heap;

static int heap_fails(void)
{
    long at = atomic_load(&heap.fail_at);
    if (at == 0 || atomic_fetch_add(&heap.count, 1) + 1 != at) return 0;
    atomic_store(&heap.fired, 1);
    return 1;
}

static void *heap_take(size_t size, void *user)
{
    (void)user;
    return heap_fails() ? NULL : malloc(size);
}

static void *heap_resize(void *ptr, size_t size, void *user)
{
    (void)user;
    return heap_fails() ? NULL : realloc(ptr, size);
}

static void heap_give(void *ptr, void *user)
{
    (void)user;
    free(ptr);
}

static void heap_arm(long n)
{
    atomic_store(&heap.count, 0);
    atomic_store(&heap.fired, 0);
    atomic_store(&heap.fail_at, n);
}

/* The n-th allocation fails: it is told, and the next drain goes on. */
static int is_survived(hf_stock *stock, hf_hold *hold, hf_client *database,
                       long n)
{
    struct hf_orders_drained got = HF_ORDERS_DRAINED_INIT;
    struct hf_orders_report r = HF_ORDERS_REPORT_INIT;
    CHECK(orders_sell(stock, "n", (int)n));
    heap_arm(n);
    int status = hf_orders_drain(stock, hold, database, NULL, &got, NULL);
    if (status == HF_OK) status = hf_orders_audit(stock, database, &r, NULL);
    int fired = atomic_load(&heap.fired);
    heap_arm(0);
    if (status != HF_OK)
        CHECK(fired && (status == HF_NOMEM || status == HF_UNAVAILABLE));
    int64_t until_ms = rig_now_ms() + RIG_PATIENCE_MS;
    do status = hf_orders_drain(stock, hold, database, NULL, &got, NULL);
    while (status == HF_UNAVAILABLE && rig_now_ms() < until_ms);
    CHECK_INT(status, HF_OK);
    return fired;
}

static void is_out_of_memory(const char *kind)
{
    struct hf_client_options co = HF_CLIENT_OPTIONS_INIT;
    co.allocator =
        (struct hf_allocator){heap_take, heap_resize, heap_give, NULL};
    heap_arm(0);
    (void)orders_begin(kind);
    hf_client *c = rig_client_at(orders_redis.url, &co);
    hf_client *database = rig_client(&co);
    hf_stock *stock = orders_sale(c, "memory", 10000, 0, 1);
    hf_hold *hold = orders_lock(c, "memory#drain");
    int n = 1;
    while (is_survived(stock, hold, database, n)) CHECK(++n < 2000);
    CHECK(n > 3);
    struct hf_orders_report r = orders_audit(stock, database);
    CHECK_INT(r.sold, n);
    CHECK(r.is_balanced);
}

TEST(orders, in_sqlite_survive_every_failing_allocation)
{
    is_out_of_memory("sqlite");
}

TEST(orders, in_postgres_survive_every_failing_allocation)
{
    is_out_of_memory("postgres");
}

TEST(orders, in_mysql_survive_every_failing_allocation)
{
    is_out_of_memory("mysql");
}
