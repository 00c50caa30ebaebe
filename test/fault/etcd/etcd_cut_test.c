/*
 * etcd_cut_test.c: the line to an etcd server breaks, or carries late what was
 * said.  One rule: see lib/database_cut.c.
 */
#include "lib/database_cut.h"
#include "test.h"

TEST(etcd_cut, along_the_servers_first_words)
{
    cut_along(&database_etcd, LAB_DOWN, 8, 0);
}

TEST(etcd_cut, along_the_clients_first_words)
{
    cut_along(&database_etcd, LAB_UP, 8, 0);
}

TEST(etcd_cut, all_along_the_servers_replies)
{
    cut_along(&database_etcd, LAB_DOWN, 16, 1);
}

TEST(etcd_cut, all_along_the_calls)
{
    cut_along(&database_etcd, LAB_UP, 16, 1);
}

TEST(etcd_cut, a_holder_keeps_its_lock_over_many_cuts)
{
    cut_keeps_a_holder(&database_etcd);
}

TEST(etcd_cut, a_waiter_whose_line_is_cut_gets_the_lock)
{
    cut_keeps_a_waiter(&database_etcd);
}

/* The connection's generation has changed by then. */
TEST(etcd_cut, a_late_copy_of_a_proposal_takes_no_lock)
{
    cut_late_copy_takes_nothing(&database_etcd);
}
