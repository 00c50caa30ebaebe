/*
 * redisson_kinds.c: Redisson's other locks under the name of one of ours.  One
 * rule: only what docs/redis-layout.md promises for them is claimed here.
 */
#include "peer.h"

static struct lab_server server;
static struct peer java, other;

static const char *const kinds[] = {"fair", "spin", "fenced", "nonreentrant"};
#define KINDS_LEN (sizeof kinds / sizeof kinds[0])

TEST(redisson_kinds, what_java_holds_by_any_of_its_locks_we_cannot_take)
{
    peer_begin(&java, &server, 30000);
    hf_client *c = rig_client(NULL);
    for (size_t i = 0; i < KINDS_LEN; i++) {
        const char *kind = kinds[i];
        hf_lock *l = rig_lock(c, kind);
        CHECK_STR(peer_ask(&java, "%s.lock %s %d", kind, kind, PEER_LEASE_MS),
                  "ok");
        CHECK_INT(hf_lock_try(l, NULL, NULL), HF_TAKEN);
        CHECK_STR(peer_ask(&java, "%s.unlock %s", kind, kind), "ok");
        CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    }
}

/* One name, one kind: redisson_rw.c has ours for theirs. */
TEST(redisson_kinds, a_read_write_lock_of_javas_is_a_conflict_for_a_plain_one)
{
    static const char *const sides[] = {"read", "write"};
    peer_begin(&java, &server, 30000);
    hf_client *c = rig_client(NULL);
    for (size_t i = 0; i < 2; i++) {
        hf_lock *l = rig_lock(c, sides[i]);
        CHECK_STR(
            peer_ask(&java, "%s.lock %s %d", sides[i], sides[i], PEER_LEASE_MS),
            "ok");
        CHECK_INT(hf_lock_try(l, NULL, NULL), HF_CONFLICT);
        CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_CONFLICT);
        CHECK_STR(peer_ask(&java, "%s.unlock %s", sides[i], sides[i]), "ok");
        CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    }
}

TEST(redisson_kinds, what_we_hold_java_cannot_take_by_any_exclusive_lock)
{
    peer_begin(&java, &server, 30000);
    hf_client *c = rig_client(NULL);
    for (size_t i = 0; i < KINDS_LEN; i++) {
        const char *kind = kinds[i];
        hf_lock *l = rig_lock(c, kind);
        CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
        CHECK_STR(peer_ask(&java, "%s.try %s 0", kind, kind), "false");
        CHECK_STR(peer_ask(&java, "%s.unlock %s", kind, kind), "not owner");
        CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
        CHECK_STR(peer_ask(&java, "%s.try %s 0", kind, kind), "true");
    }
}

/* Some publish nothing that concerns us: the time left is what we go by. */
TEST(redisson_kinds, our_waiter_gets_it_by_the_end_of_their_lease)
{
    static struct waiter waiters[KINDS_LEN];
    peer_begin(&java, &server, 30000);
    hf_client *c = rig_client(NULL);
    for (size_t i = 0; i < KINDS_LEN; i++) {
        const char *kind = kinds[i];
        CHECK_STR(peer_ask(&java, "%s.lock %s 6000", kind, kind), "ok");
        waiter_start(&waiters[i], &server, rig_lock(c, kind));
    }
    for (size_t i = 0; i < KINDS_LEN; i++)
        CHECK_STR(peer_ask(&java, "%s.unlock %s", kinds[i], kinds[i]), "ok");
    rig_join();
    for (size_t i = 0; i < KINDS_LEN; i++) CHECK_INT(waiters[i].status, HF_OK);
}

TEST(redisson_kinds, our_waiter_is_woken_by_the_nonreentrant_and_the_fenced)
{
    static struct waiter w;
    peer_begin(&java, &server, 30000);
    hf_client *c = rig_client(NULL);
    for (size_t i = 2; i < KINDS_LEN; i++) {
        const char *kind = kinds[i];
        CHECK_STR(peer_ask(&java, "%s.lock %s %d", kind, kind, PEER_LEASE_MS),
                  "ok");
        waiter_start(&w, &server, rig_lock(c, kind));
        int64_t began_ms = rig_now_ms();
        CHECK_STR(peer_ask(&java, "%s.unlock %s", kind, kind), "ok");
        rig_join();
        CHECK_INT(w.status, HF_OK);
        CHECK(w.ended_ms - began_ms < PEER_SOON_MS);
    }
}

/* The spin lock looks again by itself, the others hear of our release. */
TEST(redisson_kinds, javas_waiter_gets_what_we_give_back_long_before_the_lease)
{
    struct hf_acquire_options o =
        rig_options(RIG_TRY, PEER_LEASE_MS, HF_ACQUIRE_FIXED);
    peer_begin(&java, &server, 30000);
    hf_client *c = rig_client(NULL);
    for (size_t i = 1; i < KINDS_LEN; i++) {
        const char *kind = kinds[i];
        hf_lock *l = rig_lock(c, kind);
        CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_OK);
        peer_say(&java, "%s.try %s %d", kind, kind, PEER_LEASE_MS);
        CHECK(peer_hear(&java, 500) == NULL);
        CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
        CHECK_STR(peer_hear(&java, PEER_SOON_MS), "true");
    }
}

TEST(redisson_kinds, what_the_nonreentrant_lock_refuses_itself_changes_nothing)
{
    peer_begin(&java, &server, 30000);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_STR(peer_ask(&java, "nonreentrant.lock a %d", PEER_LEASE_MS), "ok");
    const char *again = peer_ask(&java, "nonreentrant.try a 0");
    CHECK(!test_same_text(again, "true"));
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_TAKEN);
    CHECK_STR(peer_ask(&java, "nonreentrant.unlock a"), "ok");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
}

/* As Redisson's spin lock does: no message is asked for. */
TEST(redisson_kinds, our_spinning_waiter_gets_what_java_gives_back)
{
    static struct waiter w;
    peer_begin(&java, &server, 30000);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_STR(peer_ask(&java, "lock a %d", PEER_LEASE_MS), "ok");
    waiter_start_polling(&w, l, HF_BACKOFF_EXPONENTIAL);
    CHECK_INT(peer_waiters(&server, "a"), 0);
    int64_t began_ms = rig_now_ms();
    CHECK_STR(peer_ask(&java, "unlock a"), "ok");
    rig_join();
    CHECK_INT(w.status, HF_OK);
    CHECK(w.ended_ms - began_ms < PEER_SOON_MS);
}

static int is_queued(void *arg)
{
    (void)arg;
    return redis_number(&server, "LLEN redisson_lock_queue:{a}") == 1;
}

TEST(redisson_kinds, our_break_wakes_javas_fair_waiter)
{
    int was_locked = 0;
    peer_begin(&java, &server, 30000);
    peer_start(&other, &server, 30000);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_STR(peer_ask(&java, "fair.lock a %d", PEER_LEASE_MS), "ok");
    peer_say(&other, "fair.try a %d", PEER_LEASE_MS);
    CHECK(rig_until(is_queued, NULL));
    CHECK(peer_hear(&other, 300) == NULL);
    CHECK_INT(hf_lock_break(l, &was_locked, NULL), HF_OK);
    CHECK_INT(was_locked, 1);
    const char *answer = peer_hear(&other, PEER_SOON_MS);
    CHECK_STR(answer ? answer : "no answer", "true");
}

TEST(redisson_kinds, a_group_of_values_is_a_conflict_both_ways)
{
    peer_begin(&java, &server, 30000);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_STR(peer_ask(&java, "group.try a 0 %d", PEER_LEASE_MS), "true");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_CONFLICT);
    CHECK_INT(hf_lock_break(l, NULL, NULL), HF_CONFLICT);
    CHECK_STR(peer_ask(&java, "group.unlock a"), "ok");
    /* Redisson grants it on a name that we have: both have it, and both give
     * back what is theirs. */
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&java, "group.try a 0 %d", PEER_LEASE_MS), "true");
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_CONFLICT);
    CHECK_STR(peer_ask(&java, "group.unlock a"), "ok");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
}
