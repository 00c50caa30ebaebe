/*
 * stress/report.c: the verdict and the figures.  One rule: what was not looked
 * at is not claimed.
 */
#include "common/duration.h"
#include "common/json.h"
#include "stress/stress.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const names[FIGURES] = {
    [FIGURE_ACQUIRED] = "acquired",   [FIGURE_REENTERED] = "reentered",
    [FIGURE_TAKEN] = "taken",         [FIGURE_TIMEOUT] = "timed_out",
    [FIGURE_CANCELLED] = "cancelled", [FIGURE_UNAVAILABLE] = "unavailable",
    [FIGURE_RELEASED] = "released",   [FIGURE_ENDED] = "ended",
    [FIGURE_WRITTEN] = "written",     [FIGURE_REFUSED] = "refused",
    [FIGURE_PAUSES] = "pauses",
};

static uint64_t figure(const struct stress *s, enum figure which)
{
    return atomic_load(&s->figures[which]);
}

static unsigned lines_len(const struct stress *s)
{
    return s->violations < STRESS_LINES_MAX ? s->violations : STRESS_LINES_MAX;
}

static void report_json(const struct stress *s, const char *url,
                        int64_t took_ms)
{
    struct json j;
    for (unsigned i = 0; i < lines_len(s); i++) {
        json_begin(&j);
        json_text(&j, "violation", s->lines[i]);
        json_end(&j);
        fputs(j.buf, stdout);
    }
    json_begin(&j);
    json_text(&j, "url", url);
    json_uint(&j, "clients", s->clients);
    json_uint(&j, "threads", s->threads);
    json_uint(&j, "locks", s->locks_len);
    json_int(&j, "lease_ms", s->lease_ms);
    json_int(&j, "took_ms", took_ms);
    json_bool(&j, "fenced", s->fenced);
    for (int i = 0; i < FIGURES; i++)
        json_uint(&j, names[i], figure(s, (enum figure)i));
    json_uint(&j, "violations", s->violations);
    json_bool(&j, "ok", s->violations == 0 && figure(s, FIGURE_ACQUIRED) > 0);
    json_end(&j);
    fputs(j.buf, stdout);
}

static void figures_print(const struct stress *s, int64_t took_ms)
{
    uint64_t acquired = figure(s, FIGURE_ACQUIRED);
    uint64_t ms = took_ms > 0 ? (uint64_t)took_ms : 1;
    printf("acquired %" PRIu64 " (%" PRIu64 "/s), entered again %" PRIu64
           "; taken %" PRIu64 ", timed out %" PRIu64 ", cancelled %" PRIu64
           ", unavailable %" PRIu64 "\n",
           acquired, acquired * 1000 / ms, figure(s, FIGURE_REENTERED),
           figure(s, FIGURE_TAKEN), figure(s, FIGURE_TIMEOUT),
           figure(s, FIGURE_CANCELLED), figure(s, FIGURE_UNAVAILABLE));
    printf("released %" PRIu64 ", over before that %" PRIu64
           "; writes accepted %" PRIu64 ", refused %" PRIu64 "; pauses %" PRIu64
           "\n",
           figure(s, FIGURE_RELEASED), figure(s, FIGURE_ENDED),
           figure(s, FIGURE_WRITTEN), figure(s, FIGURE_REFUSED),
           figure(s, FIGURE_PAUSES));
}

void report_print(const struct stress *s, const char *url, int64_t took_ms,
                  int as_json)
{
    char time[32], shown[2048];
    if (as_json) {
        report_json(s, url, took_ms);
        return;
    }
    printf("%u processes of %u threads on %u locks of %s for %s\n", s->clients,
           s->threads, s->locks_len, text_escape(url, shown, sizeof(shown)),
           duration_text(took_ms, time, sizeof(time)));
    figures_print(s, took_ms);
    for (unsigned i = 0; i < lines_len(s); i++) printf("  %s\n", s->lines[i]);
    if (s->violations > STRESS_LINES_MAX)
        printf("  ... and %u more\n", s->violations - STRESS_LINES_MAX);
    if (s->violations > 0)
        printf("VIOLATED: %u times\n", s->violations);
    else if (figure(s, FIGURE_ACQUIRED) == 0)
        printf("nothing to judge: not one lock was acquired\n");
    else
        printf("ok: never two holders, no write lost, %s\n",
               s->fenced ? "tokens unique and rising" : "no tokens to judge");
}
