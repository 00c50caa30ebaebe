/*
 * wait_contract.c: waiting for a held lock.  One rule: only lower bounds are
 * tight; a loaded machine may be late, but nothing may be early.
 */
#include "lib/fair.h"
#include "lib/rig.h"

struct waiter {
    hf_lock *lock;
    int64_t wait_ms;
    atomic_int *started;
    atomic_int *granted;
    int status;
    int release_status;
    int64_t began_ms, ended_ms;
    hf_hold *hold;
};

static void waiter_run(void *arg)
{
    struct waiter *w = arg;
    if (w->started) atomic_fetch_add(w->started, 1);
    w->began_ms = rig_now_ms();
    w->status = rig_acquire(w->lock, 0, w->wait_ms, &w->hold);
    w->ended_ms = rig_now_ms();
    if (w->status != HF_OK) return;
    if (w->granted) atomic_fetch_add(w->granted, 1);
    w->release_status = hf_hold_release(w->hold, NULL);
}

/* testTryLockWait */
TEST(wait, ends_with_timeout_and_not_before_it)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(1000, 0, 0);
    struct hf_error err = {0};
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    int64_t began_ms = rig_now_ms();
    CHECK_INT(hf_lock_acquire(other, &o, NULL, &err), HF_TIMEOUT);
    CHECK(rig_now_ms() - began_ms >= 995);
    CHECK_INT(err.status, HF_TIMEOUT);
    CHECK(err.text[0] != 0);
    CHECK_INT(hf_lock_release(other, NULL, NULL), HF_NOT_OWNER);
}

TEST(wait, of_another_holder_of_the_same_client_times_out_too)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    int64_t began_ms = rig_now_ms();
    CHECK_INT(rig_acquire(l, hf_holder_new(), 1000, NULL), HF_TIMEOUT);
    CHECK(rig_now_ms() - began_ms >= 995);
}

TEST(wait, of_a_free_lock_is_no_wait)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    int64_t began_ms = rig_now_ms();
    CHECK_INT(rig_acquire(l, 0, 60000, NULL), HF_OK);
    CHECK(rig_now_ms() - began_ms < 30000);
}

static void wait_is_granted_on_release(hf_lock *l, hf_lock *other)
{
    static struct waiter w;
    atomic_int started = 0;
    w = (struct waiter){.lock = other, .started = &started};
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    rig_spawn(waiter_run, &w);
    CHECK(rig_until_equal(&started, 1));
    rig_pause_ms(200); /* long enough to be waiting, usually */
    int64_t freed_ms = rig_now_ms();
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(w.status, HF_OK);
    CHECK_INT(w.release_status, HF_OK);
    CHECK(w.ended_ms >= freed_ms);
    CHECK(w.ended_ms - freed_ms < 10000); /* the lease is 30 s */
}

TEST(wait, ends_when_another_thread_releases)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    wait_is_granted_on_release(l, l);
}

TEST(wait, ends_when_another_client_releases)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    wait_is_granted_on_release(l, rig_lock(rig_client(NULL), "a"));
}

TEST(wait, can_be_done_again_on_the_same_name)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    for (int i = 0; i < 3; i++) {
        wait_is_granted_on_release(l, other);
        wait_is_granted_on_release(other, l);
    }
}

/* testConcurrency_SingleInstance, testConcurrency_MultiInstance */
TEST(wait, of_many_ends_for_all)
{
    static struct waiter w[24];
    atomic_int granted = 0, started = 0;
    rig_begin();
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    hf_lock *l = rig_lock(c, "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    for (int i = 0; i < 24; i++) {
        w[i] = (struct waiter){.lock = rig_lock(i % 2 ? c : d, "a"),
                               .wait_ms = RIG_WAIT_MS,
                               .started = &started,
                               .granted = &granted};
        rig_spawn(waiter_run, &w[i]);
    }
    CHECK(rig_until_equal(&started, 24));
    rig_pause_ms(100);
    CHECK_INT(atomic_load(&granted), 0);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    rig_join();
    for (int i = 0; i < 24; i++) {
        CHECK_INT(w[i].status, HF_OK);
        CHECK_INT(w[i].release_status, HF_OK);
    }
}

/* testTryLockNonDelayed: a waiter that gave up keeps no place in the queue. */
TEST(wait, that_timed_out_leaves_nothing_behind)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    struct hf_info info = HF_INFO_INIT;
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_INT(rig_acquire(other, 0, 1000, NULL), HF_TIMEOUT);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_inspect(other, &info, NULL), HF_OK);
    CHECK_INT(info.locked, 0);
    CHECK(info.waiters <= 0);
    CHECK_INT(rig_probe(l), HF_OK);
    CHECK_INT(rig_probe(other), HF_OK);
}

TEST(wait, ends_when_the_holders_lease_does)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(0, 600, HF_ACQUIRE_FIXED);
    int64_t began_ms = rig_now_ms();
    hf_hold *g;
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, NULL), HF_OK);
    /* On a kernel lock the holder's library drops it, at its own deadline,
     * which leaves room for drift (1 % and 2 ms). */
    CHECK(rig_now_ms() - began_ms >= 600 - 6 - 2 - 1);
    CHECK_INT(hf_hold_valid_ms(g), 0);
}

TEST(wait, in_this_process_does_not_delay_a_try)
{
    static struct waiter w;
    atomic_int started = 0;
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(rig_client(NULL), "a"), *other = rig_lock(c, "a");
    w = (struct waiter){
        .lock = other, .wait_ms = RIG_WAIT_MS, .started = &started};
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    rig_spawn(waiter_run, &w);
    CHECK(rig_until_equal(&started, 1));
    rig_pause_ms(100);
    int64_t began_ms = rig_now_ms();
    CHECK_INT(hf_lock_try(other, NULL, NULL), HF_TAKEN);
    CHECK(rig_now_ms() - began_ms < 10000);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(w.status, HF_OK);
}

static void keeper_run(void *arg)
{
    struct waiter *w = arg;
    struct hf_acquire_options o =
        rig_options(RIG_WAIT_MS, 60000, HF_ACQUIRE_FIXED);
    atomic_fetch_add(w->started, 1);
    w->status = hf_lock_acquire(w->lock, &o, &w->hold, NULL);
}

/* `l` and `other` are one lock of two clients. */
static void waiting_computes_nothing(hf_lock *l, hf_lock *other)
{
    static struct waiter w;
    atomic_int started = 0;
    w = (struct waiter){.lock = other, .started = &started};
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    rig_spawn(keeper_run, &w);
    CHECK(rig_until_equal(&started, 1));
    rig_pause_ms(500); /* it waits by now, usually */
    rig_second_is_idle();
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(w.status, HF_OK);
    rig_second_is_idle();
    CHECK_INT(hf_hold_release(w.hold, NULL), HF_OK);
    rig_second_is_idle();
}

TEST(wait, computes_nothing_while_it_lasts_nor_when_it_is_over)
{
    rig_begin();
    waiting_computes_nothing(rig_lock(rig_client(NULL), "a"),
                             rig_lock(rig_client(NULL), "a"));
}

TEST(fair, wait_computes_nothing_while_it_lasts_nor_when_it_is_over)
{
    if (!rig_begin_with(HF_CAP_QUEUE)) return;
    waiting_computes_nothing(fair_lock(rig_client(NULL), "a"),
                             fair_lock(rig_client(NULL), "a"));
}
