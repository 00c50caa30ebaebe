/*
 * hist.h: how long things took, in buckets of at most 1/64 of their value.
 *
 * bucket(ns) = ns below 128, else 128 + (e - 7) * 64 + ((ns >> (e - 6)) & 63)
 * with e = floor(log2 ns).  A driver may add up histograms of many runners, so
 * the formula is part of the protocol (README.md).
 */
#ifndef BENCH_HIST_H
#define BENCH_HIST_H

#include <stdint.h>
#include <stdio.h>

#define HIST_BUCKETS (128 + (63 - 7) * 64 + 64)

struct hist {
    uint32_t count[HIST_BUCKETS];
};

void hist_add(struct hist *h, uint64_t ns, uint32_t times);
void hist_merge(struct hist *into, const struct hist *from);

/* The lower edge of the bucket below which `share` of all values lie. */
uint64_t hist_quantile_ns(const struct hist *h, double share);

/* {"bucket":count,...} */
void hist_print(const struct hist *h, FILE *out);

#endif
