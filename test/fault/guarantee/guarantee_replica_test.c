/*
 * guarantee_replica_test.c: replicas that take over, and primaries that are cut
 * off from them: what wait= and min-replicas-to-write give, and what they do
 * not.  One rule: where a lock can be had twice, the test has it twice.
 */
#include <string.h>

#include "holdfast/guard.h"
#include "lib/cluster_rig.h"
#include "lib/proxy.h"
#include "lib/rig.h"

#define NAME "job"
#define REPLICAS 2

static struct lab_server primary, replicas[REPLICAS];
static struct lab_proxy front;           /* clients reach the present primary */
static struct lab_proxy lines[REPLICAS]; /* replicas reach the first primary */

/* Both, by the primary's own count. */
static int are_in_step(void *arg)
{
    const char *said = redis_say(arg, "INFO replication");
    const char *first = strstr(said, "state=online");
    return first && strstr(first + 1, "state=online");
}

static void begin(void)
{
    redis_begin(&primary, NULL);
    rig_begin_at(primary.url);
    proxy_begin(&front, primary.port);
    for (int i = 0; i < REPLICAS; i++) {
        redis_begin(&replicas[i], NULL);
        proxy_begin(&lines[i], primary.port);
        redis_follow(&replicas[i], lines[i].port);
    }
    CHECK(rig_until(are_in_step, &primary));
}

/* From now on nothing of the primary reaches it. */
static void cut(int replica)
{
    proxy_delay(&lines[replica], PROXY_DOWN, 600000);
}

static hf_client *client_with(const char *options, int64_t lease_ms)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    char url[128];
    snprintf(url, sizeof url, "redis://127.0.0.1:%d%s", front.port, options);
    o.lease_ms = lease_ms;
    if (!strstr(options, "patience=")) o.patience_ms = RIG_PATIENCE_MS;
    return rig_client_at(url, &o);
}

/* The primary dies, and this one takes its place by an operator's hand. */
static void promote(int replica)
{
    redis_shutdown(&primary, 0);
    CHECK_STR(redis_say(&replicas[replica], "REPLICAOF NO ONE"), "OK");
    redis_follow(&replicas[!replica], replicas[replica].port);
    proxy_aim(&front, replicas[replica].port);
}

/* ---- failover ------------------------------------------------------------ */

TEST(guarantee_failover, what_all_replicas_have_any_of_them_keeps)
{
    hf_hold *mine, *theirs;
    begin();
    hf_lock *l = rig_lock(client_with("?wait=all&wait_renew=on", 900000), NAME);
    CHECK_INT(hf_lock_try(l, &mine, NULL), HF_OK);
    uint64_t fence = hf_hold_fence(mine);
    CHECK_INT(hf_hold_replicas(mine), REPLICAS);
    promote(1);
    hf_lock *other = rig_lock(client_with("", 0), NAME);
    CHECK_INT(rig_probe(other), HF_TAKEN);
    CHECK_INT(hf_hold_state(mine), HF_STATE_HELD);
    CHECK_INT(hf_hold_extend(mine, 0, NULL), HF_OK);
    CHECK_INT(hf_hold_release(mine, NULL), HF_OK);
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, &theirs), HF_OK);
    CHECK(hf_hold_fence(theirs) > fence);
}

/* WAIT counts the replicas that have it; which replica is promoted is decided
 * elsewhere. */
TEST(guarantee_failover, what_one_of_two_replicas_has_is_lost_with_the_other)
{
    hf_hold *mine, *theirs;
    begin();
    cut(1);
    hf_lock *l = rig_lock(client_with("?wait=1", 900000), NAME);
    CHECK_INT(hf_lock_try(l, &mine, NULL), HF_OK);
    CHECK_INT(hf_hold_replicas(mine), 1);
    promote(1);
    hf_lock *other = rig_lock(client_with("", 0), NAME);
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, &theirs), HF_OK);
    CHECK(rig_until_state(l, 0, HF_STATE_LOST));
    CHECK(hf_hold_fence(theirs) > hf_hold_fence(mine));
}

TEST(guarantee_failover, in_a_cluster_the_guard_refuses_who_lost_his_lock)
{
    static struct lab_cluster c;
    hf_hold *mine, *theirs;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    char path[160];
    cluster_rig_begin(&c, 3, 1);
    int master = cluster_rig_at(&c, NAME);
    snprintf(path, sizeof path, "%s/guarded", c.nodes[0].dir);
    o.lease_ms = 9000;
    o.patience_ms = RIG_PATIENCE_MS;
    hf_lock *l = rig_lock(rig_client(&o), NAME);
    cluster_rig_stop(&c, master + c.masters); /* it hears nothing of it */
    redis_say(&c.nodes[master], "CLIENT KILL TYPE replica");
    CHECK_INT(hf_lock_try(l, &mine, NULL), HF_OK);
    CHECK_INT(hf_guard_file_replace(path, hf_hold_fence(mine), "old", 3, NULL),
              HF_OK);
    cluster_rig_kill(&c, master);
    cluster_rig_cont(&c, master + c.masters);
    CHECK(cluster_rig_at(&c, NAME) != master);
    hf_lock *other = rig_lock(rig_client(&o), NAME);
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, &theirs), HF_OK);
    CHECK(hf_hold_fence(theirs) > hf_hold_fence(mine));
    CHECK_INT(
        hf_guard_file_replace(path, hf_hold_fence(theirs), "new", 3, NULL),
        HF_OK);
    CHECK_INT(hf_guard_file_replace(path, hf_hold_fence(mine), "old", 3, NULL),
              HF_STALE);
    CHECK(rig_until_state(l, 0, HF_STATE_LOST));
}

/* ---- a primary that is cut off ------------------------------------------- */

TEST(guarantee_split, a_primary_that_is_cut_off_grants_beside_the_next)
{
    hf_hold *mine, *theirs;
    begin();
    cut(0);
    cut(1);
    CHECK_STR(redis_say(&replicas[0], "REPLICAOF NO ONE"), "OK");
    hf_lock *l = rig_lock(client_with("", 0), NAME);
    CHECK_INT(hf_lock_try(l, &mine, NULL), HF_OK);
    hf_lock *other = rig_lock(rig_client_at(replicas[0].url, NULL), NAME);
    CHECK_INT(hf_lock_try(other, &theirs, NULL), HF_OK);
    CHECK_INT(hf_hold_state(mine), HF_STATE_HELD); /* both believe it */
    CHECK(hf_hold_fence(theirs) > hf_hold_fence(mine));
    CHECK_INT(hf_hold_release(theirs, NULL), HF_OK);
}

static int is_refused(void *arg)
{
    struct hf_error err = {0};
    int status = hf_lock_try(arg, NULL, &err);
    if (status == HF_OK) hf_lock_release(arg, NULL, NULL);
    return status == HF_UNAVAILABLE && strstr(err.text, "too few replicas");
}

TEST(guarantee_split, min_replicas_to_write_stops_a_primary_that_is_cut_off)
{
    begin();
    CHECK_STR(redis_say(&primary, "CONFIG SET min-replicas-to-write 1"), "OK");
    CHECK_STR(redis_say(&primary, "CONFIG SET min-replicas-max-lag 2"), "OK");
    hf_client *c = client_with("?patience=500ms", 3000);
    hf_lock *held = rig_lock(c, NAME), *l = rig_lock(c, "other");
    CHECK_INT(rig_acquire(held, 0, RIG_WAIT_MS, NULL), HF_OK);
    proxy_sever(&lines[0], 1);
    proxy_sever(&lines[1], 1);
    CHECK(rig_until(is_refused, l));                /* no new lock */
    CHECK(rig_until_state(held, 0, HF_STATE_LOST)); /* nor a renewal */
    proxy_sever(&lines[0], 0);
    proxy_sever(&lines[1], 0);
    hf_lock *again = rig_lock(client_with("?fallback=wait", 0), NAME);
    CHECK_INT(rig_acquire(again, 0, RIG_WAIT_MS, NULL), HF_OK);
}

TEST(guarantee_split, wait_all_ends_a_hold_whose_primary_is_cut_off)
{
    begin();
    hf_client *c = client_with("?wait=all&wait_renew=on", 3000);
    hf_lock *l = rig_lock(c, NAME);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    cut(0);
    cut(1);
    CHECK(rig_until_state(l, 0, HF_STATE_LOST));
    int status = rig_acquire(rig_lock(c, "other"), 0, 500, NULL);
    CHECK(status == HF_TIMEOUT || status == HF_UNAVAILABLE);
}
