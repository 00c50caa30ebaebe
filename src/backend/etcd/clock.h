/*
 * clock.h: what time it is, for the times that are kept in cells.
 *
 * etcd tells no time, and the clocks of two clients cannot be compared.  But
 * the leader counts down each lease, and tells what is left of it.  So a lease
 * that nobody keeps alive is a clock: at BASE it was granted, and it is as much
 * later as is missing from its length.
 *
 *   PREFIX//clock   "holdfast-clock1 LEASE TERM SECONDS BASE": the clock
 *   PREFIX//time    the time of the last swap: a new clock does not begin
 *                   before it
 *
 * A new leader gives each lease its whole time again.  So a reading counts only
 * in the term of Raft in which the lease was granted, and only once a later
 * answer, that a majority has confirmed, comes in the same term.  In another
 * term the clock is replaced by a new one, which begins at a time that has been
 * reached.  A swap compares the revision of PREFIX//clock, so that all swaps of
 * one time are by one clock.
 *
 * One rule: of the time only two bounds are known.  What ends is over by the
 * lower one; what begins counts from the upper one.
 */
#ifndef HF_ETCD_CLOCK_H
#define HF_ETCD_CLOCK_H

#include "backend/etcd/call.h"

enum clock_state {
    CLOCK_UNKNOWN, /* PREFIX//clock is to be read */
    CLOCK_KNOWN,   /* what is left of the lease is to be asked */
    CLOCK_HEARD,   /* a reading is to be proved */
    CLOCK_READY
};

struct clock_bounds {
    /* At `low_at_us` by the local clock it was `low_us` or later, at
     * `high_at_us` it was `high_us` or earlier. */
    int64_t low_us, low_at_us;
    int64_t high_us, high_at_us;
};

struct clock {
    enum clock_state state;
    int is_asked;     /* a call of its own is on its way */
    int64_t revision; /* of its key; 0: there was none */
    int64_t lease;
    uint64_t term;
    int64_t seconds;
    int64_t base_us;
    int64_t floor_us;           /* PREFIX//time */
    int64_t asked_us;           /* when the last reading that counts was sent */
    int has_bounds;             /* 0: `bounds` are not known */
    struct clock_bounds bounds; /* proved */
    struct clock_bounds heard;
    /* While a new one is being made: */
    int64_t next_lease, next_base_us;
};

/* 1: it can be told; 0: it is being asked for. */
int hf__etcd_clock_need(struct backend_conn *c);
/* The bounds of the time, now.  Only if it can be told, or could be once. */
int64_t hf__etcd_clock_low(const struct backend_conn *c);
int64_t hf__etcd_clock_high(const struct backend_conn *c);
/* What a transaction told of its key: 0: it is another one than was read, which
 * will be asked for; 1: it is the same. */
int hf__etcd_clock_check(struct backend_conn *c, const Pb__KeyValue *kv);
/* The link is lost; with `is_other`, the cluster is another. */
void hf__etcd_clock_cut(struct backend_conn *c, int is_other);

void hf__etcd_clock_looked(struct backend_conn *c, const struct call *call,
                           const Pb__TxnResponse *txn);
void hf__etcd_clock_told(struct backend_conn *c, const struct call *call,
                         const Pb__LeaseResponse *lease);
void hf__etcd_clock_granted(struct backend_conn *c, const struct call *call,
                            const Pb__LeaseResponse *lease);
void hf__etcd_clock_made(struct backend_conn *c, const struct call *call,
                         const Pb__TxnResponse *txn);

/* What is in PREFIX//clock: 1, or 0: it is not ours. */
int hf__etcd_clock_read(const char *at, size_t len, struct clock *out);

/* A reading: `left_s` seconds are left of the lease, asked and heard then.
 * 1, or 0: it is of another clock. */
int hf__etcd_clock_bounds(const struct clock *k, int64_t left_s,
                          int64_t sent_us, int64_t heard_us,
                          struct clock_bounds *out);
int64_t hf__etcd_bounds_low(const struct clock_bounds *b, int64_t at_us);
int64_t hf__etcd_bounds_high(const struct clock_bounds *b, int64_t at_us);

#endif
