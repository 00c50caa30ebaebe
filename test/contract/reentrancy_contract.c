/*
 * reentrancy_contract.c: a holder that acquires n times releases n times.  One
 * rule: whatever is nested, the fence and the longest promise stay.
 */
#include "lib/rig.h"

TEST(reentrancy, counts_up_and_down)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_hold *g[6];
    int64_t count = -1;
    for (int i = 1; i <= 5; i++) {
        CHECK_INT(hf_lock_acquire(l, NULL, &g[i], NULL), HF_OK);
        CHECK_INT(hf_hold_count(g[i]), i);
        CHECK_INT(hf_hold_count(g[1]), i);
        CHECK_INT(hf_lock_hold_count(l, &count, NULL), HF_OK);
        CHECK_INT(count, i);
    }
    for (int i = 4; i >= 0; i--) {
        CHECK_INT(hf_hold_release(g[i + 1], NULL), HF_OK);
        if (i > 0) CHECK_INT(hf_hold_count(g[1]), i);
        CHECK_INT(hf_lock_hold_count(l, &count, NULL), HF_OK);
        CHECK_INT(count, i);
    }
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_NOT_OWNER);
}

TEST(reentrancy, counts_up_and_down_without_handles)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    int64_t count = -1;
    for (int i = 1; i <= 5; i++) {
        CHECK_INT(hf_lock_acquire(l, NULL, NULL, NULL), HF_OK);
        CHECK_INT(hf_lock_hold_count(l, &count, NULL), HF_OK);
        CHECK_INT(count, i);
    }
    for (int i = 4; i >= 0; i--) {
        int64_t left = -1;
        CHECK_INT(hf_lock_release(l, &left, NULL), HF_OK);
        CHECK_INT(left, i);
        CHECK_INT(hf_lock_hold_count(l, &count, NULL), HF_OK);
        CHECK_INT(count, i);
    }
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_NOT_OWNER);
}

TEST(reentrancy, others_are_refused_until_the_last_release)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(c, "a"), *other = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_try(other, NULL, NULL), HF_TAKEN);
    CHECK_INT(rig_acquire(l, hf_holder_new(), RIG_TRY, NULL), HF_TAKEN);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_try(other, NULL, NULL), HF_OK);
}

TEST(reentrancy, works_through_another_object_of_the_name)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(c, "a"), *again = rig_lock(c, "a");
    hf_hold *first, *g;
    CHECK_INT(hf_lock_try(l, &first, NULL), HF_OK);
    CHECK_INT(hf_lock_try(again, &g, NULL), HF_OK);
    CHECK_INT(hf_hold_count(g), 2);
    CHECK_INT(hf_hold_release(first, NULL), HF_OK);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(rig_probe(l), HF_OK);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_try(again, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_release(again, NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(l), HF_OK);
}

TEST(reentrancy, does_not_reach_across_clients)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_try(other, NULL, NULL), HF_TAKEN);
    CHECK_INT(hf_lock_release(other, NULL, NULL), HF_NOT_OWNER);
}

TEST(reentrancy, keeps_the_fence)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_hold *first, *second;
    CHECK_INT(hf_lock_acquire(l, NULL, &first, NULL), HF_OK);
    CHECK_INT(hf_lock_acquire(l, NULL, &second, NULL), HF_OK);
    uint64_t fence = hf_hold_fence(first);
    CHECK(rig_fence_rises(0, fence));
    CHECK(hf_hold_fence(second) == fence);
    CHECK_INT(hf_hold_release(first, NULL), HF_OK);
    CHECK(hf_hold_fence(second) == fence);
}

/* testRemainTimeToLive2: an inner release must not fall back to the default. */
TEST(reentrancy, inner_release_keeps_the_lease)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(0, 100000, HF_ACQUIRE_FIXED);
    int64_t ttl_ms = 0;
    hf_hold *g[3];
    for (int i = 0; i < 3; i++)
        CHECK_INT(hf_lock_acquire(l, &o, &g[i], NULL), HF_OK);
    CHECK_INT(hf_hold_release(g[2], NULL), HF_OK);
    CHECK_INT(hf_hold_release(g[1], NULL), HF_OK);
    CHECK(hf_hold_valid_ms(g[0]) > 80000);
    CHECK(hf_hold_valid_ms(g[0]) <= 100000);
    CHECK_INT(hf_lock_ttl_ms(l, &ttl_ms, NULL), HF_OK);
    if (rig_has(HF_CAP_LEASE)) CHECK(ttl_ms > 80000 && ttl_ms <= 100000);
}

TEST(reentrancy, shorter_lease_does_not_shorten_the_hold)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(0, 60000, HF_ACQUIRE_FIXED);
    hf_hold *outer, *inner;
    CHECK_INT(hf_lock_acquire(l, &o, &outer, NULL), HF_OK);
    o.lease_ms = 100;
    CHECK_INT(hf_lock_acquire(l, &o, &inner, NULL), HF_OK);
    CHECK(hf_hold_valid_ms(outer) > 40000);
    CHECK(hf_hold_valid_ms(inner) > 40000);
    rig_pause_ms(300);
    CHECK_INT(hf_hold_state(outer), HF_STATE_HELD);
    CHECK_INT(rig_probe(other), HF_TAKEN);
    CHECK_INT(hf_hold_release(inner, NULL), HF_OK);
    CHECK_INT(hf_hold_release(outer, NULL), HF_OK);
}

TEST(reentrancy, watchdog_wins_over_a_fixed_lease)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(0, 4000, HF_ACQUIRE_FIXED);
    hf_hold *outer, *inner;
    CHECK_INT(hf_lock_acquire(l, &o, &outer, NULL), HF_OK);
    o = rig_renewed(0);
    CHECK_INT(hf_lock_acquire(l, &o, &inner, NULL), HF_OK);
    rig_pause_ms(4200);
    CHECK(rig_until_renewed(l, 0, 3));
    CHECK_INT(hf_hold_state(outer), HF_STATE_HELD);
    CHECK_INT(rig_probe(other), HF_TAKEN);
    CHECK_INT(hf_hold_release(outer, NULL), HF_OK);
    CHECK_INT(hf_hold_release(inner, NULL), HF_OK);
}

/* A detached hold is a record with an end, on every store that has them. */
TEST(reentrancy, of_a_detached_hold_keeps_its_end_truthful)
{
    if (!rig_begin_with(HF_CAP_DETACHED)) return;
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(0, 400, HF_ACQUIRE_DETACHED);
    hf_hold *g, *again;
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    o.flags = 0;
    CHECK_INT(hf_lock_acquire(l, &o, &again, NULL), HF_OK);
    CHECK(hf_hold_valid_ms(g) <= 400);
    rig_pause_ms(1500); /* the watchdog has it now */
    CHECK(hf_hold_state(g) != HF_STATE_HELD || rig_probe(other) == HF_TAKEN);
}
