/*
 * redisson_spin_async_contract.c: Redisson's asynchronous tests of its spin
 * lock.  One rule: the answer comes once, by a callback, and never before its
 * time.
 */
#include <string.h>

#include "lib/rig.h"

struct answer {
    atomic_int calls;
    int status;
    hf_hold *hold;
    int64_t at_ms;
};

static void on_acquired(hf_lock *lock, int status, hf_hold *hold,
                        const struct hf_error *err, void *user)
{
    struct answer *a = user;
    (void)lock, (void)err;
    a->status = status;
    a->hold = hold;
    a->at_ms = rig_now_ms();
    atomic_fetch_add(&a->calls, 1);
}

static void start(struct answer *a, hf_lock *l, int64_t wait_ms)
{
    struct hf_acquire_options o = rig_options(wait_ms, 0, 0);
    o.backoff = HF_BACKOFF_EXPONENTIAL;
    memset(a, 0, sizeof *a);
    CHECK_INT(hf_lock_acquire_start(l, &o, on_acquired, a, NULL), HF_OK);
}

/* testTryLockAsyncSucceed */
TEST(redisson_spin_async, try_of_a_free_lock_is_granted)
{
    static struct answer a;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    start(&a, l, RIG_TRY);
    CHECK(rig_until_equal(&a.calls, 1));
    CHECK_INT(a.status, HF_OK);
    CHECK_INT(hf_hold_release(a.hold, NULL), HF_OK);
}

/* testTryLockAsyncFailed */
TEST(redisson_spin_async, try_of_a_held_lock_is_taken)
{
    static struct answer a;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    start(&a, l, RIG_TRY);
    CHECK(rig_until_equal(&a.calls, 1));
    CHECK_INT(a.status, HF_TAKEN);
}

/* testTryLockAsyncWaitTime */
TEST(redisson_spin_async, wait_ends_with_timeout_and_not_before_it)
{
    static struct answer a;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    int64_t began_ms = rig_now_ms();
    start(&a, l, 1000);
    CHECK(rig_until_equal(&a.calls, 1));
    CHECK_INT(a.status, HF_TIMEOUT);
    CHECK(a.at_ms - began_ms >= 995);
}

static void wait_is_granted(int64_t wait_ms)
{
    static struct answer a;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    start(&a, other, wait_ms);
    rig_pause_ms(300);
    CHECK_INT(atomic_load(&a.calls), 0);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK(rig_until_equal(&a.calls, 1));
    CHECK_INT(a.status, HF_OK); /* long before the 30 s lease would end */
    CHECK_INT(hf_hold_release(a.hold, NULL), HF_OK);
}

/* testTryLockAsync */
TEST(redisson_spin_async, wait_for_ever_is_granted_after_the_release)
{
    wait_is_granted(RIG_NO_LIMIT);
}

/* testTimedTryLockAsync */
TEST(redisson_spin_async, timed_wait_is_granted_after_the_release)
{
    wait_is_granted(RIG_WAIT_MS);
}
