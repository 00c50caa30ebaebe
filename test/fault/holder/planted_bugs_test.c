/*
 * planted_bugs_test.c: bugs that random load on real servers did not find, each
 * with the steps that do.  One rule: every claim is made twice, of the library
 * as it is, and of the library with the bug, where it must not hold.
 */
#include <stdio.h>

#include "lib/planted.h"
#include "lib/proxy.h"
#include "lib/rig.h"
#include "lib/rig_redis.h"

#define LEASE_MS 30000 /* ends in no test */
#define LAG_MS 1000    /* less than the age at which a number is refused, 2 s */
#define ROUNDS 5       /* under load one may be too slow to tell */
#define SHORT_MS 3000  /* a release takes far less */

static struct lab_server server;
static struct lab_proxy proxy;

static hf_client *client_at(int port)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    char url[64];
    o.lease_ms = LEASE_MS;
    o.timeout_ms = o.patience_ms = RIG_WAIT_MS;
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", port);
    return rig_client_at(url, &o);
}

static void begin(void)
{
    redis_begin(&server, NULL);
    rig_begin_at(server.url);
    proxy_begin(&proxy, server.port);
}

/* ---- FENCE_PROPOSED ---------------------------------------------------- */

/* The token of one hold. */
static uint64_t token_of(hf_lock *l)
{
    hf_hold *g;
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &g), HF_OK);
    uint64_t fence = hf_hold_fence(g);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    return fence;
}

/* A client whose idea of the server's clock is a second old comes after one
 * that is in step, and the server has forgotten everything in between: only
 * the server's own clock can make the tokens rise. */
static int token_falls(void)
{
    int is_locked;
    begin();
    hf_lock *quick = rig_lock(client_at(server.port), "a");
    proxy_delay(&proxy, PROXY_DOWN, LAG_MS);
    hf_lock *slow = rig_lock(client_at(proxy.port), "a");
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_INT(hf_lock_is_locked(slow, &is_locked, NULL), HF_OK);
        uint64_t before = token_of(quick);
        redis_say(&server, "FLUSHALL");
        if (token_of(slow) <= before) return 1;
    }
    return 0;
}

TEST(planted_bugs, token_rises_though_the_server_forgot_and_a_client_lags)
{
    CHECK(!token_falls());
}

TEST(planted_bugs, token_that_was_only_proposed_is_found)
{
    planted_begin(CORE_MUT_FENCE_PROPOSED);
    CHECK(token_falls());
}

/* ---- DOUBT_FORGOTTEN --------------------------------------------------- */

/* The server grants it, and the line breaks before the answer is through: the
 * attempt is in doubt, and whatever comes of the call, nothing is held after
 * it.  How long, at most `limit_ms`, until the server has nothing either? */
static int orphan_stays(int64_t limit_ms)
{
    int is_locked, status;
    begin();
    hf_lock *l = rig_lock(client_at(proxy.port), "a");
    CHECK_INT(hf_lock_is_locked(l, &is_locked, NULL), HF_OK);
    proxy_arm(&proxy, PROXY_DOWN, 1, 0);
    status = rig_acquire(l, 0, RIG_TRY, NULL);
    CHECK(atomic_load(&proxy.cuts) > 0);
    if (status == HF_OK) CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    int64_t end_ms = rig_now_ms() + limit_ms;
    while (redis_number(&server, "EXISTS a") && rig_now_ms() < end_ms)
        rig_pause_ms(20);
    return redis_number(&server, "EXISTS a") != 0;
}

TEST(planted_bugs, attempt_in_doubt_leaves_nothing_behind)
{
    CHECK(!orphan_stays(RIG_PATIENCE_MS));
}

/* With the bug it stays for the whole lease. */
TEST(planted_bugs, attempt_in_doubt_that_is_forgotten_is_found)
{
    planted_begin(CORE_MUT_DOUBT_FORGOTTEN);
    CHECK(orphan_stays(SHORT_MS));
}
