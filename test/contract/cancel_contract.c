/*
 * cancel_contract.c: ending a wait from outside.  One rule: a caller whose
 * wait was cancelled holds nothing and keeps no place in the queue.
 */
#include <signal.h>
#include <string.h>

#include "lib/rig.h"

#define WAITERS 6

struct waiter {
    hf_lock *lock;
    hf_cancel *cancel;
    atomic_int *started;
    int status;
    int error_status;
};

static void waiter_run(void *arg)
{
    struct waiter *w = arg;
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 0, 0);
    struct hf_error err = {0};
    o.cancel = w->cancel;
    atomic_fetch_add(w->started, 1);
    w->status = hf_lock_acquire(w->lock, &o, NULL, &err);
    w->error_status = err.status;
}

/* Tokens are closed before their client: first test cleanup to run. */
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

TEST(cancel, ends_every_wait_that_has_the_token)
{
    static struct waiter w[WAITERS];
    atomic_int started = 0;
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(rig_client(NULL), "a"), *mine = rig_lock(c, "a");
    hf_cancel *cancel = cancel_new(c);
    hf_hold *g;
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    for (int i = 0; i < WAITERS; i++) {
        w[i] = (struct waiter){mine, cancel, &started, 0, 0};
        rig_spawn(waiter_run, &w[i]);
    }
    CHECK(rig_until_equal(&started, WAITERS));
    rig_pause_ms(150);
    int64_t began_ms = rig_now_ms();
    hf_cancel_fire(cancel);
    rig_join();
    CHECK(rig_now_ms() - began_ms < 10000);
    for (int i = 0; i < WAITERS; i++) {
        CHECK_INT(w[i].status, HF_CANCELLED);
        CHECK_INT(w[i].error_status, HF_CANCELLED);
    }
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK(rig_until_free(mine));
    CHECK_INT(rig_probe(l), HF_OK);
}

TEST(cancel, fired_before_the_wait_ends_it_at_once)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(rig_client(NULL), "a"), *mine = rig_lock(c, "a");
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 0, 0);
    o.cancel = cancel_new(c);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    hf_cancel_fire(o.cancel);
    int64_t began_ms = rig_now_ms();
    CHECK_INT(hf_lock_acquire(mine, &o, NULL, NULL), HF_CANCELLED);
    CHECK(rig_now_ms() - began_ms < 10000);
    hf_cancel_fire(o.cancel); /* twice is as good as once */
    CHECK_INT(hf_lock_acquire(mine, &o, NULL, NULL), HF_CANCELLED);
}

TEST(cancel, token_can_be_used_again_after_a_reset)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(rig_client(NULL), "a"), *mine = rig_lock(c, "a");
    struct hf_acquire_options o = rig_options(2000, 0, 0);
    o.cancel = cancel_new(c);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    hf_cancel_fire(o.cancel);
    CHECK_INT(hf_lock_acquire(mine, &o, NULL, NULL), HF_CANCELLED);
    hf_cancel_reset(o.cancel);
    CHECK_INT(hf_lock_acquire(mine, &o, NULL, NULL), HF_TIMEOUT);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_acquire(mine, &o, NULL, NULL), HF_OK);
}

TEST(cancel, unfired_token_changes_nothing)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *mine = rig_lock(c, "a");
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 0, 0);
    o.cancel = cancel_new(c);
    hf_hold *g;
    CHECK_INT(hf_lock_acquire(mine, &o, &g, NULL), HF_OK);
    hf_cancel_fire(o.cancel); /* a hold that was granted is not a wait */
    rig_pause_ms(50);
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

TEST(cancel, of_one_waiter_leaves_the_others_waiting)
{
    static struct waiter w[2];
    atomic_int started = 0;
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(rig_client(NULL), "a"), *mine = rig_lock(c, "a");
    hf_cancel *cancel = cancel_new(c), *other = cancel_new(c);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    w[0] = (struct waiter){mine, cancel, &started, 0, 0};
    w[1] = (struct waiter){mine, other, &started, 1, 0};
    rig_spawn(waiter_run, &w[0]);
    CHECK(rig_until_equal(&started, 1));
    rig_pause_ms(50);
    rig_spawn(waiter_run, &w[1]);
    CHECK(rig_until_equal(&started, 2));
    rig_pause_ms(100);
    hf_cancel_fire(cancel); /* the first in line makes room for the second */
    rig_pause_ms(100);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(w[0].status, HF_CANCELLED);
    CHECK_INT(w[1].status, HF_OK);
}

static hf_cancel *signal_cancel;

static void on_signal(int sig)
{
    (void)sig;
    hf_cancel_fire(signal_cancel);
}

static void signal_later(void *arg)
{
    (void)arg;
    rig_pause_ms(200);
    raise(SIGUSR1);
}

TEST(cancel, may_be_fired_from_a_signal_handler)
{
    struct sigaction sa, old;
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(rig_client(NULL), "a"), *mine = rig_lock(c, "a");
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 0, 0);
    signal_cancel = o.cancel = cancel_new(c);
    memset(&sa, 0, sizeof sa);
    sa.sa_handler = on_signal;
    sigaction(SIGUSR1, &sa, &old);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    rig_spawn(signal_later, NULL);
    int status = hf_lock_acquire(mine, &o, NULL, NULL);
    rig_join();
    sigaction(SIGUSR1, &old, NULL);
    CHECK_INT(status, HF_CANCELLED);
}

struct answer {
    atomic_int calls;
    int status;
};

static void on_acquired(hf_lock *lock, int status, hf_hold *hold,
                        const struct hf_error *err, void *user)
{
    struct answer *a = user;
    (void)lock;
    (void)hold;
    (void)err;
    a->status = status;
    atomic_fetch_add(&a->calls, 1);
}

TEST(cancel, ends_an_asynchronous_wait_once)
{
    static struct answer a;
    rig_begin();
    memset(&a, 0, sizeof a);
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(rig_client(NULL), "a"), *mine = rig_lock(c, "a");
    struct hf_acquire_options o = rig_options(0, 0, 0);
    o.cancel = cancel_new(c);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_acquire_start(mine, &o, on_acquired, &a, NULL), HF_OK);
    rig_pause_ms(100);
    CHECK_INT(atomic_load(&a.calls), 0);
    hf_cancel_fire(o.cancel);
    CHECK(rig_until_equal(&a.calls, 1));
    CHECK_INT(a.status, HF_CANCELLED);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    rig_pause_ms(100);
    CHECK_INT(atomic_load(&a.calls), 1);
    CHECK(rig_until_free(l));
}

struct closer {
    hf_lock *lock;
    atomic_int started;
    atomic_int ended;
    int status;
};

static void closer_run(void *arg)
{
    struct closer *c = arg;
    atomic_store(&c->started, 1);
    c->status = rig_acquire(c->lock, 0, RIG_WAIT_MS, NULL);
    atomic_store(&c->ended, 1);
}

TEST(cancel, closing_the_client_ends_its_waits_with_closed)
{
    static struct closer w;
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    memset(&w, 0, sizeof w);
    CHECK_INT(hf_lock_open(c, "a", &w.lock, NULL), HF_OK);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    rig_spawn(closer_run, &w);
    CHECK(rig_until_equal(&w.started, 1));
    rig_pause_ms(200);
    rig_close(c);
    CHECK(rig_until_equal(&w.ended, 1));
    rig_join();
    CHECK_INT(w.status, HF_CLOSED);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK(rig_until_free(l));
}
