/*
 * clock_test.c: local time only goes forward, counts microseconds and is the
 * clock that also runs while the machine is suspended.
 */
#include "sys/clock.h"

#include <time.h>

#include "base/limits.h"
#include "test.h"

static int64_t kernel_us(clockid_t id)
{
    struct timespec ts;
    CHECK(clock_gettime(id, &ts) == 0);
    return (int64_t)ts.tv_sec * US_PER_S + ts.tv_nsec / 1000;
}

TEST(clock, never_goes_back)
{
    int64_t last = hf__clock_us();
    for (int i = 0; i < 1000; i++) {
        int64_t now = hf__clock_us();
        CHECK(now >= last);
        last = now;
    }
}

TEST(clock, advances_in_microseconds)
{
    struct timespec pause = {0, 20 * 1000 * 1000};
    int64_t start = hf__clock_us();
    while (nanosleep(&pause, &pause) != 0) continue;
    int64_t passed = hf__clock_us() - start;
    CHECK(passed >= 20 * US_PER_MS);
    CHECK(passed < 60 * US_PER_S);
}

#ifdef CLOCK_BOOTTIME
TEST(clock, counts_from_boot_suspended_time_included)
{
    int64_t before = kernel_us(CLOCK_BOOTTIME);
    int64_t now = hf__clock_us();
    CHECK(before <= now && now <= kernel_us(CLOCK_BOOTTIME));
}
#endif

TEST(clock, wall_counts_from_1970)
{
    int64_t before = kernel_us(CLOCK_REALTIME);
    int64_t now = hf__clock_wall_us();
    CHECK(now >= before - 60 * US_PER_S && now <= before + 60 * US_PER_S);
}
