/*
 * redis_cluster_failover_test.c: masters that die, stop and come back.  One
 * rule: every call ends in time, a holder is told the truth, and all clients go
 * on without help once a replica has taken over.
 */
#include <string.h>

#include "lib/cluster_rig.h"
#include "lib/crowd.h"
#include "lib/rig.h"

#define NAME "job"
#define FAILOVER_MS 20000 /* time for a failover, on a slow machine as well */

static struct lab_cluster c;
static int master;

static void begin(void)
{
    cluster_rig_begin(&c, 3, 1);
    master = cluster_rig_at(&c, NAME);
}

/* All that was written so far is with the replica. */
static int is_replicated(void *arg)
{
    (void)arg;
    int64_t sent = redis_info(&c.nodes[master], "master_repl_offset");
    int64_t there =
        redis_info(&c.nodes[master + c.masters], "slave_repl_offset");
    return there >= sent;
}

static int is_following(void *arg)
{
    return strstr(redis_say(arg, "INFO replication"), "master_link_status:up")
           != NULL;
}

static hf_client *patient_client(void)
{
    char url[600];
    snprintf(url, sizeof url, "%s?patience=20s", c.url);
    return rig_client_at(url, NULL);
}

TEST(redis_cluster_failover, a_lock_that_was_replicated_is_still_held)
{
    hf_hold *mine, *theirs;
    begin();
    hf_lock *l = rig_lock(patient_client(), NAME);
    CHECK_INT(hf_lock_try(l, &mine, NULL), HF_OK);
    uint64_t fence = hf_hold_fence(mine);
    CHECK(rig_until(is_replicated, NULL));
    cluster_rig_kill(&c, master);
    CHECK(cluster_rig_at(&c, NAME) != master);
    CHECK_INT(rig_probe(rig_lock(patient_client(), NAME)), HF_TAKEN);
    CHECK_INT(hf_hold_state(mine), HF_STATE_HELD);
    CHECK_INT(hf_hold_extend(mine, 30000, NULL), HF_OK);
    CHECK_INT(hf_hold_release(mine, NULL), HF_OK);
    CHECK_INT(rig_acquire(l, 0, FAILOVER_MS, &theirs), HF_OK);
    CHECK(hf_hold_fence(theirs) > fence);
}

TEST(redis_cluster_failover, a_lock_that_was_not_replicated_is_told_as_lost)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    begin();
    o.lease_ms = 9000;
    hf_lock *l = rig_lock(rig_client(&o), NAME);
    /* The replica hears nothing of it. */
    cluster_rig_stop(&c, master + c.masters);
    redis_say(&c.nodes[master], "CLIENT KILL TYPE replica");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_INT(rig_until_state(l, 0, HF_STATE_HELD), 1);
    cluster_rig_kill(&c, master);
    cluster_rig_cont(&c, master + c.masters);
    CHECK(cluster_rig_at(&c, NAME) != master);
    CHECK(rig_until_state(l, 0, HF_STATE_LOST));
    CHECK_INT(
        rig_acquire(rig_lock(patient_client(), NAME), 0, FAILOVER_MS, NULL),
        HF_OK);
}

TEST(redis_cluster_failover, locks_of_the_other_masters_are_not_concerned)
{
    char other[24];
    int i = 0;
    begin();
    do snprintf(other, sizeof other, "other%d", i++);
    while (cluster_rig_at(&c, other) == master);
    for (int k = 0; k < c.len; k++)
        redis_say(&c.nodes[k], "CONFIG SET cluster-require-full-coverage no");
    hf_client *client = rig_client(NULL);
    hf_lock *l = rig_lock(client, other);
    CHECK_INT(rig_probe(rig_lock(client, NAME)), HF_OK);
    cluster_rig_kill(&c, master);
    for (int k = 0; k < 20; k++) CHECK_INT(rig_probe(l), HF_OK);
}

struct waiter {
    hf_lock *lock;
    int status;
};

static void wait_run(void *arg)
{
    struct waiter *w = arg;
    w->status = rig_acquire(w->lock, 0, 60000, NULL);
}

static int has_waiter(void *arg)
{
    struct hf_info info = HF_INFO_INIT;
    return hf_lock_inspect(arg, &info, NULL) == HF_OK && info.waiters == 1;
}

static void is_woken(const char *options)
{
    static struct waiter w;
    char url[600];
    begin();
    snprintf(url, sizeof url, "%s?patience=20s&%s", c.url, options);
    hf_lock *l = rig_lock(rig_client_at(url, NULL), NAME);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    w = (struct waiter){rig_lock(rig_client_at(url, NULL), NAME), -1};
    rig_spawn(wait_run, &w);
    CHECK(rig_until(has_waiter, l));
    CHECK(rig_until(is_replicated, NULL));
    cluster_rig_kill(&c, master);
    CHECK(cluster_rig_at(&c, NAME) != master);
    /* It has subscribed at the new master by itself. */
    CHECK(rig_until(has_waiter, l));
    int64_t began = rig_now_ms();
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(w.status, HF_OK);
    CHECK(rig_now_ms() - began < 4000);
}

TEST(redis_cluster_failover, who_waits_by_sharded_messages_waits_at_the_new_one)
{
    is_woken("pubsub=sharded");
}

TEST(redis_cluster_failover, who_waits_by_classic_messages_waits_at_the_new_one)
{
    is_woken("pubsub=classic");
}

TEST(redis_cluster_failover, who_waits_by_both_kinds_waits_at_the_new_one)
{
    is_woken("pubsub=both");
}

/* ---- a master that says nothing ---- */

#define HANG_MS 60000 /* how long a link to it is not given up */

/* A client that waits for a silent master for as long as that. */
static hf_client *stubborn_client(const char *url)
{
    char full[600];
    snprintf(full, sizeof full, "%s?timeout=%dms&patience=%dms", url, HANG_MS,
             2 * HANG_MS);
    return rig_client_at(full, NULL);
}

static hf_lock *stubborn_lock(const char *url)
{
    return rig_lock(stubborn_client(url), NAME);
}

static void is_granted_elsewhere(hf_lock *l)
{
    int64_t began = rig_now_ms();
    CHECK_INT(rig_acquire(l, 0, 2 * HANG_MS, NULL), HF_OK);
    CHECK(rig_now_ms() - began < HANG_MS);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
}

TEST(redis_cluster_failover, who_connects_to_a_hung_master_goes_on_at_the_next)
{
    begin();
    hf_lock *l = stubborn_lock(c.url);
    cluster_rig_stop(&c, master);
    is_granted_elsewhere(l);
}

TEST(redis_cluster_failover, who_is_at_a_hung_master_goes_on_at_the_next)
{
    begin();
    hf_lock *l = stubborn_lock(c.url);
    CHECK_INT(rig_probe(l), HF_OK);
    cluster_rig_stop(&c, master);
    is_granted_elsewhere(l);
}

/* The client has no link to another node, and its URL names no other node. */
TEST(redis_cluster_failover, who_knows_only_a_hung_master_asks_the_others)
{
    char url[80];
    begin();
    snprintf(url, sizeof url, "redis-cluster://127.0.0.1:%d",
             c.nodes[master].port);
    hf_lock *l = stubborn_lock(url);
    CHECK_INT(rig_probe(l), HF_OK);
    cluster_rig_stop(&c, master);
    is_granted_elsewhere(l);
}

/* A request that was sent to no node is not in doubt. */
TEST(redis_cluster_failover, closing_waits_for_no_hung_master_without_reason)
{
    begin();
    for (int k = 0; k < c.len; k++)
        redis_say(&c.nodes[k], "CONFIG SET cluster-require-full-coverage no");
    cluster_rig_stop(&c, master + c.masters);
    cluster_rig_stop(&c, master);
    hf_client *client = stubborn_client(c.url);
    CHECK(rig_acquire(rig_lock(client, NAME), 0, 2000, NULL) != HF_OK);
    int64_t began = rig_now_ms();
    rig_close(client);
    CHECK(rig_now_ms() - began < HANG_MS / 2);
}

/* ---- under load ---- */

static struct crowd crowd;

/* A release that the replica has not heard of leaves its lock behind, until
 * the lease ends. */
static void crowd_begin_with(const char *options)
{
    char url[600];
    snprintf(url, sizeof url, "%s?patience=20s%s", c.url, options);
    crowd = (struct crowd){.members = 8,
                           .rounds = 200,
                           .hold_ms = 2,
                           .how = rig_options(60000, 4000, 0)};
    for (int i = 0; i < crowd.members; i++)
        crowd.locks[i] = rig_lock(rig_client_at(url, NULL), NAME);
    crowd_start(&crowd);
}

static void crowd_begin(void)
{
    crowd_begin_with("");
}

static int has_grants(void *arg)
{
    return atomic_load(&crowd.grants) >= *(int *)arg || crowd_is_over(&crowd);
}

/* Wait until there are `more` grants than now. */
static void goes_on(int more)
{
    int wanted = atomic_load(&crowd.grants) + more;
    CHECK(rig_until(has_grants, &wanted));
}

static void crowd_wait(void)
{
    rig_join();
    printf("    %d grants, %d errors, %d met\n", atomic_load(&crowd.grants),
           atomic_load(&crowd.errors), atomic_load(&crowd.overlap));
    CHECK_INT(atomic_load(&crowd.grants) + atomic_load(&crowd.errors),
              crowd.members * crowd.rounds);
}

/* A replica that has not heard of a lock gives it to the next one: that is what
 * the tokens are for.  So no more than the hold of that moment may meet
 * another, or be found lost. */
static void crowd_end(int faults)
{
    crowd_wait();
    CHECK(atomic_load(&crowd.overlap) <= faults);
    CHECK(atomic_load(&crowd.errors) <= faults);
}

TEST(redis_cluster_failover, a_crowd_goes_on_after_its_master_was_killed)
{
    begin();
    crowd_begin();
    goes_on(50);
    cluster_rig_kill(&c, master);
    goes_on(50);
    CHECK(cluster_rig_at(&c, NAME) != master);
    crowd_end(1);
}

/* ---- two masters for a moment ---- */

static int is_demoted(void *arg)
{
    return !strncmp(redis_say(arg, "ROLE"), "slave", 5);
}

static int has_ended_rounds(void *arg)
{
    const int *wanted = arg;
    for (int i = 0; i < crowd.members; i++)
        if (atomic_load(&crowd.done[i]) < wanted[i]) return 0;
    return 1;
}

/* Wait until each thread has ended its present round. */
static void rounds_end(void)
{
    int wanted[CROWD_MAX];
    for (int i = 0; i < crowd.members; i++) {
        int next = atomic_load(&crowd.done[i]) + 1;
        wanted[i] = next < crowd.rounds ? next : crowd.rounds;
    }
    CHECK(rig_until(has_ended_rounds, wanted));
}

/* A master that was stopped comes back as one: until another node tells it
 * better, which takes a moment, it serves clients that have not heard of the
 * new one, and the two do not know of each other's locks.  No client can notice
 * it: the server itself reports the role of a master, and grants the lock to
 * its waiters.  So there may be two holders while there are two masters, and
 * never afterwards. */
TEST(redis_cluster_failover, a_crowd_meets_no_longer_than_there_are_two_masters)
{
    begin();
    crowd_begin();
    goes_on(50);
    cluster_rig_stop(&c, master);
    goes_on(50);
    cluster_rig_cont(&c, master);
    CHECK(rig_until(is_demoted, &c.nodes[master]));
    rounds_end();
    int met = atomic_load(&crowd.overlap), errors = atomic_load(&crowd.errors);
    crowd_wait();
    CHECK_INT(atomic_load(&crowd.overlap), met);
    CHECK_INT(atomic_load(&crowd.errors), errors);
}

/* What it grants counts once a replica has it, and nobody follows it: its own
 * replica is the new master. */
TEST(redis_cluster_failover, with_wait_a_crowd_never_meets)
{
    begin();
    crowd_begin_with("&wait=1");
    goes_on(50);
    cluster_rig_stop(&c, master);
    CHECK(cluster_rig_at(&c, NAME) != master);
    cluster_rig_cont(&c, master); /* and becomes the replica that is missing */
    goes_on(50);
    crowd_wait();
    CHECK_INT(atomic_load(&crowd.overlap), 0);
    CHECK(atomic_load(&crowd.errors) <= 1);
}

TEST(redis_cluster_failover, a_crowd_goes_on_when_its_next_master_is_killed_too)
{
    begin();
    crowd_begin();
    goes_on(20);
    cluster_rig_kill(&c, master);
    goes_on(20);
    cluster_rig_restart(&c, master);
    CHECK(rig_until(is_following, &c.nodes[master]));
    cluster_rig_kill(&c, master + c.masters);
    goes_on(20);
    CHECK_INT(cluster_rig_at(&c, NAME), master);
    crowd_end(2);
}

TEST(redis_cluster_failover, calls_end_in_time_while_nobody_is_there)
{
    struct hf_error err = {0};
    struct hf_acquire_options o = rig_options(1500, 0, 0);
    begin();
    hf_lock *l = rig_lock(rig_client(NULL), NAME);
    CHECK_INT(rig_probe(l), HF_OK);
    for (int i = 0; i < c.len; i++) cluster_rig_kill(&c, i);
    for (int i = 0; i < 3; i++) {
        int64_t began = rig_now_ms();
        CHECK_INT(hf_lock_acquire(l, &o, NULL, &err), HF_UNAVAILABLE);
        CHECK(rig_now_ms() - began < 8000);
        CHECK(strstr(err.text, "redis") != NULL);
    }
    for (int i = 0; i < c.len; i++) cluster_rig_restart(&c, i);
    cluster_rig_at(&c, NAME);
    CHECK_INT(
        rig_acquire(rig_lock(patient_client(), NAME), 0, FAILOVER_MS, NULL),
        HF_OK);
    CHECK_INT(rig_acquire(l, 0, 1000, NULL), HF_TIMEOUT);
}
