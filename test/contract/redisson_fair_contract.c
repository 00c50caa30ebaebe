/*
 * redisson_fair_contract.c: what Redisson's tests of its fair lock claim and
 * fair_contract.c does not.  One rule: a fair lock is a lock like any other,
 * except that the order of its holders is fixed.
 */
#include "lib/crowd.h"
#include "lib/fair.h"

static struct fair_waiter waiters[FAIR_MAX];
static atomic_int turns;

/* testLeaseTimeout: nobody unlocks, and they come in the order of arrival. */
TEST(redisson_fair, leases_that_nobody_gives_back_go_on_in_order)
{
    if (!rig_begin_with(HF_CAP_QUEUE)) return;
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    struct hf_acquire_options o = rig_options(0, 5000, HF_ACQUIRE_FIXED);
    CHECK_INT(hf_lock_acquire(fair_lock(c, "a"), &o, NULL, NULL), HF_OK);
    atomic_store(&turns, 0);
    for (int i = 0; i < 4; i++) {
        waiters[i] = (struct fair_waiter){.lock = fair_lock(i % 2 ? c : d, "a"),
                                          .lease_ms = 1000,
                                          .flags = HF_ACQUIRE_FIXED,
                                          .is_kept = 1,
                                          .turns = &turns};
        fair_join(&waiters[i]);
    }
    rig_join();
    for (int i = 0; i < 4; i++) {
        CHECK_INT(waiters[i].status, HF_OK);
        CHECK_INT(waiters[i].turn, i + 1);
    }
}

/* testTryLockWait */
TEST(redisson_fair, a_wait_ends_with_timeout_and_not_before_it)
{
    if (!rig_begin_with(HF_CAP_QUEUE)) return;
    hf_lock *l = fair_lock(rig_client(NULL), "a");
    hf_lock *other = fair_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    int64_t began_ms = rig_now_ms();
    CHECK_INT(rig_acquire(other, 0, 1000, NULL), HF_TIMEOUT);
    CHECK(rig_now_ms() - began_ms >= 995);
}

/* testIsLocked, testIsHeldByCurrentThread */
TEST(redisson_fair, questions_are_answered_as_of_any_lock)
{
    int is_so = -1;
    if (!rig_begin_with(HF_CAP_QUEUE)) return;
    hf_lock *l = fair_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_is_locked(l, &is_so, NULL), HF_OK);
    CHECK_INT(is_so, 0);
    CHECK_INT(rig_acquire(l, 0, 5000, NULL), HF_OK);
    CHECK_INT(hf_lock_is_locked(l, &is_so, NULL), HF_OK);
    CHECK_INT(is_so, 1);
    CHECK_INT(hf_lock_is_mine(l, &is_so, NULL), HF_OK);
    CHECK_INT(is_so, 1);
    CHECK_INT(rig_is_held_by(l, hf_holder_new()), 0);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_is_mine(l, &is_so, NULL), HF_OK);
    CHECK_INT(is_so, 0);
    CHECK_INT(hf_lock_is_locked(l, &is_so, NULL), HF_OK);
    CHECK_INT(is_so, 0);
}

struct asker {
    hf_lock *lock;
    int64_t count;
    int is_locked, is_held;
};

static void asker_run(void *arg)
{
    struct asker *a = arg;
    CHECK_INT(hf_lock_is_locked(a->lock, &a->is_locked, NULL), HF_OK);
    CHECK_INT(hf_lock_is_mine(a->lock, &a->is_held, NULL), HF_OK);
    CHECK_INT(hf_lock_hold_count(a->lock, &a->count, NULL), HF_OK);
}

/* testIsLockedOtherThread, testIsHeldByCurrentThreadOtherThread */
TEST(redisson_fair, another_thread_sees_it_locked_but_not_its_own)
{
    static struct asker a;
    if (!rig_begin_with(HF_CAP_QUEUE)) return;
    a = (struct asker){.lock = fair_lock(rig_client(NULL), "a"), .count = -1};
    for (int is_held = 1; is_held >= 0; is_held--) {
        if (is_held)
            CHECK_INT(rig_acquire(a.lock, 0, 5000, NULL), HF_OK);
        else
            CHECK_INT(hf_lock_release(a.lock, NULL, NULL), HF_OK);
        rig_spawn(asker_run, &a);
        rig_join();
        CHECK_INT(a.is_locked, is_held);
        CHECK_INT(a.is_held, 0);
        CHECK_INT(a.count, 0);
    }
}

/* testGetHoldCount */
TEST(redisson_fair, is_counted_up_and_down)
{
    int64_t count = -1;
    if (!rig_begin_with(HF_CAP_QUEUE)) return;
    hf_lock *l = fair_lock(rig_client(NULL), "a");
    for (int i = 0; i <= 2; i++) {
        CHECK_INT(hf_lock_hold_count(l, &count, NULL), HF_OK);
        CHECK_INT(count, i);
        if (i < 2) CHECK_INT(rig_acquire(l, 0, 5000, NULL), HF_OK);
    }
    for (int i = 1; i >= 0; i--) {
        CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
        CHECK_INT(hf_lock_hold_count(l, &count, NULL), HF_OK);
        CHECK_INT(count, i);
    }
}

static void release_run(void *arg)
{
    struct asker *a = arg;
    a->count = hf_lock_release(a->lock, NULL, NULL);
}

/* testUnlockFail */
TEST(redisson_fair, a_release_by_another_holder_is_not_owner)
{
    static struct asker a;
    if (!rig_begin_with(HF_CAP_QUEUE)) return;
    hf_lock *l = fair_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    a = (struct asker){.lock = l, .count = -1};
    rig_spawn(release_run, &a);
    rig_join();
    CHECK_INT(a.count, HF_NOT_OWNER);
    CHECK_INT(rig_probe(l), HF_TAKEN);
}

/* testExpire: there, a late unlock by the first does not throw. */
TEST(redisson_fair, a_release_that_comes_too_late_says_so)
{
    if (!rig_begin_with(HF_CAP_QUEUE)) return;
    hf_lock *l = fair_lock(rig_client(NULL), "a");
    hf_lock *other = fair_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(0, 500, HF_ACQUIRE_FIXED);
    hf_hold *late, *next;
    CHECK_INT(hf_lock_acquire(l, &o, &late, NULL), HF_OK);
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, &next), HF_OK);
    int status = hf_hold_release(late, NULL);
    CHECK(status == HF_EXPIRED || status == HF_LOST);
    CHECK_INT(hf_hold_state(next), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(next, NULL), HF_OK);
}

/* testMultipleLocks, testConcurrency_SingleInstance and _MultiInstance */
TEST(redisson_fair, a_crowd_of_several_clients_all_get_it_alone)
{
    static struct crowd crowd;
    if (!rig_begin_with(HF_CAP_QUEUE)) return;
    crowd = (struct crowd){.members = 24, .rounds = 20, .hold_ms = 1};
    crowd.how = rig_options(RIG_WAIT_MS, 0, 0);
    for (int i = 0; i < 4; i++) {
        hf_client *c = rig_client(NULL);
        for (int k = 0; k < 6; k++) crowd.locks[6 * i + k] = fair_lock(c, "a");
    }
    crowd_run(&crowd);
    CHECK_INT(fair_queued(crowd.locks[0]), 0);
}

/* testConcurrencyLoop_MultiInstance, with some threads that do not queue. */
TEST(redisson_fair, who_queues_and_who_does_not_never_meet)
{
    static struct crowd crowd;
    if (!rig_begin_with(HF_CAP_QUEUE)) return;
    crowd = (struct crowd){.members = 8, .rounds = 25};
    /* A member that does not queue may come after all rounds of those that
     * do. */
    crowd.how = rig_options(RIG_PATIENCE_MS, 0, 0);
    for (int i = 0; i < 8; i++)
        crowd.locks[i] = fair_lock_as(rig_client(NULL), "a",
                                      i % 2 ? HF_ORDER_FAIR : HF_ORDER_ANY);
    crowd_run(&crowd);
}

/* RedissonNonReentrantFairLockTest */
TEST(redisson_fair, the_same_holder_is_refused_without_reentry)
{
    struct hf_acquire_options o =
        rig_options(RIG_WAIT_MS, 0, HF_ACQUIRE_NO_REENTRY);
    if (!rig_begin_with(HF_CAP_QUEUE)) return;
    hf_client *c = rig_client(NULL);
    hf_lock *l = fair_lock(c, "a");
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_INVALID);
    CHECK_INT(hf_lock_acquire(fair_lock(c, "a"), &o, NULL, NULL), HF_INVALID);
    CHECK_INT(fair_queued(l), 0);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(l), HF_OK);
}
