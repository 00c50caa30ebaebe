/*
 * holder_contract.c: who holds is a number, not a thread.  One rule: a hold can
 * go from thread to thread with its holder id, and with nothing else.
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
    uint64_t holder;
    uint64_t fence;
    int own_status, status, state;
};

static void heir_run(void *arg)
{
    struct heir *h = arg;
    h->own_status = hf_lock_release(h->lock, NULL, NULL);
    h->state = hf_lock_state(h->lock, h->holder);
    h->fence = hf_lock_fence(h->lock, h->holder);
    h->status = hf_lock_release_as(h->lock, h->holder, NULL, NULL);
}

TEST(holder, hands_a_lock_to_another_thread)
{
    static struct heir h;
    struct hf_grant g;
    rig_begin();
    h.lock = rig_lock(rig_client(NULL), "a");
    h.holder = hf_holder_new();
    CHECK_INT(rig_acquire(h.lock, h.holder, 0, &g), HF_OK);
    CHECK(g.holder == h.holder);
    rig_spawn(heir_run, &h);
    rig_join();
    CHECK_INT(h.own_status, HF_NOT_OWNER);
    CHECK_INT(h.state, HF_STATE_HELD);
    CHECK(h.fence == g.fence);
    CHECK_INT(h.status, HF_OK);
    CHECK_INT(rig_probe(h.lock), HF_OK);
}

/* testIsHeldByThread of the reactive lock: two ids own in turn. */
TEST(holder, explicit_ids_own_in_turn)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    uint64_t id[2] = {hf_holder_new(), hf_holder_new()};
    for (int i = 0; i < 4; i++) {
        int held[2] = {9, 9};
        CHECK_INT(rig_acquire(l, id[i % 2], HF_WAIT_NONE, NULL), HF_OK);
        CHECK_INT(hf_lock_is_held_by(l, id[0], &held[0], NULL), HF_OK);
        CHECK_INT(hf_lock_is_held_by(l, id[1], &held[1], NULL), HF_OK);
        CHECK_INT(held[0], i % 2 == 0);
        CHECK_INT(held[1], i % 2 == 1);
        CHECK_INT(hf_lock_release_as(l, id[i % 2], NULL, NULL), HF_OK);
    }
}

static void orphan_run(void *arg)
{
    struct heir *h = arg;
    h->holder = hf_holder_self();
    h->status = hf_lock_try(h->lock, NULL, NULL);
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
    CHECK_INT(hf_lock_release_as(h.lock, h.holder, NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(h.lock), HF_OK);
}
