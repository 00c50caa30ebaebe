/*
 * multi_wait_contract.c: several locks at once, some of which are held.  One
 * rule: a call that waits for one of them holds none of the others, and gets
 * all of them in the end.
 */
#include "lib/rig_multi.h"

/* testMultiThreads */
TEST(multi_wait, waits_for_the_one_that_is_taken_and_gets_them_all)
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

TEST(multi_wait, holds_nothing_while_it_waits)
{
    static struct waiter w;
    struct three t, other;
    rig_begin();
    three_open(&t);
    three_open(&other);
    CHECK_INT(hf_lock_try(other.locks[1], NULL, NULL), HF_OK);
    waiter_start(&w, t.multi, NULL, RIG_WAIT_MS);
    /* It has them for a moment, until it has been refused the second one. */
    CHECK(rig_until_free(other.locks[0]));
    CHECK(rig_until_free(other.locks[2]));
    CHECK_INT(hf_lock_release(other.locks[1], NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(w.status, HF_OK);
}

TEST(multi_wait, has_one_deadline_for_the_whole_set)
{
    struct three t, other;
    struct hf_acquire_options o = rig_options(1500, 0, 0);
    struct hf_error err = {0};
    hf_hold *taken, *hold;
    rig_begin();
    three_open(&t);
    three_open(&other);
    CHECK_INT(hf_multi_acquire(other.multi, NULL, &taken, NULL), HF_OK);
    int64_t began_ms = rig_now_ms();
    CHECK_INT(hf_multi_acquire(t.multi, &o, &hold, &err), HF_TIMEOUT);
    int64_t took_ms = rig_now_ms() - began_ms;
    CHECK(took_ms >= 1500 && took_ms < 10000);
    CHECK_INT(err.status, HF_TIMEOUT);
    CHECK_INT(hf_hold_release(taken, NULL), HF_OK);
    CHECK(three_are_free(&other));
}

/* Defect 11: there, an interrupted lock() returns as if it had the locks. */
TEST(multi_wait, that_is_cancelled_says_so_and_leaves_nothing)
{
    static struct waiter w;
    struct three t, other;
    rig_begin();
    three_open(&t);
    three_open(&other);
    hf_cancel *cancel = rig_cancel(t.client);
    CHECK_INT(hf_lock_try(other.locks[1], NULL, NULL), HF_OK);
    waiter_start(&w, t.multi, cancel, RIG_WAIT_MS);
    hf_cancel_fire(cancel);
    rig_join();
    CHECK_INT(w.status, HF_CANCELLED);
    CHECK_INT(w.err.status, HF_CANCELLED);
    CHECK_INT(hf_lock_release(other.locks[1], NULL, NULL), HF_OK);
    CHECK(three_are_free(&other));
}

TEST(multi_wait, is_cancelled_by_a_token_of_any_of_its_clients)
{
    static struct waiter w;
    rig_begin();
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    hf_lock *locks[] = {rig_lock(c, "a"), rig_lock(d, "b")};
    hf_lock *other = rig_lock(rig_client(NULL), "b");
    hf_multi *m = rig_multi(locks, 2);
    hf_cancel *cancel = rig_cancel(c);
    CHECK_INT(hf_lock_try(other, NULL, NULL), HF_OK);
    waiter_start(&w, m, cancel, RIG_WAIT_MS); /* it waits at d's */
    int64_t began_ms = rig_now_ms();
    hf_cancel_fire(cancel);
    rig_join();
    CHECK(rig_now_ms() - began_ms < 10000);
    CHECK_INT(w.status, HF_CANCELLED);
    CHECK(rig_until_free(locks[0]));
}

/* Defect 10: there, the lease grows by a thousand with every round. */
TEST(multi_wait, keeps_its_lease_however_often_it_was_refused)
{
    static struct waiter w;
    struct three t, other;
    hf_hold *hold;
    struct hf_acquire_options o =
        rig_options(RIG_WAIT_MS, 5000, HF_ACQUIRE_FIXED);
    rig_begin();
    three_open(&t);
    three_open(&other);
    CHECK_INT(hf_lock_try(other.locks[0], NULL, NULL), HF_OK);
    waiter_start(&w, t.multi, NULL, RIG_WAIT_MS);
    CHECK_INT(hf_lock_release(other.locks[0], NULL, NULL), HF_OK);
    CHECK_INT(hf_multi_acquire(other.multi, &o, &hold, NULL), HF_OK);
    for (size_t i = 0; i < 3; i++) {
        hf_hold *part = hf_hold_part(hold, i);
        int64_t valid_ms = hf_hold_valid_ms(part);
        CHECK_INT(hf_hold_lease_ms(part), 5000);
        CHECK(valid_ms > 0 && valid_ms <= 5000 - 50 - 2);
    }
    CHECK_INT(hf_hold_release(hold, NULL), HF_OK);
    rig_join();
    CHECK_INT(w.status, HF_OK);
}

struct racer {
    hf_multi *multi;
    atomic_int *won;
};

static void racer_run(void *arg)
{
    struct racer *r = arg;
    struct hf_acquire_options o = rig_options(RIG_TRY, 10000, HF_ACQUIRE_FIXED);
    hf_hold *hold;
    if (hf_multi_acquire(r->multi, &o, &hold, NULL) == HF_OK)
        atomic_fetch_add(r->won, 1);
}

/* testWaitAndLeaseTimeouts */
TEST(multi_wait, is_won_by_one_of_ten_that_try)
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
    /* Where the requests of one may pass those of another, each may find that
     * another was first with one lock. */
    if (rig_keeps_order())
        CHECK_INT(atomic_load(&won), 1);
    else
        CHECK(atomic_load(&won) <= 1);
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
        hf_hold *hold;
        if (hf_multi_acquire(c->multi, &o, &hold, NULL) != HF_OK) {
            atomic_fetch_add(c->errors, 1);
            return;
        }
        if (atomic_fetch_add(c->inside, 1) != 0)
            atomic_fetch_add(c->overlap, 1);
        atomic_fetch_add(c->grants, 1);
        atomic_fetch_sub(c->inside, 1);
        if (hf_hold_release(hold, NULL) != HF_OK)
            atomic_fetch_add(c->errors, 1);
    }
}

/* Each two of the sets have a lock in common, in another order. */
TEST(multi_wait, sets_that_cross_each_other_all_get_on)
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
        crossers[i] = (struct crosser){
            rig_multi(locks, 2), 20, &inside, &overlap, &errors, &grants};
        rig_spawn(crosser_run, &crossers[i]);
    }
    rig_join();
    CHECK_INT(atomic_load(&errors), 0);
    CHECK_INT(atomic_load(&overlap), 0);
    CHECK_INT(atomic_load(&grants), 120);
}

TEST(multi_wait, ends_when_one_of_its_clients_is_closed)
{
    static struct waiter w;
    rig_begin();
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    hf_lock *locks[] = {rig_lock(c, "a"), rig_lock(d, "b")};
    hf_client *e = rig_client(NULL);
    hf_lock *a = rig_lock(e, "a"), *b = rig_lock(e, "b");
    CHECK_INT(hf_lock_try(b, NULL, NULL), HF_OK);
    waiter_start(&w, rig_multi(locks, 2), NULL, RIG_NO_LIMIT);
    rig_close(c); /* it waits at d's */
    rig_join();
    CHECK_INT(w.status, HF_CLOSED);
    CHECK(rig_until_free(a));
}
