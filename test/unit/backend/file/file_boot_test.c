/*
 * file_boot_test.c: a directory as a member of a quorum.  One rule: the marker
 * is looked at as a file, never through the code under test.
 */
#include "file_rig.h"

#define QUARANTINE (LEASE_US + 310 * US_PER_MS)

static struct rig a, b;
static const char *dir;

static void begin(void)
{
    dir = dir_make();
    rig_start(&a, dir);
}

static enum verdict boot(struct rig *r, unsigned flags, const char *group)
{
    rig_req(r, VERB_BOOT, group, "a:1", 0, flags);
    r->req.window_us = QUARANTINE;
    return rig_send(r);
}

static enum verdict propose(unsigned flags)
{
    rig_req(&a, VERB_PROPOSE, "x", "a:1", 1, flags);
    a.req.ballot = rig_ballot();
    return rig_send(&a);
}

/* What is in the marker's file; "" if there is none. */
static const char *marker(void)
{
    static char text[512];
    char path[512];
    snprintf(path, sizeof path, "%s/.boot", dir);
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f) fclose(f);
    text[n] = '\0';
    return text;
}

static void marker_write(const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/.boot", dir);
    FILE *f = fopen(path, "w");
    CHECK(f != NULL);
    fputs(text, f);
    CHECK_INT(fclose(f), 0);
}

TEST(file_boot, a_new_directory_gets_a_marker_and_a_quarantine)
{
    begin();
    CHECK_INT(boot(&a, 0, "us"), V_GRANTED);
    CHECK_INT(a.reply.boot->left_us, QUARANTINE);
    CHECK(a.reply.boot->is_new);
    CHECK(!strncmp(marker(), "v1 us ", 6));
}

TEST(file_boot, without_a_marker_no_proposal_of_a_quorum_is_accepted)
{
    begin();
    CHECK_INT(propose(REQ_QUORUM), V_UNSETTLED);
    CHECK_INT(propose(REQ_QUORUM | REQ_DETACHED), V_UNSETTLED);
}

TEST(file_boot, with_a_marker_a_proposal_of_a_quorum_is_accepted)
{
    begin();
    CHECK_INT(boot(&a, REQ_BOOT_NEW, "us"), V_GRANTED);
    CHECK_INT(a.reply.boot->left_us, 0);
    CHECK_INT(propose(REQ_QUORUM), V_GRANTED);
}

TEST(file_boot, another_connection_finds_the_same_life)
{
    char identity[IDENTITY_MAX];
    begin();
    rig_start(&b, dir);
    CHECK_INT(boot(&a, REQ_BOOT_NEW, "us"), V_GRANTED);
    snprintf(identity, sizeof identity, "%s", a.reply.boot->identity);
    CHECK_INT(boot(&b, 0, "us"), V_GRANTED);
    CHECK_INT(b.reply.boot->left_us, 0);
    CHECK_STR(b.reply.boot->identity, identity);
}

TEST(file_boot, two_directories_are_two_nodes)
{
    begin();
    rig_start(&b, dir_make());
    CHECK_INT(boot(&a, 0, "us"), V_GRANTED);
    CHECK_INT(boot(&b, 0, "us"), V_GRANTED);
    CHECK(strcmp(a.reply.boot->identity, b.reply.boot->identity) != 0);
}

TEST(file_boot, another_boot_of_the_host_begins_a_quarantine)
{
    begin();
    marker_write("v1 us another-boot 1700000000000000 30000\n");
    CHECK_INT(boot(&a, 0, "us"), V_GRANTED);
    CHECK_INT(a.reply.boot->left_us, QUARANTINE);
    CHECK(!a.reply.boot->is_new);
}

TEST(file_boot, a_member_of_another_quorum_is_refused)
{
    begin();
    CHECK_INT(boot(&a, REQ_BOOT_NEW, "them"), V_GRANTED);
    CHECK_INT(boot(&a, 0, "us"), V_ERROR);
    CHECK_INT(a.reply.status, HF_CONFLICT);
    CHECK(!strncmp(marker(), "v1 them ", 8));
}

TEST(file_boot, a_directory_with_a_held_lock_is_not_new)
{
    begin();
    CHECK_INT(propose(REQ_SERVER_FENCE | REQ_NO_EXPIRY), V_GRANTED);
    CHECK_INT(boot(&a, REQ_BOOT_NEW, "us"), V_ERROR);
    CHECK_INT(a.reply.status, HF_CONFLICT);
    CHECK_INT(rig_release(&a, "x", "a:1", 1), V_GRANTED);
    CHECK_INT(boot(&a, REQ_BOOT_NEW, "us"), V_GRANTED);
}

TEST(file_boot, a_look_leaves_no_file)
{
    begin();
    CHECK_INT(boot(&a, REQ_BOOT_LOOK, "us"), V_GRANTED);
    CHECK(a.reply.boot->is_new);
    CHECK_STR(marker(), "");
}

TEST(file_boot, half_a_marker_is_none)
{
    begin();
    marker_write("v1 us life 1700000000000000 300");
    CHECK_INT(boot(&a, 0, "us"), V_GRANTED);
    CHECK(a.reply.boot->is_new);
    CHECK_INT(a.reply.boot->left_us, QUARANTINE);
}

TEST(file_boot, what_is_no_marker_is_left_alone)
{
    begin();
    marker_write("mine\n");
    CHECK_INT(boot(&a, 0, "us"), V_ERROR);
    CHECK_INT(a.reply.status, HF_CONFLICT);
    CHECK_STR(marker(), "mine\n");
}
