/*
 * async_contract.c: the calls that return at once.  One rule: a callback runs
 * exactly once if, and only if, its call returned HF_OK.
 */
#include <string.h>

#include "lib/rig.h"

struct answer {
    atomic_int calls;
    int status;
    hf_lock *lock;
    hf_hold *hold;
    uint64_t fence; /* of `hold`, for when that is gone */
    int64_t left;
    struct hf_info info;
    int was_locked;
    int has_result;
    int error_status;
    int64_t at_ms;
};

/* Answers outlive the test: a callback may come as late as client_close(). */
static struct answer *answer_new(void)
{
    static struct answer pool[64];
    static int used;
    struct answer *a = &pool[used++ % 64];
    memset(a, 0, sizeof *a);
    return a;
}

static void on_acquired(hf_lock *lock, int status, hf_hold *hold,
                        const struct hf_error *err, void *user)
{
    struct answer *a = user;
    a->status = status;
    a->lock = lock;
    a->has_result = hold != NULL;
    a->hold = hold;
    a->fence = hf_hold_fence(hold);
    a->error_status = err ? err->status : 0;
    a->at_ms = rig_now_ms();
    atomic_fetch_add(&a->calls, 1);
}

static void on_hold(hf_hold *hold, int status, const struct hf_error *err,
                    void *user)
{
    struct answer *a = user;
    (void)err;
    a->status = status;
    a->hold = hold;
    atomic_fetch_add(&a->calls, 1);
}

static void on_inspected(hf_lock *lock, int status, const struct hf_info *info,
                         const struct hf_error *err, void *user)
{
    struct answer *a = user;
    (void)lock;
    (void)err;
    a->status = status;
    if (info) a->info = *info;
    atomic_fetch_add(&a->calls, 1);
}

static void on_broken(hf_lock *lock, int status, int was_locked,
                      const struct hf_error *err, void *user)
{
    struct answer *a = user;
    (void)lock;
    (void)err;
    a->status = status;
    a->was_locked = was_locked;
    atomic_fetch_add(&a->calls, 1);
}

static struct answer *start(hf_lock *l, uint64_t holder, int64_t wait_ms,
                            int64_t lease_ms, unsigned flags)
{
    struct answer *a = answer_new();
    struct hf_acquire_options o = rig_options(wait_ms, lease_ms, flags);
    o.holder = holder;
    CHECK_INT(hf_lock_acquire_start(l, &o, on_acquired, a, NULL), HF_OK);
    return a;
}

/* testTryLockAsyncSucceed */
TEST(async, acquire_of_a_free_lock_is_granted)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct answer *a = start(l, 0, 0, 0, 0);
    CHECK(rig_until_equal(&a->calls, 1));
    CHECK_INT(a->status, HF_OK);
    CHECK(a->lock == l);
    CHECK(a->has_result);
    CHECK_INT(hf_hold_count(a->hold), 1);
    CHECK_INT(hf_hold_state(a->hold), HF_STATE_HELD);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_NOT_OWNER);
    CHECK_INT(hf_hold_release(a->hold, NULL), HF_OK);
    CHECK_INT(atomic_load(&a->calls), 1);
}

/* testTryLockAsyncFailed */
TEST(async, try_of_a_held_lock_is_taken)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    struct answer *a = start(l, 0, RIG_TRY, 0, 0);
    CHECK(rig_until_equal(&a->calls, 1));
    CHECK_INT(a->status, HF_TAKEN);
    CHECK_INT(a->error_status, HF_TAKEN);
    CHECK(!a->has_result);
}

/* testTryLockAsyncWaitTime */
TEST(async, wait_ends_with_timeout_and_not_before_it)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    int64_t began_ms = rig_now_ms();
    struct answer *a = start(l, 0, 1000, 0, 0);
    CHECK(rig_until_equal(&a->calls, 1));
    CHECK_INT(a->status, HF_TIMEOUT);
    CHECK(a->at_ms - began_ms >= 995);
}

/* testTimedTryLockAsync, testTryLockAsync */
TEST(async, wait_is_granted_when_the_lock_is_freed)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(c, "a"), *other = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(other, NULL, NULL), HF_OK);
    struct answer *a = start(l, 0, RIG_WAIT_MS, 0, 0);
    rig_pause_ms(200);
    CHECK_INT(atomic_load(&a->calls), 0);
    CHECK_INT(hf_lock_release(other, NULL, NULL), HF_OK);
    CHECK(rig_until_equal(&a->calls, 1));
    CHECK_INT(a->status, HF_OK);
    CHECK_INT(hf_hold_release(a->hold, NULL), HF_OK);
}

TEST(async, every_acquire_makes_a_fresh_holder)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct answer *first = start(l, 0, 0, 0, 0);
    CHECK(rig_until_equal(&first->calls, 1));
    struct answer *second = start(l, 0, 0, 0, 0);
    rig_pause_ms(100);
    CHECK_INT(atomic_load(&second->calls), 0); /* no re-entry: it waits */
    CHECK_INT(hf_hold_release(first->hold, NULL), HF_OK);
    CHECK(rig_until_equal(&second->calls, 1));
    CHECK(second->hold != first->hold);
    CHECK(rig_fence_rises(first->fence, second->fence));
    CHECK_INT(hf_hold_count(second->hold), 1);
    CHECK_INT(hf_hold_release(second->hold, NULL), HF_OK);
}

TEST(async, acquire_with_a_holder_reenters)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    uint64_t holder = hf_holder_new();
    struct hf_info info;
    struct answer *a = start(l, holder, 0, 0, 0);
    CHECK(rig_until_equal(&a->calls, 1));
    struct answer *b = start(l, holder, 0, 0, 0);
    CHECK(rig_until_equal(&b->calls, 1));
    CHECK(a->hold != b->hold); /* each is released on its own */
    CHECK_INT(hf_hold_count(b->hold), 2);
    CHECK(b->fence == a->fence);
    CHECK_INT(rig_inspect_as(l, holder, &info), HF_OK);
    CHECK_INT(info.count, 2);
}

TEST(async, release_extend_inspect_and_break_answer_once)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_hold *first, *second;
    CHECK_INT(rig_acquire(l, 0, 0, &first), HF_OK);
    CHECK_INT(rig_acquire(l, 0, 0, &second), HF_OK);

    struct answer *e = answer_new();
    CHECK_INT(hf_hold_extend_start(first, 40000, on_hold, e, NULL), HF_OK);
    CHECK(rig_until_equal(&e->calls, 1));
    CHECK_INT(e->status, HF_OK);
    CHECK(e->hold == first);
    CHECK_INT(hf_hold_lease_ms(first), 40000);
    CHECK_INT(hf_hold_count(first), 2);

    struct answer *i = answer_new();
    CHECK_INT(hf_lock_inspect_start(l, on_inspected, i, NULL), HF_OK);
    CHECK(rig_until_equal(&i->calls, 1));
    CHECK_INT(i->status, HF_OK);
    CHECK_INT(i->info.locked, 1);
    CHECK_INT(i->info.count, 2);
    CHECK_INT(i->info.struct_size, sizeof i->info);

    struct answer *r = answer_new();
    CHECK_INT(hf_hold_release_start(second, on_hold, r, NULL), HF_OK);
    CHECK(rig_until_equal(&r->calls, 1));
    CHECK_INT(r->status, HF_OK);
    CHECK(r->hold == second);
    CHECK_INT(hf_hold_count(first), 1);
    CHECK_INT(hf_hold_release_start(first, NULL, NULL, NULL), HF_OK);
    hf_hold *next;
    CHECK_INT(rig_acquire(l, hf_holder_new(), RIG_WAIT_MS, &next), HF_OK);
    CHECK_INT(hf_hold_release(next, NULL), HF_OK);

    struct answer *b = answer_new();
    int status = hf_lock_break_start(l, on_broken, b, NULL);
    if (rig_has(HF_CAP_BREAK)) {
        CHECK_INT(status, HF_OK);
        CHECK(rig_until_equal(&b->calls, 1));
        CHECK_INT(b->status, HF_OK);
        CHECK_INT(b->was_locked, 0);
    } else {
        CHECK_INT(status, HF_UNSUPPORTED);
    }
    rig_pause_ms(50);
    CHECK_INT(atomic_load(&e->calls), 1);
    CHECK_INT(atomic_load(&i->calls), 1);
    CHECK_INT(atomic_load(&r->calls), 1);
}

TEST(async, refused_call_never_calls_back)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct answer *a = answer_new();
    struct hf_acquire_options o = rig_options(0, -5, 0);
    CHECK_INT(hf_lock_acquire_start(l, &o, on_acquired, a, NULL), HF_INVALID);
    CHECK_INT(hf_hold_extend_start(NULL, 0, on_hold, a, NULL), HF_INVALID);
    CHECK_INT(hf_hold_release_start(NULL, on_hold, a, NULL), HF_INVALID);
    hf_hold *gone = NULL;
    CHECK_INT(hf_lock_try(l, &gone, NULL), HF_OK);
    CHECK_INT(hf_hold_extend_start(gone, -5, on_hold, a, NULL), HF_INVALID);
    CHECK_INT(hf_hold_release(gone, NULL), HF_OK);
    CHECK_INT(hf_hold_extend_start(gone, 0, on_hold, a, NULL), HF_INVALID);
    CHECK_INT(hf_hold_release_start(gone, on_hold, a, NULL), HF_INVALID);
    rig_pause_ms(50);
    CHECK_INT(atomic_load(&a->calls), 0);
}

TEST(async, what_nothing_could_release_is_not_acquired)
{
    struct hf_error err = {0};
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_acquire_start(l, NULL, NULL, NULL, &err), HF_INVALID);
    CHECK(strstr(err.text, "cb is NULL") != NULL);
    struct hf_acquire_options o = rig_options(0, 0, 0);
    CHECK_INT(hf_lock_acquire_start(l, &o, NULL, NULL, NULL), HF_INVALID);
    CHECK_INT(rig_probe(l), HF_OK);
}

TEST(async, a_holder_that_was_given_needs_a_callback_as_well)
{
    struct hf_error err = {0};
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 0, 0);
    o.holder = hf_holder_new();
    CHECK_INT(hf_lock_acquire_start(l, &o, NULL, NULL, &err), HF_INVALID);
    CHECK(strstr(err.text, "cb is NULL") != NULL);
    CHECK_INT(rig_probe(l), HF_OK);
}

/* A callback may call anything, blocking calls included. */
static void on_acquired_nested(hf_lock *lock, int status, hf_hold *hold,
                               const struct hf_error *err, void *user)
{
    struct answer *a = user;
    (void)err;
    a->status = status;
    if (hold) {
        int locked = 0;
        a->fence = hf_hold_fence(hold);
        a->error_status = hf_lock_is_locked(lock, &locked, NULL);
        a->was_locked = locked;
        a->left = hf_hold_release(hold, NULL);
    }
    atomic_fetch_add(&a->calls, 1);
}

TEST(async, callback_may_make_blocking_calls)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    for (int i = 0; i < 5; i++) {
        struct answer *a = answer_new();
        CHECK_INT(hf_lock_acquire_start(l, NULL, on_acquired_nested, a, NULL),
                  HF_OK);
        CHECK(rig_until_equal(&a->calls, 1));
        CHECK_INT(a->status, HF_OK);
        CHECK_INT(a->error_status, HF_OK);
        CHECK_INT(a->was_locked, 1);
        CHECK_INT(a->left, HF_OK);
    }
    CHECK_INT(rig_probe(l), HF_OK);
}

/* Many callers, one thread of ours: each is granted in turn and releases. */
TEST(async, a_hundred_acquires_are_all_granted_once)
{
    static struct answer all[100];
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    memset(all, 0, sizeof all);
    for (int i = 0; i < 100; i++)
        CHECK_INT(
            hf_lock_acquire_start(l, NULL, on_acquired_nested, &all[i], NULL),
            HF_OK);
    for (int i = 0; i < 100; i++) {
        CHECK(rig_until_equal(&all[i].calls, 1));
        CHECK_INT(all[i].status, HF_OK);
        CHECK_INT(all[i].left, HF_OK);
        for (int k = 0; k < i && rig_has(HF_CAP_FENCE); k++)
            CHECK(all[i].fence != all[k].fence);
    }
}

TEST(async, close_answers_what_is_open_with_closed)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(other, NULL, NULL), HF_OK);
    /* The lock object must still be there when it is answered. */
    hf_lock *l = NULL;
    CHECK_INT(hf_lock_open(c, "a", &l, NULL), HF_OK);
    struct answer *a = start(l, 0, 0, 0, 0);
    rig_pause_ms(100);
    CHECK_INT(atomic_load(&a->calls), 0);
    rig_close(c);
    CHECK_INT(atomic_load(&a->calls), 1);
    CHECK_INT(a->status, HF_CLOSED);
    CHECK_INT(hf_lock_release(other, NULL, NULL), HF_OK);
    CHECK(rig_until_free(other)); /* nobody was left waiting in line */
}
