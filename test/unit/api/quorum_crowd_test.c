/*
 * quorum_crowd_test.c: many threads on one client of a quorum, and members of
 * every kind.
 */
#include <stdio.h>
#include <string.h>

#include "lib/nodes.h"
#include "lib/rig.h"
#include "lib/rig_redis.h"

#define THREADS 64
#define ROUNDS 12

static hf_lock *shared_lock;
static int inside;       /* under the lock, and nothing else */
static long total;       /* the same */
static uint64_t highest; /* the same */
static atomic_int crossed, failed, fallen;

static void take_turns(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        hf_hold *hold = NULL;
        struct hf_acquire_options o = rig_options(RIG_PATIENCE_MS, 0, 0);
        if (hf_lock_acquire(shared_lock, &o, &hold, NULL) != HF_OK) {
            failed++;
            continue;
        }
        if (inside++) crossed++;
        if (hf_hold_fence(hold) <= highest) fallen++;
        highest = hf_hold_fence(hold);
        total++;
        inside--;
        if (hf_hold_release(hold, NULL) != HF_OK) failed++;
    }
}

static void crowd_run(hf_client *c)
{
    inside = 0;
    total = 0;
    highest = 0;
    crossed = failed = fallen = 0;
    shared_lock = rig_lock(c, "crowd");
    for (int i = 0; i < THREADS; i++) rig_spawn(take_turns, NULL);
    rig_join();
    CHECK_INT(failed, 0);
    CHECK_INT(crossed, 0);
    CHECK_INT(fallen, 0);
    CHECK_INT(total, THREADS * ROUNDS);
}

TEST(quorum_crowd, threads_of_one_client_exclude_each_other)
{
    rig_begin_on("quorum:");
    crowd_run(rig_client(NULL));
}

/* A directory, a space of this process and a server. */
TEST(quorum_crowd, members_may_be_of_every_kind)
{
    static struct lab_server r;
    struct hf_quorum_node nodes[3];
    struct hf_error err = {0};
    char url[512];
    int len = 0;
    rig_begin_on("file:");
    redis_begin(&r, NULL);
    rig_client_at("memory:mixed", NULL); /* keeps the space */
    snprintf(url, sizeof url, "quorum:file:%s|memory:mixed|%s", rig_dir(),
             r.url);
    CHECK_INT(nodes_init(url, NULL, nodes, 3, &len, &err), HF_OK);
    crowd_run(rig_client_at(url, NULL));
}

static void on_acquired(hf_lock *lock, int status, hf_hold *hold,
                        const struct hf_error *err, void *user)
{
    (void)lock;
    (void)hold;
    (void)err;
    (void)user;
    if (status != HF_CLOSED) failed++;
    crossed++;
}

TEST(quorum_crowd, closing_ends_those_who_wait)
{
    rig_begin_on("quorum:");
    hf_lock *other = rig_lock(rig_client(NULL), "crowd");
    CHECK_INT(rig_acquire(other, 0, 0, NULL), HF_OK);
    struct hf_acquire_options o = rig_options(RIG_NO_LIMIT, 0, 0);
    hf_client *c = NULL;
    CHECK_INT(hf_client_open(rig_url(), NULL, &c, NULL), HF_OK);
    CHECK_INT(hf_lock_open(c, "crowd", &shared_lock, NULL), HF_OK);
    failed = crossed = 0;
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(
            hf_lock_acquire_start(shared_lock, &o, on_acquired, NULL, NULL),
            HF_OK);
    rig_pause_ms(20); /* some have tried by now, and some have not */
    hf_client_close(c);
    CHECK_INT(crossed, THREADS);
    CHECK_INT(failed, 0);
    CHECK_INT(hf_lock_release(other, NULL, NULL), HF_OK);
}
