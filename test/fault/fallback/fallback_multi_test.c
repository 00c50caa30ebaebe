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
    hf_hold *hold;
} told;

static void on_acquired(hf_multi *multi, int status, hf_hold *hold,
                        const struct hf_error *err, void *user)
{
    (void)multi;
    (void)err;
    (void)user;
    told.status = status;
    told.hold = hold;
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
    hf_hold *g = NULL, *theirs = NULL;
    fall_begin(&f, "local");
    pair_open(&p);
    pair_open(&other);
    fall_down(&f);
    CHECK_INT(hf_multi_acquire(p.multi, NULL, &g, NULL), HF_OK);
    for (int i = 0; i < 2; i++) {
        hf_hold *part = hf_hold_part(g, (size_t)i);
        CHECK_INT(hf_hold_guarantee(part), HF_GUARANTEE_LOCAL);
        CHECK_INT(hf_hold_state(part), HF_STATE_HELD);
        CHECK_INT(hf_hold_fence(part), 0);
    }
    CHECK_INT(hf_hold_guarantee(g), HF_GUARANTEE_LOCAL);
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(hf_multi_try(other.multi, &theirs, NULL), HF_TAKEN);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(hf_multi_try(other.multi, &theirs, NULL), HF_OK);
}

TEST(fallback_multi, local_leaves_nothing_if_one_is_taken_there)
{
    struct pair p, other;
    struct hf_acquire_options o = rig_options(1500, 0, 0);
    hf_hold *g = NULL;
    fall_begin(&f, "local");
    pair_open(&p);
    pair_open(&other);
    fall_down(&f);
    CHECK_INT(hf_lock_acquire(other.locks[1], NULL, NULL, NULL), HF_OK);
    CHECK_INT(hf_multi_acquire(p.multi, &o, &g, NULL), HF_TIMEOUT);
    CHECK(g == NULL);
    for (int i = 0; i < 2; i++)
        CHECK_INT(hf_lock_release(p.locks[i], NULL, NULL), HF_NOT_OWNER);
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
    for (size_t i = 0; i < 2; i++)
        CHECK_INT(hf_hold_guarantee(hf_hold_part(told.hold, i)),
                  HF_GUARANTEE_LOCAL);
    CHECK_INT(hf_hold_release(told.hold, NULL), HF_OK);
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
    hf_hold *hold = NULL;
    atomic_store(&w->started, 1);
    w->status = hf_multi_acquire(w->multi, &o, &hold, NULL);
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
