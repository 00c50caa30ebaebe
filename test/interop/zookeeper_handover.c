/*
 * zookeeper_handover.c: waiting for the other side.  One rule: both sides wait
 * in one queue, and are served in its order.
 */
#include "zookeeper_beside.h"

static struct waiter ours;

ZOOKEEPER_TEST(handover, our_waiter_gets_what_it_gives_back)
{
    hf_lock *l = zookeeper_beside_another(t);
    CHECK_STR(peer_ask(&t->there, "lock %s %d", t->name, PEER_LEASE_MS), "ok");
    waiter_start_queued(&ours, l, 1);
    CHECK_INT(ours.ended_ms, 0);
    CHECK_STR(peer_ask(&t->there, "unlock %s", t->name), "ok");
    rig_join();
    CHECK_INT(ours.status, HF_OK);
}

ZOOKEEPER_TEST(handover, its_waiter_gets_what_we_give_back)
{
    CHECK_INT(hf_lock_try(t->lock, NULL, NULL), HF_OK);
    peer_say(&t->there, "lock %s %d", t->name, PEER_LEASE_MS);
    CHECK(lock_until_queued(t->lock, 1));
    CHECK(peer_waits(&t->there));
    CHECK_INT(hf_lock_release(t->lock, NULL, NULL), HF_OK);
    CHECK_STR(peer_hear(&t->there, RIG_PATIENCE_MS), "ok");
    CHECK_INT(hf_lock_try(t->lock, NULL, NULL), HF_TAKEN);
}

/* Its waiter is before ours, and then behind it. */
ZOOKEEPER_TEST(handover, both_sides_wait_in_one_queue_in_order)
{
    CHECK_INT(hf_lock_try(t->lock, NULL, NULL), HF_OK);
    peer_say(&t->there, "lock %s %d", t->name, PEER_LEASE_MS);
    CHECK(lock_until_queued(t->lock, 1));
    CHECK(peer_waits(&t->there));
    waiter_start_queued(&ours, zookeeper_beside_another(t), 2);
    CHECK_INT(hf_lock_release(t->lock, NULL, NULL), HF_OK);
    CHECK_STR(peer_hear(&t->there, RIG_PATIENCE_MS), "ok");
    CHECK_INT(ours.ended_ms, 0);
    CHECK_STR(peer_ask(&t->there, "unlock %s", t->name), "ok");
    rig_join();
    CHECK_INT(ours.status, HF_OK);
    CHECK_INT(hf_hold_release(ours.hold, NULL), HF_OK);

    CHECK_STR(peer_ask(&t->there, "lock %s %d", t->name, PEER_LEASE_MS), "ok");
    waiter_start_queued(&ours, zookeeper_beside_another(t), 1);
    CHECK_STR(peer_ask(&t->there, "unlock %s", t->name), "ok");
    peer_say(&t->there, "lock %s %d", t->name, PEER_LEASE_MS);
    rig_join();
    CHECK_INT(ours.status, HF_OK);
    CHECK(lock_until_queued(t->lock, 1));
    CHECK(peer_waits(&t->there));
    CHECK_INT(hf_hold_release(ours.hold, NULL), HF_OK);
    CHECK_STR(peer_hear(&t->there, RIG_PATIENCE_MS), "ok");
}

TEST(curator_handover, it_counts_our_holder_and_our_waiter)
{
    struct zookeeper_beside *t =
        zookeeper_beside_begin("curator", "session=4m");
    zookeeper_beside_open(t);
    CHECK_INT(peer_number(&t->there, "participants a"), 0);
    CHECK_INT(hf_lock_try(t->lock, NULL, NULL), HF_OK);
    CHECK_INT(peer_number(&t->there, "participants a"), 1);
    waiter_start_queued(&ours, zookeeper_beside_another(t), 1);
    CHECK_INT(peer_number(&t->there, "participants a"), 2);
    CHECK_INT(hf_lock_release(t->lock, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(ours.status, HF_OK);
}
