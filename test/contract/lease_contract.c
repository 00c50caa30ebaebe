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
    struct hf_grant g;
    int64_t ttl_ms = 0;
    CHECK_INT(hf_lock_acquire(l, NULL, &g, NULL), HF_OK);
    CHECK_INT(hf_lock_ttl_ms(l, &ttl_ms, NULL), HF_OK);
    if (rig_has(HF_CAP_KERNEL)) {
        CHECK_INT(ttl_ms, -1);
        CHECK_INT(g.valid_ms, INT64_MAX);
        CHECK_INT(hf_lock_valid_ms(l, 0), INT64_MAX);
    } else {
        CHECK(ttl_ms > 15000 && ttl_ms <= 30000);
        CHECK(g.valid_ms > 15000 && g.valid_ms <= 30000 - 300 - 2);
        CHECK(hf_lock_valid_ms(l, 0) <= ttl_ms);
    }
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_ttl_ms(l, &ttl_ms, NULL), HF_OK);
    CHECK_INT(ttl_ms, -2);
}

/* testRemainTimeToLive */
TEST(lease, of_an_hour_is_an_hour)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(0, 3600000, HF_ACQUIRE_FIXED);
    struct hf_grant g;
    int64_t ttl_ms = 0;
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    CHECK_INT(g.lease_ms, 3600000);
    CHECK(g.valid_ms > 3500000 && g.valid_ms <= 3600000 - 36000 - 2);
    CHECK_INT(hf_lock_ttl_ms(l, &ttl_ms, NULL), HF_OK);
    if (rig_has(HF_CAP_LEASE)) CHECK(ttl_ms > 3590000 && ttl_ms <= 3600000);
}

TEST(lease, that_is_fixed_ends_and_the_lock_is_free)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(0, 300, HF_ACQUIRE_FIXED);
    struct hf_grant g;
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    CHECK(g.valid_ms <= 300 - 3 - 2);
    CHECK(rig_until_state(l, 0, HF_STATE_LOST));
    CHECK_INT(hf_lock_valid_ms(l, 0), 0);
    CHECK(hf_lock_fence(l, 0) == g.fence); /* a lost hold tells its token */
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, NULL), HF_OK);
}

TEST(lease, is_renewed_by_the_watchdog_for_as_long_as_it_takes)
{
    struct hf_acquire_options o = rig_renewed(0);
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_OK);
    for (int i = 0; i < 20; i++) {
        CHECK_INT(hf_lock_try(other, NULL, NULL), HF_TAKEN);
        CHECK(rig_until_renewed(l, 0, 1));
    }
    CHECK_INT(hf_lock_state(l, 0), HF_STATE_HELD);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
}

/* testLockReentrantRenew: after nested use, the next holder is renewed too. */
TEST(lease, of_the_next_holder_is_renewed_after_nested_use)
{
    struct hf_acquire_options o = rig_renewed(0);
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    uint64_t next = hf_holder_new();
    CHECK_INT(hf_lock_acquire(l, NULL, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_acquire(l, NULL, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    o.holder = next;
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_OK);
    CHECK(rig_until_renewed(l, next, 10));
    CHECK_INT(hf_lock_state(l, next), HF_STATE_HELD);
    CHECK_INT(rig_probe(l), HF_TAKEN);
    CHECK_INT(hf_lock_release_as(l, next, NULL, NULL), HF_OK);
}

TEST(lease, is_not_renewed_after_the_release)
{
    struct hf_client_options o = short_lease(300);
    rig_begin();
    hf_lock *l = rig_lock(rig_client(&o), "a");
    int64_t ttl_ms = 0;
    CHECK_INT(hf_lock_acquire(l, NULL, NULL, NULL), HF_OK);
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
    struct hf_acquire_options o = rig_options(0, 2500, HF_ACQUIRE_FIXED);
    struct hf_grant g, e;
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    CHECK_INT(hf_lock_extend(l, 0, 60000, &e, NULL), HF_OK);
    CHECK(e.fence == g.fence);
    CHECK(e.holder == g.holder);
    CHECK_INT(e.count, 1);
    CHECK_INT(e.lease_ms, 60000);
    CHECK(e.valid_ms > 30000 && e.valid_ms <= 60000 - 600 - 2);
    rig_pause_ms(2700);
    CHECK_INT(hf_lock_state(l, 0), HF_STATE_HELD);
    CHECK_INT(rig_probe(other), HF_TAKEN);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(other), HF_OK);
}

TEST(lease, starts_anew_with_its_old_length)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(0, 20000, HF_ACQUIRE_FIXED);
    struct hf_grant e;
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_OK);
    rig_pause_ms(300);
    int64_t end_ms = hf_lock_valid_ms(l, 0);
    end_ms += rig_now_ms();
    CHECK_INT(hf_lock_extend(l, 0, 0, &e, NULL), HF_OK);
    CHECK_INT(e.lease_ms, 20000);
    int64_t now_ms = rig_now_ms();
    CHECK(now_ms + hf_lock_valid_ms(l, 0) > end_ms);
}

TEST(lease, extension_of_what_is_not_held_is_not_owner)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_error err = {0};
    CHECK_INT(hf_lock_extend(l, 0, 1000, NULL, &err), HF_NOT_OWNER);
    CHECK_INT(err.status, HF_NOT_OWNER);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_extend(l, hf_holder_new(), 1000, NULL, &err),
              HF_NOT_OWNER);
}

TEST(lease, extension_out_of_range_is_invalid_and_changes_nothing)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_extend(l, 0, -1, NULL, NULL), HF_INVALID);
    CHECK_INT(hf_lock_extend(l, 0, HF_LEASE_MS_MIN - 1, NULL, NULL),
              HF_INVALID);
    CHECK_INT(hf_lock_extend(l, 0, HF_LEASE_MS_MAX + 1, NULL, NULL),
              HF_INVALID);
    CHECK_INT(hf_lock_state(l, 0), HF_STATE_HELD);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
}

TEST(lease, extension_that_comes_too_late_is_expired_or_lost)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(0, 200, HF_ACQUIRE_FIXED);
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_OK);
    CHECK(rig_until_state(l, 0, HF_STATE_LOST));
    int status = hf_lock_extend(l, 0, 10000, NULL, NULL);
    CHECK(status == HF_EXPIRED || status == HF_LOST);
    CHECK_INT(hf_lock_state(l, 0), HF_STATE_LOST); /* it never comes back */
    CHECK_INT(hf_lock_valid_ms(l, 0), 0);
}

TEST(lease, that_ended_makes_the_next_acquire_a_fresh_hold)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(0, 2000, HF_ACQUIRE_FIXED);
    struct hf_grant g, again;
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    CHECK(rig_until_state(l, 0, HF_STATE_LOST));
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &again), HF_OK);
    CHECK_INT(again.count, 1);
    CHECK(rig_fence_rises(g.fence, again.fence));
    CHECK_INT(hf_lock_state(l, 0), HF_STATE_HELD);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_state(l, 0), HF_STATE_NONE);
}

TEST(lease, default_can_be_set_in_the_url)
{
    char url[600];
    struct hf_grant g;
    rig_begin();
    snprintf(url, sizeof url, "%s?lease=7s", rig_url());
    hf_lock *l = rig_lock(rig_client_at(url, NULL), "a");
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    CHECK_INT(g.lease_ms, 7000);
    struct hf_client_options o = short_lease(5000);
    l = rig_lock(rig_client_at(url, &o), "b");
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    CHECK_INT(g.lease_ms, 5000);
}
