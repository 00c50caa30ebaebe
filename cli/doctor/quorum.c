/*
 * doctor/quorum.c: the members of a quorum, together.  One rule: warn if one
 * failure could stop two members.
 */
#include "common/duration.h"
#include "common/exit.h"
#include "doctor/doctor.h"

#include <stdio.h>
#include <string.h>

#define HOST_LEN_MAX 256

static void member_check(struct doctor *d, int i)
{
    const struct hf_probe_node *n = hf_probe_node(d->probe, i);
    char left[32];
    if (n->answers && status_exit(n->status) == EXIT_CONFIG) d->is_wrong = 1;
    switch (n->member) {
    case HF_PROBE_UNMARKED:
        finding_add(d, LEVEL_WARN, i, "member",
                    "it has no marker: it is new, or was wiped; make it a "
                    "member with holdfast init, or it does not vote for %s",
                    duration_text(n->votes_in_ms, left, sizeof(left)));
        break;
    case HF_PROBE_OTHERS:
        d->is_wrong = 1;
        finding_add(d, LEVEL_WARN, i, "member",
                    "it is a member of another quorum: this URL names other "
                    "nodes than its own does");
        break;
    case HF_PROBE_OURS:
        if (n->votes_in_ms == 0)
            d->voting++;
        else
            finding_add(d, LEVEL_WARN, i, "member",
                        "it may not vote for %s: it was restarted, or its "
                        "clock jumped",
                        duration_text(n->votes_in_ms, left, sizeof(left)));
        break;
    default:
        break;
    }
}

static void twins_check(struct doctor *d)
{
    for (int i = 0; i < hf_probe_len(d->probe); i++) {
        const struct hf_probe_node *n = hf_probe_node(d->probe, i);
        for (int k = 0; k < i && n->identity[0]; k++) {
            if (strcmp(n->identity, hf_probe_node(d->probe, k)->identity) != 0)
                continue;
            d->is_wrong = 1;
            finding_add(d, LEVEL_WARN, i, "member",
                        "it is the same server as %s: no lock can be had with "
                        "this URL",
                        hf_probe_node(d->probe, k)->url);
        }
    }
}

/* 1 if the node is on `host`, by its URL. */
static int is_on(const struct hf_probe_node *n, const char *host)
{
    char other[HOST_LEN_MAX];
    return hf_probe_fact(n, "host", other, sizeof(other))
           && strcmp(other, host) == 0;
}

static void hosts_check(struct doctor *d)
{
    char host[HOST_LEN_MAX];
    for (int i = 0; i < hf_probe_len(d->probe); i++) {
        int same = 1, is_told = 0;
        if (!hf_probe_fact(hf_probe_node(d->probe, i), "host", host,
                           sizeof(host)))
            continue;
        for (int k = 0; k < hf_probe_len(d->probe); k++) {
            if (k == i || !is_on(hf_probe_node(d->probe, k), host)) continue;
            if (k < i) is_told = 1;
            same++;
        }
        if (!is_told && same > 1)
            finding_add(d, LEVEL_WARN, -1, "hosts",
                        "%d of %d nodes are on %s: they fail together", same,
                        hf_probe_len(d->probe), host);
    }
}

static void number_check(struct doctor *d)
{
    int len = hf_probe_len(d->probe), spare = len - hf_probe_quorum(d->probe);
    if (len < 3)
        finding_add(d, LEVEL_WARN, -1, "nodes",
                    "%d node%s: no lock can be had while one is away: use 3 "
                    "or 5",
                    len, len == 1 ? "" : "s");
    else if (len % 2 == 0)
        finding_add(d, LEVEL_WARN, -1, "nodes",
                    "%d nodes survive the loss of %d, as %d do: the last one "
                    "adds nothing",
                    len, spare, len - 1);
    if (d->voting < hf_probe_quorum(d->probe))
        finding_add(d, LEVEL_WARN, -1, "nodes",
                    "no lock can be had now: %d of %d nodes may vote, %d are "
                    "needed",
                    d->voting, len, hf_probe_quorum(d->probe));
}

static void versions_check(struct doctor *d)
{
    char first[64] = "", version[64];
    for (int i = 0; i < hf_probe_len(d->probe); i++) {
        if (!hf_probe_fact(hf_probe_node(d->probe, i), "redis_version", version,
                           sizeof(version)))
            continue;
        if (!first[0])
            snprintf(first, sizeof(first), "%s", version);
        else if (strcmp(first, version) != 0) {
            finding_add(d, LEVEL_NOTE, -1, "version",
                        "the nodes' versions differ: %s and %s", first,
                        version);
            return;
        }
    }
}

void quorum_check(struct doctor *d)
{
    if (hf_probe_quorum(d->probe) == 0) return;
    for (int i = 0; i < hf_probe_len(d->probe); i++) member_check(d, i);
    twins_check(d);
    hosts_check(d);
    number_check(d);
    versions_check(d);
}
