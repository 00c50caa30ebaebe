/*
 * traffic.h: seeded random requests to one node, as a fleet of confused
 * clients would send them: fresh, repeated, out of order, late and stale.
 */
#ifndef HF_TEST_TRAFFIC_H
#define HF_TEST_TRAFFIC_H

#include "base/request.h"

#define TRAFFIC_NAMES 4
#define TRAFFIC_OWNERS 3
#define TRAFFIC_PAST 48

struct traffic {
    uint64_t state;
    int is_plain;     /* nobody queues; set after traffic_start() */
    int64_t lease_us; /* leases are this long, or up to twice as long */
    int64_t seen[TRAFFIC_NAMES]; /* highest number any reply told */
    struct {
        uint64_t attempt; /* the owner's last one */
        uint64_t queued;  /* ... with which it queues */
        int64_t ballot;
        int64_t fence; /* the last that it was granted */
    } last[TRAFFIC_NAMES][TRAFFIC_OWNERS];
    uint64_t attempts;
    struct request past[TRAFFIC_PAST];
    size_t past_len;
};

void traffic_start(struct traffic *t, uint64_t seed, int64_t lease_us);

/* The next request, around `now_us` on the node's wall clock. */
struct request traffic_next(struct traffic *t, int64_t now_us);

/* Learn from a reply, as clients do. */
void traffic_heard(struct traffic *t, const struct request *req,
                   const struct reply *rep);

/* One of the names, for tests that look at all of them. */
const char *traffic_name(size_t i);
const char *traffic_owner(size_t i);

/* A number below `n`. */
uint64_t traffic_below(struct traffic *t, uint64_t n);

#endif
