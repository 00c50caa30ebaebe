/*
 * stock_killed_test.c: kill -9 of buyers while they buy, and of a server that
 * has each write on disk before it answers.  One rule: what was told to be
 * reserved is reserved, once, and every unit is sold in the end.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "api/stock/stock.h"
#include "lib/proc.h"
#include "lib/rig.h"
#include "lib/rig_redis.h"
#include "lib/shoppers.h"
#include "sys/random.h"

#define SEGMENTS 32 /* many, so that units are often fetched */
#define UNITS 960
#define ORDERS 1500
#define KILLS 3
#define BUYERS 4
#define ROUNDS 10
#define EACH 20 /* units of one buyer at most */

static struct lab_server r;

static hf_client *client_at(const char *url)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.patience_ms = RIG_PATIENCE_MS;
    return rig_client_at(url, &o);
}

static hf_stock *sale(hf_client *c, int64_t quantity)
{
    struct hf_stock_spec spec = HF_STOCK_SPEC_INIT;
    struct hf_error err = {0};
    hf_stock *stock = NULL;
    spec.quantity = quantity;
    spec.segments = SEGMENTS;
    spec.limit = 1;
    spec.hold_ms = 3600000;
    if (hf_stock_create(c, "sale", &spec, &err)) TEST_FAIL("%s", err.text);
    if (hf_stock_open(c, "sale", &stock, &err)) TEST_FAIL("%s", err.text);
    return stock;
}

TEST(stock_killed, a_server_with_its_writes_on_disk_forgets_no_order)
{
    static const char *const durable[] = {"--appendonly", "yes",
                                          "--appendfsync", "always", NULL};
    redis_begin(&r, durable);
    rig_begin_at(r.url);
    hf_stock *stock = sale(client_at(r.url), UNITS);
    shoppers_begin(stock, ORDERS);
    for (int i = 1; i <= KILLS; i++) {
        shoppers_wait(i * UNITS / (KILLS + 1));
        redis_shutdown(&r, 0);
        redis_start(&r);
    }
    shoppers_end(UNITS);
}

/* ---- buyers -------------------------------------------------------------- */

struct buyer {
    const char *url;
    int number, round;
};

/* Buys a unit for each line that it hears, and says its token; all for users
 * of the first segment, so that the others' units are fetched. */
static int buyer_run(struct lab_proc *self, const void *arg)
{
    const struct buyer *me = arg;
    struct hf_reservation got = HF_RESERVATION_INIT;
    hf_client *c = NULL;
    hf_stock *stock = NULL;
    char user[48], line[PROC_LINE_MAX];
    int made = 0;
    if (hf_client_open(me->url, NULL, &c, NULL) != HF_OK) return 1;
    if (hf_stock_open(c, "sale", &stock, NULL) != HF_OK) return 1;
    while (proc_hear(self, line, RIG_PATIENCE_MS)) {
        do
            snprintf(user, sizeof user, "b%d.%d.%d", me->round, me->number,
                     made++);
        while (hf__sale_home(user, SEGMENTS) != 0);
        do
            if (hf_stock_reserve(stock, user, 1, "only", &got, NULL) != HF_OK)
                return 1;
        while (got.verdict == HF_STOCK_BUSY);
        if (got.verdict != HF_STOCK_RESERVED) return 1;
        proc_say(self, "%s", got.token);
    }
    return 1;
}

static char tokens[UNITS][64]; /* all that were said */
static int tokens_len;

static int token_hear(struct lab_proc *p, int64_t timeout_ms)
{
    char line[PROC_LINE_MAX];
    if (!proc_hear(p, line, timeout_ms)) return 0;
    CHECK(tokens_len < UNITS && strlen(line) < sizeof tokens[0]);
    memcpy(tokens[tokens_len++], line, strlen(line) + 1);
    return 1;
}

/* Kill each of them in the middle of its sales. */
static void round_play(int round, uint64_t *random)
{
    static struct lab_proc procs[BUYERS];
    static struct buyer buyers[BUYERS];
    for (int i = 0; i < BUYERS; i++) {
        buyers[i] = (struct buyer){r.url, i, round};
        proc_start(&procs[i], buyer_run, &buyers[i]);
        for (int j = 0; j < EACH; j++) proc_say(&procs[i], "buy");
    }
    for (int i = 0; i < BUYERS; i++) {
        int wanted = 1 + (int)(hf__random_next(random) % (EACH / 2));
        while (wanted-- > 0) CHECK(token_hear(&procs[i], RIG_PATIENCE_MS));
        proc_signal(&procs[i], SIGKILL);
    }
    for (int i = 0; i < BUYERS; i++) {
        CHECK_INT(proc_wait(&procs[i], RIG_PATIENCE_MS), -SIGKILL);
        while (token_hear(&procs[i], 0)) continue;
    }
}

static struct hf_stock_report books(hf_stock *stock)
{
    struct hf_stock_report report = HF_STOCK_REPORT_INIT;
    CHECK_INT(hf_stock_audit(stock, NULL, NULL, &report, NULL), HF_OK);
    CHECK(report.is_balanced);
    return report;
}

/* Until nothing is left, nor on its way. */
static int is_rest_sold(void *arg)
{
    static int made;
    struct hf_reservation got = HF_RESERVATION_INIT;
    char user[16];
    do {
        snprintf(user, sizeof user, "rest%d", made++);
        CHECK_INT(hf_stock_reserve(arg, user, 1, "only", &got, NULL), HF_OK);
    } while (got.verdict == HF_STOCK_RESERVED);
    struct hf_stock_report report = books(arg);
    return report.available == 0 && report.given == report.received;
}

TEST(stock_killed, buyers_leave_nothing_sold_twice_and_nothing_lost)
{
    uint64_t random = 7;
    struct hf_stock_settled settled = HF_STOCK_SETTLED_INIT;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    hf_client *c = client_at(r.url); /* its threads end before a fork */
    hf_stock_close(sale(c, UNITS));
    rig_close(c);
    tokens_len = 0;
    for (int i = 0; i < ROUNDS; i++) round_play(i, &random);
    CHECK(tokens_len > 0);
    hf_stock *stock = sale(client_at(r.url), UNITS);
    CHECK(books(stock).held >= tokens_len);
    CHECK(rig_until(is_rest_sold, stock));
    CHECK_INT(books(stock).held, UNITS);
    for (int i = 0; i < tokens_len; i++) {
        CHECK_INT(hf_stock_confirm(stock, tokens[i], &settled, NULL), HF_OK);
        CHECK_INT(settled.changed, 1);
    }
    CHECK_INT(books(stock).sold, tokens_len);
}
