/*
 * redlock_cut_test.c: the lines to a majority break after a number of bytes, so
 * that answers are lost.  One rule: an acquire whose answer is lost is not a
 * grant, a release whose answer is lost may have been carried out: there are
 * never two holders, and no server keeps a lock that has no holder.
 */
#include <string.h>

#include "lib/redlock.h"

#define LEASE_MS                                                               \
    60000      /* no lease ends within a test: what goes, was released */
#define CUTS 3 /* lines that are cut: no majority without them */
#define STEP 7

static struct redlock r;

static struct {
    hf_client *clients[2];
    hf_lock *one, *two;
    uint64_t fence; /* the highest so far */
    int granted, failed, cuts;
} at;

static void at_begin(void)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    memset(&at, 0, sizeof at);
    redlock_begin(&r, LEASE_MS);
    o.timeout_ms = 1000;
    o.patience_ms = 2000;
    for (int i = 0; i < 2; i++) at.clients[i] = redlock_client(&r, 0, &o);
    at.one = rig_lock(at.clients[0], "a");
    at.two = rig_lock(at.clients[1], "a");
}

static void lines_arm(enum lab_way way, long n)
{
    for (int i = 0; i < CUTS; i++)
        proxy_arm(&r.five.nodes[i].proxy, way, n, n % 2 == 0);
}

/* Cuts that were not needed are no longer made. */
static void lines_mend(void)
{
    for (int i = 0; i < CUTS; i++) {
        at.cuts += atomic_load(&r.five.nodes[i].proxy.cuts);
        proxy_arm(&r.five.nodes[i].proxy, PROXY_DOWN, -1, 0);
    }
    for (int i = 0; i < 2; i++)
        CHECK(redlock_until_voters(at.clients[i], REDLOCK_NODES));
}

/* A client acquires and releases while lines break; no other client has what it
 * holds. */
static void exchange(enum lab_way way, long n)
{
    hf_hold *g;
    lines_arm(way, n);
    int status = rig_acquire(at.one, 0, RIG_TRY, &g);
    if (status == HF_OK) {
        at.granted++;
        CHECK(hf_hold_fence(g) > at.fence);
        at.fence = hf_hold_fence(g);
        CHECK(rig_probe(at.two) != HF_OK);
        status = hf_hold_release(g, NULL);
    }
    if (status != HF_OK) at.failed++;
    if (status != HF_OK && status != HF_UNAVAILABLE)
        TEST_FAIL("cut after %ld: %s", n, hf_status_name(status));
    lines_mend();
    if (!redlock_until_gone(&r, "a")) TEST_FAIL("left behind after %ld", n);
    at.fence = redlock_use(at.two, at.fence);
    CHECK(redlock_until_gone(&r, "a"));
}

/* Has what the first node says of a lock and of its release come through? */
static int is_through(void *bytes)
{
    return atomic_load((atomic_long *)bytes) > 20;
}

static void cut_everywhere(enum lab_way way)
{
    atomic_long *bytes = &r.five.nodes[0].proxy.bytes[way];
    at_begin();
    exchange(way, -1);
    CHECK_INT(at.granted, 1);
    /* The lock and its release, and the other's vain try. */
    proxy_arm(&r.five.nodes[0].proxy, way, -1, 0);
    redlock_use(at.one, at.fence);
    CHECK(redlock_until_gone(&r, "a"));
    CHECK(rig_until(is_through, bytes));
    long len = 2 * atomic_load(bytes);
    long step = len / 40 > STEP ? len / 40 : STEP;
    for (long n = 1; n <= len; n += step) exchange(way, n);
    printf("    %ld bytes, %d cuts: %d granted, %d failed\n", len, at.cuts,
           at.granted, at.failed);
    CHECK(at.cuts >= len / step);
    CHECK(at.granted > 1);
}

TEST(redlock_cut, answers_of_three_are_lost_at_any_byte)
{
    cut_everywhere(PROXY_DOWN);
}

TEST(redlock_cut, requests_to_three_are_lost_at_any_byte)
{
    cut_everywhere(PROXY_UP);
}

/* The servers did what was asked, and nobody heard of it. */
TEST(redlock_cut, a_grant_that_nobody_heard_of_is_released_everywhere)
{
    at_begin();
    for (int i = 0; i < REDLOCK_NODES; i++)
        proxy_arm(&r.five.nodes[i].proxy, PROXY_DOWN, 1, 1);
    int status = rig_acquire(at.one, 0, RIG_TRY, NULL);
    CHECK(status == HF_OK || status == HF_UNAVAILABLE);
    if (status == HF_OK) CHECK_INT(hf_lock_release(at.one, NULL, NULL), HF_OK);
    CHECK(redlock_until_gone(&r, "a"));
    redlock_use(at.two, 0);
}

/* A hold is not lost with the lines: it is renewed over the next ones. */
TEST(redlock_cut, a_hold_is_renewed_although_all_lines_break)
{
    hf_hold *g = NULL;
    redlock_begin(&r, LEASE_MS);
    hf_lock *l = rig_lock(redlock_client(&r, 2000, NULL), "a");
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &g), HF_OK);
    for (int round = 0; round < 6; round++) {
        for (int i = 0; i < REDLOCK_NODES; i++)
            proxy_arm(&r.five.nodes[i].proxy, PROXY_DOWN, 1 + round, 0);
        rig_pause_ms(500);
    }
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK(redlock_until_gone(&r, "a"));
}
