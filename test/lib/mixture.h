/*
 * mixture.h: seeded random requests of every kind to one node, on a few names:
 * fresh, repeated, late, and now and then of another kind than the name is in
 * use as.  Plain locks have traffic.h besides.
 */
#ifndef HF_TEST_MIXTURE_H
#define HF_TEST_MIXTURE_H

#include "base/request.h"

#define MIXTURE_NAMES 8
#define MIXTURE_OWNERS 3
#define MIXTURE_PAST 64

struct mixture {
    uint64_t state;
    uint64_t attempts;
    struct {
        uint64_t attempt; /* the owner's last one */
        int64_t ballot;
        int64_t fence; /* the last that it was granted */
        int64_t seen;  /* of its last answer, if that was BUSY */
    } last[MIXTURE_NAMES][MIXTURE_OWNERS];
    uint64_t version[MIXTURE_NAMES]; /* of the value */
    struct request past[MIXTURE_PAST];
    size_t past_len;
};

void mixture_start(struct mixture *m, uint64_t seed);

/* The next request, around `now_us` on the node's wall clock. */
struct request mixture_next(struct mixture *m, int64_t now_us);

/* Learn from a reply, as clients do. */
void mixture_heard(struct mixture *m, const struct request *req,
                   const struct reply *rep);

const char *mixture_name(size_t i);

#endif
