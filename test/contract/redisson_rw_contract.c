/*
 * redisson_rw_contract.c: what RedissonReadWriteLockTest claims and no other
 * suite does.  One rule: only lower bounds are tight.
 */
#include "lib/rig_rw.h"

#define READERS 20
#define CROWD 10

static struct rw a, b;

static int begin(void)
{
    if (!rig_begin_with(HF_CAP_RW)) return 0;
    rw_open(&a, rig_client(NULL), "{test}:abc:key", HF_ORDER_ANY);
    rw_open(&b, rig_client(NULL), "{test}:abc:key", HF_ORDER_ANY);
    return 1;
}

/* As another holder, with a lease that is not renewed. */
static hf_hold *hold(hf_lock *lock, int64_t lease_ms)
{
    struct hf_acquire_options o =
        rig_options(RIG_TRY, lease_ms, HF_ACQUIRE_FIXED);
    hf_hold *h = NULL;
    o.holder = hf_holder_new();
    CHECK_INT(hf_lock_acquire(lock, &o, &h, NULL), HF_OK);
    return h;
}

static int is_lost(void *h)
{
    return hf_hold_state(h) == HF_STATE_LOST;
}

/* testReadLockExpirationRenewal */
static void reader_run(void *arg)
{
    atomic_int *errors = arg;
    struct hf_acquire_options o = rig_renewed(RIG_WAIT_MS);
    for (int i = 0; i < 2; i++) {
        if (hf_lock_acquire(a.read, &o, NULL, NULL) != HF_OK
            || !rig_until_renewed(a.read, 0, 6))
            atomic_fetch_add(errors, 1);
        if (hf_lock_release(a.read, NULL, NULL) != HF_OK)
            atomic_fetch_add(errors, 1);
    }
}

TEST(redisson_readwrite, many_readers_are_renewed_without_an_error)
{
    static atomic_int errors;
    if (!begin()) return;
    atomic_store(&errors, 0);
    for (int i = 0; i < CROWD; i++) rig_spawn(reader_run, &errors);
    rig_join();
    CHECK_INT(atomic_load(&errors), 0);
    CHECK_INT(rig_probe(b.write), HF_OK);
}

/* testReadLockLeaseTimeoutDiffThreadsWRR */
TEST(redisson_readwrite, two_readers_come_in_when_the_writers_lease_ends)
{
    static struct rw_actor r[2];
    if (!begin()) return;
    int64_t began_ms = rig_now_ms();
    hold(a.write, 1500);
    for (int i = 0; i < 2; i++) rw_actor_start(&r[i], b.read, RIG_WAIT_MS);
    for (int i = 0; i < 2; i++) CHECK(rw_actor_until_in(&r[i]));
    CHECK(rig_now_ms() - began_ms >= 1450);
    for (int i = 0; i < 2; i++) rw_actor_go(&r[i]);
    rig_join();
}

/* testReadLockLeaseTimeoutDiffThreadsRRW */
TEST(redisson_readwrite, a_reader_who_came_and_went_keeps_no_writer_waiting)
{
    if (!begin()) return;
    int64_t began_ms = rig_now_ms();
    hold(a.read, 1500);
    hf_hold *later = hold(b.read, 60000);
    CHECK_INT(hf_hold_release(later, NULL), HF_OK);
    CHECK_INT(rig_acquire(b.write, 0, RIG_WAIT_MS, NULL), HF_OK);
    CHECK(rig_now_ms() - began_ms >= 1450);
}

/* testReadLockLeaseTimeout */
TEST(redisson_readwrite, a_waiting_writer_hears_that_the_longer_reader_left)
{
    static struct rw_actor w;
    if (!begin()) return;
    hold(a.read, 1500);
    hf_hold *later = hold(a.read, 60000);
    rw_actor_start(&w, b.write, RIG_WAIT_MS);
    rig_pause_ms(200);
    CHECK_INT(hf_hold_release(later, NULL), HF_OK);
    CHECK(rw_actor_until_in(&w));
    rw_actor_go(&w);
    rig_join();
    CHECK_INT(w.released, HF_OK);
}

/* testWriteRead */
TEST(redisson_readwrite, all_blocked_readers_come_in_together)
{
    static struct rw_actor r[READERS];
    if (!begin()) return;
    CHECK_INT(hf_lock_try(a.write, NULL, NULL), HF_OK);
    for (int i = 0; i < READERS; i++)
        rw_actor_start(&r[i], i % 2 ? a.read : b.read, RIG_WAIT_MS);
    rig_pause_ms(300);
    CHECK_INT(hf_lock_release(a.write, NULL, NULL), HF_OK);
    /* Nobody goes before all are in. */
    for (int i = 0; i < READERS; i++) CHECK(rw_actor_until_in(&r[i]));
    for (int i = 0; i < READERS; i++) rw_actor_go(&r[i]);
    rig_join();
    for (int i = 0; i < READERS; i++) CHECK_INT(r[i].released, HF_OK);
}

/* testExpireWrite */
TEST(redisson_readwrite, a_late_release_of_a_write_lock_says_that_it_was_late)
{
    if (!begin()) return;
    hf_hold *first = hold(a.write, 1500);
    CHECK_INT(rig_acquire(b.write, 0, RIG_WAIT_MS, NULL), HF_OK);
    int status = hf_hold_release(first, NULL);
    CHECK(status == HF_EXPIRED || status == HF_LOST);
    CHECK_INT(rig_probe(a.read), HF_TAKEN);
}

/* testExpireRead, testAutoExpire */
TEST(redisson_readwrite, a_read_lock_that_is_not_renewed_ends)
{
    if (!begin()) return;
    hf_hold *first = hold(a.read, 1500);
    CHECK_INT(rig_probe(b.read), HF_OK);
    CHECK(rig_until(is_lost, first));
    CHECK_INT(rig_acquire(b.write, 0, RIG_WAIT_MS, NULL), HF_OK);
    int status = hf_hold_release(first, NULL);
    CHECK(status == HF_EXPIRED || status == HF_LOST);
}

/* testHoldCount, testIsHeldByCurrentThread, testIsLocked and their like */
TEST(redisson_readwrite, both_sides_answer_the_short_questions)
{
    int64_t count = -1;
    int is_held = -1, is_locked = -1;
    struct hf_info info;
    if (!begin() || rig_has(HF_CAP_KERNEL)) return;
    uint64_t other = hf_holder_new();
    hf_lock *sides[] = {a.read, a.write};
    for (int i = 0; i < 2; i++) {
        CHECK_INT(hf_lock_try(sides[i], NULL, NULL), HF_OK);
        CHECK_INT(hf_lock_try(sides[i], NULL, NULL), HF_OK);
        CHECK_INT(hf_lock_hold_count(sides[i], &count, NULL), HF_OK);
        CHECK_INT(count, 2);
        CHECK_INT(rig_inspect_as(sides[i], other, &info), HF_OK);
        CHECK_INT(info.count, 0);
        CHECK_INT(info.mine, 0);
        CHECK_INT(hf_lock_hold_count(sides[!i], &count, NULL), HF_OK);
        CHECK_INT(count, 0);
        CHECK_INT(hf_lock_is_mine(sides[i], &is_held, NULL), HF_OK);
        CHECK_INT(is_held, 1);
        CHECK_INT(hf_lock_is_locked(b.read, &is_locked, NULL), HF_OK);
        CHECK_INT(is_locked, 1);
        CHECK_INT(hf_lock_release(sides[i], NULL, NULL), HF_OK);
        CHECK_INT(hf_lock_release(sides[i], NULL, NULL), HF_OK);
        CHECK_INT(hf_lock_is_locked(b.read, &is_locked, NULL), HF_OK);
        CHECK_INT(is_locked, 0);
    }
}

/* testConcurrency_SingleInstance, ..Loop_MultiInstance, .._MultiInstance */
struct mix {
    const struct rw *rw;
    uint32_t seed;
    atomic_int errors;
};

#define WRITER 1000 /* as many as no readers are */

static atomic_int inside;

static void mix_round(struct mix *m, int writes)
{
    hf_lock *lock = writes ? m->rw->write : m->rw->read;
    if (rig_acquire(lock, 0, 60000, NULL) != HF_OK) {
        atomic_fetch_add(&m->errors, 1);
        return;
    }
    int weight = writes ? WRITER : 1;
    int others = atomic_fetch_add(&inside, weight);
    if (others >= (writes ? 1 : WRITER)) atomic_fetch_add(&m->errors, 1);
    atomic_fetch_sub(&inside, weight);
    if (hf_lock_release(lock, NULL, NULL) != HF_OK)
        atomic_fetch_add(&m->errors, 1);
}

static void mix_run(void *arg)
{
    struct mix *m = arg;
    for (int i = 0; i < 30; i++) {
        m->seed = m->seed * 1664525u + 1013904223u;
        mix_round(m, (m->seed >> 16) % 3 == 0);
    }
}

TEST(redisson_readwrite, a_random_mix_of_both_comes_to_its_end)
{
    static struct mix m[CROWD];
    if (!begin()) return;
    atomic_store(&inside, 0);
    for (uint32_t i = 0; i < CROWD; i++) {
        m[i] = (struct mix){.rw = i % 2 ? &a : &b, .seed = i + 1};
        rig_spawn(mix_run, &m[i]);
    }
    rig_join();
    for (int i = 0; i < CROWD; i++) CHECK_INT(atomic_load(&m[i].errors), 0);
    CHECK_INT(rig_probe(a.write), HF_OK);
}

/* ReadLockEntryTest */
TEST(redisson_readwrite, nothing_is_renewed_after_the_last_release)
{
    if (!begin()) return;
    struct hf_acquire_options o = rig_renewed(RIG_TRY);
    for (int deep = 1; deep <= 2; deep++) {
        for (int i = 0; i < deep; i++)
            CHECK_INT(hf_lock_acquire(a.read, &o, NULL, NULL), HF_OK);
        for (int i = 0; i < deep; i++)
            CHECK_INT(hf_lock_release(a.read, NULL, NULL), HF_OK);
        rig_pause_ms(500);
        CHECK_INT(hf_lock_release(a.read, NULL, NULL), HF_NOT_OWNER);
        CHECK_INT(rig_probe(b.write), HF_OK);
    }
}
