/*
 * clock.h: what time it is by the leader's clock, in which the lives of values
 * and the like are counted.
 *
 * The leader stamps each write with its wall clock.  A write of our own that
 * was carried out is a reading: it was that time at some moment between its
 * send and its answer.
 */
#ifndef HF_ZOOKEEPER_CLOCK_H
#define HF_ZOOKEEPER_CLOCK_H

#include <stdint.h>

struct backend_conn;

struct zk_clock {
    int64_t told_us;           /* the reading; 0: none yet */
    int64_t sent_us, heard_us; /* local clock */
};

/* A write that was sent then has this stamp, and is answered now. */
void hf__zookeeper_clock_read(struct backend_conn *c, int64_t sent_us,
                              int64_t stamp_ms);

/* The time by the last reading; before the first, the local wall clock. */
int64_t hf__zookeeper_clock_us(const struct backend_conn *c);

/* It is not earlier than this at the leader; and may be later by `*slow_us`. */
int64_t hf__zookeeper_clock_low_us(const struct backend_conn *c,
                                   int64_t *slow_us);

#endif
