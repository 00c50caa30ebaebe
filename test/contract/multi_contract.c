/*
 * multi_contract.c: several locks at once.  One rule: all of them or none,
 * and a call that does not get them leaves nothing behind.
 */
#include <string.h>

#include "lib/rig_multi.h"

/* testLockUnlock */
TEST(multi, holds_every_lock_of_the_set_until_it_is_released)
{
    struct three t, other;
    hf_hold *hold;
    int mine = 0;
    rig_begin();
    three_open(&t);
    three_open(&other);
    CHECK_INT(hf_multi_acquire(t.multi, NULL, &hold, NULL), HF_OK);
    CHECK_INT(hf_hold_state(hold), HF_STATE_HELD);
    CHECK(hf_hold_valid_ms(hold) > 0);
    CHECK_INT(hf_hold_parts(hold), 3);
    CHECK(hf_hold_part(hold, 3) == NULL);
    for (size_t i = 0; i < 3; i++) {
        hf_hold *part = hf_hold_part(hold, i);
        CHECK_STR(hf_hold_name(part), hf_lock_name(t.locks[i]));
        CHECK_INT(hf_hold_state(part), HF_STATE_HELD);
        CHECK(rig_fence_rises(0, hf_hold_fence(part)));
        CHECK_INT(hf_hold_count(part), 1);
        CHECK_INT(hf_lock_is_mine(t.locks[i], &mine, NULL), HF_OK);
        CHECK_INT(mine, 1);
        CHECK_INT(rig_probe(other.locks[i]), HF_TAKEN);
    }
    CHECK_INT(hf_hold_release(hold, NULL), HF_OK);
    CHECK_INT(hf_hold_state(hold), HF_STATE_NONE);
    CHECK_INT(hf_hold_valid_ms(hold), 0);
    CHECK(three_are_free(&other));
}

TEST(multi, try_of_a_set_with_one_lock_taken_takes_none)
{
    struct three t, other;
    struct hf_error err = {0};
    hf_hold *const untouched = (hf_hold *)&err, *hold = untouched;
    rig_begin();
    three_open(&t);
    three_open(&other);
    CHECK_INT(hf_lock_try(other.locks[1], NULL, NULL), HF_OK);
    CHECK_INT(hf_multi_try(t.multi, &hold, &err), HF_TAKEN);
    CHECK_INT(err.status, HF_TAKEN);
    CHECK(strncmp(err.text, "lock b: ", 8) == 0);
    CHECK(hold == untouched);
    for (int i = 0; i < 3; i++)
        CHECK_INT(hf_lock_release(t.locks[i], NULL, NULL), HF_NOT_OWNER);
    CHECK_INT(hf_lock_release(other.locks[1], NULL, NULL), HF_OK);
    CHECK(three_are_free(&other));
}

TEST(multi, enters_what_the_holder_has_already_and_leaves_it_once)
{
    struct three t, other;
    hf_hold *before, *hold;
    rig_begin();
    three_open(&t);
    three_open(&other);
    CHECK_INT(hf_lock_acquire(t.locks[1], NULL, &before, NULL), HF_OK);
    CHECK_INT(hf_multi_acquire(t.multi, NULL, &hold, NULL), HF_OK);
    CHECK_INT(hf_hold_count(hf_hold_part(hold, 0)), 1);
    CHECK_INT(hf_hold_count(hf_hold_part(hold, 1)), 2);
    CHECK(hf_hold_fence(hf_hold_part(hold, 1)) == hf_hold_fence(before));
    CHECK_INT(hf_hold_release(hold, NULL), HF_OK);
    CHECK_INT(hf_hold_state(before), HF_STATE_HELD);
    CHECK_INT(hf_hold_count(before), 1);
    CHECK_INT(rig_probe(other.locks[1]), HF_TAKEN);
    CHECK_INT(hf_hold_release(before, NULL), HF_OK);
    CHECK(three_are_free(&other));
}

TEST(multi, that_fails_leaves_what_the_holder_had_before_as_it_was)
{
    struct three t, other;
    hf_hold *before, *hold;
    rig_begin();
    three_open(&t);
    three_open(&other);
    CHECK_INT(hf_lock_acquire(t.locks[0], NULL, &before, NULL), HF_OK);
    CHECK_INT(hf_lock_try(other.locks[2], NULL, NULL), HF_OK);
    CHECK_INT(hf_multi_try(t.multi, &hold, NULL), HF_TAKEN);
    CHECK_INT(hf_hold_state(before), HF_STATE_HELD);
    CHECK_INT(hf_hold_count(before), 1);
    CHECK_INT(hf_hold_release(before, NULL), HF_OK);
    CHECK_INT(rig_probe(other.locks[0]), HF_OK);
}

TEST(multi, may_be_acquired_twice_and_is_released_twice)
{
    struct three t, other;
    hf_hold *first, *again, *next;
    rig_begin();
    three_open(&t);
    three_open(&other);
    CHECK_INT(hf_multi_acquire(t.multi, NULL, &first, NULL), HF_OK);
    CHECK_INT(hf_multi_acquire(t.multi, NULL, &again, NULL), HF_OK);
    CHECK(first != again);
    CHECK_INT(hf_hold_release(first, NULL), HF_OK);
    CHECK_INT(hf_multi_try(other.multi, &next, NULL), HF_TAKEN);
    CHECK_INT(hf_hold_state(again), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(again, NULL), HF_OK);
    CHECK_INT(hf_multi_try(other.multi, &next, NULL), HF_OK);
}

static int is_lost(void *hold)
{
    return hf_hold_state(hold) == HF_STATE_LOST;
}

/* Acquire the set; of its lock `i` the hold ends after 3 s, as an acquire
 * before has decided. */
static hf_hold *acquire_with_short(const struct three *t, int i)
{
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 0, 0);
    hf_hold *hold = NULL;
    o.max_hold_ms = 3000;
    CHECK_INT(hf_lock_acquire(t->locks[i], &o, NULL, NULL), HF_OK);
    CHECK_INT(hf_multi_acquire(t->multi, NULL, &hold, NULL), HF_OK);
    return hold;
}

/* Defect 12: there, the rest stays held and renewed. */
TEST(multi, release_goes_on_behind_one_that_fails)
{
    struct three t, other;
    struct hf_error err = {0};
    rig_begin();
    three_open(&t);
    three_open(&other);
    hf_hold *hold = acquire_with_short(&t, 0);
    CHECK(rig_until(is_lost, hf_hold_part(hold, 0)));
    CHECK_INT(hf_hold_state(hf_hold_part(hold, 1)), HF_STATE_HELD);
    CHECK_INT(rig_probe(other.locks[1]), HF_TAKEN);
    int status = hf_hold_release(hold, &err);
    CHECK(status == HF_EXPIRED || status == HF_LOST);
    CHECK_INT(err.status, status);
    CHECK(strncmp(err.text, "lock a: ", 8) == 0);
    CHECK(three_are_free(&other));
}

TEST(multi, extends_every_lease)
{
    struct three t;
    hf_hold *hold;
    struct hf_acquire_options o =
        rig_options(RIG_WAIT_MS, 5000, HF_ACQUIRE_FIXED);
    rig_begin();
    three_open(&t);
    CHECK_INT(hf_multi_acquire(t.multi, &o, &hold, NULL), HF_OK);
    CHECK(hf_hold_valid_ms(hold) <= 5000);
    CHECK_INT(hf_hold_extend(hold, 9000, NULL), HF_OK);
    for (size_t i = 0; i < 3; i++)
        CHECK(hf_hold_valid_ms(hf_hold_part(hold, i)) > 5000);
    CHECK(hf_hold_valid_ms(hold) > 5000);
    CHECK_INT(hf_hold_extend(hold, 1, NULL), HF_INVALID);
    CHECK_INT(hf_hold_release(hold, NULL), HF_OK);
    CHECK_INT(hf_hold_extend(hold, 9000, NULL), HF_INVALID);
}

TEST(multi, is_as_bad_as_the_worst_of_its_locks)
{
    struct three t;
    rig_begin();
    three_open(&t);
    hf_hold *hold = acquire_with_short(&t, 2);
    int state = hf_hold_state(hold);
    CHECK(state == HF_STATE_HELD || state == HF_STATE_AT_RISK);
    CHECK(hf_hold_valid_ms(hold) <= 3000);
    CHECK(rig_until(is_lost, hf_hold_part(hold, 2)));
    CHECK_INT(hf_hold_state(hold), HF_STATE_LOST);
    CHECK_INT(hf_hold_valid_ms(hold), 0);
    CHECK_INT(hf_hold_state(hf_hold_part(hold, 0)), HF_STATE_HELD);
    CHECK(hf_hold_valid_ms(hf_hold_part(hold, 0)) > 0);
}

TEST(multi, of_one_name_twice_is_refused_by_name)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *locks[] = {rig_lock(c, "a"), rig_lock(c, "b"), rig_lock(c, "a")};
    hf_multi *m = NULL;
    struct hf_error err = {0};
    CHECK_INT(hf_multi_open(locks, 3, &m, &err), HF_INVALID);
    CHECK(strncmp(err.text, "lock a: twice", 13) == 0);
    locks[2] = rig_lock(rig_client(NULL), "a"); /* the same store */
    CHECK_INT(hf_multi_open(locks, 3, &m, &err), HF_INVALID);
    CHECK(m == NULL);
}

TEST(multi, of_none_or_too_many_is_refused)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *locks[HF_MULTI_MAX + 1];
    hf_multi *m = NULL;
    for (int i = 0; i <= HF_MULTI_MAX; i++) locks[i] = l;
    CHECK_INT(hf_multi_open(locks, 0, &m, NULL), HF_INVALID);
    CHECK_INT(hf_multi_open(locks, HF_MULTI_MAX + 1, &m, NULL), HF_INVALID);
    CHECK(m == NULL);
}

TEST(multi, of_the_most_names_works)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *locks[HF_MULTI_MAX];
    for (int i = 0; i < HF_MULTI_MAX; i++) {
        char name[8];
        snprintf(name, sizeof name, "n%d", i);
        locks[i] = rig_lock(c, name);
    }
    hf_multi *m = rig_multi(locks, HF_MULTI_MAX);
    hf_hold *hold;
    CHECK_INT(hf_multi_acquire(m, NULL, &hold, NULL), HF_OK);
    CHECK_INT(hf_hold_parts(hold), HF_MULTI_MAX);
    CHECK_INT(hf_hold_state(hold), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(hold, NULL), HF_OK);
    CHECK_INT(rig_probe(locks[HF_MULTI_MAX - 1]), HF_OK);
}

TEST(multi, refuses_what_one_of_its_locks_cannot_have)
{
    struct three t;
    struct hf_acquire_options o = rig_options(0, 1, 0);
    struct hf_error err = {0};
    hf_hold *hold;
    rig_begin();
    three_open(&t);
    CHECK_INT(hf_multi_acquire(t.multi, &o, &hold, &err), HF_INVALID);
    o = rig_options(0, 0, 1u << 30);
    CHECK_INT(hf_multi_acquire(t.multi, &o, &hold, &err), HF_INVALID);
    CHECK_INT(hf_multi_acquire(t.multi, NULL, NULL, &err), HF_INVALID);
    CHECK(three_are_free(&t));
}

/* test: three servers, another thread refused */
TEST(multi, over_several_stores_is_all_or_nothing_too)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_client *d = rig_client_at("memory:multi-other", NULL);
    hf_lock *locks[] = {rig_lock(c, "a"), rig_lock(d, "a"), rig_lock(d, "b")};
    hf_lock *other = rig_lock(rig_client_at("memory:multi-other", NULL), "a");
    hf_multi *m = rig_multi(locks, 3);
    hf_hold *hold;
    CHECK_INT(hf_multi_acquire(m, NULL, &hold, NULL), HF_OK);
    CHECK_INT(rig_probe(other), HF_TAKEN);
    CHECK_INT(hf_hold_release(hold, NULL), HF_OK);
    CHECK_INT(hf_lock_try(other, NULL, NULL), HF_OK);
    CHECK_INT(hf_multi_try(m, &hold, NULL), HF_TAKEN);
    CHECK_INT(rig_probe(locks[0]), HF_OK);
    CHECK_INT(rig_probe(locks[2]), HF_OK);
}
