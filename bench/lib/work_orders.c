/*
 * work_orders.c: how fast the orders of a sale get into a file of SQLite: each
 * is reserved and confirmed before the clock starts, which makes two events.
 * One rule: the rows are counted afterwards, or the rate is void.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "holdfast/holdfast.h"
#include "tool.h"
#include "work.h"

#define ORDERS 20000
#define FLIGHTS 64 /* buyers at the same moment */
#define SALE "bench-orders"

static atomic_int under_way, sold;

static void settled(hf_stock *stock, int status,
                    const struct hf_stock_settled *s,
                    const struct hf_error *err, void *user)
{
    (void)stock, (void)s, (void)err, (void)user;
    if (status == HF_OK) atomic_fetch_add(&sold, 1);
    atomic_fetch_sub(&under_way, 1);
}

static void reserved(hf_stock *stock, int status,
                     const struct hf_reservation *got,
                     const struct hf_error *err, void *user)
{
    (void)err, (void)user;
    if (status == HF_OK && got->verdict == HF_STOCK_RESERVED
        && hf_stock_settle_start(stock, HF_STOCK_CONFIRM, got->token, 0,
                                 settled, NULL, NULL)
               == HF_OK)
        return;
    atomic_fetch_sub(&under_way, 1);
}

static void until_under_way(int most)
{
    const struct timespec pause = {0, 20000};

    while (atomic_load(&under_way) > most) nanosleep(&pause, NULL);
}

static void sell_all(hf_stock *stock)
{
    char user[32];
    struct hf_error err;

    atomic_store(&sold, 0);
    for (int i = 0; i < ORDERS; i++) {
        until_under_way(FLIGHTS - 1);
        atomic_fetch_add(&under_way, 1);
        snprintf(user, sizeof(user), "user-%d", i);
        if (hf_stock_reserve_start(stock, user, 1, "r", reserved, NULL, &err)
            != HF_OK)
            fail("%s", err.text);
    }
    until_under_way(0);
    if (atomic_load(&sold) != ORDERS) fail("orders: not all were sold");
}

static hf_client *open_url(const char *url)
{
    struct hf_error err;
    hf_client *client;

    if (hf_client_open(url, NULL, &client, &err) != HF_OK) fail("%s", err.text);
    return client;
}

static hf_stock *sale_make(hf_client *client)
{
    struct hf_stock_spec spec = HF_STOCK_SPEC_INIT;
    struct hf_error err;
    hf_stock *stock;

    spec.quantity = ORDERS;
    spec.limit = 1;
    if (hf_stock_create(client, SALE, &spec, &err) != HF_OK
        || hf_stock_open(client, SALE, &stock, &err) != HF_OK)
        fail("%s", err.text);
    return stock;
}

/* What one drain took. */
struct took {
    double seconds, cpu_seconds;
};

static double cpu_now_s(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static struct took drain_once(hf_client *client, hf_stock *stock,
                              hf_client *database)
{
    struct hf_orders_drained got = HF_ORDERS_DRAINED_INIT;
    struct hf_orders_report r = HF_ORDERS_REPORT_INIT;
    struct hf_error err;
    hf_lock *lock;
    hf_hold *hold;

    if (hf_lock_open(client, SALE "#drain", &lock, &err) != HF_OK
        || hf_lock_acquire(lock, NULL, &hold, &err) != HF_OK
        || hf_orders_install(database, &err) != HF_OK)
        fail("%s", err.text);
    struct took took;
    double cpu = cpu_now_s();
    uint64_t start = now_ns();
    if (hf_orders_drain(stock, hold, database, NULL, &got, &err) != HF_OK)
        fail("%s", err.text);
    took.seconds = (double)(now_ns() - start) / 1e9;
    took.cpu_seconds = cpu_now_s() - cpu;
    if (hf_orders_audit(stock, database, &r, &err) != HF_OK)
        fail("%s", err.text);
    if (!r.is_balanced || r.orders != ORDERS || r.sold != ORDERS)
        fail("orders: the rows are not those that were sold");
    hf_lock_release(lock, NULL, NULL);
    return took;
}

static struct took run_once(struct bench *b, int round)
{
    char url[64], file[512];

    server_flush(&b->server);
    snprintf(url, sizeof(url), "redis://127.0.0.1:%d", b->server.port);
    snprintf(file, sizeof(file), "sqlite:%s/orders-%d.db", b->dir, round);
    hf_client *client = open_url(url), *database = open_url(file);
    hf_stock *stock = sale_make(client);
    sell_all(stock);
    struct took took = drain_once(client, stock, database);
    hf_stock_close(stock);
    hf_client_close(database);
    hf_client_close(client);
    return took;
}

static void row_of(struct bench *b, const struct work *w, const char *what,
                   double ours, enum judge judge, double bound)
{
    struct row row = {w->name, what, ours, NAN, NAN, judge, bound, ""};

    table_add(&b->table, row, NULL);
}

void work_orders(struct bench *b, const struct work *w)
{
    double rates[ROUNDS_MAX], cpu_us[ROUNDS_MAX];

    for (int i = 0; i < b->rounds; i++) {
        struct took took = run_once(b, i);
        rates[i] = ORDERS / took.seconds;
        cpu_us[i] = took.cpu_seconds * 1e6 / ORDERS;
    }
    row_of(b, w, "orders/s into SQLite", median(rates, b->rounds),
           JUDGE_OURS_MIN, 10000);
    row_of(b, w, "client CPU us/order", median(cpu_us, b->rounds),
           JUDGE_OURS_MAX, 100);
    server_flush(&b->server);
}
