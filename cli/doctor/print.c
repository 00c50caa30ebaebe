/*
 * doctor/print.c: what the doctor found, for people.  One rule: what is wrong
 * is marked, and stands with the node that it is about.
 */
#include "common/duration.h"
#include "common/text.h"
#include "doctor/doctor.h"
#include "doctor/fact.h"

#include <stdio.h>
#include <string.h>

static void version_text(const struct hf_probe_node *n, char *out, size_t size)
{
    char version[64];
    if (hf_probe_fact(n, "valkey_version", version, sizeof(version)))
        snprintf(out, size, ", Valkey %s", version);
    else if (hf_probe_fact(n, "redis_version", version, sizeof(version)))
        snprintf(out, size, ", Redis %s", version);
    else if (fact_is(n, "engine", "postgres")
             && hf_probe_fact(n, "server_version", version, sizeof(version)))
        snprintf(out, size, ", PostgreSQL %.*s", (int)strcspn(version, " "),
                 version);
    else
        out[0] = '\0';
}

static const char *role_text(const struct hf_probe_node *n)
{
    if (is_of_cluster(n)) return ", of a cluster";
    if (fact_is(n, "role", "slave")) return ", replica";
    return fact_is(n, "role", "master") || fact_is(n, "role", "primary")
               ? ", primary"
               : "";
}

static void member_print(const struct hf_probe_node *n)
{
    char time[32];
    if (n->member != HF_PROBE_OURS) return;
    if (n->votes_in_ms > 0)
        printf(", votes in %s",
               duration_text(n->votes_in_ms, time, sizeof(time)));
    else
        printf(", votes");
    printf(", leases up to %s",
           duration_text(n->max_lease_ms, time, sizeof(time)));
    if (n->durable) printf(", durable");
}

static void clock_print(const struct doctor *d, const struct hf_probe_node *n)
{
    char offset[32], skew[32], rate[32], error[32];
    if (n->samples == 0 || is_local(n)) return;
    printf("  clock   %s from ours",
           offset_text(n->offset_us, offset, sizeof(offset)));
    if (hf_probe_len(d->probe) > 1)
        printf(", %s from the median",
               offset_text(n->skew_us, skew, sizeof(skew)));
    rate_text(n->rate_error_ppm, error, sizeof(error));
    int64_t far = n->rate_ppm < 0 ? -n->rate_ppm : n->rate_ppm;
    if (n->rate_error_ppm && far <= n->rate_error_ppm)
        printf(", runs as ours does, to within %s", error);
    else if (n->rate_error_ppm)
        printf(", runs %s %s, give or take %s",
               rate_text(n->rate_ppm, rate, sizeof(rate)),
               n->rate_ppm < 0 ? "slow" : "fast", error);
    putchar('\n');
}

static void finding_print(const struct finding *f)
{
    char shown[2 * sizeof(f->text)];
    printf("%s %-7s %s\n", f->level == LEVEL_WARN ? "!" : " ", f->about,
           text_escape(f->text, shown, sizeof(shown)));
}

static void node_print(const struct doctor *d, int i)
{
    const struct hf_probe_node *n = hf_probe_node(d->probe, i);
    char version[96], endpoint[160];
    size_t len = strlen(n->url); /* "file:" has its colon */
    printf("%s%s ", n->url, len && n->url[len - 1] == ':' ? "" : ":");
    if (n->answers) {
        version_text(n, version, sizeof(version));
        printf("answers in %.2f ms%s%s", (double)n->rtt_us / 1e3, version,
               role_text(n));
        if (d->is_of_sentinel
            && hf_probe_fact(n, "endpoint", endpoint, sizeof(endpoint)))
            printf(" %s", endpoint);
        member_print(n);
    } else {
        printf("no answer");
    }
    putchar('\n');
    clock_print(d, n);
    for (int k = 0; k < d->findings_len; k++)
        if (d->findings[k].node == i) finding_print(&d->findings[k]);
}

static void promises_print(const struct doctor *d)
{
    struct promise rows[PROMISES_MAX];
    int len = promises_make(d, rows);
    printf("\n%-21s %-14s %-13s %s\n", "WHEN", "EXCLUSION", "FENCE RISES",
           "CAN BE HAD AGAIN");
    for (int i = 0; i < len; i++)
        printf("%-21s %-14s %-13s %s\n", rows[i].event, rows[i].exclusion,
               rows[i].fencing, rows[i].again);
}

void doctor_print(const struct doctor *d)
{
    char drift[32];
    for (int i = 0; i < hf_probe_len(d->probe); i++) node_print(d, i);
    for (int k = 0; k < d->findings_len; k++)
        if (d->findings[k].node < 0) finding_print(&d->findings[k]);
    if (d->answering > 0) promises_print(d);
    putchar('\n');
    if (d->answering > 0
        && (hf_probe_quorum(d->probe) || !is_local(hf_probe_node(d->probe, 0)))
        && !fact_is(hf_probe_node(d->probe, 0), "session", "on")
        && !fact_is(hf_probe_node(d->probe, 0), "layout", "shedlock"))
        printf("By the fence: two clients may believe that they hold it, and "
               "the resource must refuse\nthe lower fence (holdfast guard). "
               "Clocks may run %s apart (drift= in the URL).\n",
               rate_text(hf_probe_drift_ppm(d->probe), drift, sizeof(drift)));
    if (d->answering > 0 && !hf_probe_quorum(d->probe) && fails_over(d))
        printf("By the clocks: while a replica's clock agrees with its "
               "primary's%s.\n",
               fact_is(hf_probe_node(d->probe, 0), "engine", "postgres")
                   ? ""
                   : "; holdfast doctor\nredis://REPLICA compares it with "
                     "this host's");
    if (d->warnings)
        printf("%d warning%s, marked with !.\n", d->warnings,
               d->warnings == 1 ? "" : "s");
    else
        printf("Nothing to warn of.\n");
}
