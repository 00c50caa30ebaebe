/*
 * stats_test.c: the bins of the histograms of holdfast/stats.h.
 */
#include "engine/stats.h"

#include "test.h"

TEST(stats, a_bin_is_twice_as_wide_as_the_one_before)
{
    CHECK_INT(hf__stats_bin(0), 0);
    CHECK_INT(hf__stats_bin(1), 1);
    for (int i = 1; i < HF_STATS_BINS - 1; i++) {
        CHECK_INT(hf__stats_bin(INT64_C(1) << (i - 1)), i);
        CHECK_INT(hf__stats_bin((INT64_C(1) << i) - 1), i);
    }
}

TEST(stats, the_last_bin_has_all_that_is_longer)
{
    CHECK_INT(hf__stats_bin(INT64_C(1) << 30), HF_STATS_BINS - 1);
    CHECK_INT(hf__stats_bin(INT64_MAX), HF_STATS_BINS - 1);
}

TEST(stats, a_time_before_its_beginning_is_none)
{
    uint64_t sum = 5, bins[HF_STATS_BINS] = {0};
    hf__stats_time(&sum, bins, -1);
    CHECK_INT(sum, 5);
    CHECK_INT(bins[0], 1);
    hf__stats_time(&sum, bins, 4);
    CHECK_INT(sum, 9);
    CHECK_INT(bins[3], 1);
}
