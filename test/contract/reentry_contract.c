/*
 * reentry_contract.c: a lock that refuses to be entered twice.  One rule: the
 * refusal comes at once, changes nothing and sends nothing.
 */
#include <string.h>

#include "lib/rig.h"

static int acquire_once(hf_lock *l, uint64_t holder, int64_t wait_ms,
                        struct hf_error *err)
{
    struct hf_acquire_options o =
        rig_options(wait_ms, 0, HF_ACQUIRE_NO_REENTRY);
    o.holder = holder;
    return hf_lock_acquire(l, &o, NULL, err);
}

/* Without the option, this would enter; waiting on itself, for ever. */
TEST(reentry, is_refused_with_a_sentence)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_error err = {0};
    int64_t count = 0;
    hf_hold *g;
    struct hf_acquire_options o = rig_options(0, 0, HF_ACQUIRE_NO_REENTRY);
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    CHECK_INT(acquire_once(l, 0, RIG_NO_LIMIT, &err), HF_INVALID);
    CHECK(strstr(err.text, "has it already") != NULL);
    CHECK_INT(acquire_once(l, 0, RIG_TRY, NULL), HF_INVALID);
    CHECK_INT(hf_lock_hold_count(l, &count, NULL), HF_OK);
    CHECK_INT(count, 1);
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(hf_hold_count(g), 1);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_NOT_OWNER);
}

TEST(reentry, is_refused_through_another_object_too)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(c, "a"), *twin = rig_lock(c, "a");
    CHECK_INT(acquire_once(l, 0, RIG_NO_LIMIT, NULL), HF_OK);
    CHECK_INT(acquire_once(twin, 0, RIG_NO_LIMIT, NULL), HF_INVALID);
}

TEST(reentry, refusal_is_for_the_same_holder_only)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    uint64_t other = hf_holder_new();
    CHECK_INT(acquire_once(l, 0, RIG_NO_LIMIT, NULL), HF_OK);
    CHECK_INT(acquire_once(l, other, RIG_TRY, NULL), HF_TAKEN);
    CHECK_INT(acquire_once(l, other, 1000, NULL), HF_TIMEOUT);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(acquire_once(l, other, RIG_WAIT_MS, NULL), HF_OK);
}

TEST(reentry, is_up_to_each_acquire)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_hold *g;
    CHECK_INT(acquire_once(l, 0, RIG_NO_LIMIT, NULL), HF_OK);
    CHECK_INT(rig_acquire(l, 0, 0, &g), HF_OK);
    CHECK_INT(hf_hold_count(g), 2);
    CHECK_INT(acquire_once(l, 0, RIG_NO_LIMIT, NULL), HF_INVALID);
}

static int is_lost(void *hold)
{
    return hf_hold_state(hold) == HF_STATE_LOST;
}

TEST(reentry, is_none_once_the_hold_is_released_or_lost)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o =
        rig_options(0, 200, HF_ACQUIRE_FIXED | HF_ACQUIRE_NO_REENTRY);
    hf_hold *g;
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    CHECK(rig_until(is_lost, g));
    CHECK_INT(acquire_once(l, 0, RIG_WAIT_MS, NULL), HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(acquire_once(l, 0, RIG_WAIT_MS, NULL), HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
}

struct answer {
    atomic_int calls;
    int status;
    hf_hold *hold;
};

static void on_acquired(hf_lock *lock, int status, hf_hold *hold,
                        const struct hf_error *err, void *user)
{
    struct answer *a = user;
    (void)lock;
    (void)err;
    a->status = status;
    a->hold = hold;
    atomic_fetch_add(&a->calls, 1);
}

TEST(reentry, is_refused_while_the_same_holder_still_waits)
{
    static struct answer first;
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(c, "a"), *other = rig_lock(rig_client(NULL), "a");
    uint64_t holder = hf_holder_new();
    struct hf_acquire_options o = rig_options(0, 0, 0);
    struct hf_error err = {0};
    memset(&first, 0, sizeof first);
    o.holder = holder;
    CHECK_INT(hf_lock_try(other, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_acquire_start(l, &o, on_acquired, &first, NULL), HF_OK);
    CHECK_INT(acquire_once(l, holder, RIG_NO_LIMIT, &err), HF_INVALID);
    CHECK(strstr(err.text, "acquiring it already") != NULL);
    CHECK_INT(hf_lock_release(other, NULL, NULL), HF_OK);
    CHECK(rig_until_equal(&first.calls, 1));
    CHECK_INT(first.status, HF_OK);
    CHECK_INT(hf_hold_release(first.hold, NULL), HF_OK);
}

TEST(reentry, is_refused_asynchronously_too)
{
    static struct answer again;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(0, 0, HF_ACQUIRE_NO_REENTRY);
    memset(&again, 0, sizeof again);
    o.holder = hf_holder_new();
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_acquire_start(l, &o, on_acquired, &again, NULL), HF_OK);
    CHECK(rig_until_equal(&again.calls, 1));
    CHECK_INT(again.status, HF_INVALID);
    CHECK(again.hold == NULL);
}
