/*
 * redisson_fenced_contract.c: what RFencedLock promises, and where it does not
 * keep it.  One rule: every form of acquiring gives a higher token, keeps its
 * own lease and waits no longer than it was told.
 */
#include "lib/rig.h"

/* testTokenIncrease: through every form in turn, read either way.  Unlike
 * there, entering once more keeps the token: it is the same hold. */
TEST(redisson_fenced, token_rises_through_every_form)
{
    struct hf_acquire_options how[] = {
        rig_options(0, 0, 0),
        rig_options(0, 20000, HF_ACQUIRE_FIXED),
        rig_options(RIG_TRY, 0, 0),
        rig_options(RIG_WAIT_MS, 0, 0),
        rig_options(RIG_WAIT_MS, 20000, HF_ACQUIRE_FIXED),
    };
    uint64_t last = 0;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    if (!rig_has(HF_CAP_FENCE)) return;
    for (int i = 0; i < 10; i++) {
        hf_hold *g, *again;
        struct hf_info info = HF_INFO_INIT;
        CHECK_INT(hf_lock_acquire(l, &how[i % 5], &g, NULL), HF_OK);
        CHECK(hf_hold_fence(g) > last);
        CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_OK);
        CHECK(info.fence == hf_hold_fence(g));
        CHECK_INT(hf_lock_acquire(l, &how[i % 5], &again, NULL), HF_OK);
        CHECK(hf_hold_fence(again) == hf_hold_fence(g));
        last = hf_hold_fence(g);
        CHECK_INT(hf_hold_release(again, NULL), HF_OK);
        CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    }
}

struct waiter {
    hf_lock *lock;
    int status;
    hf_hold *hold;
};

static void waiter_run(void *arg)
{
    struct waiter *w = arg;
    w->status = rig_acquire(w->lock, 0, RIG_WAIT_MS, &w->hold);
}

/* Untested there: a token that had to be waited for. */
TEST(redisson_fenced, token_that_was_waited_for_is_above_the_holders)
{
    static struct waiter w;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    w = (struct waiter){.lock = rig_lock(rig_client(NULL), "a")};
    hf_hold *g;
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    uint64_t fence = hf_hold_fence(g);
    rig_spawn(waiter_run, &w);
    rig_pause_ms(100);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    rig_join();
    CHECK_INT(w.status, HF_OK);
    if (rig_has(HF_CAP_FENCE)) CHECK(hf_hold_fence(w.hold) > fence);
}

/* Defect 9, first half: lockAndGetToken(lease) forgets the lease. */
TEST(redisson_fenced, lease_given_along_is_kept_and_not_renewed)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(0, 500, HF_ACQUIRE_FIXED);
    hf_hold *g;
    int64_t ttl_ms = 0;
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    CHECK_INT(hf_hold_lease_ms(g), 500);
    CHECK(hf_hold_valid_ms(g) <= 500);
    CHECK_INT(hf_lock_ttl_ms(l, &ttl_ms, NULL), HF_OK);
    if (rig_has(HF_CAP_LEASE)) CHECK(ttl_ms <= 500);
    CHECK(rig_until_state(l, 0, HF_STATE_LOST));
}

/* Defect 9, second half: tryLockAndGetToken() waits for ever. */
TEST(redisson_fenced, try_does_not_wait_for_its_token)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    hf_hold *const untouched = (hf_hold *)&other, *g = untouched;
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    int64_t began_ms = rig_now_ms();
    CHECK_INT(hf_lock_try(other, &g, NULL), HF_TAKEN);
    CHECK(rig_now_ms() - began_ms < 10000); /* the lease is 30 s */
    CHECK(g == untouched);
    CHECK_INT(hf_lock_release(other, NULL, NULL), HF_NOT_OWNER);
}
