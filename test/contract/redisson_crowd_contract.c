/*
 * redisson_crowd_contract.c: the crowds of Redisson's tests of its plain lock,
 * and of its heavy test.  One rule: each thread gets the lock every time,
 * alone, and the lock of each holder is renewed.
 */
#include <string.h>

#include "lib/crowd.h"

#define LONG_WAIT_MS (3 * RIG_PATIENCE_MS)

static struct crowd crowd;

/* testConcurrency_SingleInstance */
TEST(redisson_crowd, fifteen_threads_of_one_client_all_get_it)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "crowd");
    crowd.members = 15;
    crowd.rounds = 1;
    crowd.hold_ms = 5;
    crowd.how = rig_options(LONG_WAIT_MS, 0, 0);
    for (int i = 0; i < crowd.members; i++) crowd.locks[i] = l;
    crowd_run(&crowd);
}

/* testConcurrencyLoop_MultiInstance: with holds of 1 ms instead of 10. */
TEST(redisson_crowd, sixteen_clients_get_it_a_hundred_times_each)
{
    rig_begin();
    crowd.members = 16;
    crowd.rounds = 100;
    crowd.hold_ms = 1;
    crowd.how = rig_options(LONG_WAIT_MS, 0, 0);
    for (int i = 0; i < crowd.members; i++)
        crowd.locks[i] = rig_lock(rig_client(NULL), "crowd");
    crowd_run(&crowd);
}

/* testConcurrency_MultiInstance */
TEST(redisson_crowd, a_hundred_clients_get_it_once_each)
{
    rig_begin();
    crowd.members = 100;
    crowd.rounds = 1;
    crowd.hold_ms = 0;
    crowd.how = rig_options(LONG_WAIT_MS, 0, 0);
    for (int i = 0; i < crowd.members; i++)
        crowd.locks[i] = rig_lock(rig_client(NULL), "crowd");
    crowd_run(&crowd);
}

#define KEEPERS 16
#define KEEPER_ROUNDS 500

struct keeper {
    hf_lock *lock;
    int index;
    hf_hold *hold;
    int unkept; /* granted, but not held and valid by the local clock */
    int lost;   /* not renewed, or not held any more */
    int errors;
};

static int keeper_get(struct keeper *k)
{
    struct hf_acquire_options o = rig_renewed(RIG_TRY);
    int status = hf_lock_acquire(k->lock, &o, &k->hold, NULL);
    if (status != HF_TAKEN) return status;
    o = rig_renewed(LONG_WAIT_MS);
    return hf_lock_acquire(k->lock, &o, &k->hold, NULL);
}

static int keeper_holds(const struct keeper *k)
{
    return hf_hold_state(k->hold) == HF_STATE_HELD
           && hf_hold_valid_ms(k->hold) > 0;
}

static void keeper_run(void *arg)
{
    struct keeper *k = arg;
    for (int i = 0; i < KEEPER_ROUNDS; i++) {
        if (keeper_get(k) != HF_OK) {
            k->errors++;
            continue;
        }
        if (!keeper_holds(k)) k->unkept++;
        if (i == k->index * KEEPER_ROUNDS / KEEPERS) {
            int is_renewed = rig_until_renewed(k->lock, 0, 5);
            if (!is_renewed || !keeper_holds(k)) k->lost++;
        }
        if (hf_hold_release(k->hold, NULL) != HF_OK) k->errors++;
    }
}

/* testConcurrencyTryLockUnLock: the watchdog renews the lock of each holder.
 * One round of each thread, a different one for each, lasts for five
 * renewals. */
TEST(redisson_crowd, sixteen_threads_never_hold_what_is_not_renewed)
{
    static struct keeper keepers[KEEPERS];
    rig_begin();
    hf_client *c = rig_client(NULL);
    for (int i = 0; i < KEEPERS; i++) {
        char name[16];
        snprintf(name, sizeof name, "keep-%d", i / 2);
        keepers[i] = (struct keeper){.lock = rig_lock(c, name), .index = i};
        rig_spawn(keeper_run, &keepers[i]);
    }
    rig_join();
    for (int i = 0; i < KEEPERS; i++) {
        CHECK_INT(keepers[i].errors, 0);
        CHECK_INT(keepers[i].unkept, 0);
        CHECK_INT(keepers[i].lost, 0);
    }
}

/* RedissonLockHeavyTest: the same work by few threads and by many, on locks of
 * their own and one that all share. */
struct toiler {
    hf_lock *own, *shared;
    int rounds;
    int errors;
};

static void toiler_run(void *arg)
{
    struct toiler *t = arg;
    for (int i = 0; i < t->rounds; i++) {
        hf_lock *l = i % 4 ? t->own : t->shared;
        int status = rig_acquire(l, 0, LONG_WAIT_MS, NULL);
        if (status == HF_OK) status = hf_lock_try(l, NULL, NULL);
        if (status == HF_OK) status = hf_lock_release(l, NULL, NULL);
        if (status == HF_OK) status = hf_lock_release(l, NULL, NULL);
        if (status != HF_OK) t->errors++;
    }
}

static void toil(hf_client *c, int threads, int rounds)
{
    static struct toiler toilers[20];
    for (int i = 0; i < threads; i++) {
        char name[24];
        snprintf(name, sizeof name, "own-%d-%d", threads, i);
        toilers[i] = (struct toiler){rig_lock(c, name), rig_lock(c, "shared"),
                                     rounds / threads, 0};
        rig_spawn(toiler_run, &toilers[i]);
    }
    rig_join();
    for (int i = 0; i < threads; i++) CHECK_INT(toilers[i].errors, 0);
}

TEST(redisson_crowd, two_to_twenty_threads_finish_their_loops)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    toil(c, 2, 1000);
    toil(c, 10, 1000);
    toil(c, 20, 1000);
}
