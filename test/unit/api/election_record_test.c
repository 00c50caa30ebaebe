/*
 * election_record_test.c: what a leader publishes, as text.  One rule: what is
 * not exactly such a record is none.
 */
#include <string.h>

#include "api/election/election.h"
#include "test.h"

static int parse(const char *text, struct election_record *r)
{
    return hf__election_parse(text, strlen(text), r);
}

TEST(election_record, is_read_as_it_was_written)
{
    char text[ELECTION_HEAD_MAX + 8];
    struct election_record r = {.fence = UINT64_MAX}, back;
    memset(r.owner, 'o', sizeof r.owner - 1);
    size_t len = hf__election_format(&r, text);
    CHECK(len < ELECTION_HEAD_MAX);
    memcpy(text + len, "value\n", 6);
    CHECK_INT(hf__election_parse(text, len + 6, &back), 0);
    CHECK(back.fence == r.fence && back.head_len == len);
    CHECK_STR(back.owner, r.owner);
}

TEST(election_record, may_have_no_value_behind_it)
{
    struct election_record r;
    CHECK_INT(parse("v1 7 a:1\n", &r), 0);
    CHECK_INT(r.head_len, 9);
}

TEST(election_record, that_is_cut_anywhere_is_none)
{
    const char text[] = "v1 7 a:1\n";
    struct election_record r;
    for (size_t len = 0; len < sizeof text - 1; len++)
        CHECK_INT(hf__election_parse(text, len, &r), -1);
}

TEST(election_record, of_another_shape_is_none)
{
    static const char *const others[] = {
        "",         "v2 7 a:1\n",  "v1  a:1\n",
        "v1 7\n",   "v1 -7 a:1\n", "v1 18446744073709551616 a:1\n",
        "v1 7 \n",  "v1 7a:1\n",   "foreign",
        "v1 x a\n",
    };
    struct election_record r;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        CHECK_INT(parse(others[i], &r), -1);
        CHECK(r.fence == 0 && r.owner[0] == '\0' && r.head_len == 0);
    }
    CHECK_INT(hf__election_parse("v1 7 a\0b\n", 9, &r), -1);
}

TEST(election_record, of_an_owner_that_is_too_long_is_none)
{
    char text[OWNER_LEN_MAX + 16];
    struct election_record r;
    memset(text, 'o', sizeof text);
    memcpy(text, "v1 7 ", 5);
    text[5 + OWNER_LEN_MAX] = '\n';
    CHECK_INT(hf__election_parse(text, 6 + OWNER_LEN_MAX, &r), -1);
    text[5 + OWNER_LEN_MAX - 1] = '\n';
    CHECK_INT(hf__election_parse(text, 5 + OWNER_LEN_MAX, &r), 0);
}

TEST(election_record, lies_in_the_slot_of_its_lock)
{
    char key[NAME_LEN_MAX + 1];
    hf__election_key("post", key);
    CHECK_STR(key, "holdfast_elect:{post}");
    hf__election_key("{post}", key);
    CHECK_STR(key, "holdfast_elect_tagged:{post}");
}
