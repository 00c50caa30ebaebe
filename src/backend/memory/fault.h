/*
 * fault.h: what a memory: URL may ask to go wrong, so that programs can
 * test how they bear it.  Everything is drawn from one seed.
 */
#ifndef HF_MEMORY_FAULT_H
#define HF_MEMORY_FAULT_H

#include "base/request.h"
#include "base/url.h"

struct fault_plan {
    uint64_t state;       /* of the generator, from seed= */
    int64_t delay_min_us; /* delay_ms=a-b */
    int64_t delay_max_us;
    int loss;         /* percent of requests without an answer */
    int error;        /* percent of requests refused */
    int expire;       /* percent of renewals that find nothing */
    int is_down;      /* nothing is answered at all */
    int64_t clock_us; /* how far the space's clock is off */
    int has_clock;
};

/* What is to happen to one request. */
struct fault_fate {
    int refused;      /* V_ERROR, not carried out */
    int lost;         /* V_UNKNOWN at the deadline */
    int carried_out;  /* if lost: the store has it all the same */
    int expired;      /* the lock ends just before */
    int64_t delay_us; /* by which the answer is later */
};

/* Read the options of `url`.  HF_OK, or HF_INVALID with err filled. */
int hf__memory_fault_parse(struct fault_plan *plan, const struct url *url,
                           struct hf_error *err);

/* Draw the fate of a request. */
struct fault_fate hf__memory_fault_draw(struct fault_plan *plan, enum verb op);

#endif
