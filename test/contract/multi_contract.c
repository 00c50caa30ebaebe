/*
 * multi_contract.c: several locks at once.  One rule: all of them or none, and
 * whoever does not get them leaves nothing behind.
 */
#include <string.h>

#include "lib/rig.h"

/* Sets are closed before the clients of their locks. */
static void multi_end(void *arg)
{
    rig_join();
    hf_multi_close(arg);
}

static hf_multi *multi_of(hf_lock *const *locks, size_t len)
{
    hf_multi *m = NULL;
    struct hf_error err = {0};
    if (hf_multi_open(locks, len, &m, &err) != HF_OK) TEST_FAIL("%s", err.text);
    test_cleanup(multi_end, m);
    return m;
}

/* The locks "a", "b" and "c" of a client of its own, as a set. */
struct three {
    hf_client *client;
    hf_lock *locks[3];
    hf_multi *multi;
};

static void three_open(struct three *t)
{
    static const char *const names[] = {"a", "b", "c"};
    t->client = rig_client(NULL);
    for (int i = 0; i < 3; i++) t->locks[i] = rig_lock(t->client, names[i]);
    t->multi = multi_of(t->locks, 3);
}

static int all_are_free(const struct three *t)
{
    int free = 0;
    for (int i = 0; i < 3; i++) free += rig_probe(t->locks[i]) == HF_OK;
    return free == 3;
}

/* testLockUnlock */
TEST(multi, holds_every_lock_of_the_set_until_it_is_released)
{
    struct three t, other;
    struct hf_grant g[3];
    rig_begin();
    three_open(&t);
    three_open(&other);
    CHECK_INT(hf_multi_state(t.multi, 0), HF_STATE_NONE);
    CHECK_INT(hf_multi_acquire(t.multi, NULL, g, NULL), HF_OK);
    CHECK_INT(hf_multi_state(t.multi, 0), HF_STATE_HELD);
    CHECK(hf_multi_valid_ms(t.multi, 0) > 0);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(hf_lock_state(t.locks[i], 0), HF_STATE_HELD);
        CHECK(hf_lock_fence(t.locks[i], 0) == g[i].fence);
        CHECK_INT(g[i].count, 1);
        CHECK_INT(rig_probe(other.locks[i]), HF_TAKEN);
    }
    CHECK_INT(hf_multi_release(t.multi, NULL), HF_OK);
    CHECK_INT(hf_multi_state(t.multi, 0), HF_STATE_NONE);
    CHECK_INT(hf_multi_valid_ms(t.multi, 0), 0);
    CHECK(all_are_free(&other));
}

TEST(multi, try_of_a_set_with_one_lock_taken_takes_none)
{
    struct three t, other;
    struct hf_error err = {0};
    struct hf_grant g[3] = {{.fence = 77}, {.fence = 77}, {.fence = 77}};
    rig_begin();
    three_open(&t);
    three_open(&other);
    CHECK_INT(hf_lock_try(other.locks[1], NULL, NULL), HF_OK);
    CHECK_INT(hf_multi_try(t.multi, g, &err), HF_TAKEN);
    CHECK_INT(err.status, HF_TAKEN);
    CHECK(strncmp(err.text, "b: ", 3) == 0);
    CHECK(g[0].fence == 77);
    CHECK_INT(hf_multi_state(t.multi, 0), HF_STATE_NONE);
    CHECK_INT(hf_lock_release(other.locks[1], NULL, NULL), HF_OK);
    CHECK(all_are_free(&other));
}

struct waiter {
    hf_multi *multi;
    hf_cancel *cancel;
    int64_t wait_ms;
    atomic_int started;
    atomic_int ended;
    int status;
    struct hf_error err;
};

static void waiter_run(void *arg)
{
    struct waiter *w = arg;
    struct hf_acquire_options o = rig_options(w->wait_ms, 0, 0);
    o.cancel = w->cancel;
    atomic_store(&w->started, 1);
    w->status = hf_multi_acquire(w->multi, &o, NULL, &w->err);
    atomic_store(&w->ended, 1);
    if (w->status == HF_OK) hf_multi_release(w->multi, NULL);
}

static void waiter_start(struct waiter *w, hf_multi *m, hf_cancel *cancel,
                         int64_t wait_ms)
{
    memset(w, 0, sizeof *w);
    w->multi = m;
    w->cancel = cancel;
    w->wait_ms = wait_ms;
    rig_spawn(waiter_run, w);
    CHECK(rig_until_equal(&w->started, 1));
    rig_pause_ms(200);
}

/* testMultiThreads */
TEST(multi, waits_for_the_one_that_is_taken_and_gets_them_all)
{
    static struct waiter w;
    struct three t, other;
    rig_begin();
    three_open(&t);
    three_open(&other);
    CHECK_INT(hf_lock_try(other.locks[2], NULL, NULL), HF_OK);
    waiter_start(&w, t.multi, NULL, RIG_WAIT_MS);
    CHECK_INT(atomic_load(&w.ended), 0);
    CHECK_INT(hf_lock_release(other.locks[2], NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(w.status, HF_OK);
}

TEST(multi, holds_nothing_while_it_waits)
{
    static struct waiter w;
    struct three t, other;
    rig_begin();
    three_open(&t);
    three_open(&other);
    CHECK_INT(hf_lock_try(other.locks[1], NULL, NULL), HF_OK);
    waiter_start(&w, t.multi, NULL, RIG_WAIT_MS);
    CHECK_INT(rig_probe(other.locks[0]), HF_OK);
    CHECK_INT(rig_probe(other.locks[2]), HF_OK);
    CHECK_INT(hf_lock_release(other.locks[1], NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(w.status, HF_OK);
}

TEST(multi, has_one_deadline_for_the_whole_set)
{
    struct three t, other;
    struct hf_acquire_options o = rig_options(600, 0, 0);
    struct hf_error err = {0};
    rig_begin();
    three_open(&t);
    three_open(&other);
    CHECK_INT(hf_multi_acquire(other.multi, NULL, NULL, NULL), HF_OK);
    int64_t began_ms = rig_now_ms();
    CHECK_INT(hf_multi_acquire(t.multi, &o, NULL, &err), HF_TIMEOUT);
    int64_t took_ms = rig_now_ms() - began_ms;
    CHECK(took_ms >= 600 && took_ms < 10000);
    CHECK_INT(err.status, HF_TIMEOUT);
    CHECK_INT(hf_multi_release(other.multi, NULL), HF_OK);
    CHECK(all_are_free(&other));
}

/* Tokens go before their client, after the threads. */
static void cancel_end(void *arg)
{
    rig_join();
    hf_cancel_close(arg);
}

static hf_cancel *cancel_new(hf_client *c)
{
    hf_cancel *cancel = NULL;
    CHECK_INT(hf_cancel_open(c, &cancel), HF_OK);
    test_cleanup(cancel_end, cancel);
    return cancel;
}

/* Defect 11: there, an interrupted lock() returns as if it had the locks. */
TEST(multi, that_is_cancelled_says_so_and_leaves_nothing)
{
    static struct waiter w;
    struct three t, other;
    rig_begin();
    three_open(&t);
    three_open(&other);
    hf_cancel *cancel = cancel_new(t.client);
    CHECK_INT(hf_lock_try(other.locks[1], NULL, NULL), HF_OK);
    waiter_start(&w, t.multi, cancel, RIG_WAIT_MS);
    hf_cancel_fire(cancel);
    rig_join();
    CHECK_INT(w.status, HF_CANCELLED);
    CHECK_INT(w.err.status, HF_CANCELLED);
    CHECK_INT(hf_lock_release(other.locks[1], NULL, NULL), HF_OK);
    CHECK(all_are_free(&other));
}

TEST(multi, is_cancelled_by_a_token_of_any_of_its_clients)
{
    static struct waiter w;
    rig_begin();
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    hf_lock *locks[] = {rig_lock(c, "a"), rig_lock(d, "b")};
    hf_lock *other = rig_lock(rig_client(NULL), "b");
    hf_multi *m = multi_of(locks, 2);
    hf_cancel *cancel = cancel_new(c);
    CHECK_INT(hf_lock_try(other, NULL, NULL), HF_OK);
    waiter_start(&w, m, cancel, RIG_WAIT_MS); /* it waits at d's */
    int64_t began_ms = rig_now_ms();
    hf_cancel_fire(cancel);
    rig_join();
    CHECK(rig_now_ms() - began_ms < 10000);
    CHECK_INT(w.status, HF_CANCELLED);
    CHECK_INT(rig_probe(locks[0]), HF_OK);
}

TEST(multi, enters_what_the_holder_has_already_and_leaves_it_once)
{
    struct three t, other;
    struct hf_grant g[3];
    struct hf_released left = {-1};
    rig_begin();
    three_open(&t);
    three_open(&other);
    CHECK_INT(hf_lock_acquire(t.locks[1], NULL, NULL, NULL), HF_OK);
    CHECK_INT(hf_multi_acquire(t.multi, NULL, g, NULL), HF_OK);
    CHECK_INT(g[0].count, 1);
    CHECK_INT(g[1].count, 2);
    CHECK_INT(hf_multi_release(t.multi, NULL), HF_OK);
    CHECK_INT(hf_lock_state(t.locks[1], 0), HF_STATE_HELD);
    CHECK_INT(rig_probe(other.locks[1]), HF_TAKEN);
    CHECK_INT(hf_lock_release(t.locks[1], &left, NULL), HF_OK);
    CHECK_INT(left.count, 0);
    CHECK(all_are_free(&other));
}

TEST(multi, that_fails_leaves_what_the_holder_had_before_as_it_was)
{
    struct three t, other;
    struct hf_released left = {-1};
    rig_begin();
    three_open(&t);
    three_open(&other);
    CHECK_INT(hf_lock_acquire(t.locks[0], NULL, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_try(other.locks[2], NULL, NULL), HF_OK);
    CHECK_INT(hf_multi_try(t.multi, NULL, NULL), HF_TAKEN);
    CHECK_INT(hf_lock_state(t.locks[0], 0), HF_STATE_HELD);
    CHECK_INT(hf_lock_release(t.locks[0], &left, NULL), HF_OK);
    CHECK_INT(left.count, 0);
}

TEST(multi, may_be_acquired_twice_and_is_released_twice)
{
    struct three t, other;
    rig_begin();
    three_open(&t);
    three_open(&other);
    CHECK_INT(hf_multi_acquire(t.multi, NULL, NULL, NULL), HF_OK);
    CHECK_INT(hf_multi_acquire(t.multi, NULL, NULL, NULL), HF_OK);
    CHECK_INT(hf_multi_release(t.multi, NULL), HF_OK);
    CHECK_INT(hf_multi_try(other.multi, NULL, NULL), HF_TAKEN);
    CHECK_INT(hf_multi_release(t.multi, NULL), HF_OK);
    CHECK_INT(hf_multi_try(other.multi, NULL, NULL), HF_OK);
}

/* Defect 12: there, the rest stays held and renewed. */
TEST(multi, release_goes_on_behind_one_that_fails)
{
    struct three t, other;
    struct hf_error err = {0};
    rig_begin();
    three_open(&t);
    three_open(&other);
    CHECK_INT(hf_multi_acquire(t.multi, NULL, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_release(t.locks[0], NULL, NULL), HF_OK);
    CHECK_INT(hf_multi_release(t.multi, &err), HF_NOT_OWNER);
    CHECK(strncmp(err.text, "a: ", 3) == 0);
    CHECK(all_are_free(&other));
}

/* Defect 10: there, the lease grows by a thousand with every round. */
TEST(multi, keeps_its_lease_however_often_it_was_refused)
{
    static struct waiter w;
    struct three t, other;
    struct hf_grant g[3];
    struct hf_acquire_options o =
        rig_options(RIG_WAIT_MS, 5000, HF_ACQUIRE_FIXED);
    rig_begin();
    three_open(&t);
    three_open(&other);
    CHECK_INT(hf_lock_try(other.locks[0], NULL, NULL), HF_OK);
    waiter_start(&w, t.multi, NULL, RIG_WAIT_MS);
    CHECK_INT(hf_lock_release(other.locks[0], NULL, NULL), HF_OK);
    CHECK_INT(hf_multi_acquire(other.multi, &o, g, NULL), HF_OK);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(g[i].lease_ms, 5000);
        CHECK(g[i].valid_ms > 0 && g[i].valid_ms <= 5000 - 50 - 2);
    }
    CHECK_INT(hf_multi_release(other.multi, NULL), HF_OK);
    rig_join();
    CHECK_INT(w.status, HF_OK);
}

TEST(multi, extends_every_lease)
{
    struct three t;
    struct hf_grant g[3];
    struct hf_acquire_options o =
        rig_options(RIG_WAIT_MS, 5000, HF_ACQUIRE_FIXED);
    rig_begin();
    three_open(&t);
    CHECK_INT(hf_multi_extend(t.multi, 0, 9000, NULL, NULL), HF_NOT_OWNER);
    CHECK_INT(hf_multi_acquire(t.multi, &o, NULL, NULL), HF_OK);
    CHECK_INT(hf_multi_extend(t.multi, 0, 9000, g, NULL), HF_OK);
    for (int i = 0; i < 3; i++) CHECK(g[i].valid_ms > 5000);
    CHECK(hf_multi_valid_ms(t.multi, 0) > 5000);
    CHECK_INT(hf_multi_extend(t.multi, 0, 1, NULL, NULL), HF_INVALID);
}

TEST(multi, is_as_bad_as_the_worst_of_its_locks)
{
    struct three t;
    rig_begin();
    three_open(&t);
    CHECK_INT(hf_multi_acquire(t.multi, NULL, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_release(t.locks[2], NULL, NULL), HF_OK);
    CHECK_INT(hf_multi_state(t.multi, 0), HF_STATE_NONE);
    struct hf_acquire_options o = rig_options(0, 100, HF_ACQUIRE_FIXED);
    CHECK_INT(hf_lock_acquire(t.locks[2], &o, NULL, NULL), HF_OK);
    CHECK_INT(hf_multi_state(t.multi, 0), HF_STATE_HELD);
    CHECK(hf_multi_valid_ms(t.multi, 0) <= 100);
    CHECK(rig_until_state(t.locks[2], 0, HF_STATE_LOST));
    CHECK_INT(hf_multi_state(t.multi, 0), HF_STATE_LOST);
    CHECK_INT(hf_multi_valid_ms(t.multi, 0), 0);
}

TEST(multi, of_one_name_twice_is_refused_by_name)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *locks[] = {rig_lock(c, "a"), rig_lock(c, "b"), rig_lock(c, "a")};
    hf_multi *m = NULL;
    struct hf_error err = {0};
    CHECK_INT(hf_multi_open(locks, 3, &m, &err), HF_INVALID);
    CHECK(strncmp(err.text, "a: twice", 8) == 0);
    locks[2] = rig_lock(rig_client(NULL), "a"); /* the same store */
    CHECK_INT(hf_multi_open(locks, 3, &m, &err), HF_INVALID);
    CHECK(m == NULL);
}

TEST(multi, of_none_or_too_many_is_refused)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *locks[HF_MULTI_MAX + 1];
    hf_multi *m = NULL;
    for (int i = 0; i <= HF_MULTI_MAX; i++) locks[i] = l;
    CHECK_INT(hf_multi_open(locks, 0, &m, NULL), HF_INVALID);
    CHECK_INT(hf_multi_open(locks, HF_MULTI_MAX + 1, &m, NULL), HF_INVALID);
    CHECK(m == NULL);
}

TEST(multi, of_the_most_names_works)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *locks[HF_MULTI_MAX];
    for (int i = 0; i < HF_MULTI_MAX; i++) {
        char name[8];
        snprintf(name, sizeof name, "n%d", i);
        locks[i] = rig_lock(c, name);
    }
    hf_multi *m = multi_of(locks, HF_MULTI_MAX);
    CHECK_INT(hf_multi_acquire(m, NULL, NULL, NULL), HF_OK);
    CHECK_INT(hf_multi_state(m, 0), HF_STATE_HELD);
    CHECK_INT(hf_multi_release(m, NULL), HF_OK);
    CHECK_INT(rig_probe(locks[HF_MULTI_MAX - 1]), HF_OK);
}

TEST(multi, refuses_what_one_of_its_locks_cannot_have)
{
    struct three t;
    struct hf_acquire_options o = rig_options(0, 1, 0);
    struct hf_error err = {0};
    rig_begin();
    three_open(&t);
    CHECK_INT(hf_multi_acquire(t.multi, &o, NULL, &err), HF_INVALID);
    o = rig_options(0, 0, 1u << 30);
    CHECK_INT(hf_multi_acquire(t.multi, &o, NULL, &err), HF_INVALID);
    CHECK(all_are_free(&t));
}

struct racer {
    hf_multi *multi;
    atomic_int *won;
};

static void racer_run(void *arg)
{
    struct racer *r = arg;
    struct hf_acquire_options o =
        rig_options(HF_WAIT_NONE, 10000, HF_ACQUIRE_FIXED);
    if (hf_multi_acquire(r->multi, &o, NULL, NULL) == HF_OK)
        atomic_fetch_add(r->won, 1);
}

/* testWaitAndLeaseTimeouts */
TEST(multi, is_won_by_one_of_ten_that_try)
{
    static struct racer racers[10];
    static atomic_int won;
    struct three t;
    rig_begin();
    three_open(&t);
    atomic_store(&won, 0);
    for (int i = 0; i < 10; i++) {
        racers[i] = (struct racer){t.multi, &won};
        rig_spawn(racer_run, &racers[i]);
    }
    rig_join();
    CHECK_INT(atomic_load(&won), 1);
}

/* test: three servers, another thread refused */
TEST(multi, over_several_stores_is_all_or_nothing_too)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_client *d = rig_client_at("memory:multi-other", NULL);
    hf_lock *locks[] = {rig_lock(c, "a"), rig_lock(d, "a"), rig_lock(d, "b")};
    hf_lock *other = rig_lock(rig_client_at("memory:multi-other", NULL), "a");
    hf_multi *m = multi_of(locks, 3);
    CHECK_INT(hf_multi_acquire(m, NULL, NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(other), HF_TAKEN);
    CHECK_INT(hf_multi_release(m, NULL), HF_OK);
    CHECK_INT(hf_lock_try(other, NULL, NULL), HF_OK);
    CHECK_INT(hf_multi_try(m, NULL, NULL), HF_TAKEN);
    CHECK_INT(rig_probe(locks[0]), HF_OK);
    CHECK_INT(rig_probe(locks[2]), HF_OK);
}

struct crosser {
    hf_multi *multi;
    int rounds;
    atomic_int *inside, *overlap, *errors, *grants;
};

static void crosser_run(void *arg)
{
    struct crosser *c = arg;
    for (int i = 0; i < c->rounds; i++) {
        struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 0, 0);
        if (hf_multi_acquire(c->multi, &o, NULL, NULL) != HF_OK) {
            atomic_fetch_add(c->errors, 1);
            return;
        }
        if (atomic_fetch_add(c->inside, 1) != 0)
            atomic_fetch_add(c->overlap, 1);
        atomic_fetch_add(c->grants, 1);
        atomic_fetch_sub(c->inside, 1);
        if (hf_multi_release(c->multi, NULL) != HF_OK)
            atomic_fetch_add(c->errors, 1);
    }
}

/* Each two of the sets have a lock in common, in another order. */
TEST(multi, sets_that_cross_each_other_all_get_on)
{
    static struct crosser crossers[6];
    static atomic_int inside, overlap, errors, grants;
    static const char *const pairs[3][2] = {{"a", "b"}, {"b", "c"}, {"c", "a"}};
    rig_begin();
    atomic_store(&inside, 0);
    atomic_store(&overlap, 0);
    atomic_store(&errors, 0);
    atomic_store(&grants, 0);
    for (int i = 0; i < 6; i++) {
        hf_client *c = rig_client(NULL);
        hf_lock *locks[] = {rig_lock(c, pairs[i % 3][0]),
                            rig_lock(c, pairs[i % 3][1])};
        crossers[i] = (struct crosser){multi_of(locks, 2), 20,      &inside,
                                       &overlap,           &errors, &grants};
        rig_spawn(crosser_run, &crossers[i]);
    }
    rig_join();
    CHECK_INT(atomic_load(&errors), 0);
    CHECK_INT(atomic_load(&overlap), 0);
    CHECK_INT(atomic_load(&grants), 120);
}

struct closer {
    hf_multi *multi;
    atomic_int started;
    int status;
};

static void closer_run(void *arg)
{
    struct closer *c = arg;
    struct hf_acquire_options o = rig_options(HF_WAIT_FOREVER, 0, 0);
    atomic_store(&c->started, 1);
    c->status = hf_multi_acquire(c->multi, &o, NULL, NULL);
}

TEST(multi, ends_when_one_of_its_clients_is_closed)
{
    static struct closer w;
    rig_begin();
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    hf_lock *locks[] = {rig_lock(c, "a"), rig_lock(d, "b")};
    hf_client *e = rig_client(NULL);
    hf_lock *a = rig_lock(e, "a"), *b = rig_lock(e, "b");
    CHECK_INT(hf_lock_try(b, NULL, NULL), HF_OK);
    w.multi = multi_of(locks, 2);
    atomic_store(&w.started, 0);
    rig_spawn(closer_run, &w);
    CHECK(rig_until_equal(&w.started, 1));
    rig_pause_ms(200); /* it waits at d's */
    rig_close(c);
    rig_join();
    CHECK_INT(w.status, HF_CLOSED);
    CHECK_INT(rig_probe(a), HF_OK);
}
