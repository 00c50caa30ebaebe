/*
 * backoff_test.c: the pauses of a waiter that asks again and again.  One rule:
 * no pause is longer than the longest, whatever the number of tries.
 */
#include "core/backoff.h"

#include "holdfast/lock.h"
#include "test.h"

/* LockOptionsTest.testExponentialBackoff: 10, 30, 90, 100, 100 */
TEST(backoff, exponential_grows_by_its_factor_up_to_the_longest)
{
    static const int64_t wanted[] = {10, 30, 90, 100, 100};
    struct hold_backoff b = {HF_BACKOFF_EXPONENTIAL, 3, 10, 100};
    for (unsigned i = 0; i < 5; i++)
        CHECK_INT(hf__backoff_us(&b, i, 12345), wanted[i]);
}

/* LockOptionsTest.testConstantBackoff: 30 */
TEST(backoff, constant_is_always_the_same)
{
    struct hold_backoff b = {HF_BACKOFF_CONSTANT, 2, 30, 128};
    for (unsigned i = 0; i < 100; i++)
        CHECK_INT(hf__backoff_us(&b, i, i * 7919), 30);
}

TEST(backoff, with_factor_one_does_not_grow)
{
    struct hold_backoff b = {HF_BACKOFF_EXPONENTIAL, 1, 10, 100};
    CHECK_INT(hf__backoff_us(&b, UINT16_MAX, 0), 10);
}

TEST(backoff, that_is_tried_for_ever_stays_at_the_longest)
{
    struct hold_backoff b = {HF_BACKOFF_EXPONENTIAL, 1000, 1, INT64_MAX};
    CHECK_INT(hf__backoff_us(&b, UINT16_MAX, 0), INT64_MAX);
}

TEST(backoff, jitter_is_anything_up_to_what_exponential_would_pause)
{
    struct hold_backoff b = {HF_BACKOFF_JITTER, 2, 1000, 4000};
    int64_t least = INT64_MAX, most = 0;
    for (uint64_t random = 0; random < 20000; random += 7) {
        int64_t pause = hf__backoff_us(&b, 1, random);
        if (pause < least) least = pause;
        if (pause > most) most = pause;
    }
    CHECK(least >= 0 && least <= 10);
    CHECK(most >= 1990 && most <= 2000);
}
