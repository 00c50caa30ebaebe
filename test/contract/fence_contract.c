/*
 * fence_contract.c: every grant has a number above all before it.  One rule:
 * the order of the numbers is the order in which the lock was held.
 */
#include <string.h>

#include "lib/rig.h"

TEST(fence, rises_with_every_grant)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_hold *g;
    uint64_t last = 0;
    if (!rig_has(HF_CAP_FENCE)) {
        CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
        CHECK(hf_hold_fence(g) == 0);
        return;
    }
    for (int i = 0; i < 50; i++) {
        CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
        CHECK(hf_hold_fence(g) > last);
        last = hf_hold_fence(g);
        CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    }
}

TEST(fence, rises_across_clients_and_holders)
{
    rig_begin();
    hf_lock *l[3];
    uint64_t last = 0;
    for (int i = 0; i < 3; i++) l[i] = rig_lock(rig_client(NULL), "a");
    for (int i = 0; i < 60; i++) {
        hf_hold *g;
        uint64_t holder = hf_holder_new();
        CHECK_INT(rig_acquire(l[i % 3], holder, RIG_WAIT_MS, &g), HF_OK);
        CHECK(rig_fence_rises(last, hf_hold_fence(g)));
        last = hf_hold_fence(g);
        CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    }
}

TEST(fence, rises_after_a_lease_ended)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o =
        rig_options(RIG_WAIT_MS, 100, HF_ACQUIRE_FIXED);
    uint64_t last = 0;
    for (int i = 0; i < 6; i++) {
        hf_hold *g;
        o.holder = hf_holder_new();
        CHECK_INT(hf_lock_acquire(i % 2 ? l : other, &o, &g, NULL), HF_OK);
        CHECK(rig_fence_rises(last, hf_hold_fence(g)));
        last = hf_hold_fence(g);
    }
}

TEST(fence, rises_after_the_clients_are_gone)
{
    uint64_t last = 0;
    rig_begin();
    hf_client *keep = rig_client(NULL);
    (void)keep; /* memory: the space lives as long as somebody uses it */
    for (int i = 0; i < 4; i++) {
        hf_client *c = rig_client(NULL);
        hf_hold *g;
        CHECK_INT(hf_lock_try(rig_lock(c, "a"), &g, NULL), HF_OK);
        CHECK(rig_fence_rises(last, hf_hold_fence(g)));
        last = hf_hold_fence(g);
        rig_close(c);
    }
}

TEST(fence, is_kept_by_renewal_and_extension)
{
    struct hf_acquire_options o = rig_renewed(RIG_TRY);
    hf_hold *g;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    uint64_t fence = hf_hold_fence(g);
    CHECK(rig_until_renewed(l, 0, 3));
    CHECK(hf_hold_fence(g) == fence);
    CHECK_INT(hf_hold_extend(g, 0, NULL), HF_OK);
    CHECK(hf_hold_fence(g) == fence);
}

#define GRANTS 160

struct ladder {
    atomic_int len;
    atomic_uint_least64_t fences[GRANTS];
};

struct climber {
    struct ladder *ladder;
    hf_lock *lock;
    atomic_int errors;
};

static void climber_run(void *arg)
{
    struct climber *c = arg;
    for (int i = 0; i < GRANTS / 8; i++) {
        hf_hold *g;
        int status = rig_acquire(c->lock, 0, RIG_PATIENCE_MS * 3, &g);
        if (status != HF_OK) {
            atomic_fetch_add(&c->errors, 1);
            continue;
        }
        int at = atomic_fetch_add(&c->ladder->len, 1);
        atomic_store(&c->ladder->fences[at], hf_hold_fence(g));
        hf_hold_release(g, NULL);
    }
}

TEST(fence, order_is_the_order_of_holding)
{
    static struct ladder ladder;
    static struct climber climbers[8];
    rig_begin();
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    memset(&ladder, 0, sizeof ladder);
    memset(climbers, 0, sizeof climbers);
    for (int i = 0; i < 8; i++) {
        climbers[i].ladder = &ladder;
        climbers[i].lock = rig_lock(i % 2 ? c : d, "a");
        rig_spawn(climber_run, &climbers[i]);
    }
    rig_join();
    for (int i = 0; i < 8; i++) CHECK_INT(atomic_load(&climbers[i].errors), 0);
    CHECK_INT(atomic_load(&ladder.len), GRANTS);
    for (int i = 1; i < GRANTS; i++)
        CHECK(rig_fence_rises(atomic_load(&ladder.fences[i - 1]),
                              atomic_load(&ladder.fences[i])));
}
