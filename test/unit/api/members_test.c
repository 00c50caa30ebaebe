/*
 * members_test.c: from the URL of a quorum to its members.
 */
#include <stdio.h>
#include <string.h>

#include "api/quorum/members.h"
#include "test.h"

static struct members m;
static struct hf_error err;

static void end(void *arg)
{
    (void)arg;
    hf__members_free(&m, &hf__alloc_default);
}

static int parse(const char *url)
{
    hf__members_free(&m, &hf__alloc_default);
    test_cleanup(end, NULL);
    memset(&err, 0, sizeof err);
    return hf__members_parse(&m, &hf__alloc_default, url, &err);
}

static int has_same_group(const char *a, const char *b)
{
    char group[GROUP_MAX];
    CHECK_INT(parse(a), HF_OK);
    memcpy(group, m.group, sizeof group);
    CHECK_INT(parse(b), HF_OK);
    return !strcmp(group, m.group);
}

TEST(members, of_redlock_share_user_database_and_options)
{
    CHECK_INT(parse("redlock://u:p@a,b:7000,[::1]:7/2?lease=5s&waitaof=1"),
              HF_OK);
    CHECK_INT(m.len, 3);
    CHECK_STR(m.texts[0], "redis://u:p@a/2?waitaof=1");
    CHECK_STR(m.texts[1], "redis://u:p@b:7000/2?waitaof=1");
    CHECK_STR(m.texts[2], "redis://u:p@[::1]:7/2?waitaof=1");
    CHECK_STR(m.options, "quorum:?lease=5s");
}

TEST(members, of_quorum_are_urls_of_any_kind)
{
    CHECK_INT(parse("quorum:lease=10s&drift=1%|redis://a|memory:x|file:/d"),
              HF_OK);
    CHECK_INT(m.len, 3);
    CHECK_STR(m.texts[1], "memory:x");
    CHECK_STR(m.options, "quorum:?lease=10s&drift=1%25");
}

TEST(members, need_no_options)
{
    CHECK_INT(parse("quorum:memory:a|memory:b|memory:c"), HF_OK);
    CHECK_INT(m.len, 3);
    CHECK_STR(m.options, "quorum:");
}

TEST(members, are_one_group_in_any_order_and_with_any_password)
{
    CHECK(has_same_group("redlock://a,b,c", "redlock://x:y@C:6379,a,b/0"));
    CHECK(has_same_group("redlock://a,b,c", "quorum:redis://c|redis://a|"
                                            "redis://b/"));
}

TEST(members, are_another_group_with_another_server_or_database)
{
    CHECK(!has_same_group("redlock://a,b,c", "redlock://a,b,d"));
    CHECK(!has_same_group("redlock://a,b,c", "redlock://a,b,c/1"));
    CHECK(!has_same_group("redlock://a,b,c", "redlock://a,b"));
}

TEST(members, that_are_the_same_server_are_refused)
{
    CHECK_INT(parse("redlock://a,b,A:6379"), HF_INVALID);
    CHECK(strstr(err.text, "members 1 and 3: the same server twice") != NULL);
}

TEST(members, that_are_empty_are_refused)
{
    CHECK_INT(parse("redlock://a,,b"), HF_INVALID);
    CHECK_INT(parse("redlock://"), HF_INVALID);
    CHECK_INT(parse("redlock:a,b"), HF_INVALID);
    CHECK_INT(parse("quorum:"), HF_INVALID);
    CHECK_INT(parse("quorum:memory:a||memory:b"), HF_INVALID);
    CHECK_INT(parse("quorum:lease=10s"), HF_INVALID);
}

TEST(members, cannot_be_quorums)
{
    CHECK_INT(parse("quorum:memory:a|redlock://b"), HF_INVALID);
}

TEST(members, cannot_have_options_of_the_client)
{
    CHECK_INT(parse("quorum:memory:a?lease=1s|memory:b"), HF_INVALID);
    CHECK(strstr(err.text, "member 1: option lease") != NULL);
}

TEST(members, are_sixteen_at_most)
{
    char url[256] = "quorum:memory:0";
    for (int i = 1; i <= NODES_MAX; i++) {
        size_t len = strlen(url);
        snprintf(url + len, sizeof url - len, "|memory:%d", i);
    }
    CHECK_INT(parse(url), HF_INVALID);
}

TEST(members, are_shown_without_their_passwords)
{
    const char *url = "quorum:redis://u:secret@a|redis://:hidden@b|memory:c";
    CHECK_INT(parse(url), HF_OK);
    char *shown = hf__members_shown(&m, &hf__alloc_default, url);
    CHECK(shown != NULL);
    int is_safe = !strstr(shown, "secret") && !strstr(shown, "hidden");
    hf__free(&hf__alloc_default, shown);
    CHECK(is_safe);
}
