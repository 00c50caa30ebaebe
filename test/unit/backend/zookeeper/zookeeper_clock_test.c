/*
 * zookeeper_clock_test.c: the leader's time, by the stamps of our own writes.
 */
#include "backend/zookeeper/zookeeper.h"
#include "test.h"

#define STAMP_MS INT64_C(1700000000000)

static int64_t now;

static int64_t now_us(struct backend_env *env)
{
    (void)env;
    return now;
}

static struct backend_env env = {.now = now_us};
static struct backend_conn conn;

/* A write was sent at 1000 and answered at 5000. */
static void begin(void)
{
    conn = (struct backend_conn){.env = &env};
    now = 5000;
    hf__zookeeper_clock_read(&conn, 1000, STAMP_MS);
}

TEST(zookeeper_clock, is_not_earlier_than_its_stamp_at_the_answer)
{
    int64_t slow_us;
    begin();
    int64_t low_us = hf__zookeeper_clock_low_us(&conn, &slow_us);
    CHECK(low_us <= STAMP_MS * 1000);
    CHECK(low_us > STAMP_MS * 1000 - 100);
}

/* The stamp may be of the moment of the send, and in whole milliseconds. */
TEST(zookeeper_clock, may_be_later_by_the_time_that_the_write_took)
{
    int64_t slow_us;
    begin();
    int64_t low_us = hf__zookeeper_clock_low_us(&conn, &slow_us);
    CHECK(low_us + slow_us >= STAMP_MS * 1000 + 999 + 4000);
}

/* Two clocks do not go alike. */
TEST(zookeeper_clock, is_less_sure_the_older_its_reading)
{
    int64_t before_us, after_us;
    begin();
    (void)hf__zookeeper_clock_low_us(&conn, &before_us);
    now += 60 * US_PER_S;
    int64_t low_us = hf__zookeeper_clock_low_us(&conn, &after_us);
    CHECK(low_us < STAMP_MS * 1000 + 60 * US_PER_S);
    CHECK(low_us > STAMP_MS * 1000 + 59 * US_PER_S);
    CHECK(after_us > before_us);
    CHECK(low_us + after_us > STAMP_MS * 1000 + 60 * US_PER_S);
}

TEST(zookeeper_clock, is_the_wall_clock_before_the_first_reading)
{
    conn = (struct backend_conn){.env = &env};
    CHECK(hf__zookeeper_clock_us(&conn) > STAMP_MS * 1000);
    hf__zookeeper_clock_read(&conn, 0, 0); /* no stamp */
    CHECK(hf__zookeeper_clock_us(&conn) > STAMP_MS * 1000);
}
