/*
 * stock_contract.c: sales: reserving, settling, and the books.  One rule for
 * all of it: no unit is sold twice, and none is lost.
 */
#include <stdio.h>
#include <string.h>

#include "lib/rig.h"

#define SHORT_MS 60 /* a hold time that is to end */

static struct hf_stock_spec spec_of(int64_t quantity, uint32_t segments)
{
    struct hf_stock_spec spec = HF_STOCK_SPEC_INIT;
    spec.quantity = quantity;
    spec.segments = segments;
    return spec;
}

static hf_stock *sale_of(hf_client *c, const struct hf_stock_spec *spec)
{
    hf_stock *stock = NULL;
    struct hf_error err = {0};
    if (hf_stock_create(c, "sale", spec, &err)) TEST_FAIL("%s", err.text);
    if (hf_stock_open(c, "sale", &stock, &err)) TEST_FAIL("%s", err.text);
    return stock;
}

static hf_stock *sale(int64_t quantity, int64_t limit, uint32_t segments)
{
    struct hf_stock_spec spec = spec_of(quantity, segments);
    spec.limit = limit;
    return sale_of(rig_client(NULL), &spec);
}

static struct hf_reservation take(hf_stock *stock, const char *user,
                                  int64_t units, const char *id)
{
    struct hf_reservation got = HF_RESERVATION_INIT;
    struct hf_error err = {0};
    if (hf_stock_reserve(stock, user, units, id, &got, &err))
        TEST_FAIL("reserve: %s", err.text);
    return got;
}

static int says(hf_stock *stock, const char *user, int64_t units,
                const char *id)
{
    return take(stock, user, units, id).verdict;
}

static struct hf_stock_report books(hf_stock *stock)
{
    struct hf_stock_report r = HF_STOCK_REPORT_INIT;
    struct hf_error err = {0};
    if (hf_stock_audit(stock, NULL, NULL, &r, &err))
        TEST_FAIL("audit: %s", err.text);
    CHECK(r.is_balanced);
    return r;
}

static void books_are(hf_stock *stock, int64_t available, int64_t held,
                      int64_t sold)
{
    struct hf_stock_report r = books(stock);
    CHECK_INT(r.available, available);
    CHECK_INT(r.held, held);
    CHECK_INT(r.sold, sold);
}

TEST(stock, is_held_and_then_sold)
{
    if (!rig_begin_with(HF_CAP_STOCK)) return;
    hf_stock *s = sale(10, 0, 1);
    struct hf_reservation got = take(s, "ann", 3, "1");
    CHECK_INT(got.verdict, HF_STOCK_RESERVED);
    CHECK_INT(got.state, HF_STOCK_HELD);
    CHECK_INT(got.units, 3);
    CHECK(got.left_ms > 0 && got.token[0]);
    books_are(s, 7, 3, 0);
    struct hf_stock_settled out = HF_STOCK_SETTLED_INIT;
    CHECK_INT(hf_stock_confirm(s, got.token, &out, NULL), HF_OK);
    CHECK_INT(out.state, HF_STOCK_SOLD);
    CHECK_INT(out.changed, 1);
    CHECK_INT(hf_stock_confirm(s, got.token, &out, NULL), HF_OK);
    CHECK_INT(out.changed, 0);
    CHECK_INT(hf_stock_cancel(s, got.token, NULL, NULL), HF_NOT_OWNER);
    CHECK_INT(hf_stock_extend(s, got.token, 1000, NULL, NULL), HF_OK);
    books_are(s, 7, 0, 3);
}

TEST(stock, of_a_cancelled_reservation_is_available_again)
{
    if (!rig_begin_with(HF_CAP_STOCK)) return;
    hf_stock *s = sale(1, 1, 1);
    struct hf_reservation got = take(s, "ann", 1, "1");
    CHECK_INT(says(s, "bob", 1, "1"), HF_STOCK_SOLD_OUT);
    CHECK_INT(hf_stock_cancel(s, got.token, NULL, NULL), HF_OK);
    CHECK_INT(hf_stock_cancel(s, got.token, NULL, NULL), HF_OK);
    CHECK_INT(hf_stock_confirm(s, got.token, NULL, NULL), HF_EXPIRED);
    CHECK_INT(says(s, "ann", 1, "2"), HF_STOCK_RESERVED);
    books_are(s, 0, 1, 0);
}

TEST(stock, is_reserved_once_for_each_request_id)
{
    if (!rig_begin_with(HF_CAP_STOCK)) return;
    hf_stock *s = sale(5, 0, 1);
    struct hf_reservation first = take(s, "ann", 2, "1");
    struct hf_reservation again = take(s, "ann", 2, "1");
    CHECK_INT(again.verdict, HF_STOCK_DUPLICATE);
    CHECK_STR(again.token, first.token);
    CHECK_INT(again.order, first.order);
    CHECK_INT(says(s, "ann", 1, "1"), HF_STOCK_REUSED);
    CHECK_INT(says(s, "bob", 2, "1"), HF_STOCK_RESERVED);
    CHECK_INT(hf_stock_cancel(s, first.token, NULL, NULL), HF_OK);
    again = take(s, "ann", 2, "1");
    CHECK_INT(again.verdict, HF_STOCK_DUPLICATE);
    CHECK_INT(again.state, HF_STOCK_CANCELLED);
    books_are(s, 3, 2, 0);
}

TEST(stock, is_limited_for_each_user)
{
    if (!rig_begin_with(HF_CAP_STOCK)) return;
    hf_stock *s = sale(10, 2, 1);
    CHECK_INT(says(s, "ann", 3, "1"), HF_STOCK_LIMIT);
    struct hf_reservation got = take(s, "ann", 2, "2");
    CHECK_INT(hf_stock_confirm(s, got.token, NULL, NULL), HF_OK);
    CHECK_INT(says(s, "ann", 1, "3"), HF_STOCK_LIMIT);
    CHECK_INT(says(s, "bob", 2, "1"), HF_STOCK_RESERVED);
    books_are(s, 6, 2, 2);
}

TEST(stock, is_sold_between_its_start_and_its_end)
{
    if (!rig_begin_with(HF_CAP_STOCK)) return;
    hf_client *c = rig_client(NULL);
    struct hf_stock_spec spec = spec_of(1, 1);
    spec.opens_ms = INT64_C(1) << 45; /* far in the future */
    hf_stock *s = sale_of(c, &spec);
    struct hf_reservation got = take(s, "ann", 1, "1");
    CHECK_INT(got.verdict, HF_STOCK_NOT_OPEN);
    CHECK(got.left_ms > 0);
    spec.opens_ms = 0;
    spec.closes_ms = 1;
    CHECK_INT(hf_stock_create(c, "over", &spec, NULL), HF_OK);
    CHECK_INT(hf_stock_open(c, "over", &s, NULL), HF_OK);
    got = take(s, "ann", 1, "1");
    CHECK_INT(got.verdict, HF_STOCK_NOT_OPEN);
    CHECK_INT(got.left_ms, -1);
}

struct buyer {
    hf_stock *stock;
    const char *user;
    struct hf_reservation got;
};

static int buyer_has_it(void *arg)
{
    struct buyer *b = arg;
    b->got = take(b->stock, b->user, 1, "1");
    return b->got.verdict == HF_STOCK_RESERVED;
}

static hf_stock *short_sale(int64_t quantity, int64_t max_hold_ms)
{
    struct hf_stock_spec spec = spec_of(quantity, 1);
    spec.limit = 1;
    spec.hold_ms = SHORT_MS;
    spec.max_hold_ms = max_hold_ms;
    return sale_of(rig_client(NULL), &spec);
}

TEST(stock, that_is_not_paid_comes_back)
{
    if (!rig_begin_with(HF_CAP_STOCK)) return;
    struct buyer bob = {.stock = short_sale(1, 0), .user = "bob"};
    struct hf_reservation got = take(bob.stock, "ann", 1, "1");
    CHECK_INT(got.verdict, HF_STOCK_RESERVED);
    CHECK(rig_until(buyer_has_it, &bob));
    CHECK_INT(hf_stock_confirm(bob.stock, bob.got.token, NULL, NULL), HF_OK);
    struct hf_stock_settled out = HF_STOCK_SETTLED_INIT;
    CHECK_INT(hf_stock_confirm(bob.stock, got.token, &out, NULL), HF_EXPIRED);
    CHECK_INT(out.state, HF_STOCK_EXPIRED);
    books_are(bob.stock, 0, 0, 1);
}

static int nothing_is_held(void *stock)
{
    return books(stock).held == 0;
}

TEST(stock, paid_late_is_sold_if_it_is_still_there)
{
    if (!rig_begin_with(HF_CAP_STOCK)) return;
    hf_stock *s = short_sale(1, 0);
    struct hf_stock_settled out = HF_STOCK_SETTLED_INIT;
    struct hf_reservation got = take(s, "ann", 1, "1");
    CHECK(rig_until(nothing_is_held, s));
    CHECK_INT(hf_stock_confirm(s, got.token, &out, NULL), HF_OK);
    CHECK_INT(out.late, 1);
    books_are(s, 0, 0, 1);
}

TEST(stock, that_was_refunded_is_not_sold_later)
{
    if (!rig_begin_with(HF_CAP_STOCK)) return;
    hf_stock *s = short_sale(1, 0);
    struct hf_reservation got = take(s, "ann", 1, "1");
    CHECK(rig_until(nothing_is_held, s));
    struct hf_stock_report r = HF_STOCK_REPORT_INIT;
    CHECK_INT(hf_stock_end(s, &r, NULL), HF_OK);
    CHECK_INT(hf_stock_confirm(s, got.token, NULL, NULL), HF_EXPIRED);
    CHECK_INT(hf_stock_confirm(s, got.token, NULL, NULL), HF_EXPIRED);
    books_are(s, 1, 0, 0);
}

TEST(stock, can_be_held_for_longer_up_to_a_bound)
{
    if (!rig_begin_with(HF_CAP_STOCK)) return;
    hf_stock *s = short_sale(1, 30000);
    struct hf_stock_settled out = HF_STOCK_SETTLED_INIT;
    struct hf_reservation got = take(s, "ann", 1, "1");
    CHECK_INT(hf_stock_extend(s, got.token, 60000, &out, NULL), HF_OK);
    CHECK_INT(out.state, HF_STOCK_HELD);
    CHECK(out.left_ms > SHORT_MS && out.left_ms <= 30000);
    CHECK_INT(hf_stock_extend(s, got.token, 60000, &out, NULL), HF_OK);
    CHECK_INT(out.changed, 0);
    CHECK_INT(hf_stock_cancel(s, got.token, &out, NULL), HF_OK);
    CHECK_INT(out.state, HF_STOCK_CANCELLED);
    CHECK_INT(hf_stock_extend(s, got.token, 60000, NULL, NULL), HF_EXPIRED);
    books_are(s, 1, 0, 0);
}

TEST(stock, is_restocked_once_for_each_request_id)
{
    if (!rig_begin_with(HF_CAP_STOCK)) return;
    hf_stock *s = sale(1, 0, 3);
    CHECK_INT(hf_stock_restock(s, 5, "more", NULL), HF_OK);
    CHECK_INT(hf_stock_restock(s, 5, "more", NULL), HF_OK);
    CHECK_INT(hf_stock_restock(s, 6, "more", NULL), HF_CONFLICT);
    CHECK_INT(books(s).quantity, 6);
    books_are(s, 6, 0, 0);
}

TEST(stock, of_an_ended_sale_is_settled_but_not_reserved)
{
    if (!rig_begin_with(HF_CAP_STOCK)) return;
    hf_stock *s = sale(5, 0, 2);
    struct hf_stock_report r = HF_STOCK_REPORT_INIT;
    struct hf_reservation got = take(s, "ann", 1, "1");
    CHECK_INT(hf_stock_end(s, &r, NULL), HF_OK);
    CHECK_INT(r.is_ended, 1);
    CHECK_INT(r.held, 1);
    CHECK_INT(says(s, "bob", 1, "1"), HF_STOCK_NOT_OPEN);
    CHECK_INT(says(s, "ann", 1, "1"), HF_STOCK_DUPLICATE);
    CHECK_INT(hf_stock_restock(s, 1, "more", NULL), HF_EXPIRED);
    CHECK_INT(hf_stock_confirm(s, got.token, NULL, NULL), HF_OK);
    books_are(s, 4, 0, 1);
}

TEST(stock, is_not_settled_by_a_forged_or_cut_token)
{
    if (!rig_begin_with(HF_CAP_STOCK)) return;
    hf_stock *s = sale(5, 0, 1);
    struct hf_reservation got = take(s, "ann", 1, "1");
    char *nonce = strchr(strchr(got.token, '.') + 1, '.') + 1;
    *nonce = *nonce == 'A' ? 'B' : 'A';
    CHECK_INT(hf_stock_confirm(s, got.token, NULL, NULL), HF_EMPTY);
    CHECK_INT(hf_stock_cancel(s, got.token, NULL, NULL), HF_EMPTY);
    got = take(s, "ann", 1, "1");
    got.token[strlen(got.token) - 1] = '\0';
    CHECK_INT(hf_stock_confirm(s, got.token, NULL, NULL), HF_EMPTY);
    static const char *const bad[] = {"",
                                      "x",
                                      "0",
                                      "0.1",
                                      "0.1.abc",
                                      "0.1.abcdefghijk",
                                      "0.1.abcdefghijk.",
                                      "7.1.abcdefghijk.ann",
                                      "0.0.abcdefghijk.ann",
                                      "-1.1.abcdefghijk.ann",
                                      "0.99999999999999999999.abcdefghijk.ann",
                                      "0.1.abcdefghijk.a,b",
                                      "0.1.abcdefghijk.a b",
                                      "0.1.abc;efghijk.ann"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_INT(hf_stock_confirm(s, bad[i], NULL, NULL), HF_INVALID);
    CHECK_INT(hf_stock_confirm(s, NULL, NULL, NULL), HF_INVALID);
    books_are(s, 4, 1, 0);
}

TEST(stock, names_a_sale_that_is_not_there_or_has_other_terms)
{
    if (!rig_begin_with(HF_CAP_STOCK)) return;
    hf_client *c = rig_client(NULL);
    hf_stock *s = NULL;
    CHECK_INT(hf_stock_open(c, "sale", &s, NULL), HF_EMPTY);
    CHECK(s == NULL);
    struct hf_stock_spec spec = spec_of(5, 2);
    CHECK_INT(hf_stock_create(c, "sale", &spec, NULL), HF_OK);
    CHECK_INT(hf_stock_create(c, "sale", &spec, NULL), HF_OK);
    spec.limit = 7;
    CHECK_INT(hf_stock_create(c, "sale", &spec, NULL), HF_CONFLICT);
    spec = spec_of(5, 3);
    CHECK_INT(hf_stock_create(c, "sale", &spec, NULL), HF_CONFLICT);
    CHECK_INT(hf_stock_open(c, "sale", &s, NULL), HF_OK);
    books_are(s, 5, 0, 0);
    CHECK_INT(books(s).segments, 2);
}

TEST(stock, refuses_what_is_out_of_range)
{
    if (!rig_begin_with(HF_CAP_STOCK)) return;
    hf_client *c = rig_client(NULL);
    char text[400];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    const struct hf_stock_spec bad[] = {
        {.segments = 0, .quantity = 1},
        {.segments = 65, .quantity = 1},
        {.segments = 1, .quantity = 0},
        {.segments = 1, .quantity = -1},
        {.segments = 1, .quantity = HF_STOCK_UNITS_MAX + 1},
        {.segments = 1, .quantity = 1, .limit = -1},
        {.segments = 1, .quantity = 1, .hold_ms = -1},
        {.segments = 1, .quantity = 1, .hold_ms = 10, .max_hold_ms = 9},
        {.segments = 1, .quantity = 1, .opens_ms = 9, .closes_ms = 9}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct hf_stock_spec spec = bad[i];
        spec.struct_size = sizeof spec;
        CHECK_INT(hf_stock_create(c, "sale", &spec, NULL), HF_INVALID);
    }
    struct hf_stock_spec good = spec_of(5, 1);
    CHECK_INT(hf_stock_create(c, "", &good, NULL), HF_INVALID);
    CHECK_INT(hf_stock_create(c, text, &good, NULL), HF_INVALID);
    hf_stock *s = sale_of(c, &good);
    struct hf_reservation got = HF_RESERVATION_INIT;
    CHECK_INT(hf_stock_reserve(s, "", 1, "1", &got, NULL), HF_INVALID);
    CHECK_INT(hf_stock_reserve(s, text, 1, "1", &got, NULL), HF_INVALID);
    CHECK_INT(hf_stock_reserve(s, "ann", 1, "", &got, NULL), HF_INVALID);
    CHECK_INT(hf_stock_reserve(s, "ann", 1, text, &got, NULL), HF_INVALID);
    CHECK_INT(hf_stock_reserve(s, "ann", 0, "1", &got, NULL), HF_INVALID);
    CHECK_INT(hf_stock_reserve(s, "ann", -1, "1", &got, NULL), HF_INVALID);
    CHECK_INT(hf_stock_reserve(s, "ann", INT64_MAX, "1", &got, NULL),
              HF_INVALID);
    CHECK_INT(hf_stock_restock(s, -1, "1", NULL), HF_INVALID);
    books_are(s, 5, 0, 0);
}

TEST(stock, has_users_and_ids_of_any_bytes)
{
    if (!rig_begin_with(HF_CAP_STOCK)) return;
    hf_stock *s = sale(9, 1, 4);
    char longest[HF_STOCK_USER_MAX + 1];
    memset(longest, ' ', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    const char *const users[] = {"a,b;c.d|e", "\xff\x01 %41", "%41",
                                 "A",         "{x}",          longest};
    for (size_t i = 0; i < sizeof users / sizeof users[0]; i++) {
        struct hf_reservation got = take(s, users[i], 1, "a,b;\n");
        CHECK_INT(got.verdict, HF_STOCK_RESERVED);
        CHECK_INT(hf_stock_confirm(s, got.token, NULL, NULL), HF_OK);
        CHECK_INT(says(s, users[i], 1, "2"), HF_STOCK_LIMIT);
    }
    books_are(s, 3, 0, 6);
}

static void books_count(uint32_t segment, const struct hf_stock_report *r,
                        void *user)
{
    CHECK(r->is_balanced && segment < 5);
    ++*(int *)user;
}

/* All users of one segment: its units are a fifth of all. */
TEST(stock, of_all_segments_is_sold_to_users_of_one)
{
    if (!rig_begin_with(HF_CAP_STOCK)) return;
    hf_stock *s = sale(23, 0, 5);
    int sold = 0, segments = 0;
    for (int i = 0; i < 40; i++) {
        char id[16];
        snprintf(id, sizeof id, "%d", i);
        int verdict = says(s, "ann", i == 5 ? 7 : 1, id);
        sold += verdict == HF_STOCK_RESERVED ? i == 5 ? 7 : 1 : 0;
        if (verdict != HF_STOCK_RESERVED) CHECK_INT(verdict, HF_STOCK_SOLD_OUT);
    }
    CHECK_INT(sold, 23);
    struct hf_stock_report r = HF_STOCK_REPORT_INIT;
    CHECK_INT(hf_stock_audit(s, books_count, &segments, &r, NULL), HF_OK);
    CHECK_INT(segments, 5);
    CHECK_INT(r.given, r.received);
    CHECK(r.given > 0);
    books_are(s, 0, 23, 0);
}

static struct heard {
    atomic_int calls, reserved, settled;
    int status, state;
    char token[HF_STOCK_TOKEN_MAX];
} heard;

static void on_reserved(hf_stock *stock, int status,
                        const struct hf_reservation *got,
                        const struct hf_error *err, void *user)
{
    (void)stock;
    (void)err;
    struct heard *h = user;
    CHECK_INT(status, HF_OK);
    if (got->verdict == HF_STOCK_RESERVED) {
        snprintf(h->token, sizeof h->token, "%s", got->token);
        atomic_fetch_add(&h->reserved, 1);
    }
    atomic_fetch_add(&h->calls, 1);
}

static void on_settled(hf_stock *stock, int status,
                       const struct hf_stock_settled *settled,
                       const struct hf_error *err, void *user)
{
    (void)stock;
    (void)err;
    struct heard *h = user;
    h->status = status;
    h->state = settled ? settled->state : -1;
    atomic_fetch_add(&h->settled, 1);
}

TEST(stock, is_reserved_and_settled_asynchronously)
{
    if (!rig_begin_with(HF_CAP_STOCK)) return;
    memset(&heard, 0, sizeof heard);
    hf_stock *s = sale(20, 1, 2);
    for (int i = 0; i < 60; i++) {
        char user[16];
        snprintf(user, sizeof user, "u%d", i);
        CHECK_INT(
            hf_stock_reserve_start(s, user, 1, "1", on_reserved, &heard, NULL),
            HF_OK);
    }
    CHECK(rig_until_equal(&heard.calls, 60));
    struct hf_stock_report r = books(s);
    CHECK_INT(r.held, heard.reserved);
    CHECK_INT(r.available + r.held + r.given - r.received, 20);
    CHECK_INT(hf_stock_settle_start(s, HF_STOCK_CONFIRM, heard.token, 0,
                                    on_settled, &heard, NULL),
              HF_OK);
    CHECK(rig_until_equal(&heard.settled, 1));
    CHECK_INT(heard.status, HF_OK);
    CHECK_INT(heard.state, HF_STOCK_SOLD);
    CHECK_INT(hf_stock_settle_start(s, HF_STOCK_CANCEL, heard.token, 0,
                                    on_settled, &heard, NULL),
              HF_OK);
    CHECK(rig_until_equal(&heard.settled, 2));
    CHECK_INT(heard.status, HF_NOT_OWNER);
    CHECK_INT(
        hf_stock_settle_start(s, 9, heard.token, 0, on_settled, &heard, NULL),
        HF_INVALID);
    CHECK_INT(hf_stock_reserve_start(s, "", 1, "1", on_reserved, &heard, NULL),
              HF_INVALID);
}

TEST(stock, of_a_sale_that_was_left_open_is_freed_with_the_client)
{
    if (!rig_begin_with(HF_CAP_STOCK)) return;
    hf_stock *s = sale(1, 0, 1);
    hf_stock *other = NULL;
    CHECK_INT(hf_stock_open(rig_client(NULL), "sale", &other, NULL), HF_OK);
    hf_stock_close(other);
    hf_stock_close(NULL);
    CHECK_INT(says(s, "ann", 1, "1"), HF_STOCK_RESERVED);
}
