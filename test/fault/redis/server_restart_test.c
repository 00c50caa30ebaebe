/*
 * server_restart_test.c: the server goes away and comes back, with its data or
 * without.  One rule: a holder either keeps its lock or is told, and all other
 * clients go on without help.
 */
#include <string.h>

#include "lib/rig.h"
#include "lib/rig_redis.h"

#define LEASE_MS 30000 /* nothing ends by itself */

static hf_client *client_with(int64_t lease_ms)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.lease_ms = lease_ms;
    o.timeout_ms = 1000;
    o.patience_ms = 10000; /* a restart takes a moment on a busy machine */
    return rig_client(&o);
}

/* Its renewals are seen soon. */
static int acquire_renewed(hf_lock *l, int64_t wait_ms, hf_hold **g)
{
    struct hf_acquire_options o = rig_renewed(wait_ms);
    return hf_lock_acquire(l, &o, g, NULL);
}

static void stays_held(hf_lock *l, hf_hold *g, hf_lock *other)
{
    for (int i = 0; i < 20; i++) {
        CHECK(rig_until_renewed(l, 0, 1));
        CHECK_INT(rig_acquire(other, 0, RIG_TRY, NULL), HF_TAKEN);
    }
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
}

TEST(server_restart, with_data_the_holder_keeps_its_lock)
{
    static struct lab_server r;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    hf_lock *l = rig_lock(client_with(LEASE_MS), "a");
    hf_lock *other = rig_lock(client_with(LEASE_MS), "a");
    hf_hold *g = NULL;
    CHECK_INT(acquire_renewed(l, RIG_TRY, &g), HF_OK);
    redis_shutdown(&r, 1);
    redis_start(&r);
    stays_held(l, g, other);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, NULL), HF_OK);
}

static struct hf_stats stats_of(hf_client *c)
{
    struct hf_stats stats = HF_STATS_INIT;
    CHECK_INT(hf_client_stats(c, &stats, NULL), HF_OK);
    return stats;
}

TEST(server_restart, is_counted_as_a_connection_more)
{
    static struct lab_server r;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    hf_client *c = client_with(LEASE_MS);
    hf_lock *l = rig_lock(c, "a");
    hf_hold *g = NULL;
    CHECK_INT(acquire_renewed(l, RIG_TRY, &g), HF_OK);
    struct hf_stats before = stats_of(c);
    CHECK(before.connects > 0);
    CHECK_INT(before.disconnects, 0);
    CHECK_INT(before.nodes_up, 1);
    redis_shutdown(&r, 1);
    redis_start(&r);
    CHECK(rig_until_renewed(l, 0, 1));
    struct hf_stats after = stats_of(c);
    CHECK(after.connects > before.connects);
    CHECK(after.disconnects > 0);
    CHECK(after.renewed > 0);
    CHECK_INT(after.nodes_up, 1);
}

/* Lost with the server's data, twice; then had anew, and kept from `other`. */
static void lost_and_had_again(struct lab_server *r, hf_lock *l, hf_lock *other)
{
    hf_hold *g, *again;
    uint64_t fence = 0;
    for (int round = 0; round < 2; round++) {
        CHECK_INT(acquire_renewed(l, RIG_TRY, &g), HF_OK);
        fence = hf_hold_fence(g);
        redis_shutdown(r, 0);
        redis_start(r);
        CHECK(rig_until_state(l, 0, HF_STATE_LOST));
        CHECK_INT(hf_hold_valid_ms(g), 0);
        int status = hf_hold_release(g, NULL);
        CHECK(status == HF_EXPIRED || status == HF_LOST);
    }
    CHECK_INT(acquire_renewed(l, RIG_WAIT_MS, &again), HF_OK);
    CHECK(fence > 0);
    CHECK(hf_hold_fence(again) > fence); /* from the server's clock */
    stays_held(l, again, other);
    CHECK_INT(hf_hold_release(again, NULL), HF_OK);
}

static hf_lock *side_open(int kind)
{
    struct hf_lock_options how = HF_LOCK_OPTIONS_INIT;
    how.kind = kind;
    return rig_lock_as(client_with(LEASE_MS), "a", &how);
}

/* testLockAfterTimeout */
TEST(server_restart, without_data_the_holder_is_told_and_the_next_is_renewed)
{
    static struct lab_server r;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    lost_and_had_again(&r, side_open(HF_KIND_PLAIN), side_open(HF_KIND_PLAIN));
}

/* testReadLockAfterTimeout */
TEST(server_restart, without_data_a_reader_is_told_and_the_next_is_renewed)
{
    static struct lab_server r;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    lost_and_had_again(&r, side_open(HF_KIND_READ), side_open(HF_KIND_WRITE));
}

/* testWriteLockAfterTimeout */
TEST(server_restart, without_data_a_writer_is_told_and_the_next_is_renewed)
{
    static struct lab_server r;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    lost_and_had_again(&r, side_open(HF_KIND_WRITE), side_open(HF_KIND_READ));
}

struct waiter {
    hf_lock *lock;
    atomic_int started;
    int status;
};

static void waiter_run(void *arg)
{
    struct waiter *w = arg;
    atomic_store(&w->started, 1);
    w->status = rig_acquire(w->lock, 0, RIG_WAIT_MS, NULL);
    if (w->status == HF_OK) hf_lock_release(w->lock, NULL, NULL);
}

static void waiter_recovers(int with_data)
{
    static struct lab_server r;
    static struct waiter w;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    hf_lock *l = rig_lock(client_with(30000), "a");
    w.lock = rig_lock(client_with(LEASE_MS), "a");
    atomic_store(&w.started, 0);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    rig_spawn(waiter_run, &w);
    CHECK(rig_until_equal(&w.started, 1));
    rig_pause_ms(200);
    redis_shutdown(&r, with_data);
    redis_start(&r);
    rig_pause_ms(500); /* the waiter may have resubscribed by now, or not */
    int status = hf_lock_release(l, NULL, NULL);
    CHECK(status == HF_OK || (!with_data && status < 0));
    rig_join();
    CHECK_INT(w.status, HF_OK); /* long before the 30 s lease ends */
}

TEST(server_restart, with_data_a_waiter_is_still_woken)
{
    waiter_recovers(1);
}

TEST(server_restart, without_data_a_waiter_gets_the_lock)
{
    waiter_recovers(0);
}

TEST(server_restart, while_it_is_down_calls_say_unavailable_in_time)
{
    hf_hold *g = NULL;
    static struct lab_server r;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_error err = {0};
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    o.timeout_ms = 1000;
    o.patience_ms = 2000;
    hf_client *c = rig_client(&o);
    hf_lock *l = rig_lock(c, "a");
    CHECK_INT(rig_probe(l), HF_OK);
    redis_shutdown(&r, 1);
    int64_t began_ms = rig_now_ms();
    CHECK_INT(hf_lock_try(l, NULL, &err), HF_UNAVAILABLE);
    CHECK(err.text[0] != 0);
    CHECK_INT(rig_acquire(l, 0, 60000, NULL), HF_UNAVAILABLE);
    struct hf_info info = HF_INFO_INIT;
    CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_UNAVAILABLE);
    CHECK(rig_now_ms() - began_ms < 20000);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_NOT_OWNER);
    redis_start(&r);
    int status = HF_UNAVAILABLE;
    for (int i = 0; i < 20 && status == HF_UNAVAILABLE; i++)
        status = rig_acquire(l, 0, RIG_WAIT_MS, &g);
    CHECK_INT(status, HF_OK);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(redis_number(&r, "EXISTS a"), 0);
}
