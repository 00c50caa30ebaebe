/*
 * redisson_pubsub_test.c: subscriptions under load, on a real server.  One
 * rule: however many names and threads wait, a client has one connection that
 * listens, and when nobody waits it listens to nothing.
 */
#include <string.h>

#include "lib/rig.h"
#include "lib/rig_redis.h"

#define NAMES 5
#define THREADS 32
#define ROUNDS 5000 /* in all */

static struct lab_server r;

struct visitor {
    hf_lock *locks[NAMES];
    int first;
    int errors;
};

static void visitor_run(void *arg)
{
    struct visitor *v = arg;
    for (int i = 0; i < ROUNDS / THREADS; i++) {
        hf_lock *l = v->locks[(v->first + i) % NAMES];
        int status = rig_acquire(l, 0, RIG_PATIENCE_MS * 3, NULL);
        if (status == HF_OK) status = hf_lock_release(l, NULL, NULL);
        if (status != HF_OK) v->errors++;
    }
}

static int nothing_is_subscribed(void *arg)
{
    (void)arg;
    return redis_say(&r, "PUBSUB CHANNELS")[0] == 0;
}

static int listeners(void)
{
    int n = 0;
    const char *at = redis_say(&r, "CLIENT LIST TYPE pubsub");
    while ((at = strstr(at, "id=")) != NULL) {
        if (at == r.reply || at[-1] == '\n') n++;
        at++;
    }
    return n;
}

/* testSubscriptionsPerConnection */
TEST(redisson_pubsub, five_thousand_rounds_leave_no_channel_subscribed)
{
    static struct visitor v[THREADS];
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    hf_client *clients[2] = {rig_client(NULL), rig_client(NULL)};
    for (int i = 0; i < THREADS; i++) {
        v[i] = (struct visitor){.first = i};
        for (int k = 0; k < NAMES; k++) {
            char name[16];
            snprintf(name, sizeof name, "lock-%d", k);
            v[i].locks[k] = rig_lock(clients[i % 2], name);
        }
        rig_spawn(visitor_run, &v[i]);
    }
    rig_join();
    for (int i = 0; i < THREADS; i++) CHECK_INT(v[i].errors, 0);
    CHECK(listeners() <= 2); /* one for each client */
    if (!rig_until(nothing_is_subscribed, NULL))
        TEST_FAIL("still subscribed: %s", redis_say(&r, "PUBSUB CHANNELS"));
}

struct waiter {
    hf_lock *lock;
    struct hf_acquire_options how;
    int status;
};

static void waiter_run(void *arg)
{
    struct waiter *w = arg;
    w->status = hf_lock_acquire(w->lock, &w->how, NULL, NULL);
    if (w->status == HF_OK) hf_lock_release(w->lock, NULL, NULL);
}

static int is_subscribed(void *arg)
{
    return redis_number(&r, "EVAL \"return #redis.call('PUBSUB','CHANNELS')\""
                            " 0")
           == *(const int *)arg;
}

/* testSinglePubSub, seen from the server. */
TEST(redisson_pubsub, names_that_are_waited_for_share_one_connection)
{
    static struct waiter w[8];
    int wanted = 8;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    hf_lock *held[8];
    for (int i = 0; i < 8; i++) {
        char name[16];
        snprintf(name, sizeof name, "lock-%d", i);
        held[i] = rig_lock(c, name);
        CHECK_INT(hf_lock_try(held[i], NULL, NULL), HF_OK);
        w[i] = (struct waiter){rig_lock(d, name),
                               rig_options(RIG_WAIT_MS, 0, 0), 1};
        rig_spawn(waiter_run, &w[i]);
    }
    CHECK(rig_until(is_subscribed, &wanted));
    CHECK_INT(listeners(), 1);
    for (int i = 0; i < 8; i++)
        CHECK_INT(hf_lock_release(held[i], NULL, NULL), HF_OK);
    rig_join();
    for (int i = 0; i < 8; i++) CHECK_INT(w[i].status, HF_OK);
    CHECK(rig_until(nothing_is_subscribed, NULL));
}

/* A spin lock asks for no wake-ups, and gets the lock all the same. */
TEST(redisson_pubsub, who_spins_subscribes_to_nothing)
{
    static struct waiter w;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    hf_lock *held = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(held, NULL, NULL), HF_OK);
    w = (struct waiter){rig_lock(rig_client(NULL), "a"),
                        rig_options(RIG_WAIT_MS, 0, 0), 1};
    w.how.backoff = HF_BACKOFF_CONSTANT;
    w.how.backoff_ms = 20;
    rig_spawn(waiter_run, &w);
    for (int i = 0; i < 20; i++) {
        CHECK_STR(redis_say(&r, "PUBSUB CHANNELS"), "");
        rig_pause_ms(20);
    }
    CHECK_INT(hf_lock_release(held, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(w.status, HF_OK);
}
