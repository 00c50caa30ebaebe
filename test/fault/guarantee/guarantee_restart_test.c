/*
 * guarantee_restart_test.c: servers that crash and come back, with what they
 * had or with nothing.  One rule: what was on a disk is still held; what was
 * not is told to its holder, and the next one's token is higher.
 */
#include <string.h>

#include "lib/cluster_rig.h"
#include "lib/rig.h"
#include "lib/sentinel_rig.h"

#define NAME "job"

static struct lab_server primary, replica;
static struct lab_sentinels sentinels;
static struct lab_cluster cluster;
static const char *const durable[] = {"--appendonly", "yes", "--appendfsync",
                                      "always", NULL};

static int is_followed(void *arg)
{
    return strstr(redis_say(arg, "INFO replication"), "state=online") != NULL;
}

/* With a lease of which no ordinary renewal comes while a test runs. */
static hf_client *client_at(const char *url)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.lease_ms = 900000;
    o.patience_ms = RIG_PATIENCE_MS;
    return rig_client_at(url, &o);
}

static void pair_begin(const char *const *args)
{
    redis_begin(&primary, args);
    redis_begin(&replica, NULL);
    rig_begin_at(primary.url);
    CHECK_STR(redis_say(&replica, "REPLICAOF 127.0.0.1 %d", primary.port),
              "OK");
    CHECK(rig_until(is_followed, &primary));
}

/* ---- what was on its disk ------------------------------------------------ */

static void is_kept(const char *url)
{
    hf_hold *mine, *theirs;
    hf_lock *l = rig_lock(client_at(url), NAME);
    CHECK_INT(hf_lock_try(l, &mine, NULL), HF_OK);
    uint64_t fence = hf_hold_fence(mine);
    redis_shutdown(&primary, 0); /* kill -9 */
    redis_start(&primary);
    hf_lock *other = rig_lock(client_at(primary.url), NAME);
    CHECK_INT(rig_probe(other), HF_TAKEN);
    CHECK_INT(hf_hold_extend(mine, 0, NULL), HF_OK);
    CHECK_INT(hf_hold_release(mine, NULL), HF_OK);
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, &theirs), HF_OK);
    CHECK(fence > 0 && hf_hold_fence(theirs) > fence);
}

TEST(guarantee_crash, a_lock_that_was_synced_is_still_held)
{
    redis_begin(&primary, durable);
    rig_begin_at(primary.url);
    is_kept(primary.url);
}

TEST(guarantee_crash, with_replicas_a_lock_that_was_synced_is_still_held)
{
    char url[96];
    pair_begin(durable);
    snprintf(url, sizeof url, "%s?wait=all", primary.url);
    is_kept(url);
}

/* ---- what was in its memory ---------------------------------------------- */

static int has_no_lock(void *arg)
{
    return redis_number(arg, "EXISTS " NAME) == 0;
}

static int is_lost(void *hold)
{
    return hf_hold_state(hold) == HF_STATE_LOST;
}

/* The holder is told, and the next one's token is higher. */
static void is_told(const char *url, hf_hold *mine)
{
    hf_hold *theirs;
    CHECK(rig_until(is_lost, mine));
    CHECK(hf_hold_fence(mine) > 0);
    hf_lock *other = rig_lock(client_at(url), NAME);
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, &theirs), HF_OK);
    CHECK(hf_hold_fence(theirs) > hf_hold_fence(mine));
}

/* wait= does not help: replicas copy an empty primary. */
TEST(guarantee_empty, a_primary_empties_its_replicas_whatever_wait_says)
{
    hf_hold *mine;
    char url[96];
    pair_begin(NULL);
    snprintf(url, sizeof url, "%s?wait=all&wait_renew=on", primary.url);
    hf_lock *l = rig_lock(client_at(url), NAME);
    CHECK_INT(hf_lock_try(l, &mine, NULL), HF_OK);
    CHECK_INT(hf_hold_replicas(mine), 1);
    CHECK_INT(redis_number(&replica, "EXISTS " NAME), 1);
    redis_shutdown(&primary, 0);
    redis_start(&primary);
    CHECK(rig_until(has_no_lock, &replica));
    CHECK(rig_until(is_followed, &primary));
    is_told(url, mine);
}

TEST(guarantee_empty, behind_sentinels_it_is_told_and_the_fence_rises)
{
    hf_hold *mine;
    sentinel_begin(&sentinels);
    for (int i = 0; i < SENTINEL_SERVERS; i++) /* it is back before they know */
        CHECK_STR(redis_say(&sentinels.sentinels[i],
                            "SENTINEL SET " SENTINEL_MASTER
                            " down-after-milliseconds 600000"),
                  "OK");
    hf_lock *l = rig_lock(client_at(sentinels.url), NAME);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &mine), HF_OK);
    redis_shutdown(&sentinels.servers[0], 0);
    redis_start(&sentinels.servers[0]);
    is_told(sentinels.url, mine);
    CHECK(sentinel_primary(&sentinels) == &sentinels.servers[0]);
}

TEST(guarantee_empty, in_a_cluster_it_is_told_and_the_fence_rises)
{
    hf_hold *mine;
    cluster_rig_begin(&cluster, 3, 1);
    int master = cluster_rig_at(&cluster, NAME);
    CHECK_STR(redis_say(&cluster.nodes[master + cluster.masters],
                        "CONFIG SET cluster-replica-no-failover yes"),
              "OK");
    hf_lock *l = rig_lock(client_at(cluster.url), NAME);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &mine), HF_OK);
    cluster_rig_kill(&cluster, master);
    cluster_rig_restart(&cluster, master);
    CHECK_INT(cluster_rig_at(&cluster, NAME), master);
    is_told(cluster.url, mine);
}
