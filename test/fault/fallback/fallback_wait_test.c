/*
 * fallback_wait_test.c: fallback=fail and fallback=wait.  One rule: a caller
 * waits for its store until its own deadline, and a refusal ends the wait at
 * once.
 */
#include <string.h>

#include "lib/rig_fallback.h"

static struct fall f;

struct waiter {
    hf_lock *lock;
    hf_cancel *cancel;
    int64_t wait_ms;
    atomic_int started;
    atomic_int status; /* 1: not yet */
    int guarantee;     /* of the hold, if there was one */
    uint64_t fence;
};

static void waiter_run(void *arg)
{
    struct waiter *w = arg;
    struct hf_acquire_options o = rig_options(w->wait_ms, 0, 0);
    hf_hold *hold = NULL;
    o.cancel = w->cancel;
    atomic_store(&w->started, 1);
    int status = hf_lock_acquire(w->lock, &o, &hold, NULL);
    if (status == HF_OK) {
        w->guarantee = hf_hold_guarantee(hold);
        w->fence = hf_hold_fence(hold);
        hf_hold_release(hold, NULL);
    }
    atomic_store(&w->status, status);
}

static void waiter_begin(struct waiter *w, hf_lock *lock, int64_t wait_ms)
{
    w->lock = lock;
    w->wait_ms = wait_ms;
    atomic_store(&w->started, 0);
    atomic_store(&w->status, 1);
    rig_spawn(waiter_run, w);
    CHECK(rig_until_equal(&w->started, 1));
}

TEST(fallback_fail, gives_up_after_its_patience)
{
    fall_begin(&f, "fail");
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    fall_down(&f);
    int64_t began_ms = rig_now_ms();
    CHECK_INT(rig_acquire(l, 0, 600000, NULL), HF_UNAVAILABLE);
    CHECK(rig_now_ms() - began_ms < RIG_PATIENCE_MS);
}

TEST(fallback_wait, outlasts_a_server_that_is_away)
{
    static struct waiter w;
    fall_begin(&f, "wait");
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    fall_down(&f);
    waiter_begin(&w, l, RIG_NO_LIMIT);
    rig_pause_ms(4 * FALL_PATIENCE_MS);
    CHECK_INT(atomic_load(&w.status), 1);
    fall_up(&f);
    CHECK(rig_until_equal(&w.status, HF_OK));
    CHECK_INT(w.guarantee, HF_GUARANTEE_STORE);
    CHECK(w.fence > 0);
}

/* The client is connected, unlike above; five times its patience does not end
 * the wait either. */
TEST(fallback_wait, outlasts_a_server_that_hangs)
{
    static struct waiter w;
    fall_begin(&f, "wait");
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(rig_probe(l), HF_OK);
    redis_pause(&f.redis);
    waiter_begin(&w, l, RIG_WAIT_MS);
    rig_pause_ms(6 * FALL_PATIENCE_MS);
    CHECK_INT(atomic_load(&w.status), 1);
    redis_resume(&f.redis);
    CHECK(rig_until_equal(&w.status, HF_OK));
}

TEST(fallback_wait, ends_with_the_caller_s_wait)
{
    struct hf_error err = {0};
    struct hf_acquire_options o = rig_options(3 * FALL_PATIENCE_MS, 0, 0);
    fall_begin(&f, "wait");
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    fall_down(&f);
    int64_t began_ms = rig_now_ms();
    CHECK_INT(hf_lock_acquire(l, &o, NULL, &err), HF_UNAVAILABLE);
    CHECK(rig_now_ms() - began_ms >= 3 * FALL_PATIENCE_MS);
    CHECK(strstr(err.text, "redis") != NULL);
}

TEST(fallback_wait, one_try_has_one_patience)
{
    fall_begin(&f, "wait");
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    fall_down(&f);
    int64_t began_ms = rig_now_ms();
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_UNAVAILABLE);
    CHECK(rig_now_ms() - began_ms < RIG_PATIENCE_MS);
}

TEST(fallback_wait, can_be_cancelled)
{
    static struct waiter w;
    fall_begin(&f, "wait");
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(c, "a");
    CHECK_INT(hf_cancel_open(c, &w.cancel), HF_OK);
    fall_down(&f);
    waiter_begin(&w, l, RIG_NO_LIMIT);
    rig_pause_ms(2 * FALL_PATIENCE_MS);
    CHECK_INT(atomic_load(&w.status), 1);
    hf_cancel_fire(w.cancel);
    CHECK(rig_until_equal(&w.status, HF_CANCELLED));
    rig_join();
    hf_cancel_close(w.cancel);
    w.cancel = NULL;
}

TEST(fallback_wait, a_refusal_ends_it_at_once)
{
    fall_begin(&f, "wait");
    CHECK_STR(redis_say(&f.redis, "SET a text"), "OK");
    CHECK_INT(rig_acquire(rig_lock(rig_client(NULL), "a"), 0, 600000, NULL),
              HF_CONFLICT);
    CHECK_STR(redis_say(&f.redis, "CONFIG SET requirepass x"), "OK");
    CHECK_INT(rig_acquire(rig_lock(rig_client(NULL), "a"), 0, 600000, NULL),
              HF_DENIED);
}

static atomic_int answer;

static void on_acquired(hf_lock *lock, int status, hf_hold *hold,
                        const struct hf_error *err, void *user)
{
    (void)lock;
    (void)hold;
    (void)err;
    (void)user;
    atomic_store(&answer, status);
}

TEST(fallback_wait, an_asynchronous_acquire_waits_too)
{
    fall_begin(&f, "wait");
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    atomic_store(&answer, 1);
    fall_down(&f);
    CHECK_INT(hf_lock_acquire_start(l, NULL, on_acquired, NULL, NULL), HF_OK);
    rig_pause_ms(4 * FALL_PATIENCE_MS);
    CHECK_INT(atomic_load(&answer), 1);
    fall_up(&f);
    CHECK(rig_until_equal(&answer, HF_OK));
}

TEST(fallback_wait, does_not_prolong_other_calls)
{
    struct hf_info info = HF_INFO_INIT;
    hf_hold *g = NULL;
    fall_begin(&f, "wait");
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    fall_down(&f);
    int64_t began_ms = rig_now_ms();
    CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_UNAVAILABLE);
    CHECK_INT(hf_hold_extend(g, 0, NULL), HF_UNAVAILABLE);
    CHECK_INT(hf_hold_release(g, NULL), HF_UNAVAILABLE);
    CHECK(rig_now_ms() - began_ms < RIG_PATIENCE_MS);
}

/* ---- at most once ------------------------------------------------------- */

struct beginner {
    hf_client *client;
    hf_cancel *cancel;
    int64_t wait_ms;
    atomic_int started;
    atomic_int status; /* 1: not yet */
};

static void beginner_run(void *arg)
{
    struct beginner *b = arg;
    struct hf_once_options o = HF_ONCE_OPTIONS_INIT;
    struct hf_once_result r = HF_ONCE_RESULT_INIT;
    hf_once *run = NULL;
    o.wait_ms = b->wait_ms;
    o.cancel = b->cancel;
    atomic_store(&b->started, 1);
    int status = hf_once_begin(b->client, "job", &o, &run, &r, NULL);
    if (run) status = hf_once_end(run, 0, NULL, 0, NULL);
    atomic_store(&b->status, status);
}

/* The server is away, and has been for longer than its patience. */
static void beginner_begin(struct beginner *b, int64_t wait_ms)
{
    memset(b, 0, sizeof *b);
    fall_begin(&f, "wait");
    b->client = rig_client(NULL);
    b->wait_ms = wait_ms;
    atomic_store(&b->status, 1);
    CHECK_INT(hf_cancel_open(b->client, &b->cancel), HF_OK);
    fall_down(&f);
    rig_spawn(beginner_run, b);
    CHECK(rig_until_equal(&b->started, 1));
    rig_pause_ms(4 * FALL_PATIENCE_MS);
}

TEST(fallback_wait, outlasts_for_once_a_server_that_is_away)
{
    static struct beginner b;
    beginner_begin(&b, RIG_NO_LIMIT);
    CHECK_INT(atomic_load(&b.status), 1);
    fall_up(&f);
    CHECK(rig_until_equal(&b.status, HF_OK));
    rig_join();
    hf_cancel_close(b.cancel);
}

TEST(fallback_wait, ends_for_once_when_it_is_cancelled)
{
    static struct beginner b;
    beginner_begin(&b, RIG_NO_LIMIT);
    CHECK_INT(atomic_load(&b.status), 1);
    hf_cancel_fire(b.cancel);
    CHECK(rig_until_equal(&b.status, HF_CANCELLED));
    rig_join();
    hf_cancel_close(b.cancel);
}

TEST(fallback_wait, ends_for_once_when_its_wait_is_over)
{
    static struct beginner b;
    beginner_begin(&b, 8 * FALL_PATIENCE_MS);
    CHECK_INT(atomic_load(&b.status), 1);
    CHECK(rig_until_equal(&b.status, HF_UNAVAILABLE));
    rig_join();
    hf_cancel_close(b.cancel);
}
