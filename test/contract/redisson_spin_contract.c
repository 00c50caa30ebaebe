/*
 * redisson_spin_contract.c: Redisson's tests of its spin lock, for acquires
 * with a back-off.  One rule: a back-off changes how one waits, and nothing
 * else.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "lib/crowd.h"

#define LONG_WAIT_MS (3 * RIG_PATIENCE_MS)

static struct hf_acquire_options spin(int64_t wait_ms, int64_t lease_ms,
                                      unsigned flags)
{
    struct hf_acquire_options o = rig_options(wait_ms, lease_ms, flags);
    o.backoff = HF_BACKOFF_EXPONENTIAL;
    return o;
}

static int spin_acquire(hf_lock *l, int64_t wait_ms)
{
    struct hf_acquire_options o = spin(wait_ms, 0, 0);
    return hf_lock_acquire(l, &o, NULL, NULL);
}

struct spinner {
    hf_lock *lock;
    struct hf_acquire_options how;
    pthread_t thread;
    atomic_int started, ended;
    int status;
};

static void spinner_run(void *arg)
{
    struct spinner *s = arg;
    s->thread = pthread_self();
    atomic_store(&s->started, 1);
    s->status = hf_lock_acquire(s->lock, &s->how, NULL, NULL);
    if (s->status == HF_OK) hf_lock_release(s->lock, NULL, NULL);
    atomic_store(&s->ended, 1);
}

static void spinner_start(struct spinner *s, hf_lock *l)
{
    memset(s, 0, sizeof *s);
    s->lock = l;
    s->how = spin(RIG_WAIT_MS, 0, 0);
    rig_spawn(spinner_run, s);
    CHECK(rig_until_equal(&s->started, 1));
    rig_pause_ms(100);
    CHECK_INT(atomic_load(&s->ended), 0);
}

/* testTryLockWait */
TEST(redisson_spin, wait_ends_with_timeout_and_not_before_it)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    CHECK_INT(spin_acquire(l, 0), HF_OK);
    int64_t began_ms = rig_now_ms();
    CHECK_INT(spin_acquire(other, 1000), HF_TIMEOUT);
    CHECK(rig_now_ms() - began_ms >= 995);
    CHECK_INT(hf_lock_release(other, NULL, NULL), HF_NOT_OWNER);
}

static atomic_int signals;

static void on_signal(int sig)
{
    (void)sig;
    atomic_fetch_add(&signals, 1);
}

/* testLockUninterruptibly */
TEST(redisson_spin, a_signal_does_not_end_a_wait)
{
    static struct spinner s;
    struct sigaction sa, old;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    memset(&sa, 0, sizeof sa);
    sa.sa_handler = on_signal;
    sigaction(SIGUSR1, &sa, &old);
    atomic_store(&signals, 0);
    CHECK_INT(spin_acquire(l, 0), HF_OK);
    spinner_start(&s, other);
    for (int i = 1; i <= 3; i++) {
        pthread_kill(s.thread, SIGUSR1);
        CHECK(rig_until_equal(&signals, i));
        rig_pause_ms(40);
    }
    int ended_early = atomic_load(&s.ended);
    int released = hf_lock_release(l, NULL, NULL);
    rig_join();
    sigaction(SIGUSR1, &old, NULL);
    CHECK_INT(ended_early, 0);
    CHECK_INT(released, HF_OK);
    CHECK_INT(s.status, HF_OK);
}

/* testForceUnlock */
TEST(redisson_spin, finds_a_broken_lock_free)
{
    static struct spinner s;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    CHECK_INT(spin_acquire(l, 0), HF_OK);
    spinner_start(&s, other);
    if (rig_has(HF_CAP_BREAK) && !rig_has(HF_CAP_KERNEL))
        CHECK_INT(hf_lock_break(other, NULL, NULL), HF_OK);
    else
        CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(s.status, HF_OK); /* the lease is 30 s, the wait 15 s */
}

/* testExpire */
TEST(redisson_spin, gets_it_when_the_lease_ends_and_the_late_release_fails)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = spin(0, 600, HF_ACQUIRE_FIXED);
    int held = 9;
    int64_t began_ms = rig_now_ms();
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_OK);
    CHECK_INT(spin_acquire(other, RIG_WAIT_MS), HF_OK);
    CHECK(rig_now_ms() - began_ms >= 600 - 6 - 2 - 1);
    CHECK(rig_until_state(l, 0, HF_STATE_LOST));
    int status = hf_lock_release(l, NULL, NULL);
    CHECK(status == HF_LOST || status == HF_EXPIRED);
    CHECK_INT(hf_lock_is_mine(other, &held, NULL), HF_OK);
    CHECK_INT(held, 1);
}

struct asker {
    hf_lock *lock;
    int locked, mine, release_status;
    int64_t count;
};

static void asker_run(void *arg)
{
    struct asker *a = arg;
    a->locked = a->mine = 9;
    a->count = 9;
    hf_lock_is_locked(a->lock, &a->locked, NULL);
    hf_lock_is_mine(a->lock, &a->mine, NULL);
    hf_lock_hold_count(a->lock, &a->count, NULL);
    a->release_status = hf_lock_release(a->lock, NULL, NULL);
}

static void ask(struct asker *a, hf_lock *l, int on_a_thread)
{
    a->lock = l;
    if (on_a_thread)
        rig_spawn(asker_run, a);
    else
        asker_run(a);
    rig_join();
}

/* testGetHoldCount, testIsHeldByCurrentThread, testIsLocked, testLockUnlock */
TEST(redisson_spin, questions_are_answered_as_of_any_lock)
{
    static struct asker a;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    for (int round = 0; round < 2; round++) {
        CHECK_INT(spin_acquire(l, 0), HF_OK);
        CHECK_INT(spin_acquire(l, 0), HF_OK);
        for (int count = 2; count >= 0; count--) {
            ask(&a, l, 0);
            CHECK_INT(a.count, count);
            CHECK_INT(a.mine, count > 0);
            CHECK_INT(a.locked, count > 0);
            CHECK_INT(a.release_status, count > 0 ? HF_OK : HF_NOT_OWNER);
        }
    }
}

/* testIsHeldByCurrentThreadOtherThread, testIsLockedOtherThread,
 * testUnlockFail */
TEST(redisson_spin, another_thread_sees_it_locked_and_cannot_release_it)
{
    static struct asker a;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(spin_acquire(l, 0), HF_OK);
    ask(&a, l, 1);
    CHECK_INT(a.locked, 1);
    CHECK_INT(a.mine, 0);
    CHECK_INT(a.count, 0);
    CHECK_INT(a.release_status, HF_NOT_OWNER);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    ask(&a, l, 1);
    CHECK_INT(a.locked, 0);
}

/* testReentrancy */
TEST(redisson_spin, is_entered_twice_and_freed_by_the_second_release)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    CHECK_INT(spin_acquire(l, RIG_TRY), HF_OK);
    CHECK_INT(spin_acquire(l, RIG_TRY), HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(spin_acquire(other, RIG_TRY), HF_TAKEN);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(spin_acquire(other, RIG_TRY), HF_OK);
}

static struct crowd crowd;

static void crowd_of(int members, int rounds, int kind)
{
    crowd.members = members;
    crowd.rounds = rounds;
    crowd.hold_ms = 0;
    crowd.how = spin(LONG_WAIT_MS, 0, 0);
    crowd.how.backoff = kind;
    crowd.how.backoff_ms = 1;
    crowd.how.backoff_max_ms = 8;
}

/* testConcurrency_SingleInstance */
TEST(redisson_spin, fifteen_threads_of_one_client_all_get_it)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    crowd_of(15, 2, HF_BACKOFF_EXPONENTIAL);
    for (int i = 0; i < crowd.members; i++) crowd.locks[i] = l;
    crowd_run(&crowd);
}

/* testConcurrencyLoop_MultiInstance: fewer rounds, for they poll. */
TEST(redisson_spin, sixteen_clients_get_it_twenty_times_each)
{
    rig_begin();
    crowd_of(16, 20, HF_BACKOFF_JITTER);
    for (int i = 0; i < crowd.members; i++)
        crowd.locks[i] = rig_lock(rig_client(NULL), "a");
    crowd_run(&crowd);
}

/* testConcurrency_MultiInstance */
TEST(redisson_spin, a_hundred_clients_get_it_once_each)
{
    rig_begin();
    crowd_of(100, 1, HF_BACKOFF_CONSTANT);
    for (int i = 0; i < crowd.members; i++)
        crowd.locks[i] = rig_lock(rig_client(NULL), "a");
    crowd_run(&crowd);
}

/* Redisson's spin lock tells nobody when it is released; ours does. */
TEST(redisson_spin, release_wakes_who_waits_for_wake_ups)
{
    static struct spinner s;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    CHECK_INT(spin_acquire(l, 0), HF_OK);
    memset(&s, 0, sizeof s);
    s.lock = other;
    s.how = rig_options(RIG_WAIT_MS, 0, 0);
    rig_spawn(spinner_run, &s);
    rig_pause_ms(100);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(s.status, HF_OK);
}
