/*
 * file_record_test.c: the record and the names of lock files.  One rule: what
 * was written is read again, and anything else is not believed.
 */
#include "backend/file/name.h"
#include "backend/file/record_text.h"
#include "file_rig.h"

static struct record sample(const char *title)
{
    struct record r = {.title = title,
                       .title_len = strlen(title),
                       .counter = 1700000000000005,
                       .fence = 1700000000000005,
                       .ballot = 1700000000000004,
                       .count = 3,
                       .pid = 4711,
                       .since_us = 1700000000000001,
                       .deadline_us = 99,
                       .attempt = UINT64_MAX,
                       .mode = RECORD_DETACHED,
                       .owner = "c0ffee:7",
                       .host = "alpha",
                       .label = "nightly report",
                       .boot = "b00t"};
    return r;
}

TEST(record, is_read_as_it_was_written)
{
    char text[RECORD_MAX];
    struct record r = sample("a name"), back;
    size_t len = hf__file_record_format(&r, text);
    CHECK(len <= RECORD_MAX && len % 512 == 0);
    CHECK_INT(hf__file_record_parse(text, len, &back), RECORD_OK);
    CHECK_INT(back.counter, r.counter);
    CHECK_INT(back.fence, r.fence);
    CHECK_INT(back.ballot, r.ballot);
    CHECK_INT(back.count, 3);
    CHECK_INT(back.pid, 4711);
    CHECK_INT(back.since_us, r.since_us);
    CHECK_INT(back.deadline_us, 99);
    CHECK(back.attempt == UINT64_MAX);
    CHECK_INT(back.mode, RECORD_DETACHED);
    CHECK_STR(back.owner, r.owner);
    CHECK_STR(back.host, r.host);
    CHECK_STR(back.label, r.label);
    CHECK_STR(back.boot, r.boot);
    CHECK(back.title_len == 6 && !memcmp(back.title, "a name", 6));
}

TEST(record, fits_at_its_longest)
{
    static char title[TITLE_MAX];
    char text[RECORD_MAX];
    struct record r, back;
    memset(title, 'n', sizeof title - 1);
    r = sample(title);
    r.counter = r.fence = r.ballot = BALLOT_MAX;
    r.count = r.pid = INT64_MAX;
    r.since_us = r.deadline_us = INT64_MAX;
    r.mode = RECORD_EXCLUSIVE;
    memset(r.owner, 'o', sizeof r.owner - 1);
    memset(r.host, 'h', sizeof r.host - 1);
    memset(r.label, 'l', sizeof r.label - 1);
    memset(r.boot, 'b', sizeof r.boot - 1);
    size_t len = hf__file_record_format(&r, text);
    CHECK(len <= RECORD_MAX);
    CHECK_INT(hf__file_record_parse(text, len, &back), RECORD_OK);
    CHECK_INT(back.deadline_us, INT64_MAX);
    CHECK_STR(back.boot, r.boot);
}

TEST(record, with_a_number_that_no_proposal_can_pass_is_not_believed)
{
    char text[RECORD_MAX];
    struct record back;
    for (int i = 0; i < 3; i++) {
        struct record r = sample("x");
        *(i == 0 ? &r.counter : i == 1 ? &r.fence : &r.ballot) = BALLOT_MAX + 1;
        size_t len = hf__file_record_format(&r, text);
        CHECK_INT(hf__file_record_parse(text, len, &back), RECORD_TORN);
        CHECK_INT(back.counter, 0);
    }
}

TEST(record, stays_one_line_per_field)
{
    char text[RECORD_MAX];
    struct record r = sample("x"), back;
    snprintf(r.label, sizeof r.label, "a\nmode=free\n\x7f");
    size_t len = hf__file_record_format(&r, text);
    CHECK_INT(hf__file_record_parse(text, len, &back), RECORD_OK);
    CHECK_INT(back.mode, RECORD_DETACHED);
    CHECK_STR(back.label, "a?mode=free??");
}

TEST(record, cut_anywhere_is_torn)
{
    char text[RECORD_MAX];
    struct record r = sample("x"), back;
    size_t len = hf__file_record_format(&r, text);
    size_t end = (size_t)(strstr(text, "check=") - text) + 23;
    CHECK_INT(hf__file_record_parse(text, 0, &back), RECORD_EMPTY);
    for (size_t i = 1; i < end; i++)
        CHECK_INT(hf__file_record_parse(text, i, &back), RECORD_TORN);
    for (size_t i = end; i <= len; i++)
        CHECK_INT(hf__file_record_parse(text, i, &back), RECORD_OK);
}

TEST(record, any_changed_byte_is_noticed)
{
    char text[RECORD_MAX];
    struct record r = sample("x"), back;
    size_t len = hf__file_record_format(&r, text);
    size_t end = (size_t)(strstr(text, "check=") - text) + 23;
    for (size_t i = 0; i < end; i++) {
        text[i] ^= 1;
        CHECK(hf__file_record_parse(text, len, &back) != RECORD_OK);
        CHECK(back.counter == 0 && back.owner[0] == '\0');
        text[i] ^= 1;
    }
}

TEST(record, other_peoples_files_are_alien)
{
    struct record back;
    char zeros[1024] = {0};
    CHECK_INT(hf__file_record_parse("1234\n", 5, &back), RECORD_ALIEN);
    CHECK_INT(hf__file_record_parse("holdfast 2\n", 11, &back), RECORD_ALIEN);
    CHECK_INT(hf__file_record_parse(zeros, sizeof zeros, &back), RECORD_TORN);
}

TEST(record, a_mixture_of_two_records_is_torn)
{
    char one[RECORD_MAX], two[RECORD_MAX];
    struct record r = sample("x"), back;
    size_t len = hf__file_record_format(&r, one);
    r.counter = r.fence = 1800000000000009;
    hf__file_record_format(&r, two);
    size_t differ = 0, last = 0;
    for (size_t i = 0; i < len; i++)
        if (one[i] != two[i]) {
            if (!differ) differ = i;
            last = i;
        }
    for (size_t i = differ + 1; i <= last; i++) {
        memcpy(one, two, i);
        CHECK_INT(hf__file_record_parse(one, len, &back), RECORD_TORN);
    }
}

/* ---- names ------------------------------------------------------------ */

static const char *file_of(const char *name)
{
    static char out[FILE_NAME_SIZE];
    hf__file_name(name, strlen(name), out);
    return out;
}

TEST(file_name, keeps_what_is_plain)
{
    CHECK_STR(file_of("nightly-report_2.x"), "nightly-report_2.x.lock");
}

TEST(file_name, escapes_the_rest)
{
    CHECK_STR(file_of(".."), "%2E..lock");
    CHECK_STR(file_of("a b%~"), "a%20b%25%7E.lock");
    CHECK_STR(file_of("\xc3\xa4"), "%C3%A4.lock");
}

TEST(file_name, hashes_what_is_long)
{
    char a[NAME_LEN_MAX + 1], b[NAME_LEN_MAX + 1], first[FILE_NAME_SIZE];
    memset(a, 'n', sizeof a - 1);
    a[sizeof a - 1] = '\0';
    memcpy(b, a, sizeof a);
    b[sizeof b - 2] = 'm';
    snprintf(first, sizeof first, "%s", file_of(a));
    CHECK_INT(strlen(first), FILE_NAME_HEAD + 33 + 5);
    CHECK(strcmp(first, file_of(b)) != 0);
    a[200] = '\0';
    CHECK_INT(strlen(file_of(a)), 205);
    memset(b, ' ', sizeof b - 1);
    CHECK_INT(strlen(file_of(b)), FILE_NAME_HEAD + 33 + 5);
}

/* Vectors from the FNV draft (draft-eastlake-fnv). */
TEST(file_name, uses_the_hash_that_it_says)
{
    char out[FILE_NAME_SIZE];
    hf__file_name_path("", 0, out);
    CHECK_STR(out, "path~6C62272E07BB014262B821756295C58D.lock");
    hf__file_name_path("a", 1, out);
    CHECK_STR(out, "path~D228CB696F1A8CAF78912B704E4A8964.lock");
    hf__file_name_path("foobar", 6, out);
    CHECK_STR(out, "path~343E1662793C64BF6F0D3597BA446F18.lock");
}

TEST(file_name, titles_are_read_again)
{
    char name[256], title[1024], back[256];
    for (int i = 0; i < 255; i++) name[i] = (char)(i + 1);
    size_t n = hf__file_title_encode(name, 255, title, sizeof title);
    CHECK(n > 255 && !strpbrk(title, "\n\r\t"));
    CHECK_INT(hf__file_title_decode(title, n, back, sizeof back), 255);
    CHECK(!memcmp(name, back, 255));
    CHECK_INT(hf__file_title_encode(name, 255, title, 100), 0);
    CHECK_INT(hf__file_title_decode("%4", 2, back, sizeof back), 0);
    CHECK_INT(hf__file_title_decode("%zz", 3, back, sizeof back), 0);
    CHECK_INT(hf__file_title_decode("abc", 3, back, 3), 0);
}
