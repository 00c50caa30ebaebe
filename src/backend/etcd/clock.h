/*
 * clock.h: the clock of a cluster, by which the times in cells are written.
 *
 * etcd tells no time, and the clocks of two clients cannot be compared.  But
 * the leader counts down each lease, and tells what is left of it.  So a lease
 * that no client keeps alive is a clock: the time is BASE, when the lease was
 * granted, plus what has gone from its length.
 *
 *   PREFIX//clock   "holdfast-clock1 LEASE TERM SECONDS BASE": the clock
 *   PREFIX//time    the time of the last swap: a new clock does not begin
 *                   before it
 *
 * A new leader starts each lease anew, with its whole length.  So a reading
 * counts only in the term of Raft in which the lease was granted, and only once
 * a later answer, that a majority has confirmed, comes in the same term.  In
 * another term a client replaces the clock by a new one, which begins at a time
 * that was surely reached.  A swap compares the revision of PREFIX//clock, so
 * that at any moment all swaps use one clock.
 *
 * One rule: only two bounds of the time are known.  An end is judged by the
 * lower bound; a lease that begins is counted from the upper bound.
 */
#ifndef HF_ETCD_CLOCK_H
#define HF_ETCD_CLOCK_H

#include "backend/etcd/call.h"

enum clock_state {
    CLOCK_UNKNOWN, /* PREFIX//clock must be read */
    CLOCK_KNOWN,   /* ask what is left of the lease */
    CLOCK_HEARD,   /* a reading awaits its proof */
    CLOCK_READY
};

struct clock_bounds {
    /* At `low_at_us` of the local clock the cluster's time was `low_us` or
     * later; at `high_at_us` it was `high_us` or earlier. */
    int64_t low_us, low_at_us;
    int64_t high_us, high_at_us;
};

struct clock {
    enum clock_state state;
    int is_asked;     /* a call for the clock is under way */
    int64_t revision; /* of PREFIX//clock; 0 if there is no such key */
    int64_t lease;
    uint64_t term;
    int64_t seconds;
    int64_t base_us;
    int64_t floor_us;           /* what PREFIX//time says */
    int64_t asked_us;           /* when the last reading was asked for */
    int has_bounds;             /* are `bounds` known? */
    struct clock_bounds bounds; /* proved */
    struct clock_bounds heard;
    /* While a new clock is being made: */
    int64_t next_lease, next_base_us;
};

/* 1 if the time is known; 0 if it is being asked for. */
int hf__etcd_clock_need(struct backend_conn *c);
/* The bounds of the time, now.  Only after hf__etcd_clock_need() was 1 once. */
int64_t hf__etcd_clock_low(const struct backend_conn *c);
int64_t hf__etcd_clock_high(const struct backend_conn *c);
/* A transaction has read PREFIX//clock: 1 if it is the clock that is in use, 0
 * if it is another one, which is then asked for. */
int hf__etcd_clock_check(struct backend_conn *c, const Pb__KeyValue *kv);
/* The link is lost; `is_other` if the next link is to another cluster. */
void hf__etcd_clock_cut(struct backend_conn *c, int is_other);

void hf__etcd_clock_looked(struct backend_conn *c, const struct call *call,
                           const Pb__TxnResponse *txn);
void hf__etcd_clock_told(struct backend_conn *c, const struct call *call,
                         const Pb__LeaseResponse *lease);
void hf__etcd_clock_granted(struct backend_conn *c, const struct call *call,
                            const Pb__LeaseResponse *lease);
void hf__etcd_clock_made(struct backend_conn *c, const struct call *call,
                         const Pb__TxnResponse *txn);

/* Read the value of PREFIX//clock: 1, or 0 if holdfast has not written it. */
int hf__etcd_clock_read(const char *at, size_t len, struct clock *out);

/* Bounds from a reading: `left_s` seconds were left of the lease; asked at
 * `sent_us`, heard at `heard_us`.  1, or 0 if that is not a reading of this
 * clock. */
int hf__etcd_clock_bounds(const struct clock *k, int64_t left_s,
                          int64_t sent_us, int64_t heard_us,
                          struct clock_bounds *out);
int64_t hf__etcd_bounds_low(const struct clock_bounds *b, int64_t at_us);
int64_t hf__etcd_bounds_high(const struct clock_bounds *b, int64_t at_us);
/* A later reading of the same clock: the narrower of each bound.  If they
 * contradict each other, the leader's machine or this one was suspended in
 * between, and its clock stood still: then only the later one is believed. */
void hf__etcd_bounds_take(struct clock_bounds *b,
                          const struct clock_bounds *heard, int64_t at_us);

#endif
