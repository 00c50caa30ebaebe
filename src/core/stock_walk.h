/*
 * stock_walk.h: the way of one reservation through the segments of a sale.
 *
 *   RESERVE at home --> answered -----------------------------------> over
 *     ^         | dry
 *     |         v
 *     |       LOOK at all ---> a transfer is open: ACCEPT, ACK, next one
 *     |         |                                     |
 *     +---------|-------------------------------------+
 *     |         v
 *     |       DONATE at the richest ---> ACCEPT at home ---> ACK --+
 *     +---------|--------------------------------------------------+
 *               v none is rich
 *             GONE at home -------------------------------> sold out, over
 *
 * The rule: the segment that gives units forgets the transfer only after the
 * other one has accepted it; so a client may stop at any step, and the next
 * client goes on.  Pure: the API and the seeded test drive the same walk.
 */
#ifndef HF_CORE_STOCK_WALK_H
#define HF_CORE_STOCK_WALK_H

#include "base/stock.h"

enum stock_walk_phase {
    WALK_RESERVE,
    WALK_LOOK,
    WALK_CARRY_ACCEPT, /* a transfer that another client left open */
    WALK_CARRY_ACK,
    WALK_DONATE,
    WALK_ACCEPT,
    WALK_ACK,
    WALK_GONE,
    WALK_OVER
};

/* A transfer between two segments. */
struct stock_carry {
    uint32_t from, to;
    int64_t number, units;
};

struct stock_walk {
    enum stock_walk_phase phase;
    uint32_t home, segments, richest;
    int64_t units;
    int64_t here, most;        /* available at home, and at the richest other */
    int rounds;                /* how often units were looked for */
    struct stock_carry moving; /* the one that this walk has asked for */
    struct stock_carry carry[HF_STOCK_SEGMENTS_MAX];
    uint32_t carry_len, carried;
    enum stock_says says; /* the answer, in WALK_OVER */
};

void hf__stock_walk_begin(struct stock_walk *w, uint32_t home,
                          uint32_t segments, int64_t units);
/* The number of jobs of the next step, which are sent together; 0 in
 * WALK_OVER. */
uint32_t hf__stock_walk_jobs(const struct stock_walk *w);
/* Fill the `i`-th of them, except user, id and nonce. */
void hf__stock_walk_ask(const struct stock_walk *w, uint32_t i,
                        struct stock_job *job);
/* Take the answer to a job; after the last one call hf__stock_walk_next(). */
void hf__stock_walk_told(struct stock_walk *w, const struct stock_job *job);
void hf__stock_walk_next(struct stock_walk *w);

#endif
