/*
 * ballot.h: the numbers a client proposes.
 *
 * One per lock and client.  The rule: a number is never proposed twice, and
 * `proposed` is never reset while a request of the client may still be on its
 * way.  (A reset left grants without a holder behind: the simulator found it.)
 */
#ifndef HF_CORE_BALLOT_H
#define HF_CORE_BALLOT_H

#include <assert.h>
#include <stdint.h>

struct ballot {
    int64_t seen;     /* largest counter that a node ever told */
    int64_t proposed; /* largest number that was ever proposed */
};

/* The next number: the nodes' clock, or just above all numbers known here. */
static inline int64_t hf__ballot_next(struct ballot *b, int64_t nodes_now_us)
{
    int64_t next = nodes_now_us;
    assert(b->seen >= 0 && b->proposed >= 0);
    if (next <= b->seen) next = b->seen + 1;
    if (next <= b->proposed) next = b->proposed + 1;
    b->proposed = next;
    return next;
}

/* A node told its counter. */
static inline void hf__ballot_saw(struct ballot *b, int64_t counter)
{
    if (counter > b->seen) b->seen = counter;
}

#endif
