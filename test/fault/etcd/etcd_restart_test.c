/*
 * etcd_restart_test.c: an etcd server goes away and comes back.  One rule: see
 * lib/database_restart.c.
 */
#include "lib/database_restart.h"
#include "test.h"

TEST(etcd_restart, of_a_killed_server_leaves_the_holder_its_lock)
{
    restart_keeps_a_holder(&database_etcd, 0);
}

TEST(etcd_restart, leaves_a_waiter_waiting_until_the_release)
{
    restart_keeps_a_waiter(&database_etcd);
}

TEST(etcd_restart, is_noticed_by_a_try_as_unavailable)
{
    restart_is_noticed_by_a_try(&database_etcd);
}

TEST(etcd_restart, is_not_needed_by_a_server_that_was_paused)
{
    restart_is_not_needed_after_a_pause(&database_etcd);
}

TEST(etcd_restart, without_its_keys_is_told_to_the_holder)
{
    restart_without_rows_is_told(&database_etcd);
}
