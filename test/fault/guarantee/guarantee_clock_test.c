/*
 * guarantee_clock_test.c: servers whose wall clock is set, or is not that of
 * their primary.  One rule: a clock may cost exclusion, and then the fence is
 * what is left; where it costs the fence as well, the test shows by how much.
 */
#include <string.h>

#include "lab/clock.h"
#include "lib/cluster_rig.h"
#include "lib/lab_check.h"
#include "lib/proxy.h"
#include "lib/rig.h"
#include "lib/sentinel_rig.h"

#define NAME "job"
#define HOUR_MS INT64_C(3600000)

static struct lab_server server, replica;
static struct lab_sentinels sentinels;
static struct lab_cluster cluster;

/* ---- a wall clock that can be set ---------------------------------------- */

static struct lab_clock wall;

static void wall_end(void *arg)
{
    (void)arg;
    lab_clock_stop(&wall);
}

/* Servers that are given wall.env look at it; all at the same. */
static void wall_begin(void)
{
    LAB_CHECK(lab_clock_start(&wall, TEST_CLOCK_SHIM));
    test_cleanup(wall_end, NULL);
}

static void wall_jump(int64_t ms)
{
    lab_clock_jump(&wall, ms);
}

static hf_lock *lock_at(const char *url, int64_t lease_ms)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.lease_ms = lease_ms;
    o.patience_ms = RIG_PATIENCE_MS;
    return rig_lock(rig_client_at(url, &o), NAME);
}

static void server_begin(void)
{
    wall_begin();
    server.env = wall.env;
    redis_begin(&server, NULL);
    rig_begin_at(server.url);
}

/* ---- forward: leases end early ------------------------------------------- */

/* Two clients hold it; the first one learns of it by its next renewal, and its
 * fence is the lower one. */
static void forward_is_survived(const char *url)
{
    hf_hold *mine, *theirs;
    hf_lock *l = lock_at(url, 4500);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &mine), HF_OK);
    wall_jump(HOUR_MS);
    hf_lock *other = lock_at(url, 0);
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, &theirs), HF_OK);
    CHECK(hf_hold_fence(theirs) > hf_hold_fence(mine));
    CHECK(rig_until_state(l, 0, HF_STATE_LOST));
    CHECK_INT(hf_hold_release(theirs, NULL), HF_OK);
}

TEST(guarantee_clock, forward_on_one_server_the_fence_is_higher)
{
    server_begin();
    forward_is_survived(server.url);
}

TEST(guarantee_clock, forward_behind_sentinels_the_fence_is_higher)
{
    wall_begin();
    for (int i = 0; i < SENTINEL_SERVERS; i++)
        sentinels.servers[i].env = wall.env;
    sentinel_begin(&sentinels);
    forward_is_survived(sentinels.url);
}

TEST(guarantee_clock, forward_in_a_cluster_the_fence_is_higher)
{
    wall_begin();
    for (int i = 0; i < 3; i++) cluster.nodes[i].env = wall.env;
    cluster_rig_begin(&cluster, 3, 0);
    forward_is_survived(cluster.url);
}

TEST(guarantee_clock, forward_in_memory_the_fence_is_higher)
{
    hf_hold *mine, *theirs;
    rig_begin_at("memory:wall");
    hf_lock *l = lock_at("memory:wall", 4500);
    CHECK_INT(rig_acquire(l, 0, 0, &mine), HF_OK);
    hf_lock *other = lock_at("memory:wall?clock_ms=3600000", 0);
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, &theirs), HF_OK);
    CHECK(hf_hold_fence(theirs) > hf_hold_fence(mine));
    CHECK(rig_until_state(l, 0, HF_STATE_LOST));
}

/* ---- back: leases end late ----------------------------------------------- */

TEST(guarantee_clock, back_on_one_server_the_lease_is_longer_and_fences_rise)
{
    hf_hold *mine, *theirs;
    server_begin();
    hf_lock *l = lock_at(server.url, 900000);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &mine), HF_OK);
    uint64_t fence = hf_hold_fence(mine);
    wall_jump(-HOUR_MS);
    CHECK(redis_number(&server, "PTTL " NAME) > HOUR_MS);
    CHECK_INT(hf_hold_release(mine, NULL), HF_OK);
    hf_lock *other = lock_at(server.url, 0); /* it knows of no clock but this */
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, &theirs), HF_OK);
    CHECK(hf_hold_fence(theirs) > fence);
}

/* ---- a replica's clock is not its primary's ------------------------------ */

static int is_following(void *arg)
{
    return strstr(redis_say(arg, "INFO replication"), "master_link_status:up")
           != NULL;
}

/* A replica whose clock is `ms` ahead of its primary's, behind a proxy. */
static void pair_begin(int64_t ms, struct lab_proxy *line)
{
    wall_begin();
    wall_jump(ms);
    server.env = NULL;
    redis_begin(&server, NULL);
    replica.env = wall.env;
    redis_begin(&replica, NULL);
    rig_begin_at(server.url);
    proxy_begin(line, server.port);
    CHECK_STR(redis_say(&replica, "REPLICAOF 127.0.0.1 %d", line->port), "OK");
    CHECK(rig_until(is_following, &replica));
}

static void promote(void)
{
    redis_shutdown(&server, 0);
    CHECK_STR(redis_say(&replica, "REPLICAOF NO ONE"), "OK");
}

static struct lab_proxy line;

static int has_counter(void *arg)
{
    return redis_number(arg, "EXISTS redisson_lock_token:{" NAME "}") == 1;
}

TEST(guarantee_clock, a_replica_that_is_behind_keeps_a_fence_it_has_heard_of)
{
    hf_hold *mine, *theirs;
    pair_begin(-HOUR_MS, &line);
    hf_lock *l = lock_at(server.url, 0);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &mine), HF_OK);
    uint64_t fence = hf_hold_fence(mine);
    CHECK_INT(hf_hold_release(mine, NULL), HF_OK);
    CHECK(rig_until(has_counter, &replica));
    promote();
    hf_lock *other = lock_at(replica.url, 0);
    CHECK_INT(hf_lock_break(other, NULL, NULL), HF_OK); /* if it heard less */
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, &theirs), HF_OK);
    CHECK(hf_hold_fence(theirs) > fence);
}

/* ---- limits: what is not promised ---------------------------------------- */

/* Leases are replicated as the time of day at which they end. */
TEST(guarantee_limit, a_replica_that_is_ahead_ends_leases_when_promoted)
{
    hf_hold *mine, *theirs;
    char url[96];
    pair_begin(HOUR_MS, &line);
    snprintf(url, sizeof url, "%s?wait=all&wait_renew=on", server.url);
    hf_lock *l = lock_at(url, 900000);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &mine), HF_OK);
    CHECK_INT(hf_hold_replicas(mine), 1);
    promote();
    hf_lock *other = lock_at(replica.url, 0);
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, &theirs), HF_OK);
    CHECK_INT(hf_hold_state(mine), HF_STATE_HELD); /* both believe it */
    CHECK(hf_hold_fence(theirs) > hf_hold_fence(mine));
}

/* Neither the counter nor the clock shows that there was a higher fence. */
TEST(guarantee_limit, a_replica_that_is_behind_and_heard_nothing_goes_back)
{
    hf_hold *mine, *theirs;
    pair_begin(-HOUR_MS, &line);
    proxy_delay(&line, PROXY_DOWN, 600000);
    CHECK_INT(rig_acquire(lock_at(server.url, 0), 0, RIG_WAIT_MS, &mine),
              HF_OK);
    promote();
    CHECK_INT(rig_acquire(lock_at(replica.url, 0), 0, RIG_WAIT_MS, &theirs),
              HF_OK);
    CHECK(hf_hold_fence(theirs) < hf_hold_fence(mine));
}

TEST(guarantee_limit, a_server_that_is_empty_and_set_back_goes_back)
{
    hf_hold *mine, *theirs;
    server_begin();
    CHECK_INT(rig_acquire(lock_at(server.url, 0), 0, RIG_WAIT_MS, &mine),
              HF_OK);
    redis_shutdown(&server, 0);
    wall_jump(-HOUR_MS);
    redis_start(&server);
    CHECK_INT(rig_acquire(lock_at(server.url, 0), 0, RIG_WAIT_MS, &theirs),
              HF_OK);
    CHECK(hf_hold_fence(theirs) < hf_hold_fence(mine));
}
