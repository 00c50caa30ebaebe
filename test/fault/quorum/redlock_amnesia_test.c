/*
 * redlock_amnesia_test.c: nodes that come back without their data, or may have
 * lost some of it.  One rule: what was granted by a node that has forgotten it
 * is granted to nobody else before its lease has ended.
 */
#include <string.h>

#include "lib/redlock.h"

#define LEASE_MS 3000 /* the longest; a quarantine is as long, and a little */
#define LONG_MS 20000 /* where its end is not waited for */

static struct redlock r;

static const char *const synced_late[] = {"--appendonly", "yes",
                                          "--appendfsync", "everysec", NULL};

/* Neither a client that knew it nor a new client asks it for a vote. */
static void does_not_vote_yet(hf_client *c, int node)
{
    CHECK(redlock_until_quarantined(c, node));
    hf_client *newcomer = redlock_newcomer(&r, 0, NULL);
    CHECK(redlock_until_quarantined(newcomer, node));
    hf_client *both[] = {c, newcomer};
    for (int i = 0; i < 2; i++) {
        hf_lock *l = rig_lock(both[i], i ? "newcomers" : "regulars");
        CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_OK);
        CHECK_INT(redlock_has(&r, node, hf_lock_name(l)), 0);
        CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    }
}

TEST(redlock_amnesia, one_restarted_empty_votes_after_its_quarantine)
{
    hf_hold *g = NULL;
    redlock_begin(&r, LEASE_MS + 1000);
    hf_client *c = redlock_client(&r, 0, NULL);
    hf_lock *l = rig_lock(c, "a");
    uint64_t fence = redlock_use(l, 0);
    five_kill(&r.five, 2);
    five_restart_empty(&r.five, 2);
    does_not_vote_yet(c, 2);
    int64_t settled_ms = redlock_settled_us(&r, 2) / 1000;
    CHECK(redlock_until_voters(c, REDLOCK_NODES));
    CHECK(five_time_ms(&r.five, 2) >= settled_ms);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &g), HF_OK);
    CHECK(hf_hold_fence(g) > fence);
    CHECK(redlock_until_has(&r, 2, "a", 1));
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

/* A holds it on 0, 1, 2; then 2 forgets, and 0 and 1 are out of sight. */
static hf_hold *amnesia_arrange(int64_t lease_ms)
{
    redlock_begin(&r, lease_ms);
    five_sever(&r.five, 3, 1);
    five_sever(&r.five, 4, 1);
    hf_lock *l = rig_lock(redlock_newcomer(&r, 0, NULL), "a");
    struct hf_acquire_options a = rig_options(RIG_WAIT_MS, 0, HF_ACQUIRE_FIXED);
    hf_hold *g = NULL;
    CHECK_INT(hf_lock_acquire(l, &a, &g, NULL), HF_OK);
    for (int i = 0; i < 3; i++) CHECK_INT(redlock_has(&r, i, "a"), 1);
    five_sever(&r.five, 0, 1);
    five_sever(&r.five, 1, 1);
    five_kill(&r.five, 2);
    five_restart_empty(&r.five, 2);
    five_sever(&r.five, 3, 0);
    five_sever(&r.five, 4, 0);
    return g;
}

/* B is a newcomer that can see 2, 3 and 4: a majority that knows nothing. */
static hf_lock *newcomer(int64_t patience_ms)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.patience_ms = patience_ms;
    return rig_lock(redlock_newcomer(&r, 0, &o), "a");
}

TEST(redlock_amnesia, a_majority_that_forgot_grants_nothing_before_its_time)
{
    hf_hold *a = amnesia_arrange(LEASE_MS), *b;
    hf_lock *two = newcomer(RIG_WAIT_MS);
    int status = rig_acquire(two, 0, 1000, NULL);
    CHECK(status != HF_OK);
    CHECK_INT(rig_acquire(two, 0, RIG_WAIT_MS, &b), HF_OK);
    CHECK_INT(hf_hold_valid_ms(a), 0);
    CHECK(hf_hold_fence(b) > hf_hold_fence(a));
    CHECK_INT(hf_hold_release(b, NULL), HF_OK);
}

/* As if it had never been away: the marker of another, and the word that no
 * restart loses anything. */
static void marker_forge(int node, int model)
{
    char group[64], identity[96];
    long long settled_us, lease_ms;
    const char *marker =
        redis_say(&r.five.nodes[model].redis, "GET holdfast:boot");
    if (sscanf(marker, "v1 %63s %95s %lld %lld", group, identity, &settled_us,
               &lease_ms)
        != 4)
        TEST_FAIL("marker: %s", marker);
    redis_say(&r.five.nodes[node].redis,
              "SET holdfast:boot \"v1 %s %s %lld %lld durable\"", group,
              identity, settled_us, lease_ms);
}

/* The same with the quarantine taken away by hand: the scenario is real, and
 * nothing but the quarantine stands between two holders. */
TEST(redlock_amnesia, without_the_quarantine_there_would_be_two)
{
    hf_hold *a = amnesia_arrange(LONG_MS), *b;
    marker_forge(2, 3);
    hf_lock *two = newcomer(RIG_WAIT_MS);
    CHECK_INT(rig_acquire(two, 0, RIG_WAIT_MS, &b), HF_OK);
    if (hf_hold_valid_ms(a) == 0) TEST_FAIL("too slow to be seen");
    CHECK(hf_hold_fence(b) > hf_hold_fence(a));
    CHECK_INT(hf_hold_release(b, NULL), HF_OK);
}

TEST(redlock_amnesia, one_restarted_with_synced_data_votes_at_once)
{
    redlock_begin(&r, 30000);
    hf_client *c = redlock_client(&r, 0, NULL);
    hf_lock *l = rig_lock(c, "a");
    uint64_t fence = redlock_use(l, 0);
    int64_t settled_us = redlock_settled_us(&r, 2);
    five_kill(&r.five, 2);
    CHECK(redlock_until_voters(c, REDLOCK_NODES - 1));
    five_restart(&r.five, 2);
    CHECK(redlock_until_voters(c, REDLOCK_NODES));
    CHECK_INT(redlock_settled_us(&r, 2), settled_us);
    redlock_use(l, fence);
}

TEST(redlock_amnesia, one_restarted_with_data_synced_late_is_not_trusted)
{
    redlock_begin(&r, LONG_MS);
    hf_client *c = redlock_client(&r, 0, NULL);
    int64_t settled_us = redlock_settled_us(&r, 2);
    five_kill(&r.five, 2);
    r.five.nodes[2].redis.args = synced_late;
    five_restart(&r.five, 2);
    CHECK(redlock_until_quarantined(c, 2));
    CHECK(redlock_settled_us(&r, 2) > settled_us);
    redlock_use(rig_lock(c, "a"), 0);
}

/* It syncs now; what counts is whether it did before. */
TEST(redlock_amnesia, one_that_synced_late_before_its_restart_is_not_trusted)
{
    redlock_begin(&r, LONG_MS);
    CHECK_STR(
        redis_say(&r.five.nodes[2].redis, "CONFIG SET appendfsync everysec"),
        "OK");
    hf_client *c = redlock_client(&r, 0, NULL);
    int64_t settled_us = redlock_settled_us(&r, 2);
    five_kill(&r.five, 2);
    five_restart(&r.five, 2);
    CHECK(redlock_until_quarantined(c, 2));
    CHECK(redlock_settled_us(&r, 2) > settled_us);
}

/* The connection stays up: only the missing marker tells. */
TEST(redlock_amnesia, one_flushed_under_our_hands_is_noticed)
{
    hf_hold *g;
    redlock_begin(&r, LONG_MS);
    hf_client *c = redlock_client(&r, 0, NULL);
    hf_lock *l = rig_lock(c, "a");
    uint64_t fence = redlock_use(l, 0);
    CHECK_STR(redis_say(&r.five.nodes[1].redis, "FLUSHALL"), "OK");
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &g), HF_OK);
    CHECK(hf_hold_fence(g) > fence);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    does_not_vote_yet(c, 1);
}

/* Three of five: the hold cannot be kept, and its place stays empty. */
TEST(redlock_amnesia, a_majority_flushed_ends_the_hold_and_grants_nothing)
{
    hf_hold *a, *b;
    redlock_begin(&r, LEASE_MS);
    hf_lock *l = rig_lock(redlock_client(&r, 0, NULL), "a");
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &a), HF_OK);
    for (int i = 0; i < 3; i++) redis_say(&r.five.nodes[i].redis, "FLUSHALL");
    int64_t began_ms = rig_now_ms();
    hf_lock *other = newcomer(RIG_WAIT_MS);
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, &b), HF_OK);
    CHECK_INT(hf_hold_state(a), HF_STATE_LOST);
    CHECK(rig_now_ms() - began_ms >= LEASE_MS / 2);
    CHECK(hf_hold_fence(b) > hf_hold_fence(a));
    CHECK_INT(hf_hold_release(b, NULL), HF_OK);
}
