/*
 * clock.h: the leader's clock, by which the times in cells are counted.
 *
 * The leader stamps each write with its wall clock.  A write of this client
 * that was carried out is a reading: the leader's clock showed the stamp at
 * some moment between send and answer.
 */
#ifndef HF_ZOOKEEPER_CLOCK_H
#define HF_ZOOKEEPER_CLOCK_H

#include <stdint.h>

struct backend_conn;

struct zk_clock {
    int64_t told_us;           /* the last reading; 0 before the first */
    int64_t sent_us, heard_us; /* local clock */
};

/* Take a reading: a write that was sent at `sent_us` has this stamp, and its
 * answer came now. */
void hf__zookeeper_clock_read(struct backend_conn *c, int64_t sent_us,
                              int64_t stamp_ms);

/* The time by the last reading; before the first, the local wall clock. */
int64_t hf__zookeeper_clock_us(const struct backend_conn *c);

/* The leader's clock shows at least this; and at most `*slow_us` more. */
int64_t hf__zookeeper_clock_low_us(const struct backend_conn *c,
                                   int64_t *slow_us);

#endif
