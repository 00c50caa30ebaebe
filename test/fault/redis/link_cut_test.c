/*
 * link_cut_test.c: the line breaks after every single byte of an exchange.  One
 * rule: wherever it breaks, the call ends by its deadline with a true answer,
 * no lock is left behind beyond its lease, and fences rise.
 */
#include <string.h>

#include "lib/proxy.h"
#include "lib/rig.h"
#include "lib/rig_redis.h"

#define LEASE_MS 1500
#define WAIT_MS 5000

struct cut_rig {
    struct lab_server redis;
    struct lab_proxy proxy;
    char url[64];
    hf_lock *direct; /* of a client that nobody cuts */
    uint64_t fence;  /* the highest so far */
    int granted, unavailable;
};

static void cut_begin(struct cut_rig *r)
{
    redis_begin(&r->redis, NULL);
    rig_begin_at(r->redis.url);
    proxy_begin(&r->proxy, r->redis.port);
    snprintf(r->url, sizeof r->url, "redis://127.0.0.1:%d", r->proxy.port);
    r->direct = rig_lock(rig_client(NULL), "a");
    r->fence = 0;
    r->granted = r->unavailable = 0;
}

static void fence_rises(struct cut_rig *r, uint64_t fence)
{
    CHECK(fence > r->fence);
    r->fence = fence;
}

/* Acquire and release over the line: each call ends in time, and its status is
 * true. */
static void exchange(struct cut_rig *r, long n)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_error err = {0};
    hf_hold *g;
    o.lease_ms = LEASE_MS;
    o.timeout_ms = 1000;
    o.patience_ms = 3000;
    hf_client *c = rig_client_at(r->url, &o);
    hf_lock *l = rig_lock(c, "a");
    struct hf_acquire_options a = rig_options(WAIT_MS, 0, 0);
    int64_t began_ms = rig_now_ms();
    int status = hf_lock_acquire(l, &a, &g, &err);
    if (status == HF_OK) {
        r->granted++;
        fence_rises(r, hf_hold_fence(g));
        status = hf_hold_release(g, &err);
    }
    if (status == HF_UNAVAILABLE) r->unavailable++;
    if (status != HF_OK && status != HF_UNAVAILABLE)
        TEST_FAIL("cut after %ld: %s: %s", n, hf_status_name(status), err.text);
    CHECK(rig_now_ms() - began_ms < WAIT_MS + 10000);
    rig_close(c);
}

/* No client holds it, unless a grant was lost: then until its lease is over. */
static void nothing_is_left(struct cut_rig *r)
{
    hf_hold *g;
    CHECK_INT(rig_acquire(r->direct, 0, LEASE_MS + 10000, &g), HF_OK);
    fence_rises(r, hf_hold_fence(g));
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(redis_number(&r->redis, "EXISTS a"), 0);
}

static void cut_everywhere(struct cut_rig *r, enum lab_way way, long step)
{
    proxy_arm(&r->proxy, way, -1, 0);
    exchange(r, -1);
    long len = atomic_load(&r->proxy.bytes[way]);
    int cuts = 0;
    CHECK(len > 10);
    CHECK_INT(r->granted, 1);
    for (long n = 1; n <= len; n += step) {
        proxy_arm(&r->proxy, way, n, n % 2 == 0);
        exchange(r, n);
        cuts += atomic_load(&r->proxy.cuts);
        nothing_is_left(r);
    }
    printf("    %ld bytes, %d cuts: %d granted, %d unavailable\n", len, cuts,
           r->granted, r->unavailable);
    /* Close may end before the last bytes have come: those cuts are missed. */
    CHECK(cuts > len / step / 2);
    CHECK(r->granted > 0);
}

TEST(link_cut, after_every_byte_of_the_servers_replies)
{
    static struct cut_rig r;
    cut_begin(&r);
    cut_everywhere(&r, PROXY_DOWN, 1);
}

TEST(link_cut, all_along_the_requests)
{
    static struct cut_rig r;
    cut_begin(&r);
    cut_everywhere(&r, PROXY_UP, 61);
}

/* A held lock outlives the line as long as it is mended within the lease. */
TEST(link_cut, a_holder_keeps_its_lock_over_many_cuts)
{
    hf_hold *g = NULL;
    static struct cut_rig r;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    cut_begin(&r);
    struct hf_acquire_options a = rig_options(RIG_TRY, 60000, 0);
    a.renew_ms = 1000;
    o.timeout_ms = 500;
    hf_lock *l = rig_lock(rig_client_at(r.url, &o), "a");
    CHECK_INT(hf_lock_acquire(l, &a, &g, NULL), HF_OK);
    int cuts = 0;
    for (int i = 0; i < 8; i++) {
        proxy_arm(&r.proxy, i % 2 ? PROXY_UP : PROXY_DOWN, 5 + 11 * i, i % 2);
        rig_pause_ms(1300);
        cuts += atomic_load(&r.proxy.cuts);
        CHECK_INT(hf_lock_try(r.direct, NULL, NULL), HF_TAKEN);
    }
    CHECK(cuts > 0);
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(rig_probe(r.direct), HF_OK);
}

struct waiter {
    hf_lock *lock;
    atomic_int started, ended;
    int status;
};

static void waiter_run(void *arg)
{
    struct waiter *w = arg;
    atomic_store(&w->started, 1);
    w->status = rig_acquire(w->lock, 0, RIG_WAIT_MS, NULL);
    if (w->status == HF_OK) hf_lock_release(w->lock, NULL, NULL);
    atomic_store(&w->ended, 1);
}

/* The wake-up is lost with the line: a client that reconnects asks again. */
TEST(link_cut, a_waiter_whose_line_is_cut_gets_the_lock)
{
    static struct cut_rig r;
    static struct waiter w;
    cut_begin(&r);
    w.lock = rig_lock(rig_client_at(r.url, NULL), "a");
    for (int i = 0; i < 4; i++) {
        atomic_store(&w.started, 0);
        atomic_store(&w.ended, 0);
        CHECK_INT(hf_lock_try(r.direct, NULL, NULL), HF_OK);
        rig_spawn(waiter_run, &w);
        CHECK(rig_until_equal(&w.started, 1));
        rig_pause_ms(300);
        /* The message itself is cut off, somewhere. */
        proxy_arm(&r.proxy, PROXY_DOWN, i * 9, i % 2);
        CHECK_INT(hf_lock_release(r.direct, NULL, NULL), HF_OK);
        CHECK(rig_until_equal(&w.ended, 1));
        CHECK_INT(w.status, HF_OK);
        CHECK(rig_until_equal(&r.proxy.cuts, 1));
    }
}
