/*
 * multi_async_contract.c: several locks at once, asynchronously.  One rule: the
 * callback runs exactly once, and what it tells is all there is.
 */
#include <string.h>

#include "lib/rig_multi.h"

struct told {
    atomic_int calls;
    int status;
    hf_hold *hold;
    struct hf_error err;
};

static void on_acquired(hf_multi *multi, int status, hf_hold *hold,
                        const struct hf_error *err, void *user)
{
    struct told *t = user;
    (void)multi;
    t->status = status;
    t->hold = hold;
    t->err = *err;
    atomic_fetch_add(&t->calls, 1);
}

static void on_released(hf_hold *hold, int status, const struct hf_error *err,
                        void *user)
{
    struct told *t = user;
    t->hold = hold;
    t->status = status;
    t->err = *err;
    atomic_fetch_add(&t->calls, 1);
}

/* The locks "a" and "b" of one client, as a set. */
struct pair {
    hf_client *client;
    hf_lock *locks[2];
    hf_multi *multi;
};

static void pair_open(struct pair *p)
{
    p->client = rig_client(NULL);
    p->locks[0] = rig_lock(p->client, "b");
    p->locks[1] = rig_lock(p->client, "a");
    p->multi = rig_multi(p->locks, 2);
}

static void told_start(struct told *t, hf_multi *m,
                       const struct hf_acquire_options *o)
{
    memset(t, 0, sizeof *t);
    CHECK_INT(hf_multi_acquire_start(m, o, on_acquired, t, NULL), HF_OK);
}

TEST(multi_async, that_nothing_could_release_is_not_acquired)
{
    struct pair p;
    struct hf_acquire_options o = HF_ACQUIRE_OPTIONS_INIT;
    hf_hold *hold;
    rig_begin();
    pair_open(&p);
    CHECK_INT(hf_multi_acquire_start(p.multi, NULL, NULL, NULL, NULL),
              HF_INVALID);
    o.holder = hf_holder_new();
    CHECK_INT(hf_multi_acquire_start(p.multi, &o, NULL, NULL, NULL),
              HF_INVALID);
    CHECK_INT(hf_multi_try(p.multi, NULL, NULL), HF_INVALID);
    CHECK_INT(hf_multi_try(p.multi, &hold, NULL), HF_OK);
}

/* By what the store says. */
static void owners_are_one(hf_lock *const *locks)
{
    struct hf_info a = HF_INFO_INIT, b = HF_INFO_INIT;
    CHECK_INT(hf_lock_inspect(locks[0], &a, NULL), HF_OK);
    CHECK_INT(hf_lock_inspect(locks[1], &b, NULL), HF_OK);
    CHECK_STR(a.owner, b.owner);
}

/* testMultiLock (Reactive), testMultiLock (Rx) */
TEST(multi_async, is_granted_with_one_fresh_holder_for_all)
{
    static struct told t;
    struct pair p, other;
    int mine[2] = {77, 77};
    rig_begin();
    pair_open(&p);
    pair_open(&other);
    told_start(&t, p.multi, NULL);
    CHECK(rig_until_equal(&t.calls, 1));
    CHECK_INT(t.status, HF_OK);
    hf_hold *hold = t.hold;
    CHECK_INT(hf_hold_state(hold), HF_STATE_HELD);
    CHECK_INT(hf_hold_parts(hold), 2);
    owners_are_one(p.locks);
    for (size_t i = 0; i < 2; i++) {
        hf_hold *part = hf_hold_part(hold, i);
        CHECK_INT(hf_hold_state(part), HF_STATE_HELD);
        CHECK_STR(hf_hold_name(part), hf_lock_name(p.locks[i]));
        CHECK(rig_fence_rises(0, hf_hold_fence(part)));
        CHECK_INT(hf_lock_is_mine(p.locks[i], &mine[i], NULL), HF_OK);
        CHECK_INT(mine[i], 0); /* not of this thread */
        CHECK_INT(rig_probe(other.locks[i]), HF_TAKEN);
    }
    memset(&t, 0, sizeof t);
    CHECK_INT(hf_hold_release_start(hold, on_released, &t, NULL), HF_OK);
    CHECK(rig_until_equal(&t.calls, 1));
    CHECK_INT(t.status, HF_OK);
    CHECK(t.hold == hold);
    CHECK_INT(rig_probe(other.locks[0]), HF_OK);
    CHECK_INT(rig_probe(other.locks[1]), HF_OK);
}

TEST(multi_async, waits_for_the_one_that_is_taken)
{
    static struct told t;
    struct pair p, other;
    rig_begin();
    pair_open(&p);
    pair_open(&other);
    CHECK_INT(hf_lock_try(other.locks[0], NULL, NULL), HF_OK);
    told_start(&t, p.multi, NULL);
    rig_pause_ms(200);
    CHECK_INT(atomic_load(&t.calls), 0);
    CHECK_INT(rig_probe(other.locks[1]), HF_OK);
    CHECK_INT(hf_lock_release(other.locks[0], NULL, NULL), HF_OK);
    CHECK(rig_until_equal(&t.calls, 1));
    CHECK_INT(t.status, HF_OK);
    CHECK_INT(hf_hold_release(t.hold, NULL), HF_OK);
}

TEST(multi_async, try_that_is_refused_takes_none)
{
    static struct told t;
    struct pair p, other;
    struct hf_acquire_options o = rig_options(RIG_TRY, 0, 0);
    rig_begin();
    pair_open(&p);
    pair_open(&other);
    CHECK_INT(hf_lock_try(other.locks[0], NULL, NULL), HF_OK);
    told_start(&t, p.multi, &o);
    CHECK(rig_until_equal(&t.calls, 1));
    CHECK_INT(t.status, HF_TAKEN);
    CHECK(t.hold == NULL);
    CHECK(strncmp(t.err.text, "lock b: ", 8) == 0);
    CHECK_INT(rig_probe(other.locks[1]), HF_OK);
}

TEST(multi_async, wait_is_cancelled_and_leaves_nothing)
{
    static struct told t;
    struct pair p, other;
    struct hf_acquire_options o = rig_options(RIG_NO_LIMIT, 0, 0);
    rig_begin();
    pair_open(&p);
    pair_open(&other);
    CHECK_INT(hf_lock_try(other.locks[0], NULL, NULL), HF_OK);
    CHECK_INT(hf_cancel_open(p.client, &o.cancel), HF_OK);
    told_start(&t, p.multi, &o);
    rig_pause_ms(100);
    hf_cancel_fire(o.cancel);
    int is_told = rig_until_equal(&t.calls, 1);
    hf_cancel_close(o.cancel);
    CHECK(is_told);
    CHECK_INT(t.status, HF_CANCELLED);
    CHECK(rig_until_free(other.locks[1]));
}

/* The locks stay open until their client is closed: rig_close() would close
 * them before, and a call uses them. */
TEST(multi_async, wait_ends_with_its_client)
{
    static struct told t;
    struct pair other;
    hf_client *c;
    hf_lock *locks[2];
    hf_multi *m;
    rig_begin();
    pair_open(&other);
    CHECK_INT(hf_client_open(rig_url(), NULL, &c, NULL), HF_OK);
    CHECK_INT(hf_lock_open(c, "b", &locks[0], NULL), HF_OK);
    CHECK_INT(hf_lock_open(c, "a", &locks[1], NULL), HF_OK);
    CHECK_INT(hf_multi_open(locks, 2, &m, NULL), HF_OK);
    CHECK_INT(hf_lock_try(other.locks[0], NULL, NULL), HF_OK);
    told_start(&t, m, NULL);
    rig_pause_ms(100);
    hf_client_close(c);
    CHECK_INT(atomic_load(&t.calls), 1);
    CHECK_INT(t.status, HF_CLOSED);
    CHECK(rig_until_free(other.locks[1]));
}

TEST(multi_async, wait_at_one_client_ends_with_another)
{
    static struct told t;
    rig_begin();
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    hf_lock *locks[] = {rig_lock(c, "a"), rig_lock(d, "b")};
    hf_lock *other = rig_lock(rig_client(NULL), "b");
    hf_multi *m = rig_multi(locks, 2);
    CHECK_INT(hf_lock_try(other, NULL, NULL), HF_OK);
    told_start(&t, m, NULL);
    rig_pause_ms(100);
    rig_close(c);
    CHECK_INT(atomic_load(&t.calls), 1);
    CHECK_INT(t.status, HF_CLOSED);
}

/* ---- many ---------------------------------------------------------------- */

#define ROUNDS 50

/* Acquires, releases and acquires again, from its callbacks alone. */
struct walker {
    hf_multi *multi;
    atomic_int *inside, *overlap, *errors, *done;
    int rounds;
};

static void walker_go(struct walker *w);

static void walker_released(hf_hold *hold, int status,
                            const struct hf_error *err, void *user)
{
    struct walker *w = user;
    (void)hold;
    (void)err;
    if (status != HF_OK) atomic_fetch_add(w->errors, 1);
    if (++w->rounds < ROUNDS)
        walker_go(w);
    else
        atomic_fetch_add(w->done, 1);
}

static void walker_acquired(hf_multi *multi, int status, hf_hold *hold,
                            const struct hf_error *err, void *user)
{
    struct walker *w = user;
    (void)multi;
    (void)err;
    if (status != HF_OK) {
        atomic_fetch_add(w->errors, 1);
        atomic_fetch_add(w->done, 1);
        return;
    }
    if (atomic_fetch_add(w->inside, 1) != 0) atomic_fetch_add(w->overlap, 1);
    atomic_fetch_sub(w->inside, 1);
    hf_hold_release_start(hold, walker_released, w, NULL);
}

static void walker_go(struct walker *w)
{
    if (hf_multi_acquire_start(w->multi, NULL, walker_acquired, w, NULL)
        != HF_OK) {
        atomic_fetch_add(w->errors, 1);
        atomic_fetch_add(w->done, 1);
    }
}

TEST(multi_async, sets_of_several_clients_get_on_by_callbacks_alone)
{
    static struct walker walkers[4];
    static atomic_int inside, overlap, errors, done;
    rig_begin();
    atomic_store(&inside, 0);
    atomic_store(&overlap, 0);
    atomic_store(&errors, 0);
    atomic_store(&done, 0);
    for (int i = 0; i < 4; i++) {
        hf_client *c = rig_client(NULL), *d = rig_client(NULL);
        hf_lock *locks[] = {rig_lock(c, i % 2 ? "a" : "b"),
                            rig_lock(d, i % 2 ? "b" : "a")};
        hf_multi *m = rig_multi(locks, 2);
        walkers[i] = (struct walker){m, &inside, &overlap, &errors, &done, 0};
    }
    for (int i = 0; i < 4; i++) walker_go(&walkers[i]);
    CHECK(rig_until_equal(&done, 4));
    CHECK_INT(atomic_load(&errors), 0);
    CHECK_INT(atomic_load(&overlap), 0);
}

/* ---- a release beside a close -------------------------------------------- */

static _Thread_local int is_starting;

struct race {
    atomic_int calls, inside;
};

static void on_raced(hf_hold *hold, int status, const struct hf_error *err,
                     void *user)
{
    struct race *r = user;
    (void)hold, (void)status, (void)err;
    if (is_starting) atomic_store(&r->inside, 1);
    atomic_fetch_add(&r->calls, 1);
}

static void close_it(void *arg)
{
    hf_client_close(arg);
}

TEST(multi_async, release_beside_a_close_tells_nothing_inside_the_call)
{
    static struct race r;
    rig_begin();
    rig_client(NULL); /* a space in memory stays as long as its last client */
    for (int i = 0; i < 50; i++) {
        hf_client *c = NULL, *d = NULL;
        hf_lock *locks[2];
        hf_multi *m;
        hf_hold *hold;
        memset(&r, 0, sizeof r);
        CHECK_INT(hf_client_open(rig_url(), NULL, &c, NULL), HF_OK);
        CHECK_INT(hf_client_open(rig_url(), NULL, &d, NULL), HF_OK);
        CHECK_INT(hf_lock_open(c, "a", &locks[0], NULL), HF_OK);
        CHECK_INT(hf_lock_open(d, "b", &locks[1], NULL), HF_OK);
        CHECK_INT(hf_multi_open(locks, 2, &m, NULL), HF_OK);
        CHECK_INT(hf_multi_acquire(m, NULL, &hold, NULL), HF_OK);
        rig_spawn(close_it, d);
        is_starting = 1;
        int status = hf_hold_release_start(hold, on_raced, &r, NULL);
        is_starting = 0;
        rig_join();
        hf_client_close(c);
        CHECK_INT(atomic_load(&r.calls), status == HF_OK);
        CHECK_INT(atomic_load(&r.inside), 0);
    }
}
