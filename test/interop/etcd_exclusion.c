/*
 * etcd_exclusion.c: one lock for both sides.  One rule: what one side holds,
 * the other cannot get, and gets when it is given back.
 */
#include "etcd_beside.h"

#define SHORT_MS 2000 /* a lease that ends within the test */

ETCD_TEST(exclusion, what_it_holds_we_cannot_take)
{
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_STR(peer_ask(&t->there, "lock a %d", PEER_LEASE_MS), "ok");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_TAKEN);
    CHECK_INT(rig_acquire(l, 0, 1000, NULL), HF_TIMEOUT);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_NOT_OWNER);
    CHECK_STR(peer_ask(&t->there, "unlock a"), "ok");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
}

ETCD_TEST(exclusion, what_we_hold_it_cannot_take)
{
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&t->there, "try a 0 %d", PEER_LEASE_MS), "false");
    CHECK_STR(peer_ask(&t->there, "try a 1000 %d", PEER_LEASE_MS), "false");
    CHECK_STR(peer_ask(&t->there, "unlock a"), "not owner");
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&t->there, "try a 20000 %d", PEER_LEASE_MS), "true");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_TAKEN);
}

ETCD_TEST(exclusion, another_name_is_another_lock)
{
    hf_client *c = rig_client(NULL);
    CHECK_STR(peer_ask(&t->there, "lock a %d", PEER_LEASE_MS), "ok");
    CHECK_INT(hf_lock_try(rig_lock(c, "ab"), NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&t->there, "unlock a"), "ok");
}

/* ---- handed over ---- */

ETCD_TEST(handover, our_waiter_gets_what_it_gives_back)
{
    static struct waiter w;
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_STR(peer_ask(&t->there, "lock a %d", PEER_LEASE_MS), "ok");
    waiter_start_polling(&w, l, HF_BACKOFF_NONE);
    CHECK_STR(peer_ask(&t->there, "unlock a"), "ok");
    rig_join();
    CHECK_INT(w.status, HF_OK);
}

ETCD_TEST(handover, its_waiter_gets_what_we_give_back)
{
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    peer_say(&t->there, "lock a %d", PEER_LEASE_MS);
    CHECK(lock_until_queued(l, 1));
    CHECK(peer_waits(&t->there));
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_STR(peer_hear(&t->there, RIG_PATIENCE_MS), "ok");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_TAKEN);
}

ETCD_TEST(handover, both_sides_wait_in_one_queue)
{
    static struct waiter w;
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(c, "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    peer_say(&t->there, "lock a %d", PEER_LEASE_MS);
    CHECK(lock_until_queued(l, 1));
    CHECK(peer_waits(&t->there));
    waiter_start_queued(&w, rig_lock(rig_client(NULL), "a"), 2);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_STR(peer_hear(&t->there, RIG_PATIENCE_MS), "ok");
    CHECK_INT(w.ended_ms, 0);
    CHECK_STR(peer_ask(&t->there, "unlock a"), "ok");
    rig_join();
    CHECK_INT(w.status, HF_OK);
}

/* ---- seen, broken, ended ---- */

ETCD_TEST(exclusion, its_lock_is_shown_as_another_programs)
{
    struct hf_info info = HF_INFO_INIT;
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_STR(peer_ask(&t->there, "lock a %d", PEER_LEASE_MS), "ok");
    CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_OK);
    CHECK_INT(info.locked, 1);
    CHECK_INT(info.foreign, 1);
    CHECK_INT(info.mine, 0);
}

ETCD_TEST(exclusion, our_break_takes_its_lock_away)
{
    int was_locked = 0;
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_STR(peer_ask(&t->there, "lock a %d", PEER_LEASE_MS), "ok");
    CHECK_INT(hf_lock_break(l, &was_locked, NULL), HF_OK);
    CHECK_INT(was_locked, 1);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
}

/* A program that is killed: etcdctl is another one than the service. */
TEST(etcd_go_lease, a_killed_holder_keeps_it_for_its_lease_only)
{
    struct etcd_beside *t = etcd_beside_begin("etcd-go");
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_STR(peer_ask(&t->there, "lock a %d", SHORT_MS), "ok");
    peer_kill(&t->there);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_TAKEN);
    CHECK_INT(rig_acquire(l, 0, RIG_PATIENCE_MS, NULL), HF_OK);
}
