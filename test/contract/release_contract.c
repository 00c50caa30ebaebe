/*
 * release_contract.c: giving back.  One rule: a release frees only what its
 * holder has, and says which way it was not so.
 */
#include "lib/rig.h"

TEST(release, of_what_was_never_held_is_not_owner)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_error err = {0};
    int64_t left = 77;
    CHECK_INT(hf_lock_release(l, &left, &err), HF_NOT_OWNER);
    CHECK_INT(err.status, HF_NOT_OWNER);
    CHECK(err.text[0] != 0);
    CHECK_INT(left, 77);
    CHECK_INT(hf_hold_release_start(NULL, NULL, NULL, &err), HF_INVALID);
    CHECK(err.text[0] != 0);
}

struct releaser {
    hf_lock *lock;
    int status;
    int held;
};

static void releaser_run(void *arg)
{
    struct releaser *r = arg;
    r->status = hf_lock_release(r->lock, NULL, NULL);
    r->held = 9;
    hf_lock_is_mine(r->lock, &r->held, NULL);
}

TEST(release, by_another_thread_is_not_owner_and_frees_nothing)
{
    static struct releaser r;
    rig_begin();
    r.lock = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(r.lock, NULL, NULL), HF_OK);
    rig_spawn(releaser_run, &r);
    rig_join();
    CHECK_INT(r.status, HF_NOT_OWNER);
    CHECK_INT(r.held, 0);
    CHECK_INT(rig_probe(r.lock), HF_TAKEN);
    CHECK_INT(hf_lock_release(r.lock, NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(r.lock), HF_OK);
}

TEST(release, twice_is_not_owner_the_second_time)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_NOT_OWNER);
}

TEST(release, by_handle_twice_is_invalid_the_second_time)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_hold *g;
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(hf_hold_state(g), HF_STATE_NONE);
    CHECK_INT(hf_hold_valid_ms(g), 0);
    CHECK(hf_hold_fence(g) == 0);
    CHECK_INT(hf_hold_release(g, NULL), HF_INVALID);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_NOT_OWNER);
}

static int is_lost(void *hold)
{
    return hf_hold_state(hold) == HF_STATE_LOST;
}

/* Our deadline is before the store's, and on a busy machine far before it. */
static int store_is_free(void *lock)
{
    int64_t ttl_ms = 0;
    return hf_lock_ttl_ms(lock, &ttl_ms, NULL) == HF_OK && ttl_ms == -2;
}

TEST(release, after_the_lease_is_expired)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(0, 200, HF_ACQUIRE_FIXED);
    struct hf_error err = {0};
    hf_hold *g;
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    CHECK(rig_until(is_lost, g));
    CHECK(rig_until(store_is_free, l));
    CHECK_INT(hf_hold_release(g, &err), HF_EXPIRED);
    CHECK(err.text[0] != 0);
    CHECK_INT(hf_hold_state(g), HF_STATE_NONE);
    CHECK_INT(hf_hold_release(g, NULL), HF_INVALID);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_NOT_OWNER);
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_OK);
    CHECK(rig_until(store_is_free, l));
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_EXPIRED);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_NOT_OWNER);
}

/* testExpire: the late release of the first holder must not hurt the second. */
TEST(release, that_comes_too_late_fails_and_leaves_the_next_holder_alone)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *next = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(0, 200, HF_ACQUIRE_FIXED);
    int held = 9;
    hf_hold *late;
    CHECK_INT(hf_lock_acquire(l, &o, &late, NULL), HF_OK);
    CHECK_INT(rig_acquire(next, 0, RIG_WAIT_MS, NULL), HF_OK);
    CHECK(rig_until(is_lost, late));
    /* Its lease is over and another holder has the lock: the status depends on
     * which of the two it learned first. */
    int status = hf_hold_release(late, NULL);
    CHECK(status == HF_LOST || status == HF_EXPIRED);
    CHECK_INT(hf_lock_is_mine(next, &held, NULL), HF_OK);
    CHECK_INT(held, 1);
    CHECK_INT(rig_probe(l), HF_TAKEN);
    CHECK_INT(hf_lock_release(next, NULL, NULL), HF_OK);
}

TEST(release, of_a_lost_hold_counts_down_like_any_other)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(0, 3000, HF_ACQUIRE_FIXED);
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_OK);
    CHECK(rig_until(store_is_free, l));
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_EXPIRED);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_EXPIRED);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_NOT_OWNER);
    hf_hold *first, *again;
    CHECK_INT(hf_lock_acquire(l, &o, &first, NULL), HF_OK);
    CHECK_INT(hf_lock_acquire(l, &o, &again, NULL), HF_OK);
    CHECK(rig_until(is_lost, first) && rig_until(store_is_free, l));
    CHECK_INT(hf_hold_release(first, NULL), HF_EXPIRED);
    CHECK_INT(hf_hold_state(again), HF_STATE_LOST);
    CHECK_INT(hf_hold_release(again, NULL), HF_EXPIRED);
    CHECK_INT(hf_hold_release(again, NULL), HF_INVALID);
}

TEST(release, works_after_the_object_it_was_taken_through_is_gone)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *gone = NULL;
    CHECK_INT(hf_lock_open(c, "a", &gone, NULL), HF_OK);
    int status = hf_lock_try(gone, NULL, NULL);
    hf_lock_close(gone);
    CHECK_INT(status, HF_OK);
    hf_lock *l = rig_lock(c, "a");
    CHECK_INT(rig_probe(l), HF_TAKEN);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(l), HF_OK);
}
