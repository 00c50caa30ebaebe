/*
 * lease_contract.c: how long a hold lasts.  One rule: what is claimed locally
 * (valid_ms) never outlasts what the store promised (ttl_ms).
 */
#include "lib/rig.h"

static struct hf_client_options short_lease(int64_t lease_ms)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.lease_ms = lease_ms;
    return o;
}

TEST(lease, of_the_watchdog_is_told_by_the_store)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_hold *g;
    int64_t ttl_ms = 0;
    CHECK_INT(hf_lock_acquire(l, NULL, &g, NULL), HF_OK);
    CHECK_INT(hf_lock_ttl_ms(l, &ttl_ms, NULL), HF_OK);
    if (rig_has(HF_CAP_KERNEL)) {
        CHECK_INT(ttl_ms, -1);
        CHECK_INT(hf_hold_valid_ms(g), INT64_MAX);
    } else {
        CHECK(ttl_ms > 15000 && ttl_ms <= 30000);
        int64_t valid_ms = hf_hold_valid_ms(g);
        CHECK(valid_ms > 15000 && valid_ms <= 30000 - 300 - 2);
        CHECK(valid_ms <= ttl_ms);
    }
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(hf_lock_ttl_ms(l, &ttl_ms, NULL), HF_OK);
    CHECK_INT(ttl_ms, -2);
}

/* testRemainTimeToLive */
TEST(lease, of_an_hour_is_an_hour)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(0, 3600000, HF_ACQUIRE_FIXED);
    hf_hold *g;
    int64_t ttl_ms = 0;
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    CHECK_INT(hf_hold_lease_ms(g), 3600000);
    int64_t valid_ms = hf_hold_valid_ms(g);
    CHECK(valid_ms > 3500000 && valid_ms <= 3600000 - 36000 - 2);
    CHECK_INT(hf_lock_ttl_ms(l, &ttl_ms, NULL), HF_OK);
    if (rig_has(HF_CAP_LEASE)) CHECK(ttl_ms > 3590000 && ttl_ms <= 3600000);
}

TEST(lease, that_is_fixed_ends_and_the_lock_is_free)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(0, 300, HF_ACQUIRE_FIXED);
    hf_hold *g;
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    CHECK(hf_hold_valid_ms(g) <= 300 - 3 - 2);
    uint64_t fence = hf_hold_fence(g);
    CHECK(rig_until_state(l, 0, HF_STATE_LOST));
    CHECK_INT(hf_hold_valid_ms(g), 0);
    CHECK(hf_hold_fence(g) == fence); /* a lost hold tells its token */
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, NULL), HF_OK);
}

TEST(lease, is_renewed_by_the_watchdog_for_as_long_as_it_takes)
{
    struct hf_acquire_options o = rig_renewed(0);
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    hf_hold *g;
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    for (int i = 0; i < 20; i++) {
        CHECK_INT(hf_lock_try(other, NULL, NULL), HF_TAKEN);
        CHECK(rig_until_renewed(l, 0, 1));
    }
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

/* testLockReentrantRenew: after nested use, the next holder is renewed too. */
TEST(lease, of_the_next_holder_is_renewed_after_nested_use)
{
    struct hf_acquire_options o = rig_renewed(0);
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    uint64_t next = hf_holder_new();
    hf_hold *g;
    CHECK_INT(hf_lock_acquire(l, NULL, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_acquire(l, NULL, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    o.holder = next;
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    CHECK(rig_until_renewed(l, next, 10));
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(rig_probe(l), HF_TAKEN);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

TEST(lease, is_not_renewed_after_the_release)
{
    struct hf_acquire_options o = rig_renewed(0);
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    int64_t ttl_ms = 0;
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    for (int i = 0; i < 10; i++) {
        CHECK_INT(hf_lock_ttl_ms(l, &ttl_ms, NULL), HF_OK);
        CHECK_INT(ttl_ms, -2);
        rig_pause_ms(50);
    }
}

TEST(lease, can_be_extended)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(0, 4000, HF_ACQUIRE_FIXED);
    hf_hold *g;
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    uint64_t fence = hf_hold_fence(g);
    CHECK_INT(hf_hold_extend(g, 60000, NULL), HF_OK);
    CHECK(hf_hold_fence(g) == fence);
    CHECK_INT(hf_hold_count(g), 1);
    CHECK_INT(hf_hold_lease_ms(g), 60000);
    int64_t valid_ms = hf_hold_valid_ms(g);
    CHECK(valid_ms > 30000 && valid_ms <= 60000 - 600 - 2);
    rig_pause_ms(4200);
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(rig_probe(other), HF_TAKEN);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(rig_probe(other), HF_OK);
}

TEST(lease, starts_anew_with_its_old_length)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(0, 20000, HF_ACQUIRE_FIXED);
    hf_hold *g;
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    rig_pause_ms(300);
    int64_t end_ms = hf_hold_valid_ms(g);
    end_ms += rig_now_ms();
    CHECK_INT(hf_hold_extend(g, 0, NULL), HF_OK);
    CHECK_INT(hf_hold_lease_ms(g), 20000);
    int64_t now_ms = rig_now_ms();
    CHECK(now_ms + hf_hold_valid_ms(g) > end_ms);
}

TEST(lease, extension_of_what_is_not_held_is_invalid)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_error err = {0};
    hf_hold *gone, *g;
    CHECK_INT(hf_hold_extend(NULL, 1000, &err), HF_INVALID);
    CHECK_INT(err.status, HF_INVALID);
    CHECK_INT(hf_lock_try(l, &gone, NULL), HF_OK);
    CHECK_INT(hf_hold_release(gone, NULL), HF_OK);
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    CHECK_INT(hf_hold_extend(gone, 1000, &err), HF_INVALID);
    CHECK_INT(hf_hold_lease_ms(g), 30000); /* the next one is not touched */
}

TEST(lease, extension_out_of_range_is_invalid_and_changes_nothing)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_hold *g;
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    CHECK_INT(hf_hold_extend(g, -1, NULL), HF_INVALID);
    CHECK_INT(hf_hold_extend(g, HF_LEASE_MS_MIN - 1, NULL), HF_INVALID);
    CHECK_INT(hf_hold_extend(g, HF_LEASE_MS_MAX + 1, NULL), HF_INVALID);
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(hf_hold_lease_ms(g), 30000);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

TEST(lease, extension_that_comes_too_late_is_expired_or_lost)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(0, 200, HF_ACQUIRE_FIXED);
    hf_hold *g;
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    CHECK(rig_until_state(l, 0, HF_STATE_LOST));
    int status = hf_hold_extend(g, 10000, NULL);
    CHECK(status == HF_EXPIRED || status == HF_LOST);
    CHECK_INT(hf_hold_state(g), HF_STATE_LOST); /* it never comes back */
    CHECK_INT(hf_hold_valid_ms(g), 0);
}

TEST(lease, that_ended_makes_the_next_acquire_a_fresh_hold)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(0, 3000, HF_ACQUIRE_FIXED);
    hf_hold *g, *inner, *again;
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    CHECK_INT(hf_lock_acquire(l, &o, &inner, NULL), HF_OK);
    CHECK(rig_until_state(l, 0, HF_STATE_LOST));
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &again), HF_OK);
    CHECK_INT(hf_hold_count(again), 1);
    CHECK(rig_fence_rises(hf_hold_fence(g), hf_hold_fence(again)));
    CHECK_INT(hf_hold_state(again), HF_STATE_HELD);
    CHECK_INT(hf_hold_state(g), HF_STATE_LOST); /* as it was */
    CHECK(hf_hold_release(g, NULL) != HF_OK);
    CHECK_INT(hf_hold_state(again), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(again, NULL), HF_OK);
    CHECK(hf_hold_release(inner, NULL) != HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_NOT_OWNER);
}

TEST(lease, default_can_be_set_in_the_url)
{
    char url[600];
    hf_hold *g;
    rig_begin();
    snprintf(url, sizeof url, "%s?lease=7s", rig_url());
    hf_lock *l = rig_lock(rig_client_at(url, NULL), "a");
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    CHECK_INT(hf_hold_lease_ms(g), 7000);
    struct hf_client_options o = short_lease(5000);
    l = rig_lock(rig_client_at(url, &o), "b");
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    CHECK_INT(hf_hold_lease_ms(g), 5000);
}
