/*
 * probe.h: what the files of hf_probe_open() share.
 */
#ifndef HF_API_PROBE_H
#define HF_API_PROBE_H

#include "api/quorum/quorum.h"
#include "holdfast/probe.h"

#define PROBE_SAMPLES_MAX 128
#define PROBE_FACTS_MAX 2048 /* bytes of all facts of a node */

/* All servers behind a URL. */
struct hf_probe {
    int len;
    int quorum; /* how many of them must agree; 0 if this is not a quorum */
    int64_t drift_ppm;
    int left_out; /* a cluster has more masters, which were not asked */
    struct hf_probe_node nodes[NODES_MAX];
    char facts[NODES_MAX][PROBE_FACTS_MAX]; /* what the nodes point to */
};

/* One look at a node's clock. */
struct probe_sample {
    int64_t mid_us;  /* ours, between question and answer */
    int64_t half_us; /* half of the round trip */
    int64_t node_us;
};

/* Looks at one node's clock, oldest first. */
struct probe_clock {
    struct probe_sample samples[PROBE_SAMPLES_MAX];
    int len;
};

/* Note one look.  What does not fit is left out. */
void hf__probe_clock_add(struct probe_clock *c, int64_t sent_us,
                         int64_t heard_us, int64_t node_us);

/* offset, rate and step of a node; `wall_us` is the wall clock minus ours. */
void hf__probe_clock_judge(const struct probe_clock *c, int64_t wall_us,
                           struct hf_probe_node *out);

/* skew: each node against the median of all. */
void hf__probe_clocks_compare(struct hf_probe *p);

#endif
