/*
 * clock.c: the only place that reads a clock.  One rule: local time never
 * steps; the wall clock is for records, not for deadlines.
 */
#include "sys/clock.h"

#include <time.h>

#include "base/limits.h"

static int64_t spec_us(const struct timespec *ts)
{
    return (int64_t)ts->tv_sec * US_PER_S + ts->tv_nsec / 1000;
}

int64_t hf__clock_us(void)
{
    struct timespec ts = {0, 0};
#ifdef CLOCK_BOOTTIME
    /* A lease goes on running on the server while this machine sleeps, and
     * CLOCK_MONOTONIC would not notice.  A kernel without this clock refuses
     * it every time, so the two never mix. */
    if (clock_gettime(CLOCK_BOOTTIME, &ts) == 0) return spec_us(&ts);
#endif
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return spec_us(&ts);
}

int64_t hf__clock_wall_us(void)
{
    struct timespec ts = {0, 0};
    clock_gettime(CLOCK_REALTIME, &ts);
    return spec_us(&ts);
}
