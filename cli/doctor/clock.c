/*
 * doctor/clock.c: what the servers' clocks mean for leases.
 *
 * A lease is counted by its holder and by each server, each on its own clock.
 * They need not show the same time, but must run at the same rate to within
 * the drift budget, and must not jump.
 */
#include "doctor/doctor.h"

#include <stdio.h>
#include <stdlib.h>

#define SKEW_BALLOT_US 1000000 /* half of the window for proposed numbers */
#define SKEW_FENCE_US 250000   /* the error reckoned with after a loss */

const char *offset_text(int64_t us, char *out, size_t size)
{
    int64_t far = us < 0 ? -us : us;
    if (far >= 1000000)
        snprintf(out, size, "%+.1f s", (double)us / 1e6);
    else
        snprintf(out, size, "%+.1f ms", (double)us / 1e3);
    return out;
}

const char *rate_text(int64_t ppm, char *out, size_t size)
{
    int64_t far = ppm < 0 ? -ppm : ppm;
    if (far >= 1000)
        snprintf(out, size, "%.1f %%", (double)far / 1e4);
    else
        snprintf(out, size, "%lld ppm", (long long)far);
    return out;
}

static void rate_check(struct doctor *d, int i)
{
    const struct hf_probe_node *n = hf_probe_node(d->probe, i);
    int64_t budget = hf_probe_drift_ppm(d->probe);
    int64_t far = n->rate_ppm < 0 ? -n->rate_ppm : n->rate_ppm;
    char rate[32], allowed[32], sure[32];
    if (n->rate_error_ppm == 0) return; /* too short a look for a rate */
    rate_text(n->rate_ppm, rate, sizeof(rate));
    rate_text(budget, allowed, sizeof(allowed));
    if (far - n->rate_error_ppm > budget)
        finding_add(d, LEVEL_WARN, i, "clock",
                    "it runs %s too %s, and the drift budget is %s: its leases "
                    "end %s than their holders think; chrony slews by up to "
                    "8.3 %%: set maxslewrate 1000 there, or drift=10%% in the "
                    "URL",
                    rate, n->rate_ppm > 0 ? "fast" : "slow", allowed,
                    n->rate_ppm > 0 ? "earlier" : "later");
    else if (n->rate_error_ppm > budget)
        finding_add(d, LEVEL_NOTE, i, "clock",
                    "its rate is known to %s only: look longer, with --for",
                    rate_text(n->rate_error_ppm, sure, sizeof(sure)));
}

static void clock_check(struct doctor *d, int i)
{
    const struct hf_probe_node *n = hf_probe_node(d->probe, i);
    char text[32];
    if (n->step_us)
        finding_add(d, LEVEL_WARN, i, "clock",
                    "it jumped by %s while we looked: leases there end %s; let "
                    "the time daemon step it at boot only (chrony: makestep 1 "
                    "3)",
                    offset_text(n->step_us, text, sizeof(text)),
                    n->step_us > 0 ? "at once" : "late");
    rate_check(d, i);
    if (hf_probe_quorum(d->probe) == 0) return;
    offset_text(n->skew_us, text, sizeof(text));
    if (llabs(n->skew_us) > SKEW_BALLOT_US)
        finding_add(d, LEVEL_WARN, i, "clock",
                    "it is %s from the other nodes': %s; set it right", text,
                    n->skew_us > 0 ? "it refuses their numbers as too old"
                                   : "its own numbers are too old for them");
    else if (llabs(n->skew_us) > SKEW_FENCE_US)
        finding_add(d, LEVEL_WARN, i, "clock",
                    "it is %s from the other nodes': more than 250 ms may "
                    "cost a rising fence after a loss of data; set it right",
                    text);
}

void clocks_check(struct doctor *d)
{
    for (int i = 0; i < hf_probe_len(d->probe); i++)
        if (hf_probe_node(d->probe, i)->samples > 0) clock_check(d, i);
}
