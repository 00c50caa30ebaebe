/*
 * mysql_member_test.c: a MariaDB server as a member of a quorum.  One rule: a
 * restart costs no quarantine where it loses nothing; data that came back from
 * a dump, or are of another server, always do.
 */
#include <string.h>

#include "backend/registry.h"
#include "lib/fake_env.h"
#include "lib/lab_check.h"
#include "lib/rig.h"
#include "lib/rig_mysql.h"
#include "lib/server.h"

#define LEASE_US (30 * US_PER_S)

static struct lab_mariadb server;
static struct fake_env f;

static void connection_open(void)
{
    struct hf_error err;
    const struct backend *b = hf__backend_find("mysql", &err);
    if (!b) test_skip("%s", err.text);
    fake_init(&f, b);
    if (fake_open(&f, server.url, &err) != HF_OK) TEST_FAIL("%s", err.text);
    server_wait_link(&f, 1);
}

static void connection_end(void *arg)
{
    (void)arg;
    fake_close(&f);
}

static void member_begin(void)
{
    static const char *const args[] = {"--innodb-flush-log-at-trx-commit=1",
                                       NULL};
    mysql_begin(&server, args);
    rig_begin_at(server.url);
    connection_open();
    test_cleanup(connection_end, NULL);
}

/* Time until the member votes. */
static int64_t boot(unsigned flags)
{
    static struct fake_answer a;
    struct request req = {.verb = VERB_BOOT,
                          .flags = flags,
                          .name = "group",
                          .name_len = 5,
                          .lease_us = LEASE_US,
                          .window_us = LEASE_US + US_PER_S};
    fake_call(&f, &req, &a);
    CHECK_INT(a.reply.verdict, V_GRANTED);
    return a.boot.left_us;
}

TEST(mysql_member, that_starts_again_votes_at_once)
{
    member_begin();
    CHECK_INT(boot(REQ_BOOT_NEW), 0);
    CHECK_INT(boot(0), 0);
    fake_close(&f);
    LAB_CHECK(lab_mariadb_shutdown(&server, 0));
    LAB_CHECK(lab_mariadb_restart(&server));
    connection_open();
    CHECK_INT(boot(0), 0);
}

/* The time at which a table was made is told in seconds. */
TEST(mysql_member, whose_table_came_back_from_a_dump_waits)
{
    member_begin();
    CHECK_INT(boot(REQ_BOOT_NEW), 0);
    LAB_CHECK(lab_mariadb_do(
        &server, "DO SLEEP(1.1);"
                 "CREATE TABLE holdfast.anew LIKE holdfast.holdfast_lock;"
                 "DROP TABLE holdfast.holdfast_lock;"
                 "RENAME TABLE holdfast.anew TO holdfast.holdfast_lock"));
    CHECK(boot(0) > 0);
}

TEST(mysql_member, that_got_the_data_of_another_host_waits)
{
    member_begin();
    CHECK_INT(boot(REQ_BOOT_NEW), 0);
    LAB_CHECK(lab_mariadb_do(
        &server, "UPDATE holdfast.holdfast_meta SET value=REGEXP_REPLACE("
                 "value,'(my-[0-9]+-[0-9]+-)','\\\\1other-')"
                 " WHERE `key`='boot'"));
    CHECK(strstr(lab_mariadb_say(&server,
                                 "SELECT value FROM holdfast.holdfast_meta"
                                 " WHERE `key`='boot'"),
                 "-other-")
          != NULL);
    CHECK(boot(0) > 0);
}
