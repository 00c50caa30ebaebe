/*
 * zookeeper_cut_test.c: the line to a ZooKeeper server breaks, or carries late
 * what was said; and the server goes away and comes back.  One rule: see
 * lib/database_cut.c and lib/database_restart.c.
 */
#include <string.h>

#include "lib/database_cut.h"
#include "lib/database_restart.h"
#include "lib/lab_check.h"
#include "lib/rig.h"

TEST(zookeeper_cut, along_the_servers_first_words)
{
    cut_along(&database_zookeeper_brief, LAB_DOWN, 12, 0);
}

TEST(zookeeper_cut, along_the_clients_first_words)
{
    cut_along(&database_zookeeper_brief, LAB_UP, 12, 0);
}

TEST(zookeeper_cut, all_along_the_servers_answers)
{
    cut_along(&database_zookeeper_brief, LAB_DOWN, 30, 1);
}

TEST(zookeeper_cut, all_along_the_calls)
{
    cut_along(&database_zookeeper_brief, LAB_UP, 30, 1);
}

TEST(zookeeper_cut, a_holder_keeps_its_lock_over_many_cuts)
{
    cut_keeps_a_holder(&database_zookeeper);
}

TEST(zookeeper_cut, a_waiter_whose_line_is_cut_gets_the_lock)
{
    cut_keeps_a_waiter(&database_zookeeper);
}

TEST(zookeeper_cut, a_late_copy_of_a_proposal_takes_no_lock)
{
    cut_late_copy_takes_nothing(&database_zookeeper);
}

TEST(zookeeper_restart, of_a_killed_server_leaves_the_holder_its_lock)
{
    restart_keeps_a_holder(&database_zookeeper, 0);
}

TEST(zookeeper_restart, leaves_a_waiter_waiting_until_the_release)
{
    restart_keeps_a_waiter(&database_zookeeper);
}

/* A Java server takes its time for the first requests. */
static hf_lock *lock_of(int64_t patience_ms)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.timeout_ms = o.patience_ms = patience_ms;
    return rig_lock(rig_client(&o), "a");
}

TEST(zookeeper_restart, is_noticed_by_a_try_as_unavailable)
{
    const struct database *db = &database_zookeeper;
    struct hf_error err = {0};
    rig_begin_at(db->begin());
    CHECK_INT(rig_probe(lock_of(RIG_WAIT_MS)), HF_OK);
    hf_lock *l = lock_of(3000);
    CHECK_INT(rig_probe(l), HF_OK);
    LAB_CHECK(db->shutdown(0));
    CHECK_INT(hf_lock_try(l, NULL, &err), HF_UNAVAILABLE);
    CHECK(strncmp(err.text, "zookeeper://", 12) == 0);
    LAB_CHECK(db->restart());
    /* Nothing of that try is sent now. */
    CHECK_INT(rig_probe(lock_of(RIG_WAIT_MS)), HF_OK);
}

TEST(zookeeper_restart, is_not_needed_after_a_pause)
{
    const struct database *db = &database_zookeeper;
    hf_hold *g = NULL;
    rig_begin_at(db->begin());
    hf_lock *other = lock_of(RIG_WAIT_MS), *l = lock_of(3000);
    CHECK_INT(rig_probe(other), HF_OK);
    CHECK_INT(rig_probe(l), HF_OK);
    LAB_CHECK(db->pause());
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_UNAVAILABLE);
    LAB_CHECK(db->resume());
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, &g), HF_OK);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}
