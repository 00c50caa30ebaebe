/*
 * counter_contract.c: a plain counter: permits are taken from it and added
 * to it, and have no holder.  One rule for all of it: no more is taken than the
 * counter has.
 */
#include <string.h>

#include "lib/rig_semaphore.h"

/* RedissonSemaphoreTest.testTrySetPermits */
TEST(counter, is_set_by_the_first_who_tries)
{
    struct hf_semaphore_state now = HF_SEMAPHORE_STATE_INIT;
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_semaphore *s = rig_counter(rig_client(NULL), "s", 0);
    CHECK_INT(hf_semaphore_try_set(s, 10, &now, NULL), HF_OK);
    CHECK_INT(now.is_done, 1);
    CHECK_INT(hf_semaphore_try_set(s, 15, &now, NULL), HF_OK);
    CHECK_INT(now.is_done, 0);
    CHECK_INT(rig_count(s).available, 10);
}

/* RedissonSemaphoreTest.testReleaseAcquire */
TEST(counter, has_fewer_when_some_are_taken_and_more_when_they_are_back)
{
    hf_hold *p = NULL;
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_semaphore *s = rig_counter(rig_client(NULL), "s", 3);
    CHECK_INT(rig_take(s, 2, 0, &p), HF_OK);
    CHECK(p == NULL); /* nobody holds them */
    CHECK_INT(rig_count(s).available, 1);
    CHECK_INT(rig_take(s, 2, 0, NULL), HF_TAKEN);
    CHECK_INT(rig_count(s).available, 1);
    CHECK_INT(hf_semaphore_add(s, 2, 0, NULL, NULL), HF_OK);
    CHECK_INT(rig_count(s).available, 3);
}

/* RedissonSemaphoreTest.testReleaseWithoutPermits,
 * testAcquireWithoutSetPermits */
TEST(counter, is_made_by_giving_some_to_it)
{
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_semaphore *s = rig_counter(rig_client(NULL), "s", 0);
    CHECK_INT(rig_take(s, 1, 0, NULL), HF_TAKEN);
    CHECK_INT(hf_semaphore_add(s, 1, 0, NULL, NULL), HF_OK);
    CHECK_INT(hf_semaphore_add(s, 1, 0, NULL, NULL), HF_OK);
    CHECK_INT(rig_take(s, 2, 0, NULL), HF_OK);
    CHECK_INT(rig_count(s).available, 0);
}

/* RedissonSemaphoreTest.testReleaseIfExists */
TEST(counter, that_is_not_there_is_left_so_if_that_is_wanted)
{
    struct hf_semaphore_state now = HF_SEMAPHORE_STATE_INIT;
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_semaphore *s = rig_counter(rig_client(NULL), "s", 0);
    CHECK_INT(hf_semaphore_add(s, 1, HF_SEMAPHORE_IF_SET, &now, NULL), HF_OK);
    CHECK_INT(now.is_done, 0);
    CHECK_INT(rig_count(s).is_set, 0);
    CHECK_INT(hf_semaphore_try_set(s, 2, NULL, NULL), HF_OK);
    CHECK_INT(hf_semaphore_add(s, 1, HF_SEMAPHORE_IF_SET, &now, NULL), HF_OK);
    CHECK_INT(now.is_done, 1);
    CHECK_INT(now.available, 3);
}

/* RedissonSemaphoreTest.testAddPermits, testReducePermits */
TEST(counter, may_go_below_zero)
{
    struct hf_semaphore_state now = HF_SEMAPHORE_STATE_INIT;
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_semaphore *s = rig_counter(rig_client(NULL), "s", 0);
    CHECK_INT(hf_semaphore_add(s, 4, 0, NULL, NULL), HF_OK);
    CHECK_INT(hf_semaphore_add(s, 10, 0, NULL, NULL), HF_OK);
    CHECK_INT(hf_semaphore_add(s, -20, 0, &now, NULL), HF_OK);
    CHECK_INT(now.available, -6);
    CHECK_INT(rig_take(s, 1, 0, NULL), HF_TAKEN);
    CHECK_INT(hf_semaphore_set(s, 2, 0, &now, NULL), HF_OK);
    CHECK_INT(now.available, 2);
}

/* RedissonSemaphoreTest.testDrainPermits */
TEST(counter, is_drained)
{
    struct hf_semaphore_state now = HF_SEMAPHORE_STATE_INIT;
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_semaphore *s = rig_counter(rig_client(NULL), "s", 0);
    CHECK_INT(hf_semaphore_drain(s, &now, NULL), HF_OK);
    CHECK_INT(now.taken, 0);
    CHECK_INT(hf_semaphore_set(s, 7, 0, NULL, NULL), HF_OK);
    CHECK_INT(hf_semaphore_drain(s, &now, NULL), HF_OK);
    CHECK_INT(now.taken, 7);
    CHECK_INT(now.available, 0);
    CHECK_INT(rig_count(s).available, 0);
}

/* RedissonSemaphoreTest.testBlockingAcquire */
TEST(counter, one_is_waited_for_until_it_is_given_back)
{
    static struct taker t;
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_semaphore *s = rig_counter(rig_client(NULL), "s", 1);
    CHECK_INT(rig_take(s, 1, 0, NULL), HF_OK);
    taker_start(&t, rig_counter(rig_client(NULL), "s", 0), 1, RIG_WAIT_MS);
    rig_pause_ms(100);
    CHECK_INT(atomic_load(&t.got), 0);
    CHECK_INT(hf_semaphore_add(s, 1, 0, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(t.status, HF_OK);
}

/* RedissonSemaphoreTest.testBlockingNAcquire, testTryNAcquire */
TEST(counter, several_are_waited_for_until_there_are_enough)
{
    static struct taker t;
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_semaphore *s = rig_counter(rig_client(NULL), "s", 2);
    taker_start(&t, rig_counter(rig_client(NULL), "s", 0), 4, RIG_WAIT_MS);
    CHECK_INT(hf_semaphore_add(s, 1, 0, NULL, NULL), HF_OK);
    rig_pause_ms(100);
    CHECK_INT(atomic_load(&t.got), 0);
    CHECK_INT(hf_semaphore_add(s, 1, 0, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(t.status, HF_OK);
    CHECK_INT(t.release_status, HF_OK);
    CHECK_INT(rig_count(s).available, 4);
}

/* RedissonSemaphoreTest.testAcquireAfterAddPermits: one client for all. */
TEST(counter, below_zero_is_waited_for_until_it_is_enough)
{
    static struct taker t;
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_semaphore *s = rig_counter(rig_client(NULL), "s", 0);
    CHECK_INT(hf_semaphore_add(s, -3, 0, NULL, NULL), HF_OK);
    taker_start(&t, s, 2, RIG_WAIT_MS);
    CHECK_INT(hf_semaphore_add(s, 1, 0, NULL, NULL), HF_OK);
    CHECK_INT(hf_semaphore_add(s, 3, 0, NULL, NULL), HF_OK);
    CHECK_INT(rig_take(s, 1, RIG_WAIT_MS, NULL), HF_OK);
    CHECK_INT(atomic_load(&t.got), 0);
    CHECK_INT(hf_semaphore_add(s, 2, 0, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(t.status, HF_OK);
}

TEST(counter, one_that_wants_less_does_not_wait_for_one_that_wants_more)
{
    static struct taker two, one;
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_semaphore *s = rig_counter(rig_client(NULL), "s", 0);
    taker_start(&two, s, 2, RIG_WAIT_MS);
    taker_start(&one, s, 1, RIG_WAIT_MS);
    CHECK_INT(hf_semaphore_add(s, 1, 0, NULL, NULL), HF_OK);
    CHECK(rig_until_equal(&one.ended, 1));
    CHECK_INT(atomic_load(&two.got), 0);
    CHECK_INT(hf_semaphore_add(s, 1, 0, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(one.status, HF_OK);
    CHECK_INT(two.status, HF_OK);
}

TEST(counter, is_waited_for_no_longer_than_the_caller_wants)
{
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_semaphore *s = rig_counter(rig_client(NULL), "s", 0);
    CHECK_INT(rig_take(s, 1, 1000, NULL), HF_TIMEOUT);
    CHECK_INT(rig_count(s).available, 0);
}

TEST(counter, of_more_than_a_semaphore_gives_at_once_is_taken)
{
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_semaphore *s = rig_counter(rig_client(NULL), "s", HF_SEMAPHORE_MAX);
    CHECK_INT(rig_take(s, HF_SEMAPHORE_MAX, 0, NULL), HF_OK);
    CHECK_INT(rig_take(s, 1, 0, NULL), HF_TAKEN);
}

/* RedissonSemaphoreTest.testZero: none is no number to ask for. */
TEST(counter, one_is_taken_by_who_says_no_number)
{
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_semaphore *s = rig_counter(rig_client(NULL), "s", 2);
    CHECK_INT(rig_take(s, 0, 0, NULL), HF_OK);
    CHECK_INT(rig_count(s).available, 1);
    CHECK_INT(rig_take(s, 1, 0, NULL), HF_OK);
    CHECK_INT(rig_take(s, 0, 0, NULL), HF_TAKEN);
}

TEST(counter, gives_no_hold_that_could_be_extended_or_released)
{
    hf_hold *p;
    struct hf_error err = {0};
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    hf_semaphore *s = rig_counter(rig_client(NULL), "s", 1);
    p = (hf_hold *)&err; /* anything but NULL */
    CHECK_INT(rig_take(s, 1, 0, &p), HF_OK);
    CHECK(p == NULL);
    CHECK_INT(hf_hold_state(p), HF_STATE_NONE);
    CHECK_INT(hf_hold_extend(p, 0, &err), HF_INVALID);
    CHECK_INT(hf_hold_release(p, &err), HF_INVALID);
    CHECK_INT(rig_count(s).available, 0);
}

static void counted(hf_semaphore *sem, int status, hf_hold *hold,
                    const struct hf_error *err, void *user)
{
    (void)sem;
    (void)err;
    if (status == HF_OK && !hold) atomic_fetch_add((atomic_int *)user, 1);
}

static void given(hf_semaphore *sem, int status,
                  const struct hf_semaphore_state *state,
                  const struct hf_error *err, void *user)
{
    (void)sem;
    (void)err;
    if (status == HF_OK && state) atomic_fetch_add((atomic_int *)user, 1);
}

TEST(counter, is_taken_from_and_given_to_asynchronously)
{
    static atomic_int done;
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    atomic_store(&done, 0);
    hf_semaphore *s = rig_counter(rig_client(NULL), "s", 1);
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 0, 0);
    o.permits = 3;
    CHECK_INT(hf_semaphore_acquire_start(s, &o, counted, &done, NULL), HF_OK);
    rig_pause_ms(100);
    CHECK_INT(atomic_load(&done), 0);
    CHECK_INT(hf_semaphore_change_start(s, HF_SEMAPHORE_ADD, 2, 0, given, &done,
                                        NULL),
              HF_OK);
    CHECK(rig_until_equal(&done, 2));
    CHECK_INT(rig_count(s).available, 0);
}

/* ---- many --------------------------------------------------------------- */

#define MANY 16
#define ROUNDS 20

struct many {
    hf_semaphore *sems[2];
    atomic_int next, inside, overlap, done;
};

static void many_run(void *arg)
{
    struct many *m = arg;
    hf_semaphore *sem = m->sems[atomic_fetch_add(&m->next, 1) % 2];
    for (int i = 0; i < ROUNDS; i++) {
        if (rig_take(sem, 1, RIG_PATIENCE_MS, NULL) != HF_OK) continue;
        if (atomic_fetch_add(&m->inside, 1) != 0) atomic_store(&m->overlap, 1);
        atomic_fetch_sub(&m->inside, 1);
        if (hf_semaphore_add(sem, 1, 0, NULL, NULL) == HF_OK)
            atomic_fetch_add(&m->done, 1);
    }
}

/* RedissonSemaphoreTest.testConcurrencyLoop_MultiInstance,
 * testConcurrency_SingleInstance, testConcurrency_MultiInstance_1_permits */
TEST(counter, of_one_lets_one_of_a_crowd_in)
{
    static struct many m;
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    memset(&m, 0, sizeof m);
    m.sems[0] = rig_counter(rig_client(NULL), "s", 1);
    m.sems[1] = rig_counter(rig_client(NULL), "s", 0);
    for (int i = 0; i < MANY; i++) rig_spawn(many_run, &m);
    rig_join();
    CHECK_INT(atomic_load(&m.done), MANY * ROUNDS);
    CHECK_INT(atomic_load(&m.overlap), 0);
    CHECK_INT(rig_count(m.sems[0]).available, 1);
}

static void max_run(void *arg)
{
    struct many *m = arg;
    int me = atomic_fetch_add(&m->next, 1);
    int64_t n = me % 4 == 0 ? HF_SEMAPHORE_MAX : 1;
    hf_semaphore *sem = m->sems[me % 2];
    for (int i = 0; i < ROUNDS / 4; i++) {
        if (rig_take(sem, n, RIG_PATIENCE_MS, NULL) != HF_OK) continue;
        int others = atomic_fetch_add(&m->inside, n == 1 ? 1 : 1000);
        if (others >= 1000 || (n > 1 && others > 0))
            atomic_store(&m->overlap, 1);
        atomic_fetch_sub(&m->inside, n == 1 ? 1 : 1000);
        if (hf_semaphore_add(sem, n, 0, NULL, NULL) == HF_OK)
            atomic_fetch_add(&m->done, 1);
    }
}

/* RedissonSemaphoreTest.testConcurrencyLoopMax_MultiInstance */
TEST(counter, all_of_it_are_taken_by_nobody_beside_another)
{
    static struct many m;
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    memset(&m, 0, sizeof m);
    m.sems[0] = rig_counter(rig_client(NULL), "s", HF_SEMAPHORE_MAX);
    m.sems[1] = rig_counter(rig_client(NULL), "s", 0);
    for (int i = 0; i < MANY / 2; i++) rig_spawn(max_run, &m);
    rig_join();
    CHECK_INT(atomic_load(&m.done), MANY / 2 * (ROUNDS / 4));
    CHECK_INT(atomic_load(&m.overlap), 0);
}

struct ends {
    atomic_int all, timed_out;
};

static void ended(hf_semaphore *sem, int status, hf_hold *hold,
                  const struct hf_error *err, void *user)
{
    struct ends *e = user;
    (void)sem;
    (void)hold;
    (void)err;
    if (status == HF_TIMEOUT) atomic_fetch_add(&e->timed_out, 1);
    atomic_fetch_add(&e->all, 1);
}

/* The waiters ask one after the other, and their waits end together. */
TEST(counter, that_is_empty_is_called_so_to_all_who_waited_for_as_long)
{
    static struct ends e;
    if (!rig_begin_with(HF_CAP_TALLY)) return;
    memset(&e, 0, sizeof e);
    hf_semaphore *s = rig_counter(rig_client(NULL), "s", 1);
    CHECK_INT(rig_take(s, 1, 0, NULL), HF_OK);
    struct hf_acquire_options o = rig_options(2000, 0, 0);
    for (int i = 0; i < MANY; i++)
        CHECK_INT(hf_semaphore_acquire_start(s, &o, ended, &e, NULL), HF_OK);
    CHECK(rig_until_equal(&e.all, MANY));
    CHECK_INT(atomic_load(&e.timed_out), MANY);
}
