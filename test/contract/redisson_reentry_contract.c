/*
 * redisson_reentry_contract.c: Redisson's tests of its non-reentrant lock, for
 * HF_ACQUIRE_NO_REENTRY.  One rule: a holder never waits for itself, and is
 * told so.
 */
#include "lib/rig.h"

static int acquire_plainly(hf_lock *l, int64_t wait_ms)
{
    struct hf_acquire_options o =
        rig_options(wait_ms, 0, HF_ACQUIRE_NO_REENTRY);
    return hf_lock_acquire(l, &o, NULL, NULL);
}

struct waiter {
    hf_lock *lock;
    atomic_int started, ended;
    int status, release_status;
};

static void waiter_run(void *arg)
{
    struct waiter *w = arg;
    atomic_store(&w->started, 1);
    w->status = acquire_plainly(w->lock, RIG_WAIT_MS);
    atomic_store(&w->ended, 1);
    w->release_status = hf_lock_release(w->lock, NULL, NULL);
}

/* testContendingThreadBlocksAndAcquiresOnRelease */
TEST(redisson_reentry, another_thread_waits_and_gets_it_on_release)
{
    static struct waiter w;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    w.lock = l;
    atomic_store(&w.started, 0);
    atomic_store(&w.ended, 0);
    CHECK_INT(acquire_plainly(l, 0), HF_OK);
    rig_spawn(waiter_run, &w);
    CHECK(rig_until_equal(&w.started, 1));
    rig_pause_ms(200);
    CHECK_INT(atomic_load(&w.ended), 0);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(w.status, HF_OK);
    CHECK_INT(w.release_status, HF_OK);
}

/* testSameThreadReacquireThrows: lock, try and timed try alike. */
TEST(redisson_reentry, the_same_thread_is_refused_and_counted_once)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(0, 0, HF_ACQUIRE_NO_REENTRY);
    struct hf_error err = {0};
    int64_t left = 77;
    int64_t count = 77;
    CHECK_INT(acquire_plainly(l, 0), HF_OK);
    CHECK_INT(hf_lock_acquire(l, &o, NULL, &err), HF_INVALID);
    CHECK_INT(err.status, HF_INVALID);
    CHECK(err.text[0] != 0);
    CHECK_INT(acquire_plainly(l, RIG_TRY), HF_INVALID);
    CHECK_INT(acquire_plainly(l, 5000), HF_INVALID);
    CHECK_INT(hf_lock_hold_count(l, &count, NULL), HF_OK);
    CHECK_INT(count, 1);
    CHECK_INT(hf_lock_release(l, &left, NULL), HF_OK);
    CHECK_INT(left, 0);
    CHECK_INT(rig_probe(l), HF_OK);
}

/* testCrossInstanceSameThreadReentryThrows */
TEST(redisson_reentry, a_second_object_of_the_name_is_refused_too)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(c, "a"), *again = rig_lock(c, "a");
    CHECK_INT(acquire_plainly(l, 0), HF_OK);
    CHECK_INT(acquire_plainly(again, 0), HF_INVALID);
    CHECK_INT(hf_lock_release(again, NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(l), HF_OK);
}

struct answer {
    atomic_int calls;
    int status;
};

static void on_acquired(hf_lock *lock, int status, hf_hold *hold,
                        const struct hf_error *err, void *user)
{
    struct answer *a = user;
    (void)lock, (void)hold, (void)err;
    a->status = status;
    atomic_fetch_add(&a->calls, 1);
}

/* The asynchronous form, for an id that holds it. */
TEST(redisson_reentry, an_asynchronous_acquire_of_the_same_id_is_refused)
{
    static struct answer a;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(0, 0, HF_ACQUIRE_NO_REENTRY);
    o.holder = hf_holder_new();
    atomic_store(&a.calls, 0);
    hf_hold *hold;
    CHECK_INT(hf_lock_acquire(l, &o, &hold, NULL), HF_OK);
    int status = hf_lock_acquire_start(l, &o, on_acquired, &a, NULL);
    if (status == HF_OK) {
        CHECK(rig_until_equal(&a.calls, 1));
        status = a.status;
    }
    CHECK_INT(status, HF_INVALID);
    CHECK_INT(hf_hold_release(hold, NULL), HF_OK);
    CHECK_INT(rig_probe(l), HF_OK);
}
