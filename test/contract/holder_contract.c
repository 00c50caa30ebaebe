/*
 * holder_contract.c: a holder is a number, not a thread.  One rule: a hold can
 * go from thread to thread with its handle, and with nothing else.
 */
#include "lib/rig.h"

struct self {
    uint64_t first, second;
};

static void self_ask(void *arg)
{
    struct self *s = arg;
    s->first = hf_holder_self();
    s->second = hf_holder_self();
}

TEST(holder, is_one_number_per_thread_and_never_the_same_twice)
{
    static struct self seen[4];
    uint64_t mine = hf_holder_self(), made = hf_holder_new();
    rig_begin();
    for (int i = 0; i < 4; i++) rig_spawn(self_ask, &seen[i]);
    rig_join();
    CHECK(mine > 0 && made > 0 && mine != made && made != hf_holder_new());
    CHECK(hf_holder_self() == mine);
    for (int i = 0; i < 4; i++) {
        CHECK(seen[i].first > 0 && seen[i].first == seen[i].second);
        CHECK(seen[i].first != mine && seen[i].first != made);
        for (int k = 0; k < i; k++) CHECK(seen[i].first != seen[k].first);
    }
}

struct heir {
    hf_lock *lock;
    hf_hold *hold;
    uint64_t fence;
    int own_status, status, state;
};

static void heir_run(void *arg)
{
    struct heir *h = arg;
    h->own_status = hf_lock_release(h->lock, NULL, NULL);
    h->state = hf_hold_state(h->hold);
    h->fence = hf_hold_fence(h->hold);
    h->status = hf_hold_release(h->hold, NULL);
}

TEST(holder, hands_a_lock_to_another_thread)
{
    static struct heir h;
    uint64_t holder = hf_holder_new();
    rig_begin();
    h.lock = rig_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(h.lock, holder, 0, &h.hold), HF_OK);
    CHECK_INT(rig_is_held_by(h.lock, holder), 1);
    uint64_t fence = hf_hold_fence(h.hold);
    rig_spawn(heir_run, &h);
    rig_join();
    CHECK_INT(h.own_status, HF_NOT_OWNER);
    CHECK_INT(h.state, HF_STATE_HELD);
    CHECK(h.fence == fence);
    CHECK_INT(h.status, HF_OK);
    /* The other thread has released it. */
    CHECK_INT(hf_hold_release(h.hold, NULL), HF_INVALID);
    CHECK_INT(rig_probe(h.lock), HF_OK);
}

/* testIsHeldByThread of the reactive lock: two ids own in turn. */
TEST(holder, explicit_ids_own_in_turn)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    uint64_t id[2] = {hf_holder_new(), hf_holder_new()};
    for (int i = 0; i < 4; i++) {
        hf_hold *g;
        CHECK_INT(rig_acquire(l, id[i % 2], RIG_TRY, &g), HF_OK);
        CHECK_INT(rig_is_held_by(l, id[0]), i % 2 == 0);
        CHECK_INT(rig_is_held_by(l, id[1]), i % 2 == 1);
        CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    }
}

static void orphan_run(void *arg)
{
    struct heir *h = arg;
    h->status = hf_lock_try(h->lock, &h->hold, NULL);
}

TEST(holder, hold_outlives_the_thread_that_took_it)
{
    static struct heir h;
    rig_begin();
    h.lock = rig_lock(rig_client(NULL), "a");
    rig_spawn(orphan_run, &h);
    rig_join();
    CHECK_INT(h.status, HF_OK);
    CHECK_INT(rig_probe(h.lock), HF_TAKEN);
    CHECK_INT(hf_hold_release(h.hold, NULL), HF_OK);
    CHECK_INT(rig_probe(h.lock), HF_OK);
}

static atomic_int acquired_at, released_at, steps, released_status;

static void on_released(hf_hold *hold, int status, const struct hf_error *err,
                        void *user)
{
    (void)hold, (void)err, (void)user;
    atomic_store(&released_status, status);
    atomic_store(&released_at, atomic_fetch_add(&steps, 1) + 1);
}

static void on_acquired(hf_lock *lock, int status, hf_hold *hold,
                        const struct hf_error *err, void *user)
{
    (void)lock, (void)err, (void)user;
    if (status != HF_OK) return;
    hf_hold_release_start(hold, on_released, NULL, NULL);
    atomic_store(&acquired_at, atomic_fetch_add(&steps, 1) + 1);
}

TEST(holder, may_ask_for_the_release_as_soon_as_the_lock_is_there)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(c, "a"), *other = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 0, 0);
    o.holder = hf_holder_new();
    atomic_store(&steps, 0);
    atomic_store(&released_at, 0);
    CHECK_INT(hf_lock_try(other, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_acquire_start(l, &o, on_acquired, NULL, NULL), HF_OK);
    rig_pause_ms(50);
    CHECK_INT(atomic_load(&steps), 0);
    CHECK_INT(hf_lock_release(other, NULL, NULL), HF_OK);
    CHECK(rig_until_equal(&released_at, 2));
    CHECK_INT(atomic_load(&acquired_at), 1);
    CHECK_INT(atomic_load(&released_status), HF_OK);
    CHECK_INT(rig_probe(other), HF_OK);
}
