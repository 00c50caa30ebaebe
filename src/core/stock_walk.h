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
 * The rule: units are taken to a segment before the one that gave them forgets
 * it, so that a client may stop anywhere, and the next one goes on.  Pure: the
 * API and the seeded test drive the same walk.
 */
#ifndef HF_CORE_STOCK_WALK_H
#define HF_CORE_STOCK_WALK_H

#include "base/stock.h"

enum stock_walk_phase {
    WALK_RESERVE,
    WALK_LOOK,
    WALK_CARRY_ACCEPT, /* of another's transfer */
    WALK_CARRY_ACK,
    WALK_DONATE,
    WALK_ACCEPT,
    WALK_ACK,
    WALK_GONE,
    WALK_OVER
};

/* A transfer that is carried on. */
struct stock_carry {
    uint32_t from, to;
    int64_t number, units;
};

struct stock_walk {
    enum stock_walk_phase phase;
    uint32_t home, segments, richest;
    int64_t units;
    int64_t here, most;        /* available at home, and at the richest other */
    int rounds;                /* times that units were looked for */
    struct stock_carry moving; /* the one that is fetched */
    struct stock_carry carry[HF_STOCK_SEGMENTS_MAX];
    uint32_t carry_len, carried;
    enum stock_says says; /* once over */
};

void hf__stock_walk_begin(struct stock_walk *w, uint32_t home,
                          uint32_t segments, int64_t units);
/* How many jobs come next, all at once; 0: it is over. */
uint32_t hf__stock_walk_jobs(const struct stock_walk *w);
/* Fill the `i`-th of them: all but user, id and nonce. */
void hf__stock_walk_ask(const struct stock_walk *w, uint32_t i,
                        struct stock_job *job);
/* It was answered; after the last of them comes hf__stock_walk_next(). */
void hf__stock_walk_told(struct stock_walk *w, const struct stock_job *job);
void hf__stock_walk_next(struct stock_walk *w);

#endif
