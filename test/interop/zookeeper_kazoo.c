/*
 * zookeeper_kazoo.c: kazoo, whose nodes have other names.  One rule:
 * docs/how-to/zookeeper.md says that it must not be mixed with us, and here is
 * why.
 */
#include "zookeeper_beside.h"

/* It looks for its own names only; we wait for every node that has a number. */
TEST(kazoo_lock, takes_what_we_hold)
{
    struct zookeeper_beside *t = zookeeper_beside_begin("kazoo", "session=4m");
    zookeeper_beside_open(t);
    CHECK_INT(hf_lock_try(t->lock, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&t->there, "try a 20000 %d", PEER_LEASE_MS), "true");
    CHECK_INT(hf_lock_release(t->lock, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_try(t->lock, NULL, NULL), HF_TAKEN);
    CHECK_STR(peer_ask(&t->there, "unlock a"), "ok");
}
