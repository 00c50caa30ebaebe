/*
 * permit_open_contract.c: semaphores that are opened with their permits.  One
 * rule for all of it: a program that says how many there are need not know
 * which store it is on, and says nothing else.
 */
#include <string.h>

#include "lib/rig_semaphore.h"

static int has_capacity(hf_semaphore *s, int64_t capacity)
{
    struct hf_semaphore_state now = rig_count(s);
    return now.is_set && now.capacity == capacity;
}

TEST(permit_open, as_many_are_out_as_it_was_opened_with)
{
    hf_hold *p[3], *none;
    struct hf_error err = {0};
    rig_begin();
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 3);
    hf_semaphore *other = rig_semaphore(rig_client(NULL), "s", 3);
    CHECK_INT(hf_semaphore_try(s, &p[0], NULL), HF_OK);
    CHECK_INT(hf_semaphore_try(other, &p[1], NULL), HF_OK);
    CHECK_INT(hf_semaphore_try(s, &p[2], NULL), HF_OK);
    CHECK_INT(hf_semaphore_try(s, &none, &err), HF_TAKEN);
    CHECK_INT(hf_semaphore_try(other, &none, &err), HF_TAKEN);
    CHECK(has_capacity(other, 3));
    CHECK_INT(hf_hold_release(p[1], NULL), HF_OK);
    CHECK_INT(hf_semaphore_try(s, &p[1], NULL), HF_OK);
    CHECK_INT(hf_semaphore_try(other, &none, &err), HF_TAKEN);
}

TEST(permit_open, the_first_acquire_may_want_all_of_them)
{
    hf_hold *p, *none;
    rig_begin();
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 3);
    CHECK_INT(rig_take(s, 3, 0, &p), HF_OK);
    CHECK_INT(hf_semaphore_try(s, &none, NULL), HF_TAKEN);
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    CHECK_INT(rig_take(s, 3, RIG_WAIT_MS, &p), HF_OK);
}

TEST(permit_open, the_first_acquire_may_not_want_more_than_all)
{
    struct hf_acquire_options o = HF_ACQUIRE_OPTIONS_INIT;
    struct hf_error err = {0};
    hf_hold *p;
    rig_begin();
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 2);
    o.permits = 3;
    CHECK_INT(hf_semaphore_acquire(s, &o, &p, &err), HF_INVALID);
    CHECK(err.text[0] != 0);
    CHECK_INT(rig_take(s, 2, 0, &p), HF_OK);
}

TEST(permit_open, the_first_acquire_may_wait)
{
    static struct taker t;
    hf_hold *p;
    rig_begin();
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 1);
    CHECK_INT(rig_take(s, 1, RIG_WAIT_MS, &p), HF_OK);
    taker_start(&t, rig_semaphore(rig_client(NULL), "s", 1), 1, RIG_WAIT_MS);
    CHECK_INT(atomic_load(&t.got), 0);
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    rig_join();
    CHECK_INT(t.status, HF_OK);
    CHECK_INT(t.release_status, HF_OK);
}

/* ---- a race for the first acquire ---------------------------------------- */

#define RACERS 6
#define PERMITS 2
#define RACES 10

struct race {
    hf_semaphore *sems[RACERS];
    atomic_int next, ready, inside, too_many, got;
};

static void race_run(void *arg)
{
    struct race *r = arg;
    hf_semaphore *sem = r->sems[atomic_fetch_add(&r->next, 1)];
    hf_hold *p;
    atomic_fetch_add(&r->ready, 1);
    (void)rig_until_equal(&r->ready, RACERS);
    if (rig_take(sem, 1, RIG_PATIENCE_MS, &p) != HF_OK) return;
    if (atomic_fetch_add(&r->inside, 1) >= PERMITS)
        atomic_fetch_add(&r->too_many, 1);
    rig_pause_ms(20);
    atomic_fetch_sub(&r->inside, 1);
    if (hf_hold_release(p, NULL) == HF_OK) atomic_fetch_add(&r->got, 1);
}

TEST(permit_open, clients_that_race_for_the_first_acquire_make_one_number)
{
    static struct race r;
    hf_client *c[RACERS];
    rig_begin();
    for (int i = 0; i < RACERS; i++) c[i] = rig_client(NULL);
    for (int n = 0; n < RACES; n++) {
        char name[16];
        snprintf(name, sizeof name, "s%d", n);
        memset(&r, 0, sizeof r);
        for (int i = 0; i < RACERS; i++)
            r.sems[i] = rig_semaphore(c[i], name, PERMITS);
        for (int i = 0; i < RACERS; i++) rig_spawn(race_run, &r);
        rig_join();
        CHECK_INT(atomic_load(&r.too_many), 0);
        CHECK_INT(atomic_load(&r.got), RACERS);
        CHECK(has_capacity(r.sems[0], PERMITS));
    }
}

/* ---- started ------------------------------------------------------------- */

struct answer {
    atomic_int count;
    int status;
    hf_hold *hold;
};

static void answered(hf_semaphore *sem, int status, hf_hold *hold,
                     const struct hf_error *err, void *user)
{
    struct answer *a = user;
    (void)sem;
    (void)err;
    a->status = status;
    a->hold = hold;
    atomic_fetch_add(&a->count, 1);
}

TEST(permit_open, acquires_that_are_started_honour_it_too)
{
    static struct answer a[3];
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 0, 0);
    rig_begin();
    memset(a, 0, sizeof a);
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 2);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(hf_semaphore_acquire_start(s, &o, answered, &a[i], NULL),
                  HF_OK);
        CHECK(rig_until_equal(&a[i].count, 1));
        CHECK_INT(a[i].status, HF_OK);
    }
    CHECK_INT(hf_semaphore_acquire_start(s, &o, answered, &a[2], NULL), HF_OK);
    rig_pause_ms(200);
    CHECK_INT(atomic_load(&a[2].count), 0);
    CHECK_INT(hf_hold_release(a[0].hold, NULL), HF_OK);
    CHECK(rig_until_equal(&a[2].count, 1));
    CHECK_INT(a[2].status, HF_OK);
}

/* ---- where the store keeps the number ------------------------------------ */

TEST(permit_open, nothing_is_set_before_the_first_acquire)
{
    if (!rig_begin_with(HF_CAP_PERMIT)) return;
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 3);
    CHECK_INT(rig_count(s).is_set, 0);
    CHECK_INT(rig_take(s, 1, 0, NULL), HF_OK);
    CHECK_INT(rig_count(s).available, 2);
    CHECK(has_capacity(s, 3));
}

TEST(permit_open, a_number_that_is_stored_counts)
{
    hf_hold *p, *none;
    if (!rig_begin_with(HF_CAP_PERMIT)) return;
    hf_semaphore *s = rig_semaphore_set(rig_client(NULL), "s", 2);
    hf_semaphore *more = rig_semaphore(rig_client(NULL), "s", 5);
    CHECK_INT(rig_take(more, 2, 0, &p), HF_OK);
    CHECK_INT(hf_semaphore_try(more, &none, NULL), HF_TAKEN);
    CHECK(has_capacity(more, 2));
    CHECK_INT(hf_semaphore_set(more, 3, 0, NULL, NULL), HF_OK);
    CHECK_INT(hf_semaphore_try(s, &none, NULL), HF_OK);
    CHECK(has_capacity(s, 3));
}

TEST(permit_open, what_was_deleted_is_set_again)
{
    hf_hold *p, *q;
    if (!rig_begin_with(HF_CAP_PERMIT)) return;
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 2);
    CHECK_INT(rig_take(s, 2, 0, &p), HF_OK);
    CHECK_INT(hf_semaphore_delete(s, NULL, NULL), HF_OK);
    CHECK_INT(rig_take(s, 1, 0, &q), HF_OK);
    CHECK(has_capacity(s, 2));
    CHECK_INT(rig_count(s).taken, 1);
}

/* The waiter asks again, and its request has the number of permits. */
TEST(permit_open, what_was_deleted_while_it_was_waited_for_is_set_again)
{
    static struct taker t;
    if (!rig_begin_with(HF_CAP_PERMIT)) return;
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 2000, 0);
    hf_hold *p;
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 1);
    CHECK_INT(hf_semaphore_acquire(s, &o, &p, NULL), HF_OK);
    taker_start(&t, rig_semaphore(rig_client(NULL), "s", 1), 1,
                RIG_PATIENCE_MS);
    CHECK_INT(hf_semaphore_delete(s, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(t.status, HF_OK);
    CHECK(has_capacity(s, 1));
}

TEST(permit_open, who_waits_for_a_number_is_told_of_it)
{
    static struct taker t[2];
    hf_hold *p;
    if (!rig_begin_with(HF_CAP_PERMIT | HF_CAP_QUEUE)) return;
    for (int order = HF_ORDER_ANY; order <= HF_ORDER_FAIR; order++) {
        struct hf_semaphore_options o = HF_SEMAPHORE_OPTIONS_INIT;
        const char *name = order == HF_ORDER_ANY ? "any" : "fair";
        o.order = order;
        hf_client *c = rig_client(NULL);
        taker_start(&t[order], rig_semaphore_as(c, name, &o), 1, RIG_WAIT_MS);
        CHECK_INT(atomic_load(&t[order].got), 0);
        o.permits = 2;
        hf_semaphore *s = rig_semaphore_as(rig_client(NULL), name, &o);
        CHECK_INT(rig_take(s, 1, RIG_WAIT_MS, &p), HF_OK);
        rig_join();
        CHECK_INT(t[order].status, HF_OK);
        CHECK(has_capacity(s, 2));
    }
}

TEST(permit_open, a_wait_for_a_number_that_nobody_gives_ends)
{
    if (!rig_begin_with(HF_CAP_PERMIT)) return;
    hf_semaphore *s = rig_semaphore_as(rig_client(NULL), "s", NULL);
    CHECK_INT(rig_take(s, 1, 0, NULL), HF_TAKEN);
    CHECK_INT(rig_take(s, 1, 1000, NULL), HF_TIMEOUT);
    CHECK_INT(rig_count(s).is_set, 0);
}

TEST(permit_open, a_name_that_is_something_else_is_left_alone)
{
    hf_hold *p;
    if (!rig_begin_with(HF_CAP_PERMIT | HF_CAP_TALLY)) return;
    hf_client *c = rig_client(NULL);
    hf_lock *lock = rig_lock(c, "a");
    CHECK_INT(hf_lock_try(lock, NULL, NULL), HF_OK);
    CHECK_INT(hf_semaphore_try(rig_semaphore(c, "a", 2), &p, NULL),
              HF_CONFLICT);
    CHECK_INT(hf_lock_release(lock, NULL, NULL), HF_OK);
    hf_semaphore *count = rig_counter(c, "b", 5);
    CHECK_INT(hf_semaphore_try(rig_semaphore(c, "b", 2), &p, NULL),
              HF_CONFLICT);
    CHECK_INT(rig_count(count).available, 5);
}

TEST(permit_open, a_plain_counter_begins_with_it)
{
    static struct taker t;
    struct hf_semaphore_options o = HF_SEMAPHORE_OPTIONS_INIT;
    hf_hold *p = (hf_hold *)&o;
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    taker_start(&t, rig_counter(rig_client(NULL), "s", 0), 1, RIG_WAIT_MS);
    o.flags = HF_SEMAPHORE_PLAIN;
    o.permits = 3;
    hf_semaphore *s = rig_semaphore_as(rig_client(NULL), "s", &o);
    CHECK_INT(rig_take(s, 2, 0, &p), HF_OK);
    rig_join();
    CHECK_INT(t.status, HF_OK);
    CHECK_INT(rig_take(s, 2, 0, NULL), HF_TAKEN);
    CHECK(p == NULL); /* nothing is held */
    CHECK_INT(hf_semaphore_add(s, 2, 0, NULL, NULL), HF_OK);
    CHECK_INT(rig_count(s).available, 3);
}

/* ---- bad input ----------------------------------------------------------- */

TEST(permit_open, a_number_out_of_range_is_refused)
{
    static const int64_t bad[] = {-1, INT64_MIN, INT64_MAX,
                                  (int64_t)HF_SEMAPHORE_MAX + 1,
                                  (INT64_C(1) << 32) + 1};
    struct hf_semaphore_options o = HF_SEMAPHORE_OPTIONS_INIT;
    struct hf_error err = {0};
    hf_semaphore *s = NULL;
    rig_begin();
    hf_client *c = rig_client(NULL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        o.permits = bad[i];
        CHECK_INT(hf_semaphore_open(c, "s", &o, &s, &err), HF_INVALID);
        CHECK(strstr(err.text, "permits: out of range: 1 to ") != NULL);
        CHECK(s == NULL);
    }
}
