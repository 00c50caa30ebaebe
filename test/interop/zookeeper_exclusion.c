/*
 * zookeeper_exclusion.c: one lock for both sides.  One rule: what one side
 * holds, the other cannot get, and gets when it is given back.
 */
#include "zookeeper_beside.h"

ZOOKEEPER_TEST(exclusion, what_it_holds_we_cannot_take)
{
    CHECK_STR(peer_ask(&t->there, "lock %s %d", t->name, PEER_LEASE_MS), "ok");
    CHECK_INT(hf_lock_try(t->lock, NULL, NULL), HF_TAKEN);
    CHECK_INT(rig_acquire(t->lock, 0, 1000, NULL), HF_TIMEOUT);
    CHECK_INT(hf_lock_release(t->lock, NULL, NULL), HF_NOT_OWNER);
    CHECK_STR(peer_ask(&t->there, "unlock %s", t->name), "ok");
    CHECK_INT(hf_lock_try(t->lock, NULL, NULL), HF_OK);
}

ZOOKEEPER_TEST(exclusion, what_we_hold_it_cannot_take)
{
    CHECK_INT(hf_lock_try(t->lock, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&t->there, "try %s 1000 %d", t->name, PEER_LEASE_MS),
              "false");
    CHECK_STR(peer_ask(&t->there, "unlock %s", t->name), "not owner");
    CHECK_INT(hf_lock_release(t->lock, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&t->there, "try %s 20000 %d", t->name, PEER_LEASE_MS),
              "true");
    CHECK_INT(hf_lock_try(t->lock, NULL, NULL), HF_TAKEN);
}

ZOOKEEPER_TEST(exclusion, another_name_is_another_lock)
{
    CHECK_STR(peer_ask(&t->there, "lock %sb %d", t->name, PEER_LEASE_MS), "ok");
    CHECK_INT(hf_lock_try(t->lock, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&t->there, "unlock %sb", t->name), "ok");
}

ZOOKEEPER_TEST(exclusion, a_path_of_more_levels_is_another_chroot)
{
    char deeper[160];
    CHECK_STR(peer_ask(&t->there, "lock app/%s %d", t->name, PEER_LEASE_MS),
              "ok");
    CHECK_INT(hf_lock_try(t->lock, NULL, NULL), HF_OK);
    snprintf(deeper, sizeof deeper, "%s/locks/app", t->server.url);
    hf_lock *l = rig_lock(rig_client_at(deeper, NULL), t->name);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_TAKEN);
    CHECK_STR(peer_ask(&t->there, "unlock app/%s", t->name), "ok");
    CHECK_INT(rig_until_free(l), 1);
}

ZOOKEEPER_TEST(exclusion, re_entry_is_its_own_affair)
{
    hf_hold *inner = NULL;
    CHECK_INT(hf_lock_try(t->lock, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_try(t->lock, &inner, NULL), HF_OK);
    CHECK_INT(hf_hold_release(inner, NULL), HF_OK);
    CHECK_STR(peer_ask(&t->there, "try %s 1000 %d", t->name, PEER_LEASE_MS),
              "false");
    CHECK_INT(hf_lock_release(t->lock, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&t->there, "try %s 20000 %d", t->name, PEER_LEASE_MS),
              "true");
}
