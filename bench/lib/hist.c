/*
 * hist.c: the histogram of durations.  Adding is a few instructions and never
 * allocates, for it happens while the clock runs.
 */
#include "hist.h"

static int bucket_of(uint64_t ns)
{
    if (ns < 128) return (int)ns;
    int e = 63 - __builtin_clzll(ns);
    return 128 + (e - 7) * 64 + (int)((ns >> (e - 6)) & 63);
}

static uint64_t bucket_floor_ns(int bucket)
{
    if (bucket < 128) return (uint64_t)bucket;
    int step = bucket - 128;
    return (uint64_t)(64 + step % 64) << (step / 64 + 1);
}

void hist_add(struct hist *h, uint64_t ns, uint32_t times)
{
    h->count[bucket_of(ns)] += times;
}

void hist_merge(struct hist *into, const struct hist *from)
{
    for (int i = 0; i < HIST_BUCKETS; i++) into->count[i] += from->count[i];
}

uint64_t hist_quantile_ns(const struct hist *h, double share)
{
    uint64_t total = 0, seen = 0;

    for (int i = 0; i < HIST_BUCKETS; i++) total += h->count[i];
    for (int i = 0; i < HIST_BUCKETS; i++) {
        seen += h->count[i];
        if (total && (double)seen >= share * (double)total)
            return bucket_floor_ns(i);
    }
    return 0;
}

void hist_print(const struct hist *h, FILE *out)
{
    const char *comma = "";

    fputc('{', out);
    for (int i = 0; i < HIST_BUCKETS; i++) {
        if (!h->count[i]) continue;
        fprintf(out, "%s\"%d\":%u", comma, i, h->count[i]);
        comma = ",";
    }
    fputc('}', out);
}
