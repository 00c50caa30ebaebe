/*
 * zookeeper_lease.c: holders that die.  One rule: a lock that nobody can give
 * back is free when its session ends, and not before.
 */
#include <signal.h>

#include "lib/holder.h"
#include "zookeeper_beside.h"

#define SHORT_MS 3000 /* a session that ends within the test */

static void its_killed_holder(const char *language)
{
    struct zookeeper_beside *t = zookeeper_beside_begin(language, "session=4m");
    zookeeper_beside_open(t);
    CHECK_STR(peer_ask(&t->there, "lock a %d", SHORT_MS), "ok");
    peer_kill(&t->there);
    CHECK_INT(hf_lock_try(t->lock, NULL, NULL), HF_TAKEN);
    CHECK_INT(rig_acquire(t->lock, 0, RIG_PATIENCE_MS, NULL), HF_OK);
}

TEST(curator_lease, its_killed_holder_keeps_it_for_its_session_only)
{
    its_killed_holder("curator");
}

TEST(gozk_lease, its_killed_holder_keeps_it_for_its_session_only)
{
    its_killed_holder("gozk");
}

static void our_killed_holder(const char *language)
{
    static struct lab_proc p;
    struct zookeeper_beside *t = zookeeper_beside_begin(language, "session=4s");
    struct holder h = {.url = t->url, .name = "a", .lease_ms = 1500};
    holder_start(&p, &h);
    proc_signal(&p, SIGKILL);
    CHECK_INT(proc_wait(&p, RIG_PATIENCE_MS), -SIGKILL);
    CHECK_STR(peer_ask(&t->there, "try a %d %d", RIG_WAIT_MS, PEER_LEASE_MS),
              "true");
}

TEST(curator_lease, it_gets_what_our_killed_holder_had)
{
    our_killed_holder("curator");
}

TEST(gozk_lease, it_gets_what_our_killed_holder_had)
{
    our_killed_holder("gozk");
}
