/*
 * acquire_contract.c: getting a free lock, and being refused a held one.  One
 * rule: every refusal has its own status and changes nothing.
 */
#include <string.h>

#include "lib/rig.h"

TEST(acquire, gives_a_hold_that_says_what_was_obtained)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_hold *g = NULL;
    int mine = 0;
    CHECK_INT(hf_lock_acquire(l, NULL, &g, NULL), HF_OK);
    CHECK_INT(hf_hold_count(g), 1);
    CHECK_INT(hf_hold_lease_ms(g), 30000);
    CHECK_STR(hf_hold_name(g), "a");
    CHECK_INT(hf_lock_is_mine(l, &mine, NULL), HF_OK);
    CHECK_INT(mine, 1);
    CHECK(hf_hold_valid_ms(g) > 0);
    if (rig_has(HF_CAP_FENCE)) CHECK(hf_hold_fence(g) > 0);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

TEST(acquire, can_be_repeated_after_a_release)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    for (int i = 0; i < 20; i++) {
        int64_t left = 99;
        CHECK_INT(hf_lock_acquire(l, NULL, NULL, NULL), HF_OK);
        CHECK_INT(hf_lock_release(l, &left, NULL), HF_OK);
        CHECK_INT(left, 0);
    }
}

TEST(acquire, try_of_a_held_lock_is_taken)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(c, "a"), *other = rig_lock(rig_client(NULL), "a");
    struct hf_error err = {0};
    hf_hold *first = NULL, *g = NULL;
    CHECK_INT(hf_lock_try(l, &first, NULL), HF_OK);
    g = first;
    CHECK_INT(hf_lock_try(other, &g, &err), HF_TAKEN);
    CHECK_INT(err.status, HF_TAKEN);
    CHECK(err.text[0] != 0);
    CHECK(g == first); /* results are untouched on failure */
    CHECK_INT(hf_hold_state(first), HF_STATE_HELD);
    CHECK_INT(hf_lock_release(other, NULL, NULL), HF_NOT_OWNER);
    CHECK_INT(hf_hold_release(first, NULL), HF_OK);
    CHECK_INT(hf_lock_try(other, &g, &err), HF_OK);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

TEST(acquire, holders_of_one_client_exclude_each_other)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    uint64_t x = hf_holder_new(), y = hf_holder_new();
    hf_hold *by_x, *by_y;
    CHECK_INT(rig_acquire(l, x, RIG_TRY, &by_x), HF_OK);
    CHECK_INT(rig_acquire(l, y, RIG_TRY, &by_y), HF_TAKEN);
    CHECK_INT(hf_hold_release(by_x, NULL), HF_OK);
    CHECK_INT(rig_acquire(l, y, RIG_TRY, &by_y), HF_OK);
    CHECK_INT(hf_hold_release(by_y, NULL), HF_OK);
}

TEST(acquire, different_names_do_not_exclude_each_other)
{
    rig_begin();
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    CHECK_INT(hf_lock_try(rig_lock(c, "a"), NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_try(rig_lock(d, "b"), NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_try(rig_lock(d, "a"), NULL, NULL), HF_TAKEN);
}

TEST(acquire, refuses_a_lease_out_of_range)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    const int64_t bad[] = {-1, HF_LEASE_MS_MIN - 1, HF_LEASE_MS_MAX + 1,
                           INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct hf_acquire_options o = rig_options(RIG_TRY, bad[i], 0);
        struct hf_error err = {0};
        CHECK_INT(hf_lock_acquire(l, &o, NULL, &err), HF_INVALID);
        CHECK_INT(err.status, HF_INVALID);
        CHECK(err.text[0] != 0);
    }
    int locked = 9;
    CHECK_INT(hf_lock_is_locked(l, &locked, NULL), HF_OK);
    CHECK_INT(locked, 0);
}

TEST(acquire, takes_the_longest_lease)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o =
        rig_options(RIG_TRY, HF_LEASE_MS_MAX, HF_ACQUIRE_FIXED);
    hf_hold *g;
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    CHECK_INT(hf_hold_lease_ms(g), HF_LEASE_MS_MAX);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

TEST(acquire, refuses_a_wait_or_a_flag_that_does_not_exist)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(-2, 0, 0);
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_INVALID);
    o = rig_options(RIG_TRY, 0, 0x80000000u);
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_INVALID);
    o.flags = 2u; /* reserved */
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_INVALID);
    CHECK_INT(rig_probe(l), HF_OK);
}

TEST(acquire, closing_the_client_gives_its_locks_back)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(rig_lock(c, "a"), NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(other), HF_TAKEN);
    rig_close(c);
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, NULL), HF_OK);
}
