/*
 * string_release.c: what happens when one side gives back.  One rule: a release
 * frees its own hold at once, and never another's.
 */
#include "library.h"

#define LEASE_MS 2000 /* ends within the test, but not within one answer */
#define LOOK_MS 4000  /* less than the longest sleep of a waiter */

static void waiter_gets_it(struct library *t, hf_lock *l)
{
    static struct waiter w;
    CHECK_STR(peer_ask(&t->there, "lock a %d", PEER_LEASE_MS), "ok");
    waiter_start_polling(&w, l, HF_BACKOFF_NONE);
    int64_t began_ms = rig_now_ms();
    CHECK_STR(peer_ask(&t->there, "unlock a"), "ok");
    rig_join();
    CHECK_INT(w.status, HF_OK);
    CHECK(w.ended_ms - began_ms < LOOK_MS);
}

LIBRARY_TEST(release, our_waiter_gets_what_it_gives_back)
{
    waiter_gets_it(t, rig_lock(rig_client(NULL), "a"));
}

LIBRARY_TEST(release, our_waiter_without_a_fence_gets_what_it_gives_back)
{
    waiter_gets_it(t, rig_lock(library_client(t, "&fence=off"), "a"));
}

LIBRARY_TEST(release, its_waiter_gets_what_we_give_back)
{
    struct hf_acquire_options o = rig_options(RIG_TRY, PEER_LEASE_MS, 0);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_OK);
    peer_say(&t->there, "lock a %d", PEER_LEASE_MS);
    CHECK(peer_hear(&t->there, 300) == NULL);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_STR(peer_hear(&t->there, PEER_SOON_MS), "ok");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_TAKEN);
}

LIBRARY_TEST(release, it_cannot_unlock_what_we_took_after_its_lease)
{
    hf_hold *g = NULL;
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_STR(peer_ask(&t->there, "lock a %d", LEASE_MS), "ok");
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &g), HF_OK);
    CHECK_STR(peer_ask(&t->there, "unlock a"), "not owner");
    CHECK_INT(hf_hold_extend(g, 0, NULL), HF_OK);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

LIBRARY_TEST(release, it_cannot_extend_what_we_took_after_its_lease)
{
    struct hf_acquire_options o =
        rig_options(RIG_WAIT_MS, PEER_LEASE_MS, HF_ACQUIRE_FIXED);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_STR(peer_ask(&t->there, "lock a %d", LEASE_MS), "ok");
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&t->there, "extend a 600000"), "not owner");
    CHECK(redis_number(&t->server, "PTTL a") <= PEER_LEASE_MS);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
}

LIBRARY_TEST(release, we_cannot_release_what_it_took_after_our_lease)
{
    struct hf_acquire_options o =
        rig_options(RIG_TRY, LEASE_MS, HF_ACQUIRE_FIXED);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&t->there, "lock a %d", PEER_LEASE_MS), "ok");
    int status = hf_lock_release(l, NULL, NULL);
    CHECK(status == HF_EXPIRED || status == HF_LOST);
    CHECK_STR(peer_ask(&t->there, "extend a %d", PEER_LEASE_MS), "ok");
    CHECK_STR(peer_ask(&t->there, "unlock a"), "ok");
}

/* Ours is a release that is really sent: we still believe that we hold it. */
LIBRARY_TEST(release, we_cannot_release_what_it_took_from_under_us)
{
    struct hf_acquire_options o =
        rig_options(RIG_TRY, PEER_LEASE_MS, HF_ACQUIRE_FIXED);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_OK);
    CHECK_INT(redis_number(&t->server, "DEL a"), 1);
    CHECK_STR(peer_ask(&t->there, "lock a %d", PEER_LEASE_MS), "ok");
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_LOST);
    CHECK_STR(peer_ask(&t->there, "extend a %d", PEER_LEASE_MS), "ok");
    CHECK_STR(peer_ask(&t->there, "unlock a"), "ok");
}

LIBRARY_TEST(release, we_cannot_release_without_a_fence_what_it_took)
{
    struct hf_acquire_options o =
        rig_options(RIG_TRY, PEER_LEASE_MS, HF_ACQUIRE_FIXED);
    hf_lock *l = rig_lock(library_client(t, "&fence=off"), "a");
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_OK);
    CHECK_INT(redis_number(&t->server, "DEL a"), 1);
    CHECK_STR(peer_ask(&t->there, "lock a %d", PEER_LEASE_MS), "ok");
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_LOST);
    CHECK_STR(peer_ask(&t->there, "unlock a"), "ok");
}
