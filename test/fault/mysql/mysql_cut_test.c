/*
 * mysql_cut_test.c: the line to a MariaDB server breaks, or carries late what
 * was said.  One rule: see lib/database_cut.c.
 */
#include "lib/database_cut.h"
#include "test.h"

TEST(mysql_cut, along_the_servers_first_words)
{
    cut_along(&database_mysql, LAB_DOWN, 12, 0);
}

TEST(mysql_cut, along_the_clients_first_words)
{
    cut_along(&database_mysql, LAB_UP, 12, 0);
}

TEST(mysql_cut, all_along_the_servers_replies)
{
    cut_along(&database_mysql, LAB_DOWN, 60, 1);
}

TEST(mysql_cut, all_along_the_statements)
{
    cut_along(&database_mysql, LAB_UP, 30, 1);
}

TEST(mysql_cut, a_holder_keeps_its_lock_over_many_cuts)
{
    cut_keeps_a_holder(&database_mysql);
}

TEST(mysql_cut, a_waiter_whose_line_is_cut_gets_the_lock)
{
    cut_keeps_a_waiter(&database_mysql);
}

TEST(mysql_cut, a_late_copy_of_a_proposal_takes_no_lock)
{
    cut_late_copy_takes_nothing(&database_mysql);
}
