/*
 * runner_report.c: what a runner says to its driver.  Every word is a line of
 * its own and flushed at once.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "runner.h"
#include "tool.h"

static void line_wait(int end_without)
{
    char line[64];

    if (!fgets(line, sizeof(line), stdin) && end_without) exit(0);
}

void runner_ready(void)
{
    puts("READY");
    fflush(stdout);
    line_wait(1);
}

static void totals_print(const struct worker *w, int len)
{
    uint64_t ops = 0, handoffs = 0, violations = 0, fails = 0, max_ns = 0;

    for (int i = 0; i < len; i++) {
        ops += w[i].ops;
        handoffs += w[i].handoffs;
        violations += w[i].violations;
        fails += w[i].fails;
        if (w[i].max_ns > max_ns) max_ns = w[i].max_ns;
    }
    printf("\"ops\":%" PRIu64 ",\"handoffs\":%" PRIu64
           ",\"violations\":%" PRIu64 ",\"fails\":%" PRIu64
           ",\"max_ns\":%" PRIu64,
           ops, handoffs, violations, fails, max_ns);
    printf(",\"per_thread\":[");
    for (int i = 0; i < len; i++) printf("%s%" PRIu64, i ? "," : "", w[i].ops);
    printf("]");
}

void runner_report(const struct worker *w, int len, uint64_t elapsed_ns,
                   uint64_t cpu_ns)
{
    struct hist *times = allocate(1, sizeof(*times));
    struct hist *wakes = allocate(1, sizeof(*wakes));
    int64_t rss_kb = rss_self_kb();

    for (int i = 0; i < len; i++) {
        hist_merge(times, &w[i].times);
        hist_merge(wakes, &w[i].wakes);
    }
    printf("END {\"elapsed_ns\":%" PRIu64 ",\"cpu_ns\":%" PRIu64
           ",\"rss_kb\":%" PRId64 ",\"p50_ns\":%" PRIu64 ",\"p99_ns\":%" PRIu64
           ",",
           elapsed_ns, cpu_ns, rss_kb, hist_quantile_ns(times, 0.5),
           hist_quantile_ns(times, 0.99));
    totals_print(w, len);
    printf(",\"hist\":");
    hist_print(times, stdout);
    printf(",\"wake\":");
    hist_print(wakes, stdout);
    puts("}");
    fflush(stdout);
    free(times);
    free(wakes);
    line_wait(0);
}

void runner_report_hold(uint64_t renewals, uint64_t elapsed_ns, uint64_t cpu_ns,
                        int64_t lost, int64_t rss_base_kb)
{
    printf("END {\"ops\":%" PRIu64 ",\"elapsed_ns\":%" PRIu64
           ",\"cpu_ns\":%" PRIu64 ",\"lost_seen\":%" PRId64
           ",\"rss_kb\":%" PRId64 ",\"rss_base_kb\":%" PRId64 "}\n",
           renewals, elapsed_ns, cpu_ns, lost, rss_self_kb(), rss_base_kb);
    fflush(stdout);
    line_wait(0);
}
