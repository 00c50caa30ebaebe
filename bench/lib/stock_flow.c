/*
 * stock_flow.c: see stock_flow.h.  One rule: every answer is looked at, and one
 * that is not expected ends the program.
 */
#define _POSIX_C_SOURCE 200809L
#include "stock_flow.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <holdfast/holdfast.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "raw_redis.h"
#include "tool.h"

#define QUANTITY HF_STOCK_UNITS_MAX

/* ---- the server's side --------------------------------------------------- */

static double info(struct bench *b, const char *section, const char *field)
{
    redisReply *a = redisCommand(b->server.redis, "INFO %s", section);
    const char *at = a && a->str ? strstr(a->str, field) : NULL;

    if (!at) fail("redis-server: INFO tells no %s", field);
    double value = strtod(at + strlen(field), NULL);
    freeReplyObject(a);
    return value;
}

static double cpu_us(struct bench *b)
{
    return 1e6
           * (info(b, "cpu", "used_cpu_user:")
              + info(b, "cpu", "used_cpu_sys:"));
}

struct meter {
    uint64_t start_ns;
    double cpu_us, bytes;
};

static void meter_begin(struct bench *b, struct meter *m)
{
    m->bytes = info(b, "memory", "used_memory:");
    m->cpu_us = cpu_us(b);
    m->start_ns = now_ns();
}

static void meter_end(struct bench *b, const struct meter *m, uint64_t ops,
                      struct stock_flow *out)
{
    double secs = (double)(now_ns() - m->start_ns) / 1e9, n = (double)ops;

    if (ops == 0) fail("stock: nothing was sold");
    out->per_s = n / secs;
    out->server_us = (cpu_us(b) - m->cpu_us) / n;
    out->bytes = (info(b, "memory", "used_memory:") - m->bytes) / n;
}

/* ---- a sale -------------------------------------------------------------- */

static uint64_t deadline_of(const struct bench *b)
{
    return now_ns() + (uint64_t)(b->secs * (double)NS_PER_S);
}

static hf_client *client_open(const struct bench *b, uint32_t flags)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_error err;
    hf_client *client;
    char url[64];

    o.flags = flags;
    snprintf(url, sizeof(url), "redis://127.0.0.1:%d", b->server.port);
    if (hf_client_open(url, &o, &client, &err) != HF_OK) fail("%s", err.text);
    return client;
}

static void sale_make(struct bench *b, int64_t quantity)
{
    struct hf_stock_spec spec = HF_STOCK_SPEC_INIT;
    struct hf_error err;
    hf_client *client = client_open(b, 0);

    spec.quantity = quantity;
    spec.limit = 1;
    if (hf_stock_create(client, "bench", &spec, &err) != HF_OK)
        fail("%s", err.text);
    hf_client_close(client);
}

static hf_stock *sale_open(hf_client *client)
{
    struct hf_error err;
    hf_stock *stock;

    if (hf_stock_open(client, "bench", &stock, &err) != HF_OK)
        fail("%s", err.text);
    return stock;
}

/* ---- many at once on each of a few connections --------------------------- */

/* A thread that buys. */
struct buyer {
    struct bench *bench;
    pthread_t thread;
    pthread_barrier_t *ready;
    int number;
    enum hf_stock_verdict expected;
    uint64_t most; /* 0: as many as there is time for */
    uint64_t deadline_ns, begun, done;
    hf_stock *stock;
    int flying;
};

static void piped_start(struct buyer *p);

static void on_reserved(hf_stock *stock, int status,
                        const struct hf_reservation *got,
                        const struct hf_error *err, void *user)
{
    struct buyer *p = user;

    (void)stock;
    if (status != HF_OK) fail("reserve: %s", err->text);
    if (got->verdict != (int32_t)p->expected)
        fail("reserve: verdict %d", got->verdict);
    p->flying--;
    p->done++;
    if (p->most ? p->begun < p->most : now_ns() < p->deadline_ns)
        piped_start(p);
}

static void piped_start(struct buyer *p)
{
    char user[32], id[32];
    struct hf_error err;

    snprintf(user, sizeof(user), "u%d%06" PRIu64, p->number, p->begun);
    snprintf(id, sizeof(id), "o%d%06" PRIu64, p->number, p->begun++);
    p->flying++;
    if (hf_stock_reserve_start(p->stock, user, 1, id, on_reserved, p, &err)
        != HF_OK)
        fail("reserve: %s", err.text);
}

static void *buyer_piped(void *arg)
{
    struct buyer *p = arg;
    hf_client *client = client_open(p->bench, HF_CLIENT_OWN_LOOP);
    struct pollfd wait = {.fd = hf_client_fd(client), .events = POLLIN};

    p->stock = sale_open(client);
    pthread_barrier_wait(p->ready);
    p->deadline_ns = deadline_of(p->bench);
    for (int i = 0; i < STOCK_DEPTH; i++) piped_start(p);
    while (p->flying > 0) {
        if (poll(&wait, 1, 1000) < 0 && errno != EINTR)
            fail("poll: %s", strerror(errno));
        int status = hf_client_process(client);
        if (status != HF_OK) fail("process: %s", hf_status_text(status));
    }
    hf_stock_close(p->stock);
    hf_client_close(client);
    return NULL;
}

/* ---- one at a time on each of many connections --------------------------- */

static void *buyer_reserve(void *arg)
{
    struct buyer *me = arg;
    struct hf_reservation got = HF_RESERVATION_INIT;
    struct hf_error err;
    hf_client *client = client_open(me->bench, 0);
    hf_stock *stock = sale_open(client);
    char user[48];

    pthread_barrier_wait(me->ready);
    for (me->deadline_ns = deadline_of(me->bench); now_ns() < me->deadline_ns;
         me->done++) {
        snprintf(user, sizeof(user), "u%02d%05" PRIu64, me->number, me->done);
        if (hf_stock_reserve(stock, user, 1, user, &got, &err) != HF_OK
            || got.verdict != HF_STOCK_RESERVED)
            fail("reserve: %s, verdict %d", err.text, got.verdict);
    }
    hf_stock_close(stock);
    hf_client_close(client);
    return NULL;
}

static redisReply *ask(struct raw_link *l, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    redisReply *a = redisvCommand(l->redis, format, ap);
    va_end(ap);
    if (!a || a->type == REDIS_REPLY_ERROR) fail("stock: %s", format);
    return a;
}

static void lock_take(struct raw_link *l, const char *value, unsigned *seed)
{
    for (;;) {
        redisReply *a = ask(l, "SET bench-lock %s NX PX 30000", value);
        int taken = a->type != REDIS_REPLY_STATUS;
        freeReplyObject(a);
        if (!taken) return;
        pause_ns(NS_PER_MS / 2 + (uint64_t)rand_r(seed) % NS_PER_MS);
    }
}

static void *buyer_lock(void *arg)
{
    struct buyer *me = arg;
    struct raw_link link;
    unsigned seed = (unsigned)me->number + 1;
    char value[48];

    raw_link_open(&link, me->bench->server.port);
    pthread_barrier_wait(me->ready);
    for (me->deadline_ns = deadline_of(me->bench); now_ns() < me->deadline_ns;
         me->done++) {
        snprintf(value, sizeof(value), "%d:%" PRIu64, me->number, me->done);
        lock_take(&link, value, &seed);
        redisReply *stock = ask(&link, "GET bench-stock");
        long long left = stock->str ? atoll(stock->str) : 0;
        if (left < 1) fail("stock: the lock's number is gone");
        freeReplyObject(stock);
        freeReplyObject(ask(&link, "SET bench-stock %lld", left - 1));
        stock =
            ask(&link, "EVALSHA %s 1 bench-lock %s", link.release_sha, value);
        if (stock->integer != 1) fail("stock: the lock was lost");
        freeReplyObject(stock);
    }
    redisFree(link.redis);
    return NULL;
}

/* Let that many threads buy, each `most` times or for the bench's time. */
static void buyers_run(struct bench *b, int len, void *(*buy)(void *),
                       enum hf_stock_verdict expected, uint64_t most,
                       struct stock_flow *out)
{
    struct buyer buyers[STOCK_BUYERS] = {0};
    pthread_barrier_t ready;
    struct meter m;
    uint64_t done = 0;

    if (pthread_barrier_init(&ready, NULL, (unsigned)len + 1) != 0)
        fail("no barrier");
    for (int i = 0; i < len; i++) {
        buyers[i] = (struct buyer){.bench = b,
                                   .ready = &ready,
                                   .number = i,
                                   .expected = expected,
                                   .most = most};
        if (pthread_create(&buyers[i].thread, NULL, buy, &buyers[i]) != 0)
            fail("no thread");
    }
    meter_begin(b, &m);
    pthread_barrier_wait(&ready);
    for (int i = 0; i < len; i++) {
        pthread_join(buyers[i].thread, NULL);
        done += buyers[i].done;
    }
    meter_end(b, &m, done, out);
    pthread_barrier_destroy(&ready);
}

static void sell(struct bench *b, int len, void *(*buy)(void *), uint64_t most,
                 struct stock_flow *out)
{
    server_flush(&b->server);
    sale_make(b, QUANTITY);
    buyers_run(b, len, buy, HF_STOCK_RESERVED, most, out);
}

void stock_flow_piped(struct bench *b, struct stock_flow *out)
{
    sell(b, STOCK_PIPES, buyer_piped, 0, out);
}

void stock_flow_stored(struct bench *b, struct stock_flow *out)
{
    sell(b, STOCK_PIPES, buyer_piped, STOCK_STORED / STOCK_PIPES, out);
}

void stock_flow_buyers(struct bench *b, struct stock_flow *out)
{
    sell(b, STOCK_BUYERS, buyer_reserve, 0, out);
}

void stock_flow_sold_out(struct bench *b, struct stock_flow *out)
{
    struct hf_reservation got = HF_RESERVATION_INIT;
    struct hf_error err;

    server_flush(&b->server);
    sale_make(b, 1);
    hf_client *client = client_open(b, 0);
    hf_stock *stock = sale_open(client);
    if (hf_stock_reserve(stock, "first", 1, "1", &got, &err) != HF_OK)
        fail("reserve: %s", err.text);
    hf_stock_close(stock);
    hf_client_close(client);
    buyers_run(b, STOCK_PIPES, buyer_piped, HF_STOCK_SOLD_OUT, 0, out);
}

void stock_flow_lock(struct bench *b, struct stock_flow *out)
{
    struct raw_link link;

    server_flush(&b->server);
    raw_link_open(&link, b->server.port);
    freeReplyObject(ask(&link, "SET bench-stock %lld", (long long)QUANTITY));
    redisFree(link.redis);
    buyers_run(b, STOCK_BUYERS, buyer_lock, HF_STOCK_RESERVED, 0, out);
}
