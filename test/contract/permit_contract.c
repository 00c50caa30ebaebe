/*
 * permit_contract.c: at most as many holders as there are permits: permits of
 * the store's own, or one lock for each.  One rule for all of it: what one
 * acquire was granted is released as a whole, once.
 */
#include <string.h>

#include "lib/rig_multi.h"
#include "lib/rig_semaphore.h"

/* RedissonPermitExpirableSemaphoreTest.testBlockingAcquire */
TEST(permit, as_many_are_out_as_there_are)
{
    hf_hold *a, *b;
    rig_begin();
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 2);
    hf_semaphore *other = rig_semaphore(rig_client(NULL), "s", 2);
    CHECK_INT(hf_semaphore_try(s, &a, NULL), HF_OK);
    CHECK_INT(hf_semaphore_try(other, &b, NULL), HF_OK);
    CHECK_INT(rig_take(s, 1, 0, NULL), HF_TAKEN);
    CHECK_INT(rig_take(other, 1, 0, NULL), HF_TAKEN);
    CHECK_INT(hf_hold_count(a), 1);
    CHECK(hf_hold_valid_ms(a) > 0);
}

TEST(permit, that_was_given_back_is_taken_by_the_next)
{
    hf_hold *p;
    rig_begin();
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 1);
    hf_semaphore *other = rig_semaphore(rig_client(NULL), "s", 1);
    CHECK_INT(hf_semaphore_try(s, &p, NULL), HF_OK);
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    CHECK_INT(hf_hold_valid_ms(p), 0);
    CHECK_INT(hf_semaphore_try(other, &p, NULL), HF_OK);
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
}

TEST(permit, is_released_once)
{
    hf_hold *p;
    struct hf_error err = {0};
    rig_begin();
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 1);
    CHECK_INT(hf_semaphore_try(s, &p, NULL), HF_OK);
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    CHECK_INT(hf_hold_release(p, &err), HF_INVALID);
    CHECK(strstr(err.text, "released before") != NULL);
    CHECK_INT(hf_hold_release_start(p, NULL, NULL, NULL), HF_INVALID);
    CHECK_INT(rig_take(s, 1, 0, NULL), HF_OK);
    CHECK_INT(rig_take(s, 1, 0, NULL), HF_TAKEN);
}

/* RedissonPermitExpirableSemaphoreTest.testReleaseWithoutPermits */
TEST(permit, that_nobody_has_is_not_released)
{
    struct hf_error err = {0};
    hf_hold *p, *next;
    rig_begin();
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 1);
    CHECK_INT(hf_semaphore_try(s, &p, NULL), HF_OK);
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    CHECK_INT(rig_take(s, 1, 0, &next), HF_OK);
    CHECK_INT(hf_hold_release(NULL, &err), HF_INVALID);
    CHECK(strstr(err.text, "nothing was acquired") != NULL);
    CHECK_INT(hf_hold_extend(NULL, 0, NULL), HF_INVALID);
    CHECK_INT(hf_hold_release(p, NULL), HF_INVALID);
    CHECK_INT(hf_hold_extend(p, 0, NULL), HF_INVALID);
    CHECK_INT(hf_hold_state(next), HF_STATE_HELD);
    CHECK_INT(rig_take(s, 1, 0, NULL), HF_TAKEN);
}

/* RedissonPermitExpirableSemaphoreTest.testTryAcquire */
TEST(permit, is_waited_for_until_one_comes_back)
{
    static struct taker t;
    hf_hold *p;
    rig_begin();
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 1);
    hf_semaphore *other = rig_semaphore(rig_client(NULL), "s", 1);
    CHECK_INT(hf_semaphore_try(s, &p, NULL), HF_OK);
    taker_start(&t, other, 1, RIG_WAIT_MS);
    CHECK_INT(atomic_load(&t.got), 0);
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    rig_join();
    CHECK_INT(t.status, HF_OK);
    CHECK_INT(t.release_status, HF_OK);
}

TEST(permit, is_waited_for_by_another_thread_of_the_same_client)
{
    static struct taker t;
    hf_hold *p;
    rig_begin();
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 1);
    CHECK_INT(hf_semaphore_try(s, &p, NULL), HF_OK);
    taker_start(&t, s, 1, RIG_WAIT_MS);
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    rig_join();
    CHECK_INT(t.status, HF_OK);
    CHECK_INT(t.release_status, HF_OK);
}

TEST(permit, is_waited_for_no_longer_than_the_caller_wants)
{
    rig_begin();
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 1);
    CHECK_INT(rig_take(s, 1, 0, NULL), HF_OK);
    int64_t began_ms = rig_now_ms();
    CHECK_INT(rig_take(s, 1, 1000, NULL), HF_TIMEOUT);
    CHECK(rig_now_ms() - began_ms >= 995);
}

static void cancel_run(void *arg)
{
    rig_pause_ms(200);
    hf_cancel_fire(arg);
}

TEST(permit, a_wait_for_it_can_be_cancelled)
{
    hf_hold *p;
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_semaphore *s = rig_semaphore(c, "s", 1);
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 0, 0);
    o.cancel = rig_cancel(c);
    CHECK_INT(hf_semaphore_try(s, &p, NULL), HF_OK);
    rig_spawn(cancel_run, o.cancel);
    hf_hold *more;
    int status = hf_semaphore_acquire(s, &o, &more, NULL);
    rig_join();
    CHECK_INT(status, HF_CANCELLED);
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    CHECK_INT(hf_semaphore_try(s, &p, NULL), HF_OK);
}

/* RedissonPermitExpirableSemaphoreTest.testTryAcquireMany */
TEST(permit, several_are_taken_all_or_none)
{
    hf_hold *two, *more;
    rig_begin();
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 3);
    hf_semaphore *other = rig_semaphore(rig_client(NULL), "s", 3);
    CHECK_INT(rig_take(s, 2, 0, &two), HF_OK);
    CHECK_INT(hf_hold_count(two), 2);
    CHECK_INT(rig_take(other, 2, 0, NULL), HF_TAKEN);
    CHECK_INT(rig_take(other, 1, 0, &more), HF_OK);
    CHECK_INT(rig_take(other, 1, 0, NULL), HF_TAKEN);
    CHECK_INT(hf_hold_release(more, NULL), HF_OK);
    CHECK_INT(hf_hold_release(two, NULL), HF_OK);
    CHECK_INT(rig_take(other, 3, 0, NULL), HF_OK);
}

/* RedissonPermitExpirableSemaphoreTest.testBlockingAcquireMany,
 * testConcurrencyMultiPermits */
TEST(permit, several_are_waited_for_until_there_are_enough)
{
    static struct taker t;
    hf_hold *a, *b;
    rig_begin();
    t.keep_ms = 3000;
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 2);
    hf_semaphore *other = rig_semaphore(rig_client(NULL), "s", 2);
    CHECK_INT(rig_take(s, 1, 0, &a), HF_OK);
    CHECK_INT(rig_take(s, 1, 0, &b), HF_OK);
    taker_start(&t, other, 2, RIG_WAIT_MS);
    CHECK_INT(hf_hold_release(a, NULL), HF_OK);
    rig_pause_ms(200);
    CHECK_INT(atomic_load(&t.got), 0);
    CHECK_INT(hf_hold_release(b, NULL), HF_OK);
    CHECK(rig_until_equal(&t.got, 1));
    CHECK_INT(rig_take(s, 1, 0, NULL), HF_TAKEN); /* it has both */
    rig_join();
    CHECK_INT(t.status, HF_OK);
    CHECK_INT(rig_take(s, 2, 0, NULL), HF_OK);
}

/* ---- some want more than others: the threads of one client --------------- */

TEST(permit, one_that_is_free_is_taken_beside_a_thread_that_waits_for_two)
{
    static struct taker two;
    hf_hold *first, *p;
    if (!rig_begin_with(HF_CAP_PERMIT)) return;
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 2);
    CHECK_INT(rig_take(s, 1, 0, &first), HF_OK);
    taker_start(&two, s, 2, RIG_WAIT_MS);
    CHECK_INT(rig_take(s, 1, RIG_WAIT_MS, &p), HF_OK);
    CHECK_INT(atomic_load(&two.got), 0);
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    CHECK_INT(hf_hold_release(first, NULL), HF_OK);
    rig_join();
    CHECK_INT(two.status, HF_OK);
    CHECK_INT(rig_take(s, 2, 0, NULL), HF_OK);
}

TEST(permit, each_of_several_waits_gets_what_is_enough_for_it)
{
    static struct taker t[3];
    hf_hold *p[3];
    if (!rig_begin_with(HF_CAP_PERMIT)) return;
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 3);
    for (int i = 0; i < 3; i++) CHECK_INT(rig_take(s, 1, 0, &p[i]), HF_OK);
    for (int i = 0; i < 3; i++) {
        t[i].keep_ms = 20;
        taker_start(&t[i], s, 3 - i, RIG_WAIT_MS);
    }
    CHECK_INT(hf_hold_release(p[0], NULL), HF_OK);
    CHECK(rig_until_equal(&t[2].ended, 1));
    CHECK_INT(atomic_load(&t[1].got), 0);
    CHECK_INT(hf_hold_release(p[1], NULL), HF_OK);
    CHECK(rig_until_equal(&t[1].ended, 1));
    CHECK_INT(atomic_load(&t[0].got), 0);
    CHECK_INT(hf_hold_release(p[2], NULL), HF_OK);
    rig_join();
    for (int i = 0; i < 3; i++) CHECK_INT(t[i].status, HF_OK);
}

TEST(permit, a_wait_for_several_that_ends_leaves_the_others_waiting)
{
    static struct taker two, one;
    hf_hold *p[2];
    if (!rig_begin_with(HF_CAP_PERMIT)) return;
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 2);
    for (int i = 0; i < 2; i++) CHECK_INT(rig_take(s, 1, 0, &p[i]), HF_OK);
    taker_start(&two, s, 2, 2000);
    taker_start(&one, s, 1, RIG_WAIT_MS);
    CHECK(rig_until_equal(&two.ended, 1));
    CHECK_INT(two.status, HF_TIMEOUT);
    CHECK_INT(atomic_load(&one.got), 0);
    CHECK_INT(hf_hold_release(p[0], NULL), HF_OK);
    rig_join();
    CHECK_INT(one.status, HF_OK);
    CHECK_INT(hf_hold_release(p[1], NULL), HF_OK);
    CHECK_INT(rig_take(s, 2, 0, NULL), HF_OK);
}

TEST(permit, more_than_there_are_is_refused)
{
    struct hf_acquire_options o = HF_ACQUIRE_OPTIONS_INIT;
    hf_hold *p;
    struct hf_error err = {0};
    rig_begin();
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 2);
    o.permits = 3;
    CHECK_INT(hf_semaphore_acquire(s, &o, &p, &err), HF_INVALID);
    CHECK(strstr(err.text, "permits") != NULL);
    o.permits = -1;
    CHECK_INT(hf_semaphore_acquire(s, &o, &p, &err), HF_INVALID);
    o.permits = HF_PERMITS_MAX + 1;
    CHECK_INT(hf_semaphore_acquire(s, &o, &p, &err), HF_INVALID);
    CHECK_INT(rig_take(s, 2, 0, NULL), HF_OK);
}

/* Its slot, 1 to 2; 0 where the store keeps permits. */
static int slot_of(const hf_hold *hold)
{
    const char *name = hf_hold_name(hold);
    if (rig_has(HF_CAP_PERMIT)) {
        CHECK_STR(name, "s");
        return 0;
    }
    CHECK(!strcmp(name, "s#1") || !strcmp(name, "s#2"));
    return name[2] - '0';
}

TEST(permit, each_has_a_higher_fence_than_those_before)
{
    hf_hold *p;
    uint64_t last[3] = {0};
    rig_begin();
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 2);
    hf_semaphore *other = rig_semaphore(rig_client(NULL), "s", 2);
    for (int i = 0; i < 6; i++) {
        hf_semaphore *by = i % 2 ? other : s;
        CHECK_INT(hf_semaphore_try(by, &p, NULL), HF_OK);
        CHECK(rig_fence_rises(last[slot_of(p)], hf_hold_fence(p)));
        last[slot_of(p)] = hf_hold_fence(p);
        if (i > 0) CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    }
}

struct look {
    hf_hold *hold;
    int64_t last_ms;
};

/* Has its time left gone up since the last look? */
static int is_renewed(void *arg)
{
    struct look *k = arg;
    int64_t before_ms = k->last_ms;
    k->last_ms = hf_hold_valid_ms(k->hold);
    return k->last_ms > before_ms;
}

TEST(permit, is_renewed_for_as_long_as_it_is_held)
{
    hf_hold *p;
    rig_begin();
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 2);
    hf_semaphore *other = rig_semaphore(rig_client(NULL), "s", 2);
    struct hf_acquire_options o = rig_renewed(RIG_TRY);
    o.permits = 2;
    CHECK_INT(hf_semaphore_acquire(s, &o, &p, NULL), HF_OK);
    struct look k = {p, hf_hold_valid_ms(p)};
    for (int i = 0; i < 8; i++) {
        CHECK_INT(rig_take(other, 1, 0, NULL), HF_TAKEN);
        CHECK(k.last_ms == INT64_MAX || rig_until(is_renewed, &k));
    }
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
}

/* RedissonPermitExpirableSemaphoreTest.testExpire, testExpireTryAcquire,
 * testReleaseExpired */
TEST(permit, with_a_fixed_lease_comes_back_at_its_end)
{
    hf_hold *p, *next;
    rig_begin();
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 1);
    hf_semaphore *other = rig_semaphore(rig_client(NULL), "s", 1);
    struct hf_acquire_options o = rig_options(RIG_TRY, 1500, HF_ACQUIRE_FIXED);
    int64_t began_ms = rig_now_ms();
    CHECK_INT(hf_semaphore_acquire(s, &o, &p, NULL), HF_OK);
    CHECK_INT(rig_take(other, 1, RIG_WAIT_MS, &next), HF_OK);
    CHECK(rig_now_ms() - began_ms >= 1470);
    CHECK_INT(hf_hold_valid_ms(p), 0);
    int status = hf_hold_release(p, NULL);
    CHECK(status == HF_EXPIRED || status == HF_LOST);
    CHECK_INT(rig_take(s, 1, 0, NULL), HF_TAKEN);
    CHECK_INT(hf_hold_release(next, NULL), HF_OK);
}

/* RedissonPermitExpirableSemaphoreTest.testUpdateLeaseTime */
TEST(permit, is_extended_by_its_holder)
{
    hf_hold *p;
    rig_begin();
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 1);
    hf_semaphore *other = rig_semaphore(rig_client(NULL), "s", 1);
    struct hf_acquire_options o = rig_options(RIG_TRY, 4000, HF_ACQUIRE_FIXED);
    CHECK_INT(hf_semaphore_acquire(s, &o, &p, NULL), HF_OK);
    CHECK_INT(hf_hold_extend(p, 60000, NULL), HF_OK);
    CHECK_INT(hf_hold_lease_ms(p), 60000);
    CHECK(hf_hold_valid_ms(p) > 30000);
    rig_pause_ms(4100);
    CHECK_INT(rig_take(other, 1, 0, NULL), HF_TAKEN);
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
}

/* testUpdateLeaseTime: of one that has ended. */
TEST(permit, that_has_ended_is_not_extended)
{
    hf_hold *p, *next;
    rig_begin();
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 1);
    hf_semaphore *other = rig_semaphore(rig_client(NULL), "s", 1);
    struct hf_acquire_options o = rig_options(RIG_TRY, 1500, HF_ACQUIRE_FIXED);
    CHECK_INT(hf_semaphore_acquire(s, &o, &p, NULL), HF_OK);
    CHECK_INT(rig_take(other, 1, RIG_WAIT_MS, &next), HF_OK);
    int status = hf_hold_extend(p, 60000, NULL);
    CHECK(status == HF_EXPIRED || status == HF_LOST);
    CHECK_INT(hf_hold_valid_ms(p), 0);
    CHECK_INT(hf_hold_release(next, NULL), HF_OK);
    CHECK_INT(rig_take(other, 1, 0, NULL), HF_OK);
}

/* ---- asynchronously ----------------------------------------------------- */

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

static void given_back(hf_hold *hold, int status, const struct hf_error *err,
                       void *user)
{
    answered(NULL, status, hold, err, user);
}

/* A holder with two grants could not release one of them. */
TEST(permit, a_holder_who_has_some_gets_no_more)
{
    hf_hold *p, *q;
    struct hf_error err = {0};
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_semaphore *s = rig_semaphore(c, "s", 2);
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 0, 0);
    o.holder = hf_holder_new();
    CHECK_INT(hf_semaphore_acquire(s, &o, &p, NULL), HF_OK);
    hf_lock *behind = rig_has(HF_CAP_PERMIT) ? hf_semaphore_lock(s)
                                             : rig_lock(c, hf_hold_name(p));
    CHECK_INT(rig_is_held_by(behind, o.holder), 1);
    CHECK_INT(hf_semaphore_acquire(s, &o, &q, &err), HF_INVALID);
    CHECK(strstr(err.text, "use another holder") != NULL);
    CHECK_INT(rig_count(s).taken, 1);
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    CHECK_INT(rig_count(s).taken, 0);
}

/* RedissonPermitExpirableSemaphoreTest.testAcquireAsyncMany,
 * testReleaseAsyncMany */
TEST(permit, is_taken_and_given_back_asynchronously)
{
    static struct answer a, b, back;
    a = b = back = (struct answer){0};
    rig_begin();
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 2);
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 0, 0);
    o.permits = 2;
    CHECK_INT(hf_semaphore_acquire_start(s, &o, answered, &a, NULL), HF_OK);
    CHECK(rig_until_equal(&a.count, 1));
    CHECK_INT(a.status, HF_OK);
    CHECK_INT(hf_hold_count(a.hold), 2);
    CHECK_INT(hf_semaphore_acquire_start(s, &o, answered, &b, NULL), HF_OK);
    rig_pause_ms(200);
    CHECK_INT(atomic_load(&b.count), 0);
    CHECK_INT(hf_hold_release_start(a.hold, given_back, &back, NULL), HF_OK);
    CHECK(rig_until_equal(&back.count, 1));
    CHECK_INT(back.status, HF_OK);
    CHECK(back.hold == a.hold);
    CHECK(rig_until_equal(&b.count, 1));
    CHECK_INT(b.status, HF_OK);
    CHECK(b.hold != a.hold);
    CHECK_INT(hf_hold_release(a.hold, NULL), HF_INVALID);
    CHECK_INT(hf_hold_state(b.hold), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(b.hold, NULL), HF_OK);
}

TEST(permit, that_nothing_could_give_back_is_not_taken)
{
    rig_begin();
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 1);
    struct hf_acquire_options o = HF_ACQUIRE_OPTIONS_INIT;
    CHECK_INT(hf_semaphore_acquire_start(s, NULL, NULL, NULL, NULL),
              HF_INVALID);
    o.holder = hf_holder_new();
    CHECK_INT(hf_semaphore_acquire_start(s, &o, NULL, NULL, NULL), HF_INVALID);
    CHECK_INT(rig_take(s, 1, 0, NULL), HF_OK);
}

TEST(permit, that_is_not_free_is_told_asynchronously_too)
{
    static struct answer a;
    a = (struct answer){0};
    rig_begin();
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 1);
    struct hf_acquire_options o = rig_options(RIG_TRY, 0, 0);
    CHECK_INT(rig_take(s, 1, 0, NULL), HF_OK);
    CHECK_INT(hf_semaphore_acquire_start(s, &o, answered, &a, NULL), HF_OK);
    CHECK(rig_until_equal(&a.count, 1));
    CHECK_INT(a.status, HF_TAKEN);
    CHECK(a.hold == NULL);
}

/* ---- many --------------------------------------------------------------- */

#define MANY 12
#define ROUNDS 8
#define PERMITS 3

struct many {
    hf_semaphore *sems[3];
    int64_t wanted; /* permits; 0: one or two, by turns */
    atomic_int next, inside, most, done, errors;
};

static void most_note(struct many *m, int inside)
{
    int most = atomic_load(&m->most);
    while (inside > most
           && !atomic_compare_exchange_weak(&m->most, &most, inside))
        continue;
}

static void many_run(void *arg)
{
    struct many *m = arg;
    int me = atomic_fetch_add(&m->next, 1);
    hf_semaphore *sem = m->sems[me % 3];
    hf_hold *p;
    for (int i = 0; i < ROUNDS; i++) {
        int n = m->wanted ? (int)m->wanted : 1 + (me + i) % 2;
        if (rig_take(sem, n, RIG_PATIENCE_MS, &p) != HF_OK) {
            atomic_fetch_add(&m->errors, 1);
            continue;
        }
        most_note(m, atomic_fetch_add(&m->inside, n) + n);
        rig_pause_ms(1);
        atomic_fetch_sub(&m->inside, n);
        if (hf_hold_release(p, NULL) != HF_OK) atomic_fetch_add(&m->errors, 1);
        atomic_fetch_add(&m->done, 1);
    }
}

static void many_check(int64_t wanted, int clients)
{
    static struct many m;
    hf_client *c = rig_client(NULL);
    memset(&m, 0, sizeof m);
    m.wanted = wanted;
    for (int i = 0; i < 3; i++)
        m.sems[i] =
            rig_semaphore(i < clients ? rig_client(NULL) : c, "s", PERMITS);
    for (int i = 0; i < MANY; i++) rig_spawn(many_run, &m);
    rig_join();
    CHECK_INT(atomic_load(&m.errors), 0);
    CHECK_INT(atomic_load(&m.done), MANY * ROUNDS);
    CHECK(atomic_load(&m.most) <= PERMITS);
    CHECK_INT(rig_take(m.sems[0], PERMITS, RIG_WAIT_MS, NULL), HF_OK);
}

/* RedissonPermitExpirableSemaphoreTest.testConcurrencyLoop_MultiInstance */
TEST(permit, no_more_than_there_are_are_inside_of_a_crowd)
{
    rig_begin();
    many_check(1, 3);
}

/* RedissonPermitExpirableSemaphoreTest.testConcurrencyMultiPermits2 */
TEST(permit, no_more_than_there_are_are_inside_when_some_want_two)
{
    rig_begin();
    many_check(0, 3);
}

TEST(permit, no_more_than_there_are_are_inside_when_threads_want_one_or_two)
{
    rig_begin();
    many_check(0, 0);
}

struct loop {
    hf_semaphore *sem;
    atomic_int stop, done;
};

static void loop_run(void *arg)
{
    struct loop *l = arg;
    hf_hold *p;
    while (!atomic_load(&l->stop)) {
        if (rig_take(l->sem, 1, RIG_WAIT_MS, &p) != HF_OK) continue;
        hf_hold_release(p, NULL);
        atomic_fetch_add(&l->done, 1);
    }
}

static int has_had_some(void *arg)
{
    struct loop *l = arg;
    return atomic_load(&l->done) >= 5;
}

/* The threads of one process pass permits on to each other. */
TEST(permit, a_crowd_leaves_some_to_another_process)
{
    static struct loop crowd, lone;
    memset(&crowd, 0, sizeof crowd);
    memset(&lone, 0, sizeof lone);
    rig_begin();
    crowd.sem = rig_semaphore(rig_client(NULL), "s", 2);
    lone.sem = rig_semaphore(rig_client(NULL), "s", 2);
    for (int i = 0; i < 8; i++) rig_spawn(loop_run, &crowd);
    rig_spawn(loop_run, &lone);
    int has = rig_until(has_had_some, &lone) && rig_until(has_had_some, &crowd);
    atomic_store(&crowd.stop, 1);
    atomic_store(&lone.stop, 1);
    rig_join();
    CHECK(has);
}

/* ---- bad input ---------------------------------------------------------- */

TEST(permit, a_name_of_no_bytes_is_refused)
{
    hf_semaphore *s;
    struct hf_error err = {0};
    rig_begin();
    hf_client *c = rig_client(NULL);
    CHECK_INT(hf_semaphore_open(c, "", NULL, &s, &err), HF_INVALID);
    CHECK_INT(hf_semaphore_open(c, NULL, NULL, &s, &err), HF_INVALID);
    CHECK(err.text[0] != 0);
}

TEST(permit, an_unknown_flag_or_order_is_refused)
{
    struct hf_semaphore_options o = HF_SEMAPHORE_OPTIONS_INIT;
    hf_semaphore *s;
    rig_begin();
    hf_client *c = rig_client(NULL);
    o.permits = 1;
    o.flags = 128;
    CHECK_INT(hf_semaphore_open(c, "s", &o, &s, NULL), HF_INVALID);
    o.flags = 0;
    o.order = HF_ORDER_WRITERS;
    CHECK_INT(hf_semaphore_open(c, "s", &o, &s, NULL), HF_INVALID);
    o.order = 77;
    CHECK_INT(hf_semaphore_open(c, "s", &o, &s, NULL), HF_INVALID);
}
