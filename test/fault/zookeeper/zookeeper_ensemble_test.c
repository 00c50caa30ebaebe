/*
 * zookeeper_ensemble_test.c: an ensemble of three whose leader is killed or
 * stopped while clients take one lock in turn.  One rule: whatever happens to
 * the servers, the lock has one holder, and its fences rise.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "lib/lab_check.h"
#include "lib/rig.h"
#include "lib/rig_zookeeper.h"

#define CLIENTS 3
#define ENOUGH 15 /* grants between two faults */

static struct lab_zookeeper all[LAB_ZOOKEEPER_SERVERS];

static struct {
    atomic_int stop, grants;
    pthread_mutex_t mutex; /* for what follows */
    int overlaps, falls, lost;
    uint64_t fence;
    hf_hold *inside[CLIENTS];
    hf_lock *locks[CLIENTS];
} crowd = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static const char *urls(void)
{
    static char url[256];
    snprintf(url, sizeof url,
             "zookeeper://127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d/e"
             "?chroot=create&session=3s",
             all[0].port, all[1].port, all[2].port);
    return url;
}

/* A holder from before that is still inside must have been told that it
 * is lost; and a token that is used is above all others. */
static void enter(int me, hf_hold *g)
{
    pthread_mutex_lock(&crowd.mutex);
    for (int i = 0; i < CLIENTS; i++)
        if (crowd.inside[i] && hf_hold_state(crowd.inside[i]) != HF_STATE_LOST
            && hf_hold_state(g) != HF_STATE_LOST)
            crowd.overlaps++;
    if (hf_hold_state(g) != HF_STATE_LOST) {
        crowd.falls += hf_hold_fence(g) <= crowd.fence;
        crowd.fence = hf_hold_fence(g);
    }
    crowd.inside[me] = g;
    pthread_mutex_unlock(&crowd.mutex);
}

static void leave(int me, hf_hold *g)
{
    pthread_mutex_lock(&crowd.mutex);
    crowd.inside[me] = NULL;
    crowd.lost += hf_hold_state(g) == HF_STATE_LOST;
    pthread_mutex_unlock(&crowd.mutex);
}

static void crowd_run(void *arg)
{
    hf_lock *const *l = arg;
    int me = (int)(l - crowd.locks);
    struct hf_acquire_options o = rig_options(5000, 1500, 0);
    while (!atomic_load(&crowd.stop)) {
        hf_hold *g = NULL;
        if (hf_lock_acquire(*l, &o, &g, NULL) != HF_OK) continue;
        enter(me, g);
        rig_pause_ms(2);
        leave(me, g);
        atomic_fetch_add(&crowd.grants, 1);
        hf_hold_release(g, NULL);
    }
}

static void crowd_begin(void)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.timeout_ms = 1000;
    o.patience_ms = 10000;
    zookeeper_begin_all(all);
    rig_begin_at(urls());
    atomic_store(&crowd.stop, 0);
    atomic_store(&crowd.grants, 0);
    crowd.overlaps = crowd.falls = crowd.lost = 0;
    crowd.fence = 0;
    for (int i = 0; i < CLIENTS; i++) {
        crowd.locks[i] = rig_lock(rig_client(&o), "a");
        rig_spawn(crowd_run, &crowd.locks[i]);
    }
}

static int has_gone_on(void *arg)
{
    return atomic_load(&crowd.grants) >= *(int *)arg;
}

static void goes_on(void)
{
    int wanted = atomic_load(&crowd.grants) + ENOUGH;
    CHECK(rig_until(has_gone_on, &wanted));
}

static int leads(void *arg)
{
    struct lab_zookeeper **leader = arg;
    *leader = lab_zookeeper_leader(all);
    return *leader != NULL;
}

static struct lab_zookeeper *leader_of(void)
{
    static struct lab_zookeeper *leader;
    CHECK(rig_until(leads, &leader));
    return leader;
}

static void crowd_end(void)
{
    atomic_store(&crowd.stop, 1);
    rig_join();
    printf("    %d grants, %d lost\n", atomic_load(&crowd.grants), crowd.lost);
    CHECK_INT(crowd.overlaps, 0);
    CHECK_INT(crowd.falls, 0);
}

TEST(zookeeper_ensemble, goes_on_when_its_leader_is_killed)
{
    crowd_begin();
    for (int i = 0; i < 2; i++) {
        goes_on();
        struct lab_zookeeper *leader = leader_of();
        LAB_CHECK(lab_zookeeper_kill(leader));
        goes_on();
        LAB_CHECK(lab_zookeeper_restart(leader, 1));
    }
    goes_on();
    crowd_end();
}

/* Stopped, it still has its clients, and thinks that it leads when it is woken.
 */
TEST(zookeeper_ensemble, goes_on_when_its_leader_is_stopped)
{
    crowd_begin();
    for (int i = 0; i < 2; i++) {
        goes_on();
        struct lab_zookeeper *leader = leader_of();
        LAB_CHECK(lab_zookeeper_pause(leader));
        goes_on();
        LAB_CHECK(lab_zookeeper_resume(leader));
        goes_on();
    }
    crowd_end();
}
