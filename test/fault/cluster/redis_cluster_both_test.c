/*
 * redis_cluster_both_test.c: a cluster that is shared with programs which use
 * classic messages although the servers have sharded ones, as Redisson 3.22 to
 * 3.27 often does.  One rule: a release wakes the other side's waiter, in both
 * directions.  A waiter that is not woken looks again by itself: only a wait
 * that was shorter than that tells something, and one of several does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cluster_rig.h"
#include "lib/ear.h"
#include "lib/rig.h"
#include "lib/rig_semaphore.h"

#define NAME "job"
#define LOCK_CHANNEL "redisson_lock__channel:{" NAME "}"
#define PERMIT_CHANNEL "redisson_sc:{" NAME "}"
#define JAVA "285475da-9152-4c83-822a-67ee2f116a79:52"
#define SHORT_MS 4000 /* an unwoken waiter looks again after 5 s */
#define ROUNDS 5      /* under load one may be too slow to tell */
#define LOOK_MS 300   /* its look after it has subscribed is over then */

static struct lab_cluster c;

static hf_client *client_with(const char *options)
{
    char url[600];
    snprintf(url, sizeof url, "%s%s", c.url, options);
    return rig_client_at(url, NULL);
}

/* ---- our release, a classic listener ---- */

static void tells_at(int node, const char *options)
{
    hf_lock *l = rig_lock(client_with(options), NAME);
    ear_open(&c.nodes[node], LOCK_CHANNEL);
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK(ear_hears("$1\r\n0\r\n"));
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    CHECK_INT(hf_lock_break(l, NULL, NULL), HF_OK);
    CHECK(ear_hears("$1\r\n0\r\n"));
}

TEST(redis_cluster_both, a_release_is_heard_by_a_classic_listener)
{
    cluster_rig_begin(&c, 3, 0);
    tells_at(cluster_rig_at(&c, NAME), "");
}

TEST(redis_cluster_both, with_both_it_is_heard_at_every_server)
{
    cluster_rig_begin(&c, 3, 0);
    tells_at((cluster_rig_at(&c, NAME) + 1) % 3, "?pubsub=both");
}

TEST(redis_cluster_both, a_permit_that_comes_back_is_heard_by_a_classic_one)
{
    hf_hold *p;
    cluster_rig_begin(&c, 3, 0);
    hf_semaphore *s = rig_semaphore(client_with(""), NAME, 1);
    CHECK_INT(rig_take(s, 1, 0, &p), HF_OK);
    ear_open(&c.nodes[cluster_rig_at(&c, NAME)], PERMIT_CHANNEL);
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    CHECK(ear_hears("$1\r\n1\r\n"));
}

/* ---- a classic release, our waiter ---- */

struct waiter {
    hf_lock *lock;
    int status;
};

static void wait_run(void *arg)
{
    struct waiter *w = arg;
    w->status = rig_acquire(w->lock, 0, RIG_PATIENCE_MS, NULL);
}

static int64_t numsub(const char *how, const char *channel)
{
    struct lab_server *r = &c.nodes[cluster_rig_at(&c, NAME)];
    const char *reply = redis_say(r, "PUBSUB %s %s", how, channel);
    const char *number = strchr(reply, '\n');
    return number ? strtoll(number + 1, NULL, 10) : -1;
}

static int is_listening(void *channel)
{
    return numsub("SHARDNUMSUB", channel) == 1
           && numsub("NUMSUB", channel) == 1;
}

static int is_sharded_only(void *channel)
{
    return numsub("SHARDNUMSUB", channel) == 1
           && numsub("NUMSUB", channel) == 0;
}

static int is_silent(void *channel)
{
    return numsub("SHARDNUMSUB", channel) == 0
           && numsub("NUMSUB", channel) == 0;
}

/* In one step, from any holder: a waiter that looks never finds it free. */
static void java_takes(int node)
{
    CHECK_INT(redis_number(&c.nodes[node],
                           "EVAL \"redis.call('DEL', KEYS[1]) "
                           "redis.call('HSET', KEYS[1], ARGV[1], 1) "
                           "return redis.call('PEXPIRE', KEYS[1], 60000)\" "
                           "1 " NAME " " JAVA),
              1);
}

static void java_releases(int node)
{
    CHECK_INT(redis_number(&c.nodes[node], "DEL " NAME), 1);
    redis_say(&c.nodes[node], "PUBLISH " LOCK_CHANNEL " 0");
}

/* The waiter has listened since `began_ms`: release the lock.  Returns whether
 * a message woke the waiter before it looked again by itself. */
static int round_ends(int64_t began_ms, struct waiter *w, int node)
{
    rig_pause_ms(LOOK_MS);
    java_releases(node);
    rig_join();
    int is_short = rig_now_ms() - began_ms < SHORT_MS;
    CHECK_INT(w->status, HF_OK);
    CHECK_INT(hf_lock_break(w->lock, NULL, NULL), HF_OK);
    CHECK(rig_until(is_silent, LOCK_CHANNEL));
    return is_short;
}

static void is_woken(const char *options)
{
    static struct waiter w;
    int is_short = 0;
    cluster_rig_begin(&c, 3, 0);
    int node = cluster_rig_at(&c, NAME);
    w.lock = rig_lock(client_with(options), NAME);
    for (int i = 0; i < ROUNDS && !is_short; i++) {
        w.status = -1;
        java_takes(node);
        int64_t began_ms = rig_now_ms();
        rig_spawn(wait_run, &w);
        CHECK(rig_until(is_listening, LOCK_CHANNEL));
        is_short = round_ends(began_ms, &w, node);
    }
    CHECK(is_short);
}

TEST(redis_cluster_both, a_classic_release_wakes_who_was_refused_by_redisson)
{
    is_woken("");
}

TEST(redis_cluster_both, with_both_a_classic_release_wakes)
{
    is_woken("?pubsub=both");
}

/* The first holder is ours, and the waiter listens to sharded messages only,
 * until it is refused by one of Redisson's. */
static int is_woken_after_learning(int node)
{
    static struct waiter w;
    hf_client *holder = client_with(""), *learner = client_with("");
    hf_lock *mine = rig_lock(holder, NAME);
    w = (struct waiter){rig_lock(learner, NAME), -1};
    CHECK_INT(rig_acquire(mine, 0, 0, NULL), HF_OK);
    rig_spawn(wait_run, &w);
    CHECK(rig_until(is_sharded_only, LOCK_CHANNEL));
    /* What a release and a quicker Java program leave behind. */
    java_takes(node);
    int64_t began_ms = rig_now_ms();
    redis_say(&c.nodes[node], "SPUBLISH " LOCK_CHANNEL " 0");
    CHECK(rig_until(is_listening, LOCK_CHANNEL));
    int is_short = round_ends(began_ms, &w, node);
    rig_close(learner);
    rig_close(holder);
    return is_short;
}

TEST(redis_cluster_both, a_waiter_learns_while_it_waits)
{
    int is_short = 0;
    cluster_rig_begin(&c, 3, 0);
    int node = cluster_rig_at(&c, NAME);
    for (int i = 0; i < ROUNDS && !is_short; i++)
        is_short = is_woken_after_learning(node);
    CHECK(is_short);
}

TEST(redis_cluster_both, with_both_a_permit_put_back_by_a_classic_one_wakes)
{
    static struct taker t;
    int is_short = 0;
    cluster_rig_begin(&c, 3, 0);
    struct lab_server *r = &c.nodes[cluster_rig_at(&c, NAME)];
    hf_semaphore *s = rig_counter(client_with("?pubsub=both"), NAME, 0);
    for (int i = 0; i < ROUNDS && !is_short; i++) {
        CHECK_STR(redis_say(r, "SET " NAME " 0"), "OK");
        int64_t began_ms = rig_now_ms();
        taker_start(&t, s, 1, RIG_PATIENCE_MS);
        CHECK(rig_until(is_listening, PERMIT_CHANNEL));
        rig_pause_ms(LOOK_MS);
        redis_say(r, "INCRBY " NAME " 1");
        redis_say(r, "PUBLISH " PERMIT_CHANNEL " 1");
        rig_join();
        CHECK_INT(t.status, HF_OK);
        is_short = rig_now_ms() - began_ms < SHORT_MS;
    }
    CHECK(is_short);
}
