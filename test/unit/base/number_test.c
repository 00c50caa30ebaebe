/*
 * number_test.c: numbers and durations are read whole or not at all.
 */
#include "base/url.h"

#include <stddef.h>
#include <string.h>

#include "test.h"

#define UNTOUCHED INT64_C(-77)

static int64_t number(const char *text)
{
    int64_t n = UNTOUCHED;
    int rc = hf__number_parse(text, INT64_MIN, INT64_MAX, &n);
    if (rc == 0) return n;
    CHECK_INT(rc, -1);
    CHECK_INT(n, UNTOUCHED);
    return UNTOUCHED;
}

TEST(number, reads_whole_numbers)
{
    CHECK_INT(number("0"), 0);
    CHECK_INT(number("007"), 7);
    CHECK_INT(number("-1"), -1);
    CHECK_INT(number("9223372036854775807"), INT64_MAX);
}

TEST(number, refuses_everything_else)
{
    static const char *const texts[] = {
        "",     "-",   " 1",  "1 ",  "+1", "1x",
        "0x1",  "1.0", "1e3", "--1", "-x", "9223372036854775808",
        "1,000"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        CHECK_INT(number(texts[i]), UNTOUCHED);
}

TEST(number, keeps_its_range)
{
    int64_t n = UNTOUCHED;
    CHECK_INT(hf__number_parse("1", 1, 3, &n), 0);
    CHECK_INT(hf__number_parse("3", 1, 3, &n), 0);
    CHECK_INT(n, 3);
    CHECK_INT(hf__number_parse("0", 1, 3, &n), -1);
    CHECK_INT(hf__number_parse("4", 1, 3, &n), -1);
    CHECK_INT(n, 3);
}

static int64_t duration(const char *text)
{
    int64_t ms = UNTOUCHED;
    int rc = hf__duration_parse(text, &ms);
    if (rc == 0) return ms;
    CHECK_INT(rc, -1);
    CHECK_INT(ms, UNTOUCHED);
    return UNTOUCHED;
}

TEST(duration, knows_its_units)
{
    CHECK_INT(duration("250ms"), 250);
    CHECK_INT(duration("10s"), 10000);
    CHECK_INT(duration("2m"), 120000);
    CHECK_INT(duration("1h"), 3600000);
    CHECK_INT(duration("30"), 30000);
    CHECK_INT(duration("0"), 0);
}

TEST(duration, takes_fractions_and_rounds_them_up)
{
    CHECK_INT(duration("1.5"), 1500);
    CHECK_INT(duration("0.25s"), 250);
    CHECK_INT(duration("0.5m"), 30000);
    CHECK_INT(duration("0.0001"), 1);
    CHECK_INT(duration("1.0"), 1000);
    CHECK_INT(duration("1.000000000000000000000000000000001ms"), 2);
    CHECK_INT(duration("0.999999999999h"), 3600000);
}

TEST(duration, refuses_everything_else)
{
    static const char *const texts[] = {
        "",   "s",   "-1s", "+1s", "1 s", " 1s", "1S",    "1d",   "1us",
        "1.", ".5s", "1.s", "1e3", "inf", "1ss", "1.2.3", "1m30s"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        CHECK_INT(duration(texts[i]), UNTOUCHED);
}

TEST(duration, goes_up_to_what_fits)
{
    CHECK_INT(duration("9223372036854775807ms"), INT64_MAX);
    CHECK_INT(duration("9223372036854775807.5ms"), UNTOUCHED);
    CHECK_INT(duration("9223372036854775808ms"), UNTOUCHED);
    CHECK_INT(duration("9223372036854775807"), UNTOUCHED);
    CHECK_INT(duration("2562047788016h"), UNTOUCHED);
}

TEST(digits, are_read_up_to_their_length)
{
    uint64_t n = 7;
    CHECK_INT(hf__digits_parse("0123x", 4, UINT64_MAX, &n), 0);
    CHECK_INT(n, 123);
    CHECK_INT(hf__digits_parse("18446744073709551615", 20, UINT64_MAX, &n), 0);
    CHECK(n == UINT64_MAX);
}

TEST(digits, are_refused_if_they_are_none_or_too_many)
{
    static const char *const texts[] = {
        "", "x", "1x", "-1", " 1", "10", "18446744073709551616"};
    uint64_t n = 7;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        CHECK_INT(hf__digits_parse(texts[i], strlen(texts[i]), 9, &n), -1);
    CHECK_INT(hf__digits_parse("3", 1, 2, &n), -1);
    CHECK_INT(hf__digits_parse(texts[6], 20, UINT64_MAX, &n), -1);
    CHECK_INT(n, 7);
}
