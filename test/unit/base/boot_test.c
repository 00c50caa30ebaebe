/*
 * boot_test.c: which node may vote, and from when on.
 */
#include "base/boot.h"

#include <string.h>

#include "test.h"

#define NOW INT64_C(1700000000000000)
#define LEASE (30 * US_PER_S)
#define QUARANTINE (LEASE + 310 * US_PER_MS)

static struct marker m;
static struct boot b;
static const char *why;

static int ask_at(int64_t now_us, unsigned flags, const char *group,
                  const char *identity)
{
    struct request req = {.verb = VERB_BOOT,
                          .flags = flags,
                          .name = group,
                          .name_len = strlen(group),
                          .info = "before",
                          .lease_us = LEASE,
                          .window_us = QUARANTINE};
    struct boot_facts facts = {.identity = identity, .now_us = now_us};
    why = NULL;
    return hf__boot_decide(&m, &req, &facts, &b, &why);
}

static int ask(unsigned flags, const char *group, const char *identity)
{
    return ask_at(NOW, flags, group, identity);
}

static void begin(void)
{
    m = (struct marker){0};
}

/* A member that votes. */
static void begin_settled(void)
{
    begin();
    CHECK_INT(ask(REQ_BOOT_NEW, "us", "life-1"), HF_OK);
    CHECK_INT(b.left_us, 0);
}

TEST(boot, a_node_without_a_marker_begins_a_quarantine)
{
    begin();
    CHECK_INT(ask(0, "us", "life-1"), HF_OK);
    CHECK_INT(b.left_us, QUARANTINE);
    CHECK(b.is_new);
}

TEST(boot, the_quarantine_goes_on_for_who_comes_later)
{
    begin();
    CHECK_INT(ask(0, "us", "life-1"), HF_OK);
    CHECK_INT(ask_at(NOW + US_PER_S, 0, "us", "life-1"), HF_OK);
    CHECK_INT(b.left_us, QUARANTINE - US_PER_S);
    CHECK(!b.is_new);
}

TEST(boot, the_quarantine_ends)
{
    begin();
    CHECK_INT(ask(0, "us", "life-1"), HF_OK);
    CHECK_INT(ask_at(NOW + QUARANTINE, 0, "us", "life-1"), HF_OK);
    CHECK_INT(b.left_us, 0);
}

TEST(boot, the_operators_word_settles_a_new_node_at_once)
{
    begin_settled();
    CHECK_INT(ask(0, "us", "life-1"), HF_OK);
    CHECK_INT(b.left_us, 0);
}

TEST(boot, another_life_begins_a_quarantine)
{
    begin_settled();
    CHECK_INT(ask(0, "us", "life-2"), HF_OK);
    CHECK_INT(b.left_us, QUARANTINE);
}

TEST(boot, a_durable_node_votes_in_its_next_life_at_once)
{
    begin();
    CHECK_INT(ask(REQ_BOOT_NEW | REQ_BOOT_DURABLE, "us", "life-1"), HF_OK);
    CHECK_INT(ask(0, "us", "life-2"), HF_OK);
    CHECK_INT(b.left_us, 0);
    CHECK(b.is_durable);
}

static int ask_synced(unsigned flags, const char *identity)
{
    struct request req = {.verb = VERB_BOOT,
                          .flags = flags,
                          .name = "us",
                          .name_len = 2,
                          .lease_us = LEASE,
                          .window_us = QUARANTINE};
    struct boot_facts facts = {
        .identity = identity, .now_us = NOW, .is_durable = 1};
    return hf__boot_decide(&m, &req, &facts, &b, &why);
}

TEST(boot, a_node_that_syncs_in_both_lives_votes_at_once)
{
    begin();
    CHECK_INT(ask_synced(REQ_BOOT_NEW, "life-1"), HF_OK);
    CHECK_INT(ask_synced(0, "life-2"), HF_OK);
    CHECK_INT(b.left_us, 0);
}

/* It was restarted to make it so, and has lost what was not yet synced. */
TEST(boot, a_node_that_syncs_only_since_its_restart_may_have_forgotten)
{
    begin_settled();
    CHECK_INT(ask_synced(0, "life-2"), HF_OK);
    CHECK_INT(b.left_us, QUARANTINE);
    CHECK_INT(ask_synced(0, "life-2"), HF_OK);
    CHECK_INT(b.left_us, QUARANTINE);
}

TEST(boot, a_quarantine_outlives_the_restart_of_a_durable_node)
{
    begin();
    CHECK_INT(ask(0, "us", "life-1"), HF_OK);
    CHECK_INT(ask_at(NOW + US_PER_S, REQ_BOOT_DURABLE, "us", "life-2"), HF_OK);
    CHECK_INT(b.left_us, QUARANTINE - US_PER_S);
}

TEST(boot, who_cannot_tell_lives_apart_waits_every_time)
{
    begin_settled();
    CHECK_INT(ask(0, "us", ""), HF_OK);
    CHECK_INT(b.left_us, QUARANTINE);
    CHECK(!b.is_known);
}

TEST(boot, who_cannot_tell_lives_apart_makes_nobody_else_wait)
{
    begin_settled();
    CHECK_INT(ask(0, "us", ""), HF_OK);
    CHECK_INT(ask(0, "us", "life-1"), HF_OK);
    CHECK_INT(b.left_us, 0);
}

TEST(boot, a_clock_step_begins_a_quarantine)
{
    begin_settled();
    CHECK_INT(ask(REQ_BOOT_STEP, "us", "life-1"), HF_OK);
    CHECK_INT(b.left_us, QUARANTINE);
}

TEST(boot, a_clock_that_was_set_back_makes_no_quarantine_longer)
{
    begin();
    CHECK_INT(ask(0, "us", "life-1"), HF_OK);
    CHECK_INT(ask_at(NOW - 3600 * US_PER_S, 0, "us", "life-1"), HF_OK);
    CHECK_INT(b.left_us, QUARANTINE);
}

TEST(boot, a_member_of_another_quorum_is_refused)
{
    begin_settled();
    CHECK_INT(ask(0, "them", "life-1"), HF_CONFLICT);
    CHECK_STR(why, "boot: it is a member of another quorum");
    CHECK_STR(m.group, "us");
}

TEST(boot, a_member_is_not_new)
{
    begin_settled();
    CHECK_INT(ask(REQ_BOOT_NEW, "us", "life-1"), HF_CONFLICT);
}

TEST(boot, a_node_with_locks_is_not_new)
{
    begin();
    struct request req = {.verb = VERB_BOOT,
                          .flags = REQ_BOOT_NEW,
                          .name = "us",
                          .name_len = 2,
                          .lease_us = LEASE,
                          .window_us = QUARANTINE};
    struct boot_facts facts = {
        .identity = "life-1", .now_us = NOW, .has_locks = 1};
    CHECK_INT(hf__boot_decide(&m, &req, &facts, &b, &why), HF_CONFLICT);
    CHECK_STR(m.group, "");
}

TEST(boot, by_force_anything_is_new)
{
    begin_settled();
    CHECK_INT(ask(REQ_BOOT_NEW | REQ_BOOT_FORCE, "them", "life-1"), HF_OK);
    CHECK_STR(m.group, "them");
    CHECK_INT(b.left_us, 0);
}

TEST(boot, a_member_joins_the_group_that_comes_after_its_own)
{
    begin();
    CHECK_INT(ask(REQ_BOOT_NEW, "before", "life-1"), HF_OK);
    CHECK_INT(ask(REQ_BOOT_JOIN, "us", "life-1"), HF_OK);
    CHECK_STR(m.group, "us");
    CHECK_INT(b.left_us, 0);
}

TEST(boot, a_new_node_joins_with_a_quarantine)
{
    begin();
    CHECK_INT(ask(REQ_BOOT_JOIN, "us", "life-1"), HF_OK);
    CHECK_INT(b.left_us, QUARANTINE);
}

TEST(boot, a_member_of_others_joins_by_force_with_a_quarantine)
{
    begin();
    CHECK_INT(ask(REQ_BOOT_NEW, "them", "life-1"), HF_OK);
    CHECK_INT(ask(REQ_BOOT_JOIN, "us", "life-1"), HF_CONFLICT);
    CHECK_INT(ask(REQ_BOOT_JOIN | REQ_BOOT_FORCE, "us", "life-1"), HF_OK);
    CHECK_INT(b.left_us, QUARANTINE);
}

TEST(boot, a_look_changes_nothing_and_tells_the_group)
{
    begin_settled();
    struct marker before = m;
    CHECK_INT(ask(REQ_BOOT_LOOK, "them", "life-2"), HF_OK);
    CHECK_STR(b.group, "us");
    CHECK(memcmp(&before, &m, sizeof m) == 0);
}

TEST(boot, the_quarantine_is_as_long_as_the_markers_lease_wants)
{
    begin_settled();
    m.lease_us = 2 * LEASE;
    CHECK_INT(ask(0, "us", "life-2"), HF_OK);
    CHECK(b.left_us >= 2 * LEASE + 2 * LEASE / 100 + 10 * US_PER_MS);
    CHECK_INT(b.lease_us, 2 * LEASE);
}

TEST(boot, no_lease_is_so_short_that_old_numbers_could_come_back)
{
    begin_settled();
    m.lease_us = US_PER_MS;
    CHECK_INT(ask(REQ_BOOT_UNSURE, "us", "life-2"), HF_OK);
    CHECK_INT(b.left_us, QUARANTINE_US_MIN);
}

TEST(boot, who_is_unsure_of_the_lease_begins_no_marker)
{
    begin();
    CHECK_INT(ask(REQ_BOOT_UNSURE, "us", "life-1"), HF_OK);
    CHECK(b.is_new);
    CHECK_STR(m.group, "");
}

TEST(boot, who_is_unsure_of_the_lease_does_not_change_it)
{
    begin_settled();
    m.lease_us = LEASE / 2;
    CHECK_INT(ask(REQ_BOOT_UNSURE, "us", "life-1"), HF_OK);
    CHECK_INT(m.lease_us, LEASE / 2);
    CHECK_INT(b.left_us, 0);
}

/* The quarantine was begun by a client that did not know of them, and earlier
 * leases may still run. */
TEST(boot, who_knows_of_longer_leases_makes_the_quarantine_as_long)
{
    begin();
    CHECK_INT(ask(0, "us", "life-1"), HF_OK);
    m.lease_us = LEASE / 3;
    m.settled_us = NOW + LEASE / 3 + 100 * US_PER_MS;
    CHECK_INT(ask(0, "us", "life-1"), HF_OK);
    CHECK(b.left_us >= QUARANTINE - 20 * US_PER_MS);
    CHECK(b.left_us <= QUARANTINE);
    CHECK_INT(m.lease_us, LEASE);
}

TEST(boot, a_longer_lease_takes_no_vote_from_who_is_settled_for_long)
{
    begin_settled();
    m.lease_us = LEASE / 3;
    CHECK_INT(ask_at(NOW + QUARANTINE, 0, "us", "life-1"), HF_OK);
    CHECK_INT(b.left_us, 0);
    CHECK_INT(m.lease_us, LEASE);
}

TEST(boot, without_a_group_or_a_lease_nothing_is_decided)
{
    begin();
    CHECK_INT(ask(0, "", "life-1"), HF_INVALID);
    CHECK_INT(ask(0, "two words", "life-1"), HF_INVALID);
    CHECK_STR(m.group, "");
}

TEST(boot, a_marker_survives_its_text)
{
    char text[MARKER_TEXT_MAX], again[MARKER_TEXT_MAX];
    struct marker read;
    begin();
    CHECK_INT(ask(REQ_BOOT_NEW | REQ_BOOT_DURABLE, "us", "life-1"), HF_OK);
    hf__marker_format(&m, text);
    CHECK_STR(text, "v1 us life-1 1700000000000000 30000 durable");
    CHECK_INT(hf__marker_parse(text, &read), 0);
    hf__marker_format(&read, again);
    CHECK_STR(again, text);
}

TEST(boot, what_is_no_marker_is_told_from_one)
{
    static const char *const wrong[] = {
        "",         "v1",           "v2 us life 1 1",         "v1 us life x 1",
        "v1 us 17", "v1 us life 1", "v1 us life 1 1 durably", "v1 us life -1 1",
    };
    struct marker read;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (hf__marker_parse(wrong[i], &read) != -1 || read.group[0])
            TEST_FAIL("\"%s\" was taken for a marker", wrong[i]);
}
