/*
 * postgres_member_test.c: a PostgreSQL server as a member of a quorum.  One
 * rule: a restart costs no quarantine where it loses nothing; a promotion, and
 * data that came back from a dump, always do.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/fake_env.h"
#include "lib/lab_check.h"
#include "lib/rig.h"
#include "lib/rig_postgres.h"
#include "lib/server.h"

#define LEASE_US (30 * US_PER_S)

static struct lab_postgres server;
static struct fake_env f;

static void member_begin(void)
{
    static const char *const args[] = {"-c", "fsync=on",
                                       "-c", "full_page_writes=on",
                                       "-c", "restore_command=false",
                                       NULL};
    postgres_begin(&server, args, NULL);
    rig_begin_at(server.url);
    postgres_connect(&f, server.url);
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

static void start_again(void)
{
    fake_close(&f);
    LAB_CHECK(lab_postgres_shutdown(&server, 1));
    LAB_CHECK(lab_postgres_restart(&server));
    postgres_connect(&f, server.url);
}

/* The next start ends a recovery, as the promotion of a standby does. */
static void promotion_prepare(void)
{
    char path[256];
    snprintf(path, sizeof path, "%s",
             lab_postgres_say(&server, "SHOW data_directory"));
    strncat(path, "/recovery.signal", sizeof path - strlen(path) - 1);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    CHECK(fd >= 0);
    CHECK_INT(fchmod(fd, 0666), 0);
    close(fd);
}

TEST(postgres_member, that_starts_again_votes_and_that_is_promoted_waits)
{
    member_begin();
    CHECK_INT(boot(REQ_BOOT_NEW), 0);
    start_again();
    CHECK_INT(boot(0), 0);
    promotion_prepare();
    start_again();
    int64_t left_us = boot(0);
    CHECK(left_us > 0);
    /* Another client does not begin it anew, and cannot end it. */
    CHECK(boot(0) > 0 && boot(0) <= left_us);
    start_again();
    CHECK(boot(0) > 0 && boot(0) <= left_us);
}

/* Loads what a dump has of the table, without a restart. */
static void table_make_anew(void)
{
    LAB_CHECK(lab_postgres_do(
        &server, "ALTER TABLE holdfast_lock RENAME TO dumped;"
                 "CREATE TABLE holdfast_lock (LIKE dumped INCLUDING ALL);"
                 "DROP TABLE dumped"));
}

TEST(postgres_member, whose_table_came_back_from_a_dump_waits)
{
    member_begin();
    CHECK_INT(boot(REQ_BOOT_NEW), 0);
    table_make_anew();
    CHECK(boot(0) > 0);
}

/* As after a dump of another server was loaded: that one's marker came along.
 */
TEST(postgres_member, that_got_the_data_of_another_server_waits)
{
    member_begin();
    CHECK_INT(boot(REQ_BOOT_NEW), 0);
    LAB_CHECK(lab_postgres_do(
        &server, "UPDATE holdfast_meta SET value = regexp_replace(value,"
                 " '(pg-[0-9]+)\\.[0-9]+', '\\1.1') WHERE key = 'boot'"));
    CHECK(strstr(lab_postgres_say(&server, "SELECT value FROM holdfast_meta"
                                           " WHERE key = 'boot'"),
                 ".1.")
          != NULL);
    CHECK(boot(0) > 0);
}

/* Then the timeline and the table are what is compared. */
TEST(postgres_member, whose_user_may_not_read_the_system_votes)
{
    char url[128];
    member_begin();
    LAB_CHECK(lab_postgres_do(
        &server, "REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC;"
                 "CREATE USER few;"
                 "GRANT ALL ON holdfast_lock, holdfast_meta TO few"));
    fake_close(&f);
    snprintf(url, sizeof url, "postgres://few@127.0.0.1:%d/postgres",
             server.port);
    postgres_connect(&f, url);
    CHECK_INT(boot(REQ_BOOT_NEW), 0);
    CHECK(strstr(lab_postgres_say(&server, "SELECT value FROM holdfast_meta"
                                           " WHERE key = 'boot'"),
                 "pg-1.0.")
          != NULL);
    CHECK_INT(boot(0), 0);
    table_make_anew();
    LAB_CHECK(lab_postgres_do(&server, "GRANT ALL ON holdfast_lock TO few"));
    CHECK(boot(0) > 0);
}
