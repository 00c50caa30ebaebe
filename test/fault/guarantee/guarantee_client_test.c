/*
 * guarantee_client_test.c: a holder that is killed, paused or cut off, on every
 * deployment of docs/guarantees.md that has no test of its own for it.  One
 * rule: the next holder gets the lock when the lease has ended, not before,
 * and nothing that the old holder still does can hurt it.
 */
#include <signal.h>
#include <string.h>

#include "holdfast/guard.h"
#include "lib/cluster_rig.h"
#include "lib/holder.h"
#include "lib/nodes.h"
#include "lib/proxy.h"
#include "lib/rig.h"
#include "lib/sentinel_rig.h"

#define MEMBERS 3

static struct lab_server servers[MEMBERS];
static struct lab_sentinels sentinels;
static struct lab_cluster cluster;
static char url[600];
static const char *dir; /* of a server: what is guarded lives there */

/* ---- deployments: each has its URL and a directory ----------------------- */

static int is_followed(void *arg)
{
    return strstr(redis_say(arg, "INFO replication"), "state=online") != NULL;
}

static void replicas_begin(void)
{
    redis_begin(&servers[0], NULL);
    redis_begin(&servers[1], NULL);
    rig_begin_at(servers[0].url);
    CHECK_STR(redis_say(&servers[1], "REPLICAOF 127.0.0.1 %d", servers[0].port),
              "OK");
    CHECK(rig_until(is_followed, &servers[0]));
    snprintf(url, sizeof url, "%s?wait=all&wait_renew=on", servers[0].url);
    dir = servers[0].dir;
}

static void sentinels_begin(void)
{
    sentinel_begin(&sentinels);
    snprintf(url, sizeof url, "%s", sentinels.url);
    dir = sentinels.servers[0].dir;
}

static void cluster_begin(void)
{
    cluster_rig_begin(&cluster, 3, 1);
    snprintf(url, sizeof url, "%s", cluster.url);
    dir = cluster.nodes[0].dir;
}

/* No proxies: holders are forked, and share no line with the test. */
static void quorum_begin(void)
{
    struct hf_quorum_node nodes[MEMBERS];
    struct hf_error err = {0};
    int len = 0;
    size_t used = 0;
    for (int i = 0; i < MEMBERS; i++) {
        redis_begin(&servers[i], NULL);
        used +=
            (size_t)snprintf(url + used, sizeof url - used, "%s127.0.0.1:%d",
                             i ? "," : "redlock://", servers[i].port);
    }
    dir = servers[0].dir;
    rig_begin_at(url);
    if (nodes_init(url, NULL, nodes, MEMBERS, &len, &err) != HF_OK)
        TEST_FAIL("init: %s", err.text);
}

/* ---- killed -------------------------------------------------------------- */

static void next_waits_for_the_lease(void)
{
    static struct lab_proc p;
    static struct holder h;
    struct hf_info info = HF_INFO_INIT;
    hf_hold *g;
    h = (struct holder){url, "a", 3000, 0};
    uint64_t fence = holder_start(&p, &h);
    hf_lock *l = rig_lock(rig_client_at(url, NULL), "a");
    proc_signal(&p, SIGKILL);
    CHECK_INT(proc_wait(&p, RIG_PATIENCE_MS), -SIGKILL);
    int64_t began_ms = rig_now_ms(); /* before: what it tells ends later */
    CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_OK);
    CHECK(info.locked && info.ttl_ms > 0 && info.ttl_ms <= 3000);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &g), HF_OK);
    CHECK(rig_now_ms() - began_ms >= info.ttl_ms - 10);
    CHECK(hf_hold_fence(g) > fence);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

TEST(guarantee_killed, with_replicas_the_next_waits_for_the_lease)
{
    replicas_begin();
    next_waits_for_the_lease();
}

TEST(guarantee_killed, behind_sentinels_the_next_waits_for_the_lease)
{
    sentinels_begin();
    next_waits_for_the_lease();
}

TEST(guarantee_killed, in_a_cluster_the_next_waits_for_the_lease)
{
    cluster_begin();
    next_waits_for_the_lease();
}

TEST(guarantee_killed, in_a_quorum_the_next_waits_for_the_lease)
{
    quorum_begin();
    next_waits_for_the_lease();
}

/* ---- paused -------------------------------------------------------------- */

static void sleeper_is_told_and_refused(void)
{
    static struct lab_proc p;
    static struct holder h;
    hf_hold *g;
    char path[160];
    h = (struct holder){url, "a", 900, 0};
    snprintf(path, sizeof path, "%s/guarded", dir);
    uint64_t fence = holder_start(&p, &h);
    CHECK_INT(hf_guard_file_replace(path, fence, "old", 3, NULL), HF_OK);
    proc_signal(&p, SIGSTOP);
    hf_lock *l = rig_lock(rig_client_at(url, NULL), "a");
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &g), HF_OK);
    CHECK(hf_hold_fence(g) > fence);
    CHECK_INT(hf_guard_file_replace(path, hf_hold_fence(g), "new", 3, NULL),
              HF_OK);
    proc_signal(&p, SIGCONT);
    CHECK(holder_says(&p, "state LOST"));
    CHECK_INT(hf_guard_file_replace(path, fence, "old", 3, NULL), HF_STALE);
    CHECK_INT(rig_probe(rig_lock(rig_client_at(url, NULL), "a")), HF_TAKEN);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

TEST(guarantee_paused, with_replicas_it_is_told_and_its_write_refused)
{
    replicas_begin();
    sleeper_is_told_and_refused();
}

TEST(guarantee_paused, behind_sentinels_it_is_told_and_its_write_refused)
{
    sentinels_begin();
    sleeper_is_told_and_refused();
}

TEST(guarantee_paused, in_a_cluster_it_is_told_and_its_write_refused)
{
    cluster_begin();
    sleeper_is_told_and_refused();
}

TEST(guarantee_paused, in_a_quorum_it_is_told_and_its_write_refused)
{
    quorum_begin();
    sleeper_is_told_and_refused();
}

/* ---- cut off ------------------------------------------------------------- */

/* Only its own clock can tell it. */
TEST(guarantee_cut_off, its_hold_ends_before_the_next_one_gets_the_lock)
{
    static struct lab_proxy line;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    hf_hold *mine, *theirs;
    redis_begin(&servers[0], NULL);
    rig_begin_at(servers[0].url);
    proxy_begin(&line, servers[0].port);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", line.port);
    o.lease_ms = 2000;
    hf_lock *l = rig_lock(rig_client_at(url, &o), "a");
    hf_lock *next = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, &mine, NULL), HF_OK);
    proxy_sever(&line, 1);
    CHECK_INT(rig_acquire(next, 0, RIG_WAIT_MS, &theirs), HF_OK);
    CHECK_INT(hf_hold_state(mine), HF_STATE_LOST);
    CHECK(hf_hold_fence(theirs) > hf_hold_fence(mine));
    proxy_sever(&line, 0);
    CHECK_INT(hf_hold_release(theirs, NULL), HF_OK);
}
