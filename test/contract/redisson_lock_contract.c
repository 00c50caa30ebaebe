/*
 * redisson_lock_contract.c: what Redisson's tests of its plain lock claim and
 * no other file here does.  One rule: an interruption ends what its caller
 * wants ended, and leaves neither a lock nor a renewal behind.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "lib/rig.h"

struct waiter {
    hf_lock *lock;
    hf_cancel *cancel;
    int64_t wait_ms;
    pthread_t thread;
    atomic_int started, ended;
    int status;
};

static void waiter_run(void *arg)
{
    struct waiter *w = arg;
    struct hf_acquire_options o = rig_options(w->wait_ms, 0, 0);
    o.cancel = w->cancel;
    w->thread = pthread_self();
    atomic_store(&w->started, 1);
    w->status = hf_lock_acquire(w->lock, &o, NULL, NULL);
    if (w->status == HF_OK) hf_lock_release(w->lock, NULL, NULL);
    atomic_store(&w->ended, 1);
}

static void waiter_start(struct waiter *w, hf_lock *l, int64_t wait_ms)
{
    memset(w, 0, sizeof *w);
    w->lock = l;
    w->wait_ms = wait_ms;
    rig_spawn(waiter_run, w);
    CHECK(rig_until_equal(&w->started, 1));
}

static atomic_int signals;

static void on_signal(int sig)
{
    (void)sig;
    atomic_fetch_add(&signals, 1);
}

/* testLockUninterruptibly: only a cancel token interrupts. */
TEST(redisson_lock, a_signal_does_not_end_a_wait)
{
    static struct waiter w;
    struct sigaction sa, old;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    memset(&sa, 0, sizeof sa);
    sa.sa_handler = on_signal; /* without SA_RESTART: calls return EINTR */
    sigaction(SIGUSR1, &sa, &old);
    atomic_store(&signals, 0);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    waiter_start(&w, other, RIG_WAIT_MS);
    for (int i = 1; i <= 5; i++) {
        rig_pause_ms(40);
        pthread_kill(w.thread, SIGUSR1);
        CHECK(rig_until_equal(&signals, i));
    }
    int ended_early = atomic_load(&w.ended);
    int released = hf_lock_release(l, NULL, NULL);
    rig_join();
    sigaction(SIGUSR1, &old, NULL);
    CHECK_INT(ended_early, 0);
    CHECK_INT(released, HF_OK);
    CHECK_INT(w.status, HF_OK);
}

/* Tokens are closed before their client: first test cleanup to run. */
static void cancel_end(void *arg)
{
    rig_join();
    hf_cancel_close(arg);
}

static void fire_after(hf_cancel *cancel, int64_t us)
{
    struct timespec ts = {0, (long)us * 1000};
    nanosleep(&ts, NULL);
    hf_cancel_fire(cancel);
}

/* testLockIsNotRenewedAfterInterruptedTryLock: at whatever moment it is
 * cancelled, a try that does not end with the lock leaves none behind.  The
 * lease of 30 s is longer than this waits. */
TEST(redisson_lock, an_interrupted_try_leaves_no_lock_and_no_renewal)
{
    static struct waiter w;
    int cancelled = 0;
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *mine = rig_lock(c, "a"), *other = rig_lock(rig_client(NULL), "a");
    hf_cancel *cancel = NULL;
    CHECK_INT(hf_cancel_open(c, &cancel), HF_OK);
    test_cleanup(cancel_end, cancel);
    for (int i = 0; i < 60; i++) {
        memset(&w, 0, sizeof w);
        w = (struct waiter){.lock = mine, .cancel = cancel};
        hf_cancel_reset(cancel);
        if (i == 0) hf_cancel_fire(cancel); /* one of them is surely early */
        rig_spawn(waiter_run, &w);
        if (i > 0) fire_after(cancel, i * 5);
        rig_join();
        CHECK(w.status == HF_OK || w.status == HF_CANCELLED);
        cancelled += w.status == HF_CANCELLED;
        CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, NULL), HF_OK);
        CHECK_INT(hf_lock_release(other, NULL, NULL), HF_OK);
    }
    CHECK(cancelled > 0);
}

/* PublishSubscribeTest.testSubscribeForRaceCondition: waits that end about when
 * their wake-ups are granted; the name must be as good as new afterwards. */
TEST(redisson_lock, a_wait_that_ends_while_it_subscribes_spoils_nothing)
{
    static struct waiter w;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    for (int i = 0; i < 60; i++) {
        /* On a busy machine the answer itself may take longer than that. */
        int status = rig_acquire(other, 0, 1 + i % 4, NULL);
        CHECK(status == HF_TIMEOUT || status == HF_UNAVAILABLE);
    }
    waiter_start(&w, other, RIG_WAIT_MS);
    rig_pause_ms(100);
    CHECK_INT(atomic_load(&w.ended), 0);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(w.status, HF_OK); /* the lease is 30 s, the wait 15 s */
}

/* testSinglePubSub: two names, both contended, and one client that waits for
 * both: every timed try gets its lock. */
TEST(redisson_lock, two_contended_names_both_come_in_time)
{
    static struct waiter w[2];
    rig_begin();
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    hf_lock *held[2] = {rig_lock(c, "a"), rig_lock(c, "b")};
    hf_lock *wanted[2] = {rig_lock(d, "a"), rig_lock(d, "b")};
    for (int i = 0; i < 10; i++) {
        for (int k = 0; k < 2; k++) {
            CHECK_INT(rig_acquire(held[k], 0, RIG_WAIT_MS, NULL), HF_OK);
            waiter_start(&w[k], wanted[k], RIG_WAIT_MS);
        }
        rig_pause_ms(5);
        CHECK_INT(hf_lock_release(held[i % 2], NULL, NULL), HF_OK);
        CHECK_INT(hf_lock_release(held[1 - i % 2], NULL, NULL), HF_OK);
        rig_join();
        CHECK_INT(w[0].status, HF_OK);
        CHECK_INT(w[1].status, HF_OK);
    }
}
