/*
 * probe_clock.c: what looks at a clock tell of it.
 *
 * A node read its clock somewhere between our question and its answer, so each
 * look is known to within half a round trip, and a rate to within what that
 * makes over the time between two looks.  One rule: the looks with the
 * shortest round trips are believed.
 */
#include <stddef.h>
#include <string.h>

#include "api/quorum/probe.h"
#include "base/limits.h"
#include "base/math.h"

#define PPM 1000000
#define STEP_FLOOR_US (5 * US_PER_MS) /* a smaller jump is no jump */
#define STEP_DIVISOR 5 /* nor one below a fifth of the time it took */

void hf__probe_clock_add(struct probe_clock *c, int64_t sent_us,
                         int64_t heard_us, int64_t node_us)
{
    if (node_us <= 0 || c->len == PROBE_SAMPLES_MAX) return;
    int64_t half_us = max64(heard_us - sent_us, 0) / 2;
    c->samples[c->len++] = (struct probe_sample){
        .mid_us = sent_us + half_us, .half_us = half_us, .node_us = node_us};
}

/* The surest of the looks from `first` to before `end`. */
static const struct probe_sample *sample_best(const struct probe_clock *c,
                                              int first, int end)
{
    const struct probe_sample *best = &c->samples[first];
    for (int i = first + 1; i < end; i++)
        if (c->samples[i].half_us < best->half_us) best = &c->samples[i];
    return best;
}

/* How far the clock moved beyond the time between two looks. */
static int64_t step_between(const struct probe_sample *a,
                            const struct probe_sample *b)
{
    int64_t took_us = b->mid_us - a->mid_us;
    int64_t doubt_us = a->half_us + b->half_us;
    int64_t moved_us = b->node_us - a->node_us - took_us;
    int64_t allowed_us = doubt_us + took_us / STEP_DIVISOR + STEP_FLOOR_US;
    return moved_us > allowed_us || moved_us < -allowed_us ? moved_us : 0;
}

static int64_t step_largest(const struct probe_clock *c)
{
    int64_t largest = 0;
    for (int i = 1; i < c->len; i++) {
        int64_t step = step_between(&c->samples[i - 1], &c->samples[i]);
        if ((step < 0 ? -step : step) > (largest < 0 ? -largest : largest))
            largest = step;
    }
    return largest;
}

static void rate_measure(const struct probe_clock *c, struct hf_probe_node *out)
{
    int third = c->len / 3;
    if (third == 0) return;
    const struct probe_sample *a = sample_best(c, 0, third);
    const struct probe_sample *b = sample_best(c, c->len - third, c->len);
    int64_t took_us = b->mid_us - a->mid_us;
    if (took_us <= 0) return;
    int64_t moved_us = b->node_us - a->node_us;
    out->rate_ppm =
        (int64_t)((double)(moved_us - took_us) * PPM / (double)took_us);
    out->rate_error_ppm =
        (int64_t)((double)(a->half_us + b->half_us) * PPM / (double)took_us)
        + 1;
}

void hf__probe_clock_judge(const struct probe_clock *c, int64_t wall_us,
                           struct hf_probe_node *out)
{
    out->samples = c->len;
    if (c->len == 0) return;
    const struct probe_sample *best = sample_best(c, 0, c->len);
    /* The last one is the freshest, and after a jump the only true one. */
    const struct probe_sample *last = &c->samples[c->len - 1];
    out->step_us = step_largest(c);
    if (out->step_us) best = last;
    out->offset_us = best->node_us - best->mid_us - wall_us;
    if (!out->step_us) rate_measure(c, out);
}

void hf__probe_clocks_compare(struct hf_probe *p)
{
    int64_t known[NODES_MAX];
    int len = 0;
    for (int i = 0; i < p->len; i++) {
        if (p->nodes[i].samples == 0) continue;
        int64_t offset = p->nodes[i].offset_us;
        int k = len++;
        for (; k > 0 && known[k - 1] > offset; k--) known[k] = known[k - 1];
        known[k] = offset;
    }
    for (int i = 0; i < p->len; i++)
        if (p->nodes[i].samples > 0)
            p->nodes[i].skew_us = p->nodes[i].offset_us - known[len / 2];
}
