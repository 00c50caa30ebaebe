/*
 * doctor/promise.c: what this deployment promises when something goes wrong.
 *
 * Exclusion: no two holders at once.  Fencing: tokens only rise, so that a
 * resource which checks them is safe in any case.  One rule: promise less than
 * the tests show (docs/guarantees.md), never more.
 */
#include "doctor/doctor.h"
#include "doctor/fact.h"

#include <stdio.h>
#include <string.h>

static const char yes[] = "yes";
static const char by_fence[] = "by the fence";
static const char by_clocks[] = "by the clocks";
static const char by_its_clock[] = "by its clock";
static const char no[] = "no";

static struct promise *promise_add(struct promise *out, int *len,
                                   const char *event, const char *exclusion,
                                   const char *fencing, const char *again)
{
    struct promise *p = &out[(*len)++];
    p->event = event;
    p->exclusion = exclusion;
    p->fencing = fencing;
    snprintf(p->again, sizeof(p->again), "%s", again);
    return p;
}

static int file_promises(struct promise *out)
{
    int n = 0;
    promise_add(out, &n, "client crashes", yes, yes, "at once");
    promise_add(out, &n, "client pauses", yes, yes,
                "when it goes on or is ended: a kernel lock has no lease");
    promise_add(out, &n, "host crashes", yes, yes, "when it is up again");
    promise_add(out, &n, "lock files deleted", "no, LOST soon", by_its_clock,
                "at once");
    promise_add(out, &n, "clock jumps", yes, yes,
                "at once; tickets (holdfast acquire) end by another clock");
    promise_add(out, &n, "other hosts", no, no,
                "at once: they have locks of their own");
    return n;
}

static int database_promises(const struct doctor *d, struct promise *out)
{
    int n = 0;
    int keeps = fact_is(hf_probe_node(d->probe, 0), "sync", "full");
    promise_add(out, &n, "client crashes", yes, yes, "when its lease ends");
    promise_add(out, &n, "client pauses", by_fence, yes, "when its lease ends");
    promise_add(out, &n, "host crashes", keeps ? yes : by_fence,
                keeps ? yes : by_its_clock, "when it is up again");
    promise_add(out, &n, "file deleted", "no, LOST soon", by_its_clock,
                "at once");
    promise_add(out, &n, "clock jumps", by_fence, yes,
                "forward: at once; back: later by the same amount");
    return n;
}

/* A lock of the connection: it ends with it, and nothing of it is stored. */
static int session_promises(struct promise *out)
{
    int n = 0;
    promise_add(
        out, &n, "client crashes", yes, no,
        "at once; if its host does: when the server ends the connection");
    promise_add(out, &n, "client pauses", yes, no,
                "when it goes on or is ended");
    promise_add(out, &n, "client is cut off", "no, LOST soon", no,
                "when the server ends the connection");
    promise_add(out, &n, "server crashes", "no, LOST soon", no,
                "when it is up again");
    promise_add(out, &n, "failover", "no, LOST soon", no, "at once");
    promise_add(out, &n, "clock jumps", yes, no, "as before");
    return n;
}

/* Its clocks cannot be set: leases are counted by one that cannot. */
static int etcd_promises(struct promise *out)
{
    int n = 0;
    promise_add(out, &n, "client crashes", yes, yes,
                "when its lease ends, and up to an eighth of it later");
    promise_add(out, &n, "client pauses", by_fence, yes, "when its lease ends");
    promise_add(out, &n, "client is cut off", yes, yes,
                "when its lease ends, of which it is told");
    promise_add(out, &n, "server crashes", yes, yes,
                "while a majority runs; alone: when it is up again");
    promise_add(out, &n, "backup is restored", "no, LOST soon", no, "at once");
    promise_add(out, &n, "clock jumps", yes, yes, "as before");
    return n;
}

static int memory_promises(struct promise *out)
{
    int n = 0;
    promise_add(out, &n, "thread ends", yes, yes, "when its lease ends");
    promise_add(out, &n, "other processes", no, no,
                "at once: they have locks of their own");
    return n;
}

/* The worst of all nodes: what a cluster promises for every lock. */
static enum cover cover_worst(const struct doctor *d)
{
    enum cover worst = COVER_ALL;
    for (int i = 0; i < hf_probe_len(d->probe); i++)
        if (cover_of(hf_probe_node(d->probe, i)) < worst)
            worst = cover_of(hf_probe_node(d->probe, i));
    return worst;
}

/* MariaDB or MySQL: is every commit on its disk before it is answered? */
static int mysql_keeps(const struct hf_probe_node *n)
{
    return fact_is(n, "flush_at_commit", "on")
           && (fact_is(n, "log_bin", "off") || fact_is(n, "sync_binlog", "on"));
}

static int servers_keep(const struct doctor *d)
{
    if (fact_is(hf_probe_node(d->probe, 0), "engine", "mysql"))
        return mysql_keeps(hf_probe_node(d->probe, 0));
    int keep = 0;
    for (int i = 0; i < hf_probe_len(d->probe); i++)
        keep += keeping_of(hf_probe_node(d->probe, i)) == KEEPS_ALL;
    return keep == hf_probe_len(d->probe);
}

/* Rows that are shared with ShedLock: nothing that a resource could compare. */
static int shedlock_promises(const struct doctor *d, struct promise *out)
{
    static const char told[] = "no, LOST soon";
    int n = 0;
    promise_add(out, &n, "client crashes", yes, no, "when its lease ends");
    promise_add(out, &n, "client pauses", "no, told late", no,
                "when its lease ends");
    promise_add(out, &n, "client is cut off", yes, no,
                "when its lease ends, of which it is told");
    promise_add(out, &n, "server crashes", servers_keep(d) ? yes : told, no,
                "when it is up again; holders are told LOST in time");
    promise_add(out, &n, "failover", told, no, "at once");
    promise_add(out, &n, "clock jumps", told, no,
                "forward: at once; back: later by the same amount");
    return n;
}

/* What holds if a replica is promoted, because the primary died or because it
 * is cut off and goes on granting. */
static void failover_promises(const struct doctor *d, struct promise *out,
                              int *n)
{
    enum cover cover = cover_worst(d);
    const char *exclusion = cover == COVER_ALL ? by_clocks : by_fence;
    const char *fencing = cover >= COVER_GRANTS ? yes : by_clocks;
    promise_add(out, n, "failover", exclusion, fencing,
                "at once; holders are told at once what was lost");
    promise_add(out, n, "primary is cut off", exclusion, by_clocks,
                "at once, where the next primary is");
}

static int server_promises(const struct doctor *d, struct promise *out)
{
    int n = 0;
    int keeps = servers_keep(d);
    int replaced = d->is_of_sentinel || d->is_of_cluster;
    promise_add(out, &n, "client crashes", yes, yes, "when its lease ends");
    promise_add(out, &n, "client pauses", by_fence, yes, "when its lease ends");
    promise_add(out, &n, "client is cut off", yes, yes,
                "when its lease ends, of which it is told");
    if (!replaced)
        promise_add(out, &n, "server crashes", keeps ? yes : by_fence,
                    keeps ? yes : by_its_clock,
                    "when it is up again; holders are told LOST in time");
    promise_add(out, &n, "restart without data", by_fence, by_its_clock,
                "at once; its holder is told LOST as soon as it answers");
    if (fails_over(d)) failover_promises(d, out, &n);
    promise_add(out, &n, "clock jumps", by_fence, yes,
                "forward: at once; back: later by the same amount");
    return n;
}

static int members_keep(const struct doctor *d)
{
    int keep = 0;
    for (int i = 0; i < hf_probe_len(d->probe); i++)
        keep += hf_probe_node(d->probe, i)->durable;
    return keep == hf_probe_len(d->probe);
}

/* If too few members vote, no lock can be acquired until that is repaired. */
static void members_wait(const struct doctor *d, struct promise *out, int len)
{
    for (int i = 0; i < len; i++)
        snprintf(out[i].again, sizeof(out[i].again),
                 "not before %d of %d vote: %d do now",
                 hf_probe_quorum(d->probe), hf_probe_len(d->probe), d->voting);
}

static int quorum_promises(const struct doctor *d, struct promise *out)
{
    int n = 0, len = hf_probe_len(d->probe),
        spare = d->voting - hf_probe_quorum(d->probe);
    const char *quarantine =
        spare > 0 ? "at once, by the others: it sits out a quarantine"
                  : "after a quarantine: the others are too few";
    promise_add(out, &n, "client crashes", yes, yes, "when its lease ends");
    promise_add(out, &n, "client pauses", by_fence, yes, "when its lease ends");
    struct promise *p = promise_add(out, &n, "server crashes", yes, yes, "");
    if (spare > 0)
        snprintf(p->again, sizeof(p->again),
                 "at once, while no more than %d of %d fail", spare, len);
    else
        snprintf(p->again, sizeof(p->again),
                 "not before it is back: %d of %d vote now, %d are needed",
                 d->voting, len, hf_probe_quorum(d->probe));
    promise_add(out, &n, "restart without data", yes, yes,
                members_keep(d)
                    ? "at once: all are durable, and are to lose nothing"
                    : quarantine);
    promise_add(out, &n, "clock of one jumps", by_fence, yes, quarantine);
    promise_add(out, &n, "client is cut off", yes, yes,
                "when its lease ends, of which it is told");
    promise_add(out, &n, "majority lost", by_fence, by_clocks,
                "after a quarantine");
    if (spare < 0) members_wait(d, out, n);
    return n;
}

int promises_make(const struct doctor *d, struct promise out[PROMISES_MAX])
{
    if (hf_probe_quorum(d->probe)) return quorum_promises(d, out);
    if (fact_is(hf_probe_node(d->probe, 0), "engine", "file"))
        return file_promises(out);
    if (fact_is(hf_probe_node(d->probe, 0), "engine", "memory"))
        return memory_promises(out);
    if (fact_is(hf_probe_node(d->probe, 0), "engine", "sqlite"))
        return database_promises(d, out);
    if (fact_is(hf_probe_node(d->probe, 0), "engine", "etcd"))
        return etcd_promises(out);
    if (fact_is(hf_probe_node(d->probe, 0), "session", "on"))
        return session_promises(out);
    if (fact_is(hf_probe_node(d->probe, 0), "layout", "shedlock"))
        return shedlock_promises(d, out);
    return server_promises(d, out);
}
