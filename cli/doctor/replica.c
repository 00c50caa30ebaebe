/*
 * doctor/replica.c: the replicas of a server, and what they mean for locks.
 *
 * Replication is asynchronous, so a replica that takes over may not know of a
 * lock.  One rule: wait= is worth what the worst replica that could be promoted
 * has, and no more (docs/guarantees.md).
 */
#include "common/duration.h"
#include "doctor/doctor.h"
#include "doctor/fact.h"

#include <stdio.h>
#include <string.h>

enum cover cover_of(const struct hf_probe_node *n)
{
    char wait[32];
    if (!hf_probe_fact(n, "wait", wait, sizeof(wait))) return COVER_NONE;
    /* A number is not "all", even if it is the number of replicas now: one more
     * may be away. */
    if (strcmp(wait, "all") != 0) return COVER_SOME;
    return fact_is(n, "wait_renew", "on") ? COVER_ALL : COVER_GRANTS;
}

int fails_over(const struct doctor *d)
{
    if (d->is_of_sentinel || d->is_of_cluster) return 1;
    for (int i = 0; i < hf_probe_len(d->probe); i++) {
        const struct hf_probe_node *n = hf_probe_node(d->probe, i);
        if (fact_number(n, "connected_slaves", 0) > 0
            || fact_number(n, "standbys", 0) > 0 || is_of_cluster(n))
            return 1;
    }
    return 0;
}

/* The role of a server, where the URL names it alone. */
static void role_check(struct doctor *d, int i)
{
    const struct hf_probe_node *n = hf_probe_node(d->probe, i);
    char host[128], port[16];
    if (fact_is(n, "role", "slave")) {
        d->is_wrong = 1;
        hf_probe_fact(n, "master_host", host, sizeof(host));
        hf_probe_fact(n, "master_port", port, sizeof(port));
        finding_add(d, LEVEL_WARN, i, "role",
                    strchr(host, ':')
                        ? "it is a replica of redis://[%s]:%s: no lock can be "
                          "taken here, but there"
                        : "it is a replica of redis://%s:%s: no lock can be "
                          "taken here, but there",
                    host, port);
    }
    if (is_of_cluster(n) && !d->is_of_cluster)
        finding_add(d, LEVEL_WARN, i, "role",
                    "it is in cluster mode: only locks whose slots it has can "
                    "be taken: use redis-cluster://");
}

/* "2 replicas" into `out`, which is returned. */
static const char *replicas_text(int64_t replicas, char *out, size_t size)
{
    snprintf(out, size, "%lld replica%s", (long long)replicas,
             replicas == 1 ? "" : "s");
    return out;
}

static void cover_check(struct doctor *d, int i, int64_t replicas)
{
    const struct hf_probe_node *n = hf_probe_node(d->probe, i);
    char wait[32], text[32];
    hf_probe_fact(n, "wait", wait, sizeof(wait));
    replicas_text(replicas, text, sizeof(text));
    switch (cover_of(n)) {
    case COVER_NONE:
        finding_add(d, LEVEL_WARN, i, "replica",
                    "%s, which hear of a lock later: a failover may grant "
                    "it again: check the fence at the resource, use "
                    "wait=all in the URL, or use redlock://",
                    text);
        break;
    case COVER_SOME:
        finding_add(d, LEVEL_WARN, i, "replica",
                    "%s, and wait=%s: one that has not heard of a lock, or is "
                    "away now, may be promoted and grant it again: say "
                    "wait=all",
                    text, wait);
        break;
    case COVER_GRANTS:
        finding_add(d, LEVEL_WARN, i, "replica",
                    "%s, and wait=all: every grant is with all of them, but "
                    "not every renewal, so a failover may end a lease early: "
                    "say wait_renew=on",
                    text);
        break;
    case COVER_ALL:
        finding_add(d, LEVEL_NOTE, i, "replica",
                    "%s, and wait=all with wait_renew=on: all of them have "
                    "what counts; their clocks must agree, and none may be "
                    "promoted that came back empty",
                    text);
    }
}

/* How many more replicas wait= asks for than there are. */
static int64_t replicas_missing(const struct hf_probe_node *n, int64_t replicas)
{
    char wait[32];
    int64_t number = 1; /* for "all" and "majority" one replica is enough */
    if (!hf_probe_fact(n, "wait", wait, sizeof(wait))) return 0;
    (void)number_parse(wait, 0, INT32_MAX, &number);
    return number > replicas ? number - replicas : 0;
}

/* A primary that is cut off goes on granting, unless something stops it. */
static void cut_check(struct doctor *d, int i, int64_t replicas)
{
    const struct hf_probe_node *n = hf_probe_node(d->probe, i);
    int64_t least = fact_number(n, "min-replicas-to-write", -1);
    int64_t lag = fact_number(n, "min-replicas-max-lag", -1);
    int64_t good = fact_number(n, "min_slaves_good_slaves", replicas);
    if (least > 0 && good < least)
        finding_add(d, LEVEL_WARN, i, "replica",
                    "min-replicas-to-write %lld, and %lld can be counted on: "
                    "no lock can be taken now",
                    (long long)least, (long long)good);
    else if (least > 0)
        finding_add(d, LEVEL_NOTE, i, "replica",
                    "min-replicas-to-write %lld, min-replicas-max-lag %lld: "
                    "cut off from its replicas it grants locks for about "
                    "%lld s more",
                    (long long)least, (long long)lag, (long long)lag);
    else if (replicas > 0 && least == 0 && cover_of(n) < COVER_ALL)
        finding_add(d, LEVEL_WARN, i, "replica",
                    "min-replicas-to-write 0: cut off from its replicas it "
                    "goes on granting locks beside the next primary: set 1");
}

void replicas_check(struct doctor *d, int i)
{
    const struct hf_probe_node *n = hf_probe_node(d->probe, i);
    int64_t replicas = fact_number(n, "connected_slaves", 0);
    char text[32];
    if (hf_probe_quorum(d->probe)) {
        if (replicas > 0)
            finding_add(d, LEVEL_NOTE, i, "role",
                        "%s: one that is promoted in its place sits out a "
                        "quarantine",
                        replicas_text(replicas, text, sizeof(text)));
        return;
    }
    role_check(d, i);
    if (fact_is(n, "role", "slave")) return;
    if (replicas_missing(n, replicas))
        finding_add(d, LEVEL_WARN, i, "replica",
                    "wait= asks for %lld more than follow it: no lock can be "
                    "taken now",
                    (long long)replicas_missing(n, replicas));
    else if (replicas > 0)
        cover_check(d, i, replicas);
    else if (d->is_of_sentinel || d->is_of_cluster)
        finding_add(d, LEVEL_WARN, i, "replica",
                    "no replica: while it is away no server takes its place");
    cut_check(d, i, replicas);
}
