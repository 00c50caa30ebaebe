/*
 * break_contract.c: taking a lock away.  One rule: the former holder is told,
 * and its fence is below everything that comes after.
 */
#include <string.h>
#include <unistd.h>

#include "lib/rig.h"

/* A lock that a living process holds in the kernel cannot be taken away. */
static int break_is_refused(hf_lock *l)
{
    struct hf_error err = {0};
    char pid[24];
    int was = 77;
    if (rig_has(HF_CAP_BREAK) && !rig_has(HF_CAP_KERNEL)) return 0;
    CHECK_INT(hf_lock_break(l, &was, &err), HF_UNSUPPORTED);
    CHECK_INT(was, 77);
    CHECK_INT(err.status, HF_UNSUPPORTED);
    CHECK(err.text[0] != 0);
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    if (rig_has(HF_CAP_KERNEL)) CHECK(strstr(err.text, pid) != NULL);
    return 1;
}

/* testForceUnlock */
TEST(breaking, frees_the_lock_whoever_has_it)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    int was = 77, locked = 77;
    hf_hold *g, *again;
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    CHECK_INT(hf_lock_try(l, &again, NULL), HF_OK);
    if (break_is_refused(other)) {
        CHECK_INT(rig_probe(other), HF_TAKEN);
        CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
        return;
    }
    CHECK_INT(hf_lock_break(other, &was, NULL), HF_OK);
    CHECK_INT(was, 1);
    CHECK_INT(hf_lock_is_locked(other, &locked, NULL), HF_OK);
    CHECK_INT(locked, 0);
    CHECK_INT(rig_probe(other), HF_OK);
}

TEST(breaking, of_a_free_lock_finds_nothing)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    int was = 77;
    if (!rig_has(HF_CAP_BREAK)) {
        CHECK_INT(hf_lock_break(l, &was, NULL), HF_UNSUPPORTED);
        return;
    }
    CHECK_INT(hf_lock_break(l, &was, NULL), HF_OK);
    CHECK_INT(was, 0);
    CHECK_INT(rig_probe(l), HF_OK);
}

TEST(breaking, raises_the_fence)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    hf_hold *g, *next;
    struct hf_info info = HF_INFO_INIT;
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    if (break_is_refused(other)) return;
    CHECK_INT(hf_lock_break(other, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_inspect(other, &info, NULL), HF_OK);
    CHECK(rig_fence_rises(hf_hold_fence(g), info.fence));
    CHECK_INT(hf_lock_try(other, &next, NULL), HF_OK);
    CHECK(rig_fence_rises(hf_hold_fence(g), hf_hold_fence(next)));
}

TEST(breaking, is_told_to_the_holder)
{
    /* The next renewal, which notices, is near; the lease does not end. */
    struct hf_acquire_options o = rig_renewed(RIG_TRY);
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    hf_hold *g, *next;
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    if (break_is_refused(other)) return;
    CHECK_INT(hf_lock_break(other, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_try(other, &next, NULL), HF_OK);
    CHECK(rig_until_state(l, 0, HF_STATE_LOST));
    CHECK_INT(hf_hold_valid_ms(g), 0);
    /* A renewal between the two calls finds nobody. */
    int status = hf_hold_release(g, NULL);
    CHECK(status == HF_LOST || status == HF_EXPIRED);
    CHECK_INT(rig_probe(l), HF_TAKEN); /* the new holder's, untouched */
    CHECK_INT(hf_hold_release(next, NULL), HF_OK);
}

TEST(breaking, makes_the_holders_release_fail)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    hf_hold *g;
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    if (break_is_refused(other)) return;
    CHECK_INT(hf_lock_break(other, NULL, NULL), HF_OK);
    int status = hf_lock_release(l, NULL, NULL);
    CHECK(status == HF_LOST || status == HF_EXPIRED);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_NOT_OWNER);
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    CHECK_INT(hf_lock_break(other, NULL, NULL), HF_OK);
    status = hf_hold_release(g, NULL);
    CHECK(status == HF_LOST || status == HF_EXPIRED);
    CHECK_INT(hf_hold_release(g, NULL), HF_INVALID);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
}

struct waiter {
    hf_lock *lock;
    atomic_int started;
    int status;
};

static void waiter_run(void *arg)
{
    struct waiter *w = arg;
    atomic_store(&w->started, 1);
    w->status = rig_acquire(w->lock, 0, RIG_WAIT_MS, NULL);
    if (w->status == HF_OK) hf_lock_release(w->lock, NULL, NULL);
}

TEST(breaking, wakes_who_waits)
{
    static struct waiter w;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    if (break_is_refused(other)) return;
    w.lock = other;
    atomic_store(&w.started, 0);
    rig_spawn(waiter_run, &w);
    CHECK(rig_until_equal(&w.started, 1));
    rig_pause_ms(100);
    CHECK_INT(hf_lock_break(other, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(w.status, HF_OK); /* the lease is 30 s, the wait 15 s */
}
