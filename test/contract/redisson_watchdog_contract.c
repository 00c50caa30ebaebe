/*
 * redisson_watchdog_contract.c: where Redisson's renewal goes wrong, or is
 * tested for it.  One rule: a hold under the watchdog is renewed until it is
 * released, whatever else happened under its name before or inside it.
 */
#include "lib/rig.h"

#define LEASE_MS 900

static hf_client *client_with_lease(int64_t lease_ms)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.lease_ms = lease_ms;
    return rig_client(&o);
}

static int acquire_renewed(hf_lock *l, uint64_t holder, int64_t wait_ms,
                           hf_hold **hold)
{
    struct hf_acquire_options o = rig_renewed(wait_ms);
    o.holder = holder;
    return hf_lock_acquire(l, &o, hold, NULL);
}

/* Has its time left gone up since the last look, or has it no end? */
struct look {
    hf_hold *hold;
    int64_t last_ms;
};

static int is_renewed(void *arg)
{
    struct look *k = arg;
    int64_t before_ms = k->last_ms;
    k->last_ms = hf_hold_valid_ms(k->hold);
    return k->last_ms == INT64_MAX || k->last_ms > before_ms;
}

/* Held by its holder and by nobody else, all the time. */
static void stays_held(hf_hold *hold, hf_lock *other, int renewals)
{
    struct look k = {hold, hf_hold_valid_ms(hold)};
    for (int i = 0; i < renewals; i++) {
        CHECK(rig_until(is_renewed, &k));
        CHECK_INT(hf_hold_state(hold), HF_STATE_HELD);
        CHECK_INT(hf_lock_try(other, NULL, NULL), HF_TAKEN);
    }
}

/* testLockReentrantRenew: as often as there, 30 times in ten leases. */
TEST(redisson_watchdog, after_nested_use_the_next_is_renewed_for_ten_leases)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    hf_hold *next;
    for (int i = 0; i < 2; i++)
        CHECK_INT(hf_lock_acquire(l, NULL, NULL, NULL), HF_OK);
    for (int i = 0; i < 2; i++)
        CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(acquire_renewed(l, hf_holder_new(), 0, &next), HF_OK);
    stays_held(next, other, 30);
    CHECK_INT(hf_hold_release(next, NULL), HF_OK);
}

/* Defect 15: a holder that had it five times and lost it, but has not released
 * it, is counted down by the ticks that its heir needs. */
TEST(redisson_watchdog, a_stale_owner_does_not_delay_his_heirs_renewal)
{
    if (!rig_begin_with(HF_CAP_BREAK)) return;
    hf_lock *l = rig_lock(client_with_lease(LEASE_MS), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    hf_hold *stale[5], *heir;
    struct hf_acquire_options o = rig_options(0, 0, 0);
    o.holder = hf_holder_new();
    /* A living kernel hold cannot be broken: its lease has to end it. */
    if (rig_has(HF_CAP_KERNEL)) o.flags = HF_ACQUIRE_FIXED;
    for (int i = 0; i < 5; i++)
        CHECK_INT(hf_lock_acquire(l, &o, &stale[i], NULL), HF_OK);
    if (!rig_has(HF_CAP_KERNEL))
        CHECK_INT(hf_lock_break(other, NULL, NULL), HF_OK);
    CHECK_INT(acquire_renewed(l, hf_holder_new(), RIG_WAIT_MS, &heir), HF_OK);
    stays_held(heir, other, 12);
    for (int i = 0; i < 5; i++) {
        CHECK_INT(hf_hold_state(stale[i]), HF_STATE_LOST);
        int status = hf_hold_release(stale[i], NULL);
        CHECK(status == HF_LOST || status == HF_EXPIRED);
    }
    CHECK_INT(hf_hold_release(heir, NULL), HF_OK);
}

/* Defect 16: lock(), lock(lease), unlock(). */
TEST(redisson_watchdog, an_inner_lease_does_not_end_the_outer_renewal)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(0, LEASE_MS, HF_ACQUIRE_FIXED);
    hf_hold *outer, *inner;
    CHECK_INT(acquire_renewed(l, 0, 0, &outer), HF_OK);
    CHECK_INT(hf_lock_acquire(l, &o, &inner, NULL), HF_OK);
    CHECK_INT(hf_hold_release(inner, NULL), HF_OK);
    CHECK_INT(hf_hold_count(outer), 1);
    rig_pause_ms(LEASE_MS);
    stays_held(outer, other, 3);
    CHECK_INT(hf_hold_release(outer, NULL), HF_OK);
    CHECK_INT(rig_probe(other), HF_OK);
}

/* Pain 4: nothing is renewed once the last release is done. */
TEST(redisson_watchdog, ends_with_the_release_of_a_nested_hold)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    int64_t ttl_ms = 0;
    hf_hold *g[3];
    for (int i = 0; i < 3; i++)
        CHECK_INT(acquire_renewed(l, 0, 0, &g[i]), HF_OK);
    for (int i = 0; i < 3; i++) CHECK_INT(hf_hold_release(g[i], NULL), HF_OK);
    for (int64_t end_ms = rig_now_ms() + 700; rig_now_ms() < end_ms;) {
        CHECK_INT(hf_lock_ttl_ms(l, &ttl_ms, NULL), HF_OK);
        CHECK_INT(ttl_ms, -2);
        rig_pause_ms(20);
    }
}
