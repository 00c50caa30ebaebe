/*
 * multi_contract.c: several locks at once.  One rule: all of them or none, and
 * whoever does not get them leaves nothing behind.
 */
#include <string.h>

#include "lib/rig_multi.h"

/* testLockUnlock */
TEST(multi, holds_every_lock_of_the_set_until_it_is_released)
{
    struct three t, other;
    struct hf_grant g[3];
    rig_begin();
    three_open(&t);
    three_open(&other);
    CHECK_INT(hf_multi_state(t.multi, 0), HF_STATE_NONE);
    CHECK_INT(hf_multi_acquire(t.multi, NULL, g, NULL), HF_OK);
    CHECK_INT(hf_multi_state(t.multi, 0), HF_STATE_HELD);
    CHECK(hf_multi_valid_ms(t.multi, 0) > 0);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(hf_lock_state(t.locks[i], 0), HF_STATE_HELD);
        CHECK(hf_lock_fence(t.locks[i], 0) == g[i].fence);
        CHECK_INT(g[i].count, 1);
        CHECK_INT(rig_probe(other.locks[i]), HF_TAKEN);
    }
    CHECK_INT(hf_multi_release(t.multi, NULL), HF_OK);
    CHECK_INT(hf_multi_state(t.multi, 0), HF_STATE_NONE);
    CHECK_INT(hf_multi_valid_ms(t.multi, 0), 0);
    CHECK(three_are_free(&other));
}

TEST(multi, try_of_a_set_with_one_lock_taken_takes_none)
{
    struct three t, other;
    struct hf_error err = {0};
    struct hf_grant g[3] = {{.fence = 77}, {.fence = 77}, {.fence = 77}};
    rig_begin();
    three_open(&t);
    three_open(&other);
    CHECK_INT(hf_lock_try(other.locks[1], NULL, NULL), HF_OK);
    CHECK_INT(hf_multi_try(t.multi, g, &err), HF_TAKEN);
    CHECK_INT(err.status, HF_TAKEN);
    CHECK(strncmp(err.text, "b: ", 3) == 0);
    CHECK(g[0].fence == 77);
    CHECK_INT(hf_multi_state(t.multi, 0), HF_STATE_NONE);
    CHECK_INT(hf_lock_release(other.locks[1], NULL, NULL), HF_OK);
    CHECK(three_are_free(&other));
}

TEST(multi, enters_what_the_holder_has_already_and_leaves_it_once)
{
    struct three t, other;
    struct hf_grant g[3];
    struct hf_released left = {-1};
    rig_begin();
    three_open(&t);
    three_open(&other);
    CHECK_INT(hf_lock_acquire(t.locks[1], NULL, NULL, NULL), HF_OK);
    CHECK_INT(hf_multi_acquire(t.multi, NULL, g, NULL), HF_OK);
    CHECK_INT(g[0].count, 1);
    CHECK_INT(g[1].count, 2);
    CHECK_INT(hf_multi_release(t.multi, NULL), HF_OK);
    CHECK_INT(hf_lock_state(t.locks[1], 0), HF_STATE_HELD);
    CHECK_INT(rig_probe(other.locks[1]), HF_TAKEN);
    CHECK_INT(hf_lock_release(t.locks[1], &left, NULL), HF_OK);
    CHECK_INT(left.count, 0);
    CHECK(three_are_free(&other));
}

TEST(multi, that_fails_leaves_what_the_holder_had_before_as_it_was)
{
    struct three t, other;
    struct hf_released left = {-1};
    rig_begin();
    three_open(&t);
    three_open(&other);
    CHECK_INT(hf_lock_acquire(t.locks[0], NULL, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_try(other.locks[2], NULL, NULL), HF_OK);
    CHECK_INT(hf_multi_try(t.multi, NULL, NULL), HF_TAKEN);
    CHECK_INT(hf_lock_state(t.locks[0], 0), HF_STATE_HELD);
    CHECK_INT(hf_lock_release(t.locks[0], &left, NULL), HF_OK);
    CHECK_INT(left.count, 0);
}

TEST(multi, may_be_acquired_twice_and_is_released_twice)
{
    struct three t, other;
    rig_begin();
    three_open(&t);
    three_open(&other);
    CHECK_INT(hf_multi_acquire(t.multi, NULL, NULL, NULL), HF_OK);
    CHECK_INT(hf_multi_acquire(t.multi, NULL, NULL, NULL), HF_OK);
    CHECK_INT(hf_multi_release(t.multi, NULL), HF_OK);
    CHECK_INT(hf_multi_try(other.multi, NULL, NULL), HF_TAKEN);
    CHECK_INT(hf_multi_release(t.multi, NULL), HF_OK);
    CHECK_INT(hf_multi_try(other.multi, NULL, NULL), HF_OK);
}

/* Defect 12: there, the rest stays held and renewed. */
TEST(multi, release_goes_on_behind_one_that_fails)
{
    struct three t, other;
    struct hf_error err = {0};
    rig_begin();
    three_open(&t);
    three_open(&other);
    CHECK_INT(hf_multi_acquire(t.multi, NULL, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_release(t.locks[0], NULL, NULL), HF_OK);
    CHECK_INT(hf_multi_release(t.multi, &err), HF_NOT_OWNER);
    CHECK(strncmp(err.text, "a: ", 3) == 0);
    CHECK(three_are_free(&other));
}

TEST(multi, extends_every_lease)
{
    struct three t;
    struct hf_grant g[3];
    struct hf_acquire_options o =
        rig_options(RIG_WAIT_MS, 5000, HF_ACQUIRE_FIXED);
    rig_begin();
    three_open(&t);
    CHECK_INT(hf_multi_extend(t.multi, 0, 9000, NULL, NULL), HF_NOT_OWNER);
    CHECK_INT(hf_multi_acquire(t.multi, &o, NULL, NULL), HF_OK);
    CHECK_INT(hf_multi_extend(t.multi, 0, 9000, g, NULL), HF_OK);
    for (int i = 0; i < 3; i++) CHECK(g[i].valid_ms > 5000);
    CHECK(hf_multi_valid_ms(t.multi, 0) > 5000);
    CHECK_INT(hf_multi_extend(t.multi, 0, 1, NULL, NULL), HF_INVALID);
}

TEST(multi, is_as_bad_as_the_worst_of_its_locks)
{
    struct three t;
    rig_begin();
    three_open(&t);
    CHECK_INT(hf_multi_acquire(t.multi, NULL, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_release(t.locks[2], NULL, NULL), HF_OK);
    CHECK_INT(hf_multi_state(t.multi, 0), HF_STATE_NONE);
    struct hf_acquire_options o = rig_options(0, 3000, HF_ACQUIRE_FIXED);
    CHECK_INT(hf_lock_acquire(t.locks[2], &o, NULL, NULL), HF_OK);
    CHECK_INT(hf_multi_state(t.multi, 0), HF_STATE_HELD);
    CHECK(hf_multi_valid_ms(t.multi, 0) <= 3000);
    CHECK(rig_until_state(t.locks[2], 0, HF_STATE_LOST));
    CHECK_INT(hf_multi_state(t.multi, 0), HF_STATE_LOST);
    CHECK_INT(hf_multi_valid_ms(t.multi, 0), 0);
}

TEST(multi, of_one_name_twice_is_refused_by_name)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *locks[] = {rig_lock(c, "a"), rig_lock(c, "b"), rig_lock(c, "a")};
    hf_multi *m = NULL;
    struct hf_error err = {0};
    CHECK_INT(hf_multi_open(locks, 3, &m, &err), HF_INVALID);
    CHECK(strncmp(err.text, "a: twice", 8) == 0);
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
    CHECK_INT(hf_multi_acquire(m, NULL, NULL, NULL), HF_OK);
    CHECK_INT(hf_multi_state(m, 0), HF_STATE_HELD);
    CHECK_INT(hf_multi_release(m, NULL), HF_OK);
    CHECK_INT(rig_probe(locks[HF_MULTI_MAX - 1]), HF_OK);
}

TEST(multi, refuses_what_one_of_its_locks_cannot_have)
{
    struct three t;
    struct hf_acquire_options o = rig_options(0, 1, 0);
    struct hf_error err = {0};
    rig_begin();
    three_open(&t);
    CHECK_INT(hf_multi_acquire(t.multi, &o, NULL, &err), HF_INVALID);
    o = rig_options(0, 0, 1u << 30);
    CHECK_INT(hf_multi_acquire(t.multi, &o, NULL, &err), HF_INVALID);
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
    CHECK_INT(hf_multi_acquire(m, NULL, NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(other), HF_TAKEN);
    CHECK_INT(hf_multi_release(m, NULL), HF_OK);
    CHECK_INT(hf_lock_try(other, NULL, NULL), HF_OK);
    CHECK_INT(hf_multi_try(m, NULL, NULL), HF_TAKEN);
    CHECK_INT(rig_probe(locks[0]), HF_OK);
    CHECK_INT(rig_probe(locks[2]), HF_OK);
}
