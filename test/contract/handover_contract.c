/*
 * handover_contract.c: a released lock goes to the next waiter of the process,
 * a limited number of times and for a limited time.  One rule: a token that is
 * the last one plus one was handed over; a token of the store comes from a
 * clock, and is far above it.
 */
#include <string.h>

#include "lib/rig.h"

#define WAITERS 4
#define FAR_MS 60000

/* An asynchronous acquire: it queues before the call has returned. */
struct waiter {
    hf_lock *lock;
    uint64_t holder;
    atomic_int done;
    int status;
    hf_hold *hold;
};

static struct waiter waiters[WAITERS];

static void waiter_done(hf_lock *lock, int status, hf_hold *hold,
                        const struct hf_error *err, void *user)
{
    struct waiter *w = user;
    (void)lock;
    (void)err;
    w->status = status;
    w->hold = hold;
    atomic_store(&w->done, 1);
}

static void waiter_start(struct waiter *w, hf_lock *lock,
                         struct hf_acquire_options o)
{
    memset(w, 0, sizeof *w);
    w->lock = lock;
    w->holder = o.holder = hf_holder_new();
    CHECK_INT(hf_lock_acquire_start(lock, &o, waiter_done, w, NULL), HF_OK);
}

static void waiters_start(hf_lock *lock, int n)
{
    for (int i = 0; i < n; i++)
        waiter_start(&waiters[i], lock, rig_options(0, 0, 0));
}

static uint64_t waiter_fence(struct waiter *w)
{
    CHECK(rig_until_equal(&w->done, 1));
    CHECK_INT(w->status, HF_OK);
    return hf_hold_fence(w->hold);
}

static void waiter_release(struct waiter *w)
{
    CHECK_INT(hf_hold_count(w->hold), 1);
    CHECK_INT(hf_hold_release(w->hold, NULL), HF_OK);
}

/* 0: the store has no tokens, or serves all in order: nothing is handed over.
 */
static int begin(void)
{
    rig_begin();
    rig_client(NULL);
    return rig_has(HF_CAP_FENCE) && !rig_has(HF_CAP_IN_ORDER);
}

static hf_client *handing_client(int32_t times, int64_t for_ms)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.handover = times;
    o.handover_ms = for_ms;
    return rig_client(&o);
}

static hf_hold *mine;

/* A lock held by this thread (`mine`), with `n` others waiting; its token, or
 * 0. */
static uint64_t queue_begin(int32_t times, int64_t for_ms, int n, hf_lock **out)
{
    if (!begin()) return 0;
    *out = rig_lock(handing_client(times, for_ms), "a");
    CHECK_INT(rig_acquire(*out, 0, 0, &mine), HF_OK);
    waiters_start(*out, n);
    return hf_hold_fence(mine);
}

TEST(handover, gives_each_holder_the_next_fence)
{
    hf_lock *l;
    uint64_t fence = queue_begin(64, FAR_MS, 3, &l);
    if (!fence) return;
    CHECK_INT(hf_hold_release(mine, NULL), HF_OK);
    for (unsigned i = 0; i < 3; i++) {
        CHECK(waiter_fence(&waiters[i]) == fence + 1 + i);
        CHECK_INT(hf_hold_state(waiters[i].hold), HF_STATE_HELD);
        CHECK(hf_hold_valid_ms(waiters[i].hold) > 0);
        waiter_release(&waiters[i]);
    }
    CHECK_INT(rig_probe(l), HF_OK);
}

TEST(handover, is_off_unless_it_is_asked_for)
{
    hf_lock *l;
    uint64_t fence = queue_begin(0, 0, 1, &l);
    if (!fence) return;
    rig_pause_ms(20);
    CHECK_INT(hf_hold_release(mine, NULL), HF_OK);
    CHECK(waiter_fence(&waiters[0]) > fence + 1000);
}

TEST(handover, ends_after_so_many_times)
{
    hf_lock *l;
    uint64_t fence = queue_begin(2, FAR_MS, 3, &l);
    if (!fence) return;
    CHECK_INT(hf_hold_release(mine, NULL), HF_OK);
    CHECK(waiter_fence(&waiters[0]) == fence + 1);
    waiter_release(&waiters[0]);
    CHECK(waiter_fence(&waiters[1]) == fence + 2);
    rig_pause_ms(20);
    waiter_release(&waiters[1]);
    CHECK(waiter_fence(&waiters[2]) > fence + 1000);
}

TEST(handover, ends_after_so_long)
{
    hf_lock *l;
    uint64_t fence = queue_begin(64, 30, 1, &l);
    if (!fence) return;
    rig_pause_ms(100);
    CHECK_INT(hf_hold_release(mine, NULL), HF_OK);
    CHECK(waiter_fence(&waiters[0]) > fence + 1000);
}

TEST(handover, is_not_for_who_wants_another_lease)
{
    hf_lock *l;
    uint64_t fence = queue_begin(64, FAR_MS, 0, &l);
    if (!fence) return;
    waiter_start(&waiters[0], l, rig_options(0, 7000, 0));
    rig_pause_ms(20);
    CHECK_INT(hf_hold_release(mine, NULL), HF_OK);
    CHECK(waiter_fence(&waiters[0]) > fence + 1000);
}

TEST(handover, is_seen_by_who_asks_the_store)
{
    hf_lock *l;
    int held = 7;
    struct hf_info info;
    if (!queue_begin(64, FAR_MS, 1, &l)) return;
    CHECK_INT(hf_lock_is_mine(l, &held, NULL), HF_OK);
    CHECK_INT(held, 1);
    CHECK_INT(hf_hold_release(mine, NULL), HF_OK);
    waiter_fence(&waiters[0]);
    CHECK_INT(hf_lock_is_mine(l, &held, NULL), HF_OK);
    CHECK_INT(held, 0);
    CHECK_INT(rig_inspect_as(l, waiters[0].holder, &info), HF_OK);
    CHECK_INT(info.mine, 1);
    CHECK_INT(info.count, 1);
}

TEST(handover, excludes_other_clients_all_the_while)
{
    hf_lock *l;
    if (!queue_begin(64, FAR_MS, 2, &l)) return;
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_hold_release(mine, NULL), HF_OK);
    for (int i = 0; i < 2; i++) {
        waiter_fence(&waiters[i]);
        CHECK_INT(rig_probe(other), HF_TAKEN);
        waiter_release(&waiters[i]);
    }
    CHECK_INT(rig_probe(other), HF_OK);
}

TEST(handover, leaves_the_others_a_higher_fence)
{
    hf_lock *l;
    hf_hold *g;
    uint64_t fence = queue_begin(64, FAR_MS, 1, &l);
    if (!fence) return;
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_hold_release(mine, NULL), HF_OK);
    waiter_fence(&waiters[0]);
    waiter_release(&waiters[0]);
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, &g), HF_OK);
    CHECK(hf_hold_fence(g) > fence + 64);
}

TEST(handover, comes_after_the_last_of_several_releases)
{
    hf_lock *l;
    hf_hold *again;
    uint64_t fence = queue_begin(64, FAR_MS, 2, &l);
    if (!fence) return;
    CHECK_INT(hf_hold_release(mine, NULL), HF_OK);
    waiter_fence(&waiters[0]);
    CHECK_INT(rig_acquire(l, waiters[0].holder, 0, &again), HF_OK);
    CHECK(hf_hold_fence(again) == fence + 1 && hf_hold_count(again) == 2);
    CHECK_INT(hf_hold_release(again, NULL), HF_OK);
    CHECK_INT(hf_hold_count(waiters[0].hold), 1);
    CHECK_INT(atomic_load(&waiters[1].done), 0);
    waiter_release(&waiters[0]);
    CHECK(waiter_fence(&waiters[1]) == fence + 2);
}

TEST(handover, passes_over_a_waiter_who_gave_up)
{
    hf_lock *l;
    uint64_t fence = queue_begin(64, FAR_MS, 0, &l);
    if (!fence) return;
    waiter_start(&waiters[0], l, rig_options(1000, 0, 0));
    waiter_start(&waiters[1], l, rig_options(0, 0, 0));
    CHECK(rig_until_equal(&waiters[0].done, 1));
    CHECK_INT(waiters[0].status, HF_TIMEOUT);
    CHECK_INT(hf_hold_release(mine, NULL), HF_OK);
    CHECK(waiter_fence(&waiters[1]) == fence + 1);
}

TEST(handover, passes_over_a_waiter_who_was_cancelled)
{
    hf_lock *l;
    hf_cancel *cancel;
    struct hf_acquire_options wait = rig_options(0, 0, 0);
    hf_hold *g;
    if (!begin()) return;
    hf_client *c = handing_client(64, FAR_MS);
    l = rig_lock(c, "a");
    CHECK_INT(hf_cancel_open(c, &cancel), HF_OK);
    CHECK_INT(rig_acquire(l, 0, 0, &g), HF_OK);
    wait.cancel = cancel;
    waiter_start(&waiters[0], l, wait);
    waiter_start(&waiters[1], l, rig_options(0, 0, 0));
    hf_cancel_fire(cancel);
    CHECK(rig_until_equal(&waiters[0].done, 1));
    CHECK_INT(waiters[0].status, HF_CANCELLED);
    uint64_t fence = hf_hold_fence(g);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK(waiter_fence(&waiters[1]) == fence + 1);
    hf_cancel_close(cancel);
}

TEST(handover, is_not_of_a_hold_that_was_lost)
{
    hf_lock *l;
    hf_hold *g;
    struct hf_acquire_options o = rig_options(0, 300, HF_ACQUIRE_FIXED);
    if (!begin()) return;
    l = rig_lock(handing_client(64, FAR_MS), "a");
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    waiter_start(&waiters[0], l, o);
    CHECK(rig_until_state(l, 0, HF_STATE_LOST));
    CHECK(waiter_fence(&waiters[0]) > hf_hold_fence(g) + 1000);
    CHECK(hf_hold_release(g, NULL) != HF_OK);
}

TEST(handover, ends_the_releasers_hold)
{
    hf_lock *l;
    if (!queue_begin(64, FAR_MS, 1, &l)) return;
    CHECK_INT(hf_hold_release(mine, NULL), HF_OK);
    waiter_fence(&waiters[0]);
    CHECK_INT(hf_hold_state(mine), HF_STATE_NONE);
    CHECK_INT(hf_hold_release(mine, NULL), HF_INVALID);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_NOT_OWNER);
    CHECK_INT(hf_hold_state(waiters[0].hold), HF_STATE_HELD);
}

/* ---- many ---------------------------------------------------------------- */

#define THREADS 6
#define ROUNDS 150

static struct crowd {
    hf_lock *lock;
    /* Guarded by the lock under test.  Atomic, for what two clients do by the
     * store is no order that a thread sanitizer can see; but a count is read
     * and written apart, so that two inside at once would lose one. */
    atomic_int inside, overlaps, count, falls;
    _Atomic uint64_t last;
    atomic_int entries;          /* as `count`, for readers outside the lock */
    atomic_int failures, status; /* of the last failure */
    atomic_int stop;
} crowd;

static void crowd_failed(int status)
{
    atomic_store(&crowd.status, status);
    atomic_fetch_add(&crowd.failures, 1);
}

static void crowd_check(void)
{
    if (atomic_load(&crowd.failures))
        TEST_FAIL("%d calls failed, the last with %s",
                  atomic_load(&crowd.failures),
                  hf_status_name(atomic_load(&crowd.status)));
    CHECK_INT(atomic_load(&crowd.overlaps), 0);
}

static void crowd_enter(hf_lock *lock)
{
    hf_hold *g;
    int status = rig_acquire(lock, 0, RIG_WAIT_MS, &g);
    if (status != HF_OK) {
        crowd_failed(status);
        return;
    }
    if (atomic_fetch_add(&crowd.inside, 1))
        atomic_fetch_add(&crowd.overlaps, 1);
    uint64_t fence = hf_hold_fence(g);
    if (fence <= atomic_load(&crowd.last)) atomic_fetch_add(&crowd.falls, 1);
    atomic_store(&crowd.last, fence);
    int count = atomic_load(&crowd.count);
    atomic_fetch_add(&crowd.entries, 1);
    atomic_store(&crowd.count, count + 1);
    atomic_fetch_sub(&crowd.inside, 1);
    status = hf_hold_release(g, NULL);
    if (status != HF_OK) crowd_failed(status);
}

static void crowd_run(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) crowd_enter(arg);
}

TEST(handover, keeps_two_crowds_apart_with_rising_fences)
{
    if (!begin()) return;
    memset(&crowd, 0, sizeof crowd);
    hf_lock *one = rig_lock(handing_client(8, FAR_MS), "a");
    hf_lock *two = rig_lock(handing_client(3, 5), "a");
    for (int i = 0; i < THREADS; i++) rig_spawn(crowd_run, i % 2 ? one : two);
    rig_join();
    crowd_check();
    CHECK_INT(atomic_load(&crowd.falls), 0);
    CHECK_INT(atomic_load(&crowd.count), THREADS * ROUNDS);
}

static void crowd_stay(void *arg)
{
    while (!atomic_load(&crowd.stop)) crowd_enter(arg);
}

static int crowd_is_running(void *arg)
{
    return atomic_load(&crowd.entries) >= *(int *)arg;
}

/* Four threads that never stop, and another client that gets it twenty times
 * all the same. */
static void crowd_share(hf_lock *busy, hf_lock *other)
{
    static int enough = 200;
    for (int i = 0; i < 4; i++) rig_spawn(crowd_stay, busy);
    int is_running = rig_until(crowd_is_running, &enough);
    for (int i = 0; i < 20; i++) crowd_enter(other);
    atomic_store(&crowd.stop, 1); /* before a check can end the test */
    rig_join();
    CHECK(is_running);
}

TEST(handover, leaves_other_clients_their_turns)
{
    if (!begin()) return;
    memset(&crowd, 0, sizeof crowd);
    hf_lock *busy = rig_lock(handing_client(1024, 5), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    crowd_share(busy, other);
    crowd_check();
    CHECK_INT(atomic_load(&crowd.falls), 0);
}

/* MariaDB tells a session nothing of others' locks, neither that one is free
 * nor that others wait: there a crowd may keep another client out for long. */
static int is_blind(void)
{
    return !strncmp(rig_url(), "mysql", 5) && !rig_has(HF_CAP_FENCE);
}

TEST(turns, of_a_crowd_leave_other_clients_theirs)
{
    rig_begin();
    rig_client(NULL);
    if (is_blind()) return;
    memset(&crowd, 0, sizeof crowd);
    hf_lock *busy = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    crowd_share(busy, other);
    crowd_check();
}

/* ---- the options -------------------------------------------------------- */

static int opens_with(int32_t times, int64_t for_ms, struct hf_error *err)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    hf_client *c = NULL;
    o.handover = times;
    o.handover_ms = for_ms;
    int status = hf_client_open("memory:", &o, &c, err);
    hf_client_close(c);
    return status;
}

TEST(handover, is_bounded)
{
    struct hf_error err = {0};
    CHECK_INT(opens_with(1024, 86400000, &err), HF_OK);
    CHECK_INT(opens_with(1025, 0, &err), HF_INVALID);
    CHECK(strstr(err.text, "handover") && strstr(err.text, "0 to 1024"));
    CHECK_INT(opens_with(-1, 0, &err), HF_INVALID);
    CHECK_INT(opens_with(1, -1, &err), HF_INVALID);
    CHECK(strstr(err.text, "handover_for") && strstr(err.text, "1 ms to 24 h"));
    CHECK_INT(opens_with(1, 86400001, &err), HF_INVALID);
}

static int opens_at(const char *url)
{
    struct hf_error err;
    hf_client *c = NULL;
    int status = hf_client_open(url, NULL, &c, &err);
    hf_client_close(c);
    return status;
}

TEST(handover, is_an_option_of_the_url)
{
    CHECK_INT(opens_at("memory:?handover=64&handover_for=50ms"), HF_OK);
    CHECK_INT(opens_at("memory:?handover=0"), HF_OK);
    CHECK_INT(opens_at("memory:?handover=1025"), HF_INVALID);
    CHECK_INT(opens_at("memory:?handover=many"), HF_INVALID);
    CHECK_INT(opens_at("memory:?handover_for=0"), HF_INVALID);
    CHECK_INT(opens_at("memory:?handover_for=25h"), HF_INVALID);
}

TEST(handover, needs_a_store_with_tokens)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_error err = {0};
    hf_client *c = NULL;
    int has_tokens = begin();
    o.handover = 8;
    CHECK_INT(hf_client_open(rig_url(), &o, &c, &err),
              has_tokens ? HF_OK : HF_UNSUPPORTED);
    hf_client_close(c);
}
