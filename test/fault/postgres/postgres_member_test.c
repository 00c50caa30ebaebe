/*
 * postgres_member_test.c: a PostgreSQL server as a member of a quorum.  One
 * rule: a restart costs no quarantine where it loses nothing, and a promotion
 * always does.
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
