/*
 * redis_cluster_storm_test.c: many names and many threads, while slots move to
 * and fro and masters hand over or die.  One rule: a holder by its own
 * library's word is the only one, tokens rise, and every call ends.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/cluster_rig.h"
#include "lib/rig.h"

#define NAMES 24
#define KEPT 4 /* of them, held all the time */
#define CLIENTS 4
#define THREADS 12
#define SHARDS 3
#define ROUNDS 6
#define LEASE_MS 4000
#define WAIT_MS 6000
#define LATE_MS 10000 /* beyond its deadline; the machine may be busy */

static struct lab_cluster c;
static char names[NAMES][16];
static int slots[NAMES];
static int masters[SHARDS]; /* which node of a shard is its master */
static hf_client *clients[CLIENTS];
static hf_hold *kept[KEPT];

/* What the threads saw. */
static struct {
    atomic_int stop, grants, failures, met, stale, late, strange;
    atomic_int inside[NAMES];
    atomic_llong fences[NAMES]; /* the highest that was released */
} seen;

static struct member {
    hf_lock *locks[NAMES];
    unsigned next; /* of its own row of names */
    atomic_int turns;
} members[THREADS];

/* ---- the threads ---- */

static int is_passing(int status)
{
    return status == HF_OK || status == HF_TIMEOUT || status == HF_UNAVAILABLE
           || status == HF_LOST || status == HF_EXPIRED;
}

static void status_count(int status, int64_t began, int64_t limit_ms)
{
    if (rig_now_ms() - began > limit_ms + LATE_MS)
        atomic_fetch_add(&seen.late, 1);
    if (!is_passing(status)) atomic_fetch_add(&seen.strange, 1);
    if (status != HF_OK) atomic_fetch_add(&seen.failures, 1);
}

static void fence_raise(int name, long long fence)
{
    long long was = atomic_load(&seen.fences[name]);
    while (was < fence
           && !atomic_compare_exchange_weak(&seen.fences[name], &was, fence))
        continue;
}

/* Counted as two holders only if both were held all the time, by the word of
 * their library. */
static void hold(hf_hold *mine, int name)
{
    int others = atomic_fetch_add(&seen.inside[name], 1);
    rig_pause_ms(2);
    int is_mine = hf_hold_state(mine) == HF_STATE_HELD;
    atomic_fetch_sub(&seen.inside[name], 1);
    if (others && is_mine) atomic_fetch_add(&seen.met, 1);
}

static void turn_run(hf_lock *l, int name)
{
    hf_hold *grant = NULL;
    long long before = atomic_load(&seen.fences[name]);
    int64_t began = rig_now_ms();
    int status = rig_acquire(l, 0, WAIT_MS, &grant);
    status_count(status, began, WAIT_MS);
    if (status != HF_OK) return;
    if ((long long)hf_hold_fence(grant) <= before)
        atomic_fetch_add(&seen.stale, 1);
    hold(grant, name);
    fence_raise(name, (long long)hf_hold_fence(grant));
    began = rig_now_ms();
    status_count(hf_hold_release(grant, NULL), began, 0);
    atomic_fetch_add(&seen.grants, 1);
}

static void member_run(void *arg)
{
    struct member *m = arg;
    while (!atomic_load(&seen.stop)) {
        m->next = m->next * 1103515245u + 12345u;
        int name = KEPT + (int)(m->next >> 16) % (NAMES - KEPT);
        turn_run(m->locks[name], name);
        atomic_fetch_add(&m->turns, 1);
    }
}

/* ---- what happens to the cluster ---- */

static int is_master(void *arg)
{
    return strstr(redis_say(arg, "ROLE"), "master") != NULL;
}

struct handing {
    struct lab_server *to;
    int64_t again_ms;
};

/* Redis gives a hand-over up that takes five seconds, without a word: it is
 * asked for again. */
static int is_handed_over(void *arg)
{
    struct handing *h = arg;
    if (is_master(h->to)) return 1;
    if (rig_now_ms() < h->again_ms) return 0;
    h->again_ms = rig_now_ms() + 6000;
    redis_say(h->to, "CLUSTER FAILOVER");
    return 0;
}

static int is_in_step(void *arg)
{
    return strstr(redis_say(arg, "INFO replication"), "master_link_status:up")
           != NULL;
}

/* Where this node says that the key is. */
static int port_told(int node, const char *key)
{
    const char *said = redis_say(&c.nodes[node], "EXISTS %s", key);
    const char *colon = strrchr(said, ':');
    if (said[0] != '-') return c.nodes[node].port;
    return colon ? (int)strtol(colon + 1, NULL, 10) : 0;
}

static int is_agreed(void *name)
{
    int port = port_told(0, name);
    for (int i = 1; i < c.len; i++)
        if (port_told(i, name) != port) return 0;
    return port != 0;
}

static int is_settled(void)
{
    for (int i = 0; i < c.len; i++)
        if (!strstr(redis_say(&c.nodes[i], "CLUSTER INFO"), "cluster_state:ok"))
            return 0;
    for (int k = 0; k < NAMES; k++)
        if (!is_agreed(names[k])) return 0;
    return 1;
}

/* Two masters that chose the same epoch may keep the others from learning where
 * a slot is now, for ever: if the nodes do not agree for 2 s, its master takes
 * another epoch. */
static void bump(int i, int name)
{
    if (i % 100 > 0 || is_agreed(names[name])) return;
    redis_say(&c.nodes[cluster_rig_at(&c, names[name])], "CLUSTER BUMPEPOCH");
}

/* A move is over when the replicas know of it, too: a replica that takes over
 * earlier takes slots along that were moved away, and leaves their keys there.
 */
static void spread(int name)
{
    for (int i = 1; !is_agreed(names[name]); i++) {
        if (i > 3000) TEST_FAIL("%s: the nodes do not agree", names[name]);
        rig_pause_ms(20);
        bump(i, name);
    }
}

static void settle(void)
{
    for (int i = 1; !is_settled(); i++) {
        if (i > 3000) TEST_FAIL("the cluster does not settle");
        rig_pause_ms(20);
        for (int k = 0; k < NAMES; k++) bump(i, k);
    }
}

static void slot_move(int name, int from, int to)
{
    int slot = slots[name];
    cluster_rig_move_begin(&c, slot, from, to);
    cluster_rig_move_keys(&c, slot, from, to);
    CHECK_INT(redis_number(&c.nodes[from], "CLUSTER COUNTKEYSINSLOT %d", slot),
              0);
    redis_say(&c.nodes[to], "CLUSTER SETSLOT %d NODE %s", slot, c.ids[to]);
    for (int i = 0; i < SHARDS; i++)
        if (masters[i] != to)
            redis_say(&c.nodes[masters[i]], "CLUSTER SETSLOT %d NODE %s", slot,
                      c.ids[to]);
    spread(name);
}

static void slots_move(int round)
{
    for (int i = round % 3; i < NAMES; i += 3) {
        int shard = cluster_rig_at(&c, names[i]) % SHARDS;
        slot_move(i, masters[shard], masters[(shard + 1) % SHARDS]);
    }
}

static void shard_hand_over(int shard)
{
    int old = masters[shard], new = (old + SHARDS) % (2 * SHARDS);
    CHECK(rig_until(is_in_step, &c.nodes[new]));
    settle();
    struct handing handing = {.to = &c.nodes[new]};
    CHECK(rig_until(is_handed_over, &handing));
    masters[shard] = new;
    CHECK(rig_until(is_in_step, &c.nodes[old]));
    settle();
}

static void shard_kill(int shard)
{
    int old = masters[shard], new = (old + SHARDS) % (2 * SHARDS);
    CHECK(rig_until(is_in_step, &c.nodes[new]));
    settle();
    cluster_rig_kill(&c, old);
    CHECK(rig_until(is_master, &c.nodes[new]));
    masters[shard] = new;
    cluster_rig_restart(&c, old);
    CHECK(rig_until(is_in_step, &c.nodes[old]));
    settle();
}

/* ---- the tests ---- */

/* The threads are joined afterwards, also if the test has failed. */
static void members_stop(void *arg)
{
    (void)arg;
    atomic_store(&seen.stop, 1);
}

static void begin(const char *options)
{
    char url[600];
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    cluster_rig_begin(&c, SHARDS, 1);
    snprintf(url, sizeof url, "%s?%s", c.url, options);
    o.lease_ms = LEASE_MS;
    memset(&seen, 0, sizeof seen);
    for (int i = 0; i < SHARDS; i++) masters[i] = i;
    for (int i = 0; i < NAMES; i++) {
        snprintf(names[i], sizeof names[i], "storm%d", i);
        slots[i] = cluster_rig_slot(&c, names[i]);
    }
    test_cleanup(members_stop, NULL);
    for (int i = 0; i < CLIENTS; i++) clients[i] = rig_client_at(url, &o);
    for (int i = 0; i < KEPT; i++) {
        hf_lock *l = rig_lock(clients[i % CLIENTS], names[i]);
        CHECK_INT(rig_acquire(l, 0, WAIT_MS, &kept[i]), HF_OK);
    }
    for (int i = 0; i < THREADS; i++) {
        members[i].next = (unsigned)i * 7919;
        for (int k = 0; k < NAMES; k++)
            members[i].locks[k] = rig_lock(clients[i % CLIENTS], names[k]);
        rig_spawn(member_run, &members[i]);
    }
}

static int all_have_moved(void *arg)
{
    const int *wanted = arg;
    for (int i = 0; i < THREADS; i++)
        if (atomic_load(&members[i].turns) < wanted[i]) return 0;
    return 1;
}

/* Wait until every thread has made progress. */
static void goes_on(void)
{
    int wanted[THREADS];
    for (int i = 0; i < THREADS; i++)
        wanted[i] = atomic_load(&members[i].turns) + 3;
    if (!rig_until(all_have_moved, wanted)) TEST_FAIL("somebody is stuck");
}

static void end(void)
{
    goes_on();
    atomic_store(&seen.stop, 1);
    rig_join();
    printf("    %d grants, %d failures, %d met, %d stale\n",
           atomic_load(&seen.grants), atomic_load(&seen.failures),
           atomic_load(&seen.met), atomic_load(&seen.stale));
    CHECK_INT(atomic_load(&seen.late), 0);
    CHECK_INT(atomic_load(&seen.strange), 0);
    CHECK_INT(atomic_load(&seen.stale), 0);
    CHECK_INT(atomic_load(&seen.met), 0);
}

static void move_and_hand_over(const char *options)
{
    begin(options);
    for (int i = 0; i < ROUNDS; i++) {
        slots_move(i);
        goes_on();
        shard_hand_over(i % SHARDS);
        goes_on();
    }
    for (int i = 0; i < KEPT; i++)
        CHECK_INT(hf_hold_state(kept[i]), HF_STATE_HELD);
    end();
}

TEST(redis_cluster_storm, of_moves_and_handovers_loses_nothing)
{
    move_and_hand_over("pubsub=sharded&patience=5s");
}

TEST(redis_cluster_storm, of_moves_and_handovers_loses_nothing_by_classic_ones)
{
    move_and_hand_over("pubsub=classic&patience=5s");
}

/* What was granted is with the replica, so no death can give it away. */
TEST(redis_cluster_storm, of_moves_and_deaths_loses_nothing_that_replicas_have)
{
    begin("wait=1&patience=5s");
    for (int i = 0; i < ROUNDS; i++) {
        slots_move(i);
        goes_on();
        shard_kill(i % SHARDS);
        goes_on();
    }
    end();
}
