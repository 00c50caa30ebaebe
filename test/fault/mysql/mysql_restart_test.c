/*
 * mysql_restart_test.c: the MariaDB server goes away and comes back.  One rule:
 * see lib/database_restart.c.
 */
#include "lib/database_restart.h"
#include "test.h"

TEST(mysql_restart, in_order_leaves_the_holder_its_lock)
{
    restart_keeps_a_holder(&database_mysql, 1);
}

TEST(mysql_restart, of_a_crashed_server_leaves_the_holder_its_lock)
{
    restart_keeps_a_holder(&database_mysql, 0);
}

TEST(mysql_restart, leaves_a_waiter_waiting_until_the_release)
{
    restart_keeps_a_waiter(&database_mysql);
}

TEST(mysql_restart, is_noticed_by_a_try_as_unavailable)
{
    restart_is_noticed_by_a_try(&database_mysql);
}

/* The connection is given up, and the next one, which the kernel accepts, says
 * nothing either. */
TEST(mysql_restart, is_not_needed_by_a_server_that_was_paused)
{
    restart_is_not_needed_after_a_pause(&database_mysql);
}

TEST(mysql_restart, without_its_rows_is_told_to_the_holder)
{
    restart_without_rows_is_told(&database_mysql);
}
