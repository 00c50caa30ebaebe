/*
 * etcd_cluster_test.c: a cluster of three whose leader is killed or stopped.
 * One rule: a holder of the lock is alone, and fences rise.
 */
#include <stdio.h>
#include <string.h>

#include "lib/lab_check.h"
#include "lib/rig.h"
#include "lib/rig_etcd.h"

#define ROUNDS 4
#define WORKERS 3

static struct lab_etcd cluster[LAB_ETCDS];

static struct {
    atomic_int stop, inside, overlaps, falls, done;
    uint64_t fence;
    hf_lock *locks[WORKERS];
    atomic_int next;
} crowd;

static void begin(void)
{
    char url[160];
    etcds_begin(cluster);
    snprintf(url, sizeof url, "etcd://127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d/",
             cluster[0].port, cluster[1].port, cluster[2].port);
    rig_begin_at(url);
}

static hf_client *client(void)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.timeout_ms = 1500;
    o.patience_ms = RIG_PATIENCE_MS;
    o.lease_ms = 4000;
    return rig_client(&o);
}

static void worker_run(void *arg)
{
    (void)arg;
    hf_lock *l = crowd.locks[atomic_fetch_add(&crowd.next, 1)];
    hf_hold *g;
    while (!atomic_load(&crowd.stop)) {
        if (rig_acquire(l, hf_holder_new(), RIG_WAIT_MS, &g) != HF_OK) continue;
        if (atomic_fetch_add(&crowd.inside, 1) != 0)
            atomic_fetch_add(&crowd.overlaps, 1);
        uint64_t fence = hf_hold_fence(g);
        if (fence <= crowd.fence) atomic_fetch_add(&crowd.falls, 1);
        crowd.fence = fence;
        rig_pause_ms(1);
        atomic_fetch_sub(&crowd.inside, 1);
        if (hf_hold_release(g, NULL) == HF_OK) atomic_fetch_add(&crowd.done, 1);
    }
}

static int has_leader(void *arg)
{
    (void)arg;
    return lab_etcds_leader(cluster) >= 0;
}

static int leader_await(void)
{
    CHECK(rig_until(has_leader, NULL));
    int leader = lab_etcds_leader(cluster);
    return leader >= 0 ? leader : 0;
}

static int more_done(void *arg)
{
    return atomic_load(&crowd.done) > *(const int *)arg + 10;
}

static void crowd_goes_on(void)
{
    int before = atomic_load(&crowd.done);
    CHECK(rig_until(more_done, &before));
}

static void crowd_begin(int kind)
{
    struct hf_lock_options o = HF_LOCK_OPTIONS_INIT;
    o.kind = kind;
    begin();
    memset(&crowd, 0, sizeof crowd);
    for (int i = 0; i < WORKERS; i++) {
        crowd.locks[i] = rig_lock_as(client(), "a", &o);
        rig_spawn(worker_run, NULL);
    }
    crowd_goes_on();
}

static void crowd_check(void)
{
    atomic_store(&crowd.stop, 1);
    rig_join();
    CHECK_INT(atomic_load(&crowd.overlaps), 0);
    CHECK_INT(atomic_load(&crowd.falls), 0);
}

static void leader_is_killed(int kind)
{
    crowd_begin(kind);
    for (int i = 0; i < ROUNDS; i++) {
        int leader = leader_await();
        LAB_CHECK(lab_etcd_kill(&cluster[leader]));
        crowd_goes_on();
        LAB_CHECK(lab_etcd_restart(&cluster[leader]));
    }
    crowd_check();
}

static void leader_is_stopped(int kind)
{
    crowd_begin(kind);
    for (int i = 0; i < ROUNDS; i++) {
        int leader = leader_await();
        LAB_CHECK(lab_etcd_pause(&cluster[leader]));
        crowd_goes_on();
        LAB_CHECK(lab_etcd_resume(&cluster[leader]));
    }
    crowd_check();
}

TEST(etcd_cluster, whose_leader_is_killed_lets_one_in_at_a_time)
{
    leader_is_killed(HF_KIND_PLAIN);
}

TEST(etcd_cluster, whose_leader_is_stopped_lets_one_in_at_a_time)
{
    leader_is_stopped(HF_KIND_PLAIN);
}

/* In a cell, whose clock is made anew by each leader. */
TEST(etcd_cluster, whose_leader_is_killed_lets_one_writer_in_at_a_time)
{
    leader_is_killed(HF_KIND_WRITE);
}

TEST(etcd_cluster, whose_leader_is_stopped_lets_one_writer_in_at_a_time)
{
    leader_is_stopped(HF_KIND_WRITE);
}

TEST(etcd_cluster, whose_leader_is_killed_leaves_the_holder_its_lock)
{
    hf_hold *g;
    begin();
    hf_lock *l = rig_lock(client(), "a");
    hf_lock *other = rig_lock(client(), "a");
    struct hf_acquire_options o = rig_renewed(RIG_TRY);
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    LAB_CHECK(lab_etcd_kill(&cluster[leader_await()]));
    for (int i = 0; i < 3; i++) {
        CHECK(rig_until_renewed(l, 0, 1));
        CHECK_INT(rig_probe(other), HF_TAKEN);
    }
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}
