/*
 * fallback_multi_test.c: sets of locks where the store cannot be reached.  One
 * rule: with fallback=local they are held on this host, all or nothing; with
 * fallback=wait the set waits as one lock does.
 */
#include <string.h>

#include "lib/rig_fallback.h"

static struct fall f;

static struct {
    atomic_int calls;
    int status;
    struct hf_grant grants[2];
} told;

static void on_acquired(hf_multi *multi, int status,
                        const struct hf_grant *grants,
                        const struct hf_error *err, void *user)
{
    (void)multi;
    (void)err;
    (void)user;
    told.status = status;
    if (grants) memcpy(told.grants, grants, sizeof told.grants);
    atomic_fetch_add(&told.calls, 1);
}

static void multi_end(void *arg)
{
    rig_join();
    hf_multi_close(arg);
}

/* The locks "a" and "b" of a client of its own. */
struct pair {
    hf_lock *locks[2];
    hf_multi *multi;
};

static void pair_open(struct pair *p)
{
    struct hf_client_options o = fall_options(&f);
    hf_client *c = rig_client(&o);
    p->locks[0] = rig_lock(c, "a");
    p->locks[1] = rig_lock(c, "b");
    CHECK_INT(hf_multi_open(p->locks, 2, &p->multi, NULL), HF_OK);
    test_cleanup(multi_end, p->multi);
}

TEST(fallback_multi, local_holds_every_lock_on_this_host)
{
    struct pair p, other;
    struct hf_grant g[2];
    fall_begin(&f, "local");
    pair_open(&p);
    pair_open(&other);
    fall_down(&f);
    CHECK_INT(hf_multi_acquire(p.multi, NULL, g, NULL), HF_OK);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(g[i].guarantee, HF_GUARANTEE_LOCAL);
        CHECK_INT(g[i].fence, 0);
    }
    CHECK_INT(hf_multi_state(p.multi, 0), HF_STATE_HELD);
    CHECK_INT(hf_multi_try(other.multi, NULL, NULL), HF_TAKEN);
    CHECK_INT(hf_multi_release(p.multi, NULL), HF_OK);
    CHECK_INT(hf_multi_try(other.multi, NULL, NULL), HF_OK);
}

TEST(fallback_multi, local_leaves_nothing_if_one_is_taken_there)
{
    struct pair p, other;
    struct hf_acquire_options o = rig_options(1500, 0, 0);
    fall_begin(&f, "local");
    pair_open(&p);
    pair_open(&other);
    fall_down(&f);
    CHECK_INT(hf_lock_acquire(other.locks[1], NULL, NULL, NULL), HF_OK);
    CHECK_INT(hf_multi_acquire(p.multi, &o, NULL, NULL), HF_TIMEOUT);
    CHECK_INT(hf_multi_state(p.multi, 0), HF_STATE_NONE);
    CHECK_INT(rig_probe(other.locks[0]), HF_OK);
}

TEST(fallback_multi, local_works_by_callbacks_too)
{
    struct pair p;
    fall_begin(&f, "local");
    pair_open(&p);
    fall_down(&f);
    memset(&told, 0, sizeof told);
    CHECK_INT(hf_multi_acquire_start(p.multi, NULL, on_acquired, NULL, NULL),
              HF_OK);
    CHECK(rig_until_equal(&told.calls, 1));
    CHECK_INT(told.status, HF_OK);
    CHECK_INT(told.grants[0].guarantee, HF_GUARANTEE_LOCAL);
    CHECK_INT(told.grants[1].guarantee, HF_GUARANTEE_LOCAL);
    uint64_t holder = told.grants[0].holder;
    CHECK_INT(hf_multi_release_as(p.multi, holder, NULL), HF_OK);
    CHECK_INT(rig_probe(p.locks[0]), HF_OK);
}

struct waiter {
    hf_multi *multi;
    atomic_int started;
    int status;
};

static void waiter_run(void *arg)
{
    struct waiter *w = arg;
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 0, 0);
    atomic_store(&w->started, 1);
    w->status = hf_multi_acquire(w->multi, &o, NULL, NULL);
}

TEST(fallback_multi, wait_outlasts_the_patience_of_the_client)
{
    static struct waiter w;
    struct pair p;
    fall_begin(&f, "wait");
    pair_open(&p);
    fall_down(&f);
    w = (struct waiter){p.multi, 0, 1};
    rig_spawn(waiter_run, &w);
    CHECK(rig_until_equal(&w.started, 1));
    rig_pause_ms(3 * FALL_PATIENCE_MS);
    fall_up(&f);
    rig_join();
    CHECK_INT(w.status, HF_OK);
}
