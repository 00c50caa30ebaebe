/*
 * shoppers.c: see shoppers.h.  The callbacks run on one thread at a time.
 */
#include "lib/shoppers.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "lib/rig.h"

#define DEPTH 64

static struct {
    hf_stock *stock;
    int orders;
    atomic_int begun, answered;
    int status[SHOPPERS_MAX], verdict[SHOPPERS_MAX];
    char token[SHOPPERS_MAX][64];
} all;

static void order_begin(void);

static void note(int order, int status, const struct hf_reservation *got)
{
    all.status[order] = status;
    if (!got) return;
    all.verdict[order] = got->verdict;
    CHECK(strlen(got->token) < sizeof all.token[order]);
    memcpy(all.token[order], got->token, sizeof all.token[order]);
}

static void on_reserved(hf_stock *stock, int status,
                        const struct hf_reservation *got,
                        const struct hf_error *err, void *user)
{
    (void)stock;
    (void)err;
    note((int)(intptr_t)user, status, got);
    order_begin();
    atomic_fetch_add(&all.answered, 1);
}

static void order_begin(void)
{
    char user[16];
    int order = atomic_fetch_add(&all.begun, 1);
    if (order >= all.orders) return;
    snprintf(user, sizeof user, "u%d", order);
    CHECK_INT(hf_stock_reserve_start(all.stock, user, 1, "only", on_reserved,
                                     (void *)(intptr_t)order, NULL),
              HF_OK);
}

void shoppers_begin(hf_stock *stock, int orders)
{
    CHECK(orders >= DEPTH && orders <= SHOPPERS_MAX);
    memset(&all, 0, sizeof all);
    all.stock = stock;
    all.orders = orders;
    for (int i = 0; i < DEPTH; i++) order_begin();
}

int shoppers_answered(void)
{
    return atomic_load(&all.answered);
}

static int has_answered(void *arg)
{
    return shoppers_answered() >= *(int *)arg;
}

void shoppers_wait(int answered)
{
    CHECK(rig_until(has_answered, &answered));
}

static int is_reserved(int order)
{
    return all.status[order] == HF_OK
           && (all.verdict[order] == HF_STOCK_RESERVED
               || all.verdict[order] == HF_STOCK_DUPLICATE);
}

static struct hf_stock_report books(void)
{
    struct hf_stock_report r = HF_STOCK_REPORT_INIT;
    struct hf_error err = {0};
    if (hf_stock_audit(all.stock, NULL, NULL, &r, &err))
        TEST_FAIL("audit: %s", err.text);
    CHECK(r.is_balanced);
    return r;
}

static void ask_again(int order)
{
    struct hf_reservation got = HF_RESERVATION_INIT;
    char user[16];
    snprintf(user, sizeof user, "u%d", order);
    int status = hf_stock_reserve(all.stock, user, 1, "only", &got, NULL);
    note(order, status, status == HF_OK ? &got : NULL);
}

/* It was told to be reserved: that is still so, under the same token. */
static void reserved_check(int order)
{
    char token[64];
    memcpy(token, all.token[order], sizeof token);
    ask_again(order);
    CHECK_INT(all.status[order], HF_OK);
    CHECK_INT(all.verdict[order], HF_STOCK_DUPLICATE);
    CHECK_STR(all.token[order], token);
}

static int are_all_held(void *arg)
{
    int64_t units = *(int64_t *)arg;
    for (int i = 0; i < all.orders; i++) {
        int is_open = all.status[i] != HF_OK || all.verdict[i] == HF_STOCK_BUSY;
        if (is_open) ask_again(i);
    }
    /* Some units were on their way when a buyer was told that none are left. */
    for (int i = 0; i < all.orders && books().held < units; i++)
        if (!is_reserved(i)) ask_again(i);
    return books().held >= units;
}

void shoppers_end(int64_t units)
{
    int64_t reserved = 0;
    shoppers_wait(all.orders);
    CHECK(rig_until(are_all_held, &units));
    for (int i = 0; i < all.orders; i++) {
        if (!is_reserved(i)) continue;
        reserved_check(i);
        reserved++;
    }
    struct hf_stock_report r = books();
    CHECK_INT(r.held, units);
    CHECK_INT(reserved, units);
    CHECK_INT(r.available, 0);
    for (int i = 0; i < all.orders; i++)
        if (is_reserved(i))
            CHECK_INT(hf_stock_confirm(all.stock, all.token[i], NULL, NULL),
                      HF_OK);
    CHECK_INT(books().sold, units);
}
