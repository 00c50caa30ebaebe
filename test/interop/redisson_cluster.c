/*
 * redisson_cluster.c: a cluster that is shared with Redisson, of versions that
 * use sharded messages, classic ones, or either.  One rule: the lease is far
 * longer than the wait that is allowed, and the wait is shorter than the time
 * after which a waiter looks again by itself.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/cluster_rig.h"
#include "peer.h"

#define NAME "job"
#define CHANNEL "redisson_lock__channel:{" NAME "}"
#define SHORT_MS 4000 /* an unwoken waiter of ours looks again after 5 s */

static struct lab_cluster c;
static struct peer java;
static struct waiter w;

static int64_t subscribers(const char *how)
{
    struct lab_server *r = &c.nodes[cluster_rig_at(&c, NAME)];
    const char *reply = redis_say(r, "PUBSUB %s " CHANNEL, how);
    const char *number = strchr(reply, '\n');
    return number ? strtoll(number + 1, NULL, 10) : 0;
}

static int is_listening(void *arg)
{
    (void)arg;
    return subscribers("NUMSUB") + subscribers("SHARDNUMSUB") > 0;
}

static int is_silent(void *arg)
{
    return !is_listening(arg);
}

static void java_is_woken(hf_lock *l)
{
    struct hf_acquire_options o = rig_options(RIG_TRY, PEER_LEASE_MS, 0);
    CHECK(rig_until(is_silent, NULL));
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_OK);
    peer_say(&java, "try " NAME " %d", PEER_LEASE_MS);
    CHECK(rig_until(is_listening, NULL));
    printf("    it subscribes: %s\n",
           subscribers("NUMSUB") ? "classic" : "sharded");
    CHECK(peer_hear(&java, 300) == NULL);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    const char *answer = peer_hear(&java, PEER_SOON_MS);
    CHECK_STR(answer ? answer : "no answer", "true");
}

/* Java has it. */
static void java_wakes(hf_lock *l)
{
    w = (struct waiter){0};
    waiter_start_polling(&w, l, HF_BACKOFF_NONE);
    CHECK(rig_until(is_listening, NULL));
    rig_pause_ms(300); /* it tries once more after it has subscribed */
    int64_t began_ms = rig_now_ms();
    CHECK_STR(peer_ask(&java, "unlock " NAME), "ok");
    rig_join();
    CHECK_INT(w.status, HF_OK);
    CHECK(w.ended_ms - began_ms < SHORT_MS);
    CHECK_INT(hf_hold_release(w.hold, NULL), HF_OK);
}

static void wakes_each_other(const char *language, const char *options)
{
    char url[600];
    cluster_rig_begin(&c, 3, 0);
    snprintf(url, sizeof url, "%s%s", c.url, options);
    java = (struct peer){.language = language, .is_cluster = 1};
    peer_start(&java, &c.nodes[0], 30000);
    hf_lock *l = rig_lock(rig_client_at(url, NULL), NAME);
    for (int i = 0; i < 3; i++) {
        java_is_woken(l);
        java_wakes(l);
    }
}

TEST(redisson_cluster, the_newest_wakes_and_is_woken)
{
    wakes_each_other("java", "");
}

/* Classic messages, always. */
TEST(redisson_cluster, version_3_21_wakes_and_is_woken)
{
    wakes_each_other("java-3.21.3", "");
}

/* Either, by its own judgement. */
TEST(redisson_cluster, version_3_25_wakes_and_is_woken)
{
    wakes_each_other("java-3.25.2", "");
}

TEST(redisson_cluster, version_3_21_wakes_and_is_woken_with_both)
{
    wakes_each_other("java-3.21.3", "?pubsub=both");
}

TEST(redisson_cluster, the_newest_wakes_and_is_woken_with_both)
{
    wakes_each_other("java", "?pubsub=both");
}
