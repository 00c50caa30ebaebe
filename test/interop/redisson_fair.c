/*
 * redisson_fair.c: our fair lock beside Redisson's locks on the same name.  One
 * rule: our queued waiters come in order, whichever side held it before them,
 * and Java comes when the queue is empty.
 */
#include "lib/fair.h"
#include "peer.h"

#define WAITERS 3

static struct lab_server server;
static struct peer java;
static struct fair_waiter waiters[WAITERS];
static atomic_int turns;

static void queue_up(int64_t hold_ms)
{
    atomic_store(&turns, 0);
    for (int i = 0; i < WAITERS; i++) {
        waiters[i] =
            (struct fair_waiter){.lock = fair_lock(rig_client(NULL), "a"),
                                 .turns = &turns,
                                 .hold_ms = hold_ms};
        fair_join(&waiters[i]);
    }
}

static void queue_check(void)
{
    rig_join();
    for (int i = 0; i < WAITERS; i++) {
        CHECK_INT(waiters[i].status, HF_OK);
        CHECK_INT(waiters[i].turn, i + 1);
        CHECK_INT(waiters[i].release_status, HF_OK);
    }
}

TEST(redisson_fair, what_java_gives_back_goes_to_our_queue_in_order)
{
    peer_begin(&java, &server, 30000);
    CHECK_STR(peer_ask(&java, "lock a %d", PEER_LEASE_MS), "ok");
    queue_up(20);
    int64_t began_ms = rig_now_ms();
    CHECK_STR(peer_ask(&java, "unlock a"), "ok");
    queue_check();
    CHECK(rig_now_ms() - began_ms < PEER_SOON_MS);
}

TEST(redisson_fair, java_is_kept_out_by_who_was_handed_the_lock)
{
    peer_begin(&java, &server, 30000);
    hf_lock *l = fair_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    queue_up(300);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    for (int i = 0; i < 5 && atomic_load(&turns) < WAITERS; i++)
        CHECK_STR(peer_ask(&java, "try a 0 %d", PEER_LEASE_MS), "false");
    queue_check();
    CHECK_STR(peer_ask(&java, "try a 0 %d", PEER_LEASE_MS), "true");
    CHECK_INT(rig_probe(l), HF_TAKEN);
    CHECK_STR(peer_ask(&java, "unlock a"), "ok");
}

TEST(redisson_fair, javas_waiter_is_woken_when_our_queue_is_empty)
{
    peer_begin(&java, &server, 30000);
    hf_lock *l = fair_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    peer_say(&java, "try a %d", PEER_LEASE_MS);
    CHECK(peer_until_waiters(&server, "a", 1));
    queue_up(50);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_STR(peer_hear(&java, PEER_SOON_MS), "true");
    CHECK_INT(atomic_load(&turns), WAITERS);
    queue_check();
    CHECK_STR(peer_ask(&java, "unlock a"), "ok");
}
