/*
 * permit_count_contract.c: how many permits there are, where the store keeps
 * their number.  One rule for all of it: what is refused changes nothing.
 */
#include <string.h>

#include "lib/rig_semaphore.h"

static int state_is(hf_semaphore *sem, int64_t available, int64_t capacity,
                    int64_t taken)
{
    struct hf_semaphore_state now = rig_count(sem);
    return now.available == available && now.capacity == capacity
           && now.taken == taken;
}

/* RedissonPermitExpirableSemaphoreTest.testNotExistent */
TEST(permit_count, of_a_semaphore_that_was_never_set_is_zero)
{
    if (!rig_begin_with(HF_CAP_PERMIT)) return;
    hf_semaphore *s = rig_semaphore_as(rig_client(NULL), "s", NULL);
    CHECK(state_is(s, 0, 0, 0));
    CHECK_INT(rig_count(s).is_set, 0);
    CHECK_INT(rig_take(s, 1, 0, NULL), HF_TAKEN);
}

/* RedissonPermitExpirableSemaphoreTest.testTrySetPermits */
TEST(permit_count, is_set_by_the_first_who_tries)
{
    struct hf_semaphore_state now = HF_SEMAPHORE_STATE_INIT;
    if (!rig_begin_with(HF_CAP_PERMIT)) return;
    hf_semaphore *s = rig_semaphore_as(rig_client(NULL), "s", NULL);
    hf_semaphore *other = rig_semaphore_as(rig_client(NULL), "s", NULL);
    CHECK_INT(hf_semaphore_try_set(s, 10, &now, NULL), HF_OK);
    CHECK_INT(now.is_done, 1);
    CHECK_INT(now.capacity, 10);
    CHECK_INT(hf_semaphore_try_set(other, 15, &now, NULL), HF_OK);
    CHECK_INT(now.is_done, 0);
    CHECK_INT(now.is_set, 1);
    CHECK(state_is(other, 10, 10, 0));
}

/* RedissonPermitExpirableSemaphoreTest.testAvailablePermits,
 * testAcquiredPermits, testGetPermits */
TEST(permit_count, tells_what_is_free_and_what_is_out)
{
    hf_hold *a, *b;
    if (!rig_begin_with(HF_CAP_PERMIT)) return;
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 5);
    struct hf_acquire_options o = rig_options(RIG_TRY, 4000, HF_ACQUIRE_FIXED);
    CHECK_INT(rig_take(s, 2, 0, &a), HF_OK);
    CHECK_INT(hf_semaphore_acquire(s, &o, &b, NULL), HF_OK);
    CHECK(state_is(s, 2, 5, 3));
    rig_pause_ms(4100);
    CHECK(state_is(s, 3, 5, 2)); /* it has ended, and nobody has asked since */
    CHECK_INT(hf_hold_release(a, NULL), HF_OK);
    CHECK(state_is(s, 5, 5, 0));
}

/* RedissonPermitExpirableSemaphoreTest.testSetPermits */
TEST(permit_count, is_changed_while_some_are_out)
{
    hf_hold *p;
    if (!rig_begin_with(HF_CAP_PERMIT)) return;
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 3);
    CHECK_INT(rig_take(s, 2, 0, &p), HF_OK);
    CHECK_INT(hf_semaphore_set(s, 5, 0, NULL, NULL), HF_OK);
    CHECK(state_is(s, 3, 5, 2));
    CHECK_INT(hf_semaphore_set(s, 5, 0, NULL, NULL), HF_OK);
    CHECK(state_is(s, 3, 5, 2));
    CHECK_INT(hf_semaphore_set(s, 2, 0, NULL, NULL), HF_OK);
    CHECK(state_is(s, 0, 2, 2));
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    CHECK(state_is(s, 2, 2, 0));
}

TEST(permit_count, below_what_is_out_is_refused)
{
    struct hf_error err = {0};
    if (!rig_begin_with(HF_CAP_PERMIT)) return;
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 3);
    CHECK_INT(rig_take(s, 2, 0, NULL), HF_OK);
    CHECK_INT(hf_semaphore_set(s, 1, 0, NULL, &err), HF_INVALID);
    CHECK(strstr(err.text, "are out") != NULL);
    CHECK_INT(hf_semaphore_add(s, -2, 0, NULL, &err), HF_INVALID);
    CHECK(strstr(err.text, "are out") != NULL);
    CHECK(state_is(s, 1, 3, 2));
}

/* RedissonPermitExpirableSemaphoreTest.testSetPermits, testAddPermits: below
 * zero only if the caller asks for that. */
TEST(permit_count, below_what_is_out_is_set_by_who_says_so)
{
    hf_hold *p;
    if (!rig_begin_with(HF_CAP_PERMIT)) return;
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 3);
    CHECK_INT(rig_take(s, 2, 0, &p), HF_OK);
    CHECK_INT(hf_semaphore_set(s, 1, HF_SEMAPHORE_ANYWAY, NULL, NULL), HF_OK);
    CHECK(state_is(s, -1, 1, 2));
    CHECK_INT(rig_take(s, 1, 0, NULL), HF_TAKEN);
    CHECK_INT(hf_hold_valid_ms(p) > 0, 1);
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    CHECK(state_is(s, 1, 1, 0));
}

/* RedissonPermitExpirableSemaphoreTest.testAddPermits */
TEST(permit_count, is_raised_and_lowered)
{
    struct hf_semaphore_state now = HF_SEMAPHORE_STATE_INIT;
    if (!rig_begin_with(HF_CAP_PERMIT)) return;
    hf_semaphore *s = rig_semaphore_set(rig_client(NULL), "s", 10);
    CHECK_INT(hf_semaphore_add(s, 5, 0, &now, NULL), HF_OK);
    CHECK_INT(now.capacity, 15);
    CHECK_INT(hf_semaphore_add(s, -10, 0, &now, NULL), HF_OK);
    CHECK_INT(now.capacity, 5);
    CHECK_INT(hf_semaphore_add(s, -10, HF_SEMAPHORE_ANYWAY, &now, NULL), HF_OK);
    CHECK_INT(now.available, -5);
}

TEST(permit_count, of_what_was_never_set_is_raised_only_if_that_is_wanted)
{
    struct hf_semaphore_state now = HF_SEMAPHORE_STATE_INIT;
    if (!rig_begin_with(HF_CAP_PERMIT)) return;
    hf_semaphore *s = rig_semaphore_as(rig_client(NULL), "s", NULL);
    CHECK_INT(hf_semaphore_add(s, 2, HF_SEMAPHORE_IF_SET, &now, NULL), HF_OK);
    CHECK_INT(now.is_done, 0);
    CHECK(state_is(s, 0, 0, 0));
    CHECK_INT(hf_semaphore_add(s, 2, 0, &now, NULL), HF_OK);
    CHECK_INT(now.is_done, 1);
    CHECK(state_is(s, 2, 2, 0));
}

TEST(permit_count, wakes_who_waits_when_it_is_raised)
{
    static struct taker t;
    if (!rig_begin_with(HF_CAP_PERMIT)) return;
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 1);
    hf_semaphore *other = rig_semaphore_as(rig_client(NULL), "s", NULL);
    CHECK_INT(rig_take(s, 1, 0, NULL), HF_OK);
    taker_start(&t, other, 1, RIG_WAIT_MS);
    CHECK_INT(atomic_load(&t.got), 0);
    CHECK_INT(hf_semaphore_set(s, 2, 0, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(t.status, HF_OK);
}

TEST(permit_count, wakes_who_waited_before_it_was_set)
{
    static struct taker t;
    if (!rig_begin_with(HF_CAP_PERMIT)) return;
    hf_semaphore *s = rig_semaphore_as(rig_client(NULL), "s", NULL);
    hf_semaphore *other = rig_semaphore_as(rig_client(NULL), "s", NULL);
    taker_start(&t, other, 1, RIG_WAIT_MS);
    CHECK_INT(hf_semaphore_try_set(s, 1, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(t.status, HF_OK);
}

TEST(permit_count, out_of_range_is_refused)
{
    if (!rig_begin_with(HF_CAP_PERMIT)) return;
    hf_semaphore *s = rig_semaphore_set(rig_client(NULL), "s", 1);
    CHECK_INT(hf_semaphore_set(s, -1, 0, NULL, NULL), HF_INVALID);
    CHECK_INT(hf_semaphore_try_set(s, HF_SEMAPHORE_MAX + 1, NULL, NULL),
              HF_INVALID);
    CHECK_INT(hf_semaphore_add(s, -HF_SEMAPHORE_MAX - 1, 0, NULL, NULL),
              HF_INVALID);
    CHECK_INT(hf_semaphore_set(s, 1, 64, NULL, NULL), HF_INVALID);
    CHECK_INT(hf_semaphore_drain(s, NULL, NULL), HF_UNSUPPORTED);
    CHECK(state_is(s, 1, 1, 0));
}

TEST(permit_count, is_gone_with_the_semaphore_and_its_permits)
{
    hf_hold *p;
    struct hf_semaphore_state now = HF_SEMAPHORE_STATE_INIT;
    if (!rig_begin_with(HF_CAP_PERMIT)) return;
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 2);
    CHECK_INT(rig_take(s, 1, 0, &p), HF_OK);
    CHECK_INT(hf_semaphore_delete(s, &now, NULL), HF_OK);
    CHECK_INT(now.is_done, 1);
    CHECK(state_is(s, 0, 0, 0));
    CHECK_INT(hf_hold_release(p, NULL), HF_EXPIRED);
    CHECK(state_is(s, 0, 0, 0));
    CHECK_INT(hf_semaphore_delete(s, &now, NULL), HF_OK);
    CHECK_INT(now.is_done, 0);
}

struct answer {
    atomic_int count;
    int status;
    struct hf_semaphore_state state;
};

static void answered(hf_semaphore *sem, int status,
                     const struct hf_semaphore_state *state,
                     const struct hf_error *err, void *user)
{
    struct answer *a = user;
    (void)sem;
    (void)err;
    a->status = status;
    if (state) a->state = *state;
    atomic_fetch_add(&a->count, 1);
}

TEST(permit_count, is_changed_and_told_asynchronously)
{
    static struct answer set, look, bad;
    set = look = bad = (struct answer){0};
    if (!rig_begin_with(HF_CAP_PERMIT)) return;
    hf_semaphore *s = rig_semaphore_as(rig_client(NULL), "s", NULL);
    CHECK_INT(hf_semaphore_change_start(s, HF_SEMAPHORE_SET, 4, 0, answered,
                                        &set, NULL),
              HF_OK);
    CHECK(rig_until_equal(&set.count, 1));
    CHECK_INT(set.status, HF_OK);
    CHECK_INT(hf_semaphore_change_start(s, HF_SEMAPHORE_LOOK, 0, 0, answered,
                                        &look, NULL),
              HF_OK);
    CHECK(rig_until_equal(&look.count, 1));
    CHECK_INT(look.state.available, 4);
    CHECK_INT(rig_take(s, 4, 0, NULL), HF_OK);
    CHECK_INT(hf_semaphore_change_start(s, HF_SEMAPHORE_SET, 1, 0, answered,
                                        &bad, NULL),
              HF_OK);
    CHECK(rig_until_equal(&bad.count, 1));
    CHECK_INT(bad.status, HF_INVALID);
    CHECK_INT(hf_semaphore_change_start(s, 99, 0, 0, answered, &bad, NULL),
              HF_INVALID);
}

/* ---- what else is told -------------------------------------------------- */

TEST(permit_count, is_shown_by_inspect_with_one_of_the_holders)
{
    hf_hold *p;
    struct hf_info info = HF_INFO_INIT;
    if (!rig_begin_with(HF_CAP_PERMIT)) return;
    hf_client *c = rig_client(NULL);
    hf_semaphore *s = rig_semaphore(c, "s", 3);
    hf_lock *lock = hf_semaphore_lock(s);
    struct hf_acquire_options o = rig_options(RIG_TRY, 0, 0);
    o.permits = 2;
    o.holder = hf_holder_new();
    CHECK_INT(hf_semaphore_acquire(s, &o, &p, NULL), HF_OK);
    CHECK_INT(rig_inspect_as(lock, o.holder, &info), HF_OK);
    CHECK_INT(info.locked, 1);
    CHECK_INT(info.mine, 1);
    CHECK_INT(info.permits, 3);
    CHECK_INT(info.available, 1);
    CHECK(info.pid > 0 && info.host[0] != 0);
    CHECK_INT(info.fence, hf_hold_fence(p));
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    CHECK_INT(rig_inspect_as(lock, o.holder, &info), HF_OK);
    CHECK_INT(info.locked, 0);
    CHECK_INT(info.mine, 0);
    CHECK_INT(info.available, 3);
}

/* ---- one name, one kind ------------------------------------------------- */

TEST(permit_count, a_semaphore_and_a_lock_of_one_name_refuse_each_other)
{
    hf_hold *p;
    struct hf_error err = {0};
    if (!rig_begin_with(HF_CAP_PERMIT)) return;
    hf_client *c = rig_client(NULL);
    hf_lock *lock = rig_lock(c, "a");
    hf_semaphore *s = rig_semaphore_as(c, "a", NULL);
    CHECK_INT(hf_lock_try(lock, NULL, NULL), HF_OK);
    CHECK_INT(hf_semaphore_try(s, &p, &err), HF_CONFLICT);
    CHECK(strstr(err.text, "no semaphore") || strstr(err.text, "in use as"));
    CHECK_INT(hf_semaphore_try_set(s, 3, NULL, &err), HF_CONFLICT);
    CHECK_INT(hf_lock_release(lock, NULL, NULL), HF_OK);
    CHECK_INT(hf_semaphore_try_set(s, 3, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_try(lock, NULL, &err), HF_CONFLICT);
    CHECK(err.text[0] != 0);
    CHECK(state_is(s, 3, 3, 0));
}

TEST(permit_count, a_semaphore_and_a_plain_counter_refuse_each_other)
{
    hf_hold *p;
    struct hf_semaphore_state now = HF_SEMAPHORE_STATE_INIT;
    if (!rig_begin_with(HF_CAP_PERMIT | HF_CAP_TALLY)) return;
    hf_client *c = rig_client(NULL);
    hf_semaphore *a = rig_semaphore_set(c, "a", 1);
    hf_semaphore *count_a = rig_counter(c, "a", 0);
    CHECK_INT(hf_semaphore_try(count_a, &p, NULL), HF_CONFLICT);
    CHECK_INT(hf_semaphore_add(count_a, 1, 0, &now, NULL), HF_CONFLICT);
    hf_semaphore *count_b = rig_counter(c, "b", 5);
    hf_semaphore *b = rig_semaphore_as(c, "b", NULL);
    CHECK_INT(hf_semaphore_try(b, &p, NULL), HF_CONFLICT);
    CHECK_INT(hf_semaphore_state(b, &now, NULL), HF_CONFLICT);
    CHECK(state_is(a, 1, 1, 0));
    CHECK_INT(rig_count(count_b).available, 5);
}

TEST(permit_count, is_the_store_s_whatever_it_was_opened_with)
{
    struct hf_semaphore_options o = HF_SEMAPHORE_OPTIONS_INIT;
    if (!rig_begin_with(HF_CAP_PERMIT)) return;
    o.permits = HF_SEMAPHORE_SLOTS_MAX + 1;
    hf_semaphore *s = rig_semaphore_as(rig_client(NULL), "s", &o);
    CHECK_INT(hf_semaphore_try_set(s, 100, NULL, NULL), HF_OK);
    CHECK_INT(rig_take(s, 100, 0, NULL), HF_OK);
    CHECK_INT(rig_count(s).capacity, 100);
}
