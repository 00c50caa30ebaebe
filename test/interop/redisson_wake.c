/*
 * redisson_wake.c: a waiter on one side is woken by the other.  One rule: the
 * lease is far longer than the wait that is allowed, so that it can only have
 * been the message.
 */
#include "peer.h"

static struct lab_server server;
static struct peer java, other;

/* Names that put the channel where Redisson's rule puts it, or nowhere. */
static const char *const names[] = {"plain", "{tag}:job", "job:{tag}",
                                    "half{open", "closed}only"};
#define NAMES_LEN (sizeof names / sizeof names[0])

static struct waiter w;

/* It was `began_ms` when the lock was given back. */
static void waiter_check(int64_t began_ms)
{
    rig_join();
    CHECK_INT(w.status, HF_OK);
    CHECK(w.ended_ms - began_ms < PEER_SOON_MS);
    CHECK_INT(hf_hold_release(w.hold, NULL), HF_OK);
}

TEST(redisson_wake, our_waiter_gets_what_java_gives_back)
{
    peer_begin(&java, &server, 30000);
    hf_client *c = rig_client(NULL);
    for (size_t i = 0; i < NAMES_LEN; i++) {
        CHECK_STR(peer_ask(&java, "lock %s %d", names[i], PEER_LEASE_MS), "ok");
        waiter_start(&w, &server, rig_lock(c, names[i]));
        int64_t began_ms = rig_now_ms();
        CHECK_STR(peer_ask(&java, "unlock %s", names[i]), "ok");
        waiter_check(began_ms);
    }
}

TEST(redisson_wake, javas_waiter_gets_what_we_give_back)
{
    struct hf_acquire_options o = rig_options(RIG_TRY, PEER_LEASE_MS, 0);
    peer_begin(&java, &server, 30000);
    hf_client *c = rig_client(NULL);
    for (size_t i = 0; i < NAMES_LEN; i++) {
        hf_lock *l = rig_lock(c, names[i]);
        CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_OK);
        peer_say(&java, "try %s %d", names[i], PEER_LEASE_MS);
        CHECK(peer_until_waiters(&server, names[i], 1));
        CHECK(peer_hear(&java, 100) == NULL);
        CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
        CHECK_STR(peer_hear(&java, PEER_SOON_MS), "true");
        CHECK_STR(peer_ask(&java, "unlock %s", names[i]), "ok");
    }
}

TEST(redisson_wake, our_break_frees_javas_lock_and_wakes_javas_waiter)
{
    int was_locked = 0;
    peer_begin(&java, &server, 30000);
    peer_start(&other, &server, 30000);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_STR(peer_ask(&java, "lock a %d", PEER_LEASE_MS), "ok");
    peer_say(&other, "try a %d", PEER_LEASE_MS);
    CHECK(peer_until_waiters(&server, "a", 1));
    CHECK(peer_hear(&other, 100) == NULL);
    CHECK_INT(hf_lock_break(l, &was_locked, NULL), HF_OK);
    CHECK_INT(was_locked, 1);
    CHECK_STR(peer_hear(&other, PEER_SOON_MS), "true");
    CHECK_STR(peer_ask(&java, "unlock a"), "not owner");
    CHECK_INT(peer_number(&other, "count a"), 1);
}

TEST(redisson_wake, javas_force_unlock_wakes_our_waiter)
{
    peer_begin(&java, &server, 30000);
    hf_client *holder = rig_client(NULL), *c = rig_client(NULL);
    struct hf_acquire_options o =
        rig_options(RIG_TRY, PEER_LEASE_MS, HF_ACQUIRE_FIXED);
    CHECK_INT(hf_lock_acquire(rig_lock(holder, "a"), &o, NULL, NULL), HF_OK);
    waiter_start(&w, &server, rig_lock(c, "a"));
    int64_t began_ms = rig_now_ms();
    CHECK_STR(peer_ask(&java, "force a"), "true");
    waiter_check(began_ms);
}

#define HAND_OVERS 50
#define HAND_OVER_MS 4000 /* less than any look without a message takes */

static void hand_over_to_java(hf_lock *l, int64_t *sum_ms)
{
    struct hf_acquire_options o =
        rig_options(RIG_TRY, PEER_LEASE_MS, HF_ACQUIRE_FIXED);
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_OK);
    peer_say(&java, "try a %d %d", PEER_LEASE_MS, PEER_LEASE_MS);
    CHECK(peer_until_waiters(&server, "a", 1));
    rig_pause_ms(20); /* it tries once more after it has subscribed */
    int64_t began_ms = rig_now_ms();
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_STR(peer_hear(&java, HAND_OVER_MS), "true");
    *sum_ms += rig_now_ms() - began_ms;
}

static void hand_over_to_us(hf_lock *l, int64_t *sum_ms)
{
    waiter_start(&w, &server, l);
    int64_t began_ms = rig_now_ms();
    CHECK_STR(peer_ask(&java, "unlock a"), "ok");
    rig_join();
    CHECK_INT(w.status, HF_OK);
    CHECK(w.ended_ms - began_ms < HAND_OVER_MS);
    CHECK_INT(hf_hold_release(w.hold, NULL), HF_OK);
    *sum_ms += w.ended_ms - began_ms;
}

/* What a message costs on this machine is printed, not judged. */
TEST(redisson_wake,
     no_hand_over_back_and_forth_waits_for_anything_but_a_message)
{
    int64_t to_java = 0, to_us = 0;
    peer_begin(&java, &server, 30000);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    for (int i = 0; i < HAND_OVERS; i++) {
        hand_over_to_java(l, &to_java);
        hand_over_to_us(l, &to_us);
    }
    printf("    woken within %.1f ms (Java) and %.1f ms (us) on average\n",
           (double)to_java / HAND_OVERS, (double)to_us / HAND_OVERS);
}
