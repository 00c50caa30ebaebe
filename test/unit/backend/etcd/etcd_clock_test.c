/*
 * etcd_clock_test.c: what a reading of a lease says of the time.  One rule: the
 * lower bound is never above the time, and the upper one never below.
 */
#include <string.h>

#include "backend/etcd/etcd.h"
#include "test.h"

#define SECOND INT64_C(1000000)
#define BASE (INT64_C(1700000000) * SECOND)

/* Of a lease of 100 s, which began at BASE. */
static const struct clock k = {.seconds = 100, .base_us = BASE};

/* Asked at second 5 by the local clock, heard at second 6; the server leaves
 * out what is below a second: it was between 29 and 30 s after BASE. */
TEST(etcd_clock, is_between_what_was_left_when_asked_and_when_heard)
{
    struct clock_bounds b;
    CHECK_INT(hf__etcd_clock_bounds(&k, 70, 5 * SECOND, 6 * SECOND, &b), 1);
    CHECK_INT(hf__etcd_bounds_low(&b, 6 * SECOND), BASE + 29 * SECOND);
    CHECK(hf__etcd_bounds_high(&b, 5 * SECOND) >= BASE + 30 * SECOND);
    CHECK(hf__etcd_bounds_high(&b, 6 * SECOND) > BASE + 31 * SECOND);
}

/* Two clocks drift apart. */
TEST(etcd_clock, is_known_less_well_later)
{
    struct clock_bounds b;
    CHECK_INT(hf__etcd_clock_bounds(&k, 70, 0, 0, &b), 1);
    CHECK(hf__etcd_bounds_low(&b, 60 * SECOND) < BASE + 89 * SECOND);
    CHECK(hf__etcd_bounds_high(&b, 60 * SECOND) > BASE + 90 * SECOND);
}

/* Each is narrower at one end. */
TEST(etcd_clock, is_known_better_by_two_readings)
{
    struct clock_bounds b, later;
    CHECK_INT(hf__etcd_clock_bounds(&k, 70, 0, 0, &b), 1);
    CHECK_INT(
        hf__etcd_clock_bounds(&k, 60, SECOND * 21 / 2, 12 * SECOND, &later), 1);
    int64_t at = 12 * SECOND, low = hf__etcd_bounds_low(&b, at);
    CHECK(low > hf__etcd_bounds_low(&later, at));
    hf__etcd_bounds_take(&b, &later, at);
    CHECK_INT(hf__etcd_bounds_low(&b, at), low);
    CHECK_INT(hf__etcd_bounds_high(&b, at), hf__etcd_bounds_high(&later, at));
}

/* The leader's machine was suspended for 30 s; so was this one. */
TEST(etcd_clock, is_told_by_the_later_reading_if_a_clock_stood_still)
{
    struct clock_bounds b, later;
    CHECK_INT(hf__etcd_clock_bounds(&k, 70, 0, 0, &b), 1);
    CHECK_INT(hf__etcd_clock_bounds(&k, 40, 60 * SECOND, 60 * SECOND, &later),
              1);
    hf__etcd_bounds_take(&b, &later, 60 * SECOND);
    CHECK_INT(hf__etcd_bounds_low(&b, 60 * SECOND), BASE + 59 * SECOND);
    CHECK_INT(hf__etcd_clock_bounds(&k, 5, 61 * SECOND, 61 * SECOND, &later),
              1);
    hf__etcd_bounds_take(&b, &later, 61 * SECOND);
    CHECK(hf__etcd_bounds_high(&b, 61 * SECOND) >= BASE + 95 * SECOND);
}

/* A new leader has given it more, or it is gone: it tells nothing. */
TEST(etcd_clock, is_not_told_by_a_lease_with_more_than_its_time_or_none)
{
    struct clock_bounds b;
    CHECK_INT(hf__etcd_clock_bounds(&k, 101, 0, 0, &b), 0);
    CHECK_INT(hf__etcd_clock_bounds(&k, -1, 0, 0, &b), 0);
    CHECK_INT(hf__etcd_clock_bounds(&k, 100, 0, 0, &b), 1);
    CHECK_INT(hf__etcd_bounds_low(&b, 0), BASE);
}

TEST(etcd_clock, is_read_from_its_key_or_refused)
{
    static const char *const bad[] = {"",
                                      "holdfast-clock1 ",
                                      "holdfast-clock1 ab 7 100",
                                      "holdfast-clock1 ab 7 0 5",
                                      "holdfast-clock1 ab 7 100 -5",
                                      "holdfast-clock2 ab 7 100 5"};
    const char *good = "holdfast-clock1 ab 7 100 5";
    struct clock c = {0};
    CHECK_INT(hf__etcd_clock_read(good, strlen(good), &c), 1);
    CHECK_INT(c.lease, 0xab);
    CHECK_INT((int64_t)c.term, 7);
    CHECK_INT(c.seconds, 100);
    CHECK_INT(c.base_us, 5);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_INT(hf__etcd_clock_read(bad[i], strlen(bad[i]), &c), 0);
}
