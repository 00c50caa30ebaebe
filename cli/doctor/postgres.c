/*
 * doctor/postgres.c: what the facts of a PostgreSQL server mean for locks.
 *
 * A standby, a pooler and a server that takes no writes are refused when they
 * are met, with a sentence that the doctor shows.  One rule: a failover is
 * promised nothing but the fence, for which standby will be promoted cannot be
 * seen from here.
 */
#include "doctor/doctor.h"
#include "doctor/fact.h"

#define VERSION_MIN 1200 /* PostgreSQL 12 */
#define CONNECTIONS_FULL_PERCENT 80

enum keeping postgres_keeping(const struct hf_probe_node *n)
{
    char text[16];
    if (!hf_probe_fact(n, "fsync", text, sizeof(text))) return KEEPS_UNKNOWN;
    return fact_is(n, "fsync", "on") && fact_is(n, "full_page_writes", "on")
               ? KEEPS_ALL
               : KEEPS_SOME;
}

static void disk_check(struct doctor *d, int i)
{
    const struct hf_probe_node *n = hf_probe_node(d->probe, i);
    int is_alone = hf_probe_quorum(d->probe) == 0;
    char text[32];
    if (postgres_keeping(n) == KEEPS_ALL)
        finding_add(d, LEVEL_NOTE, i, "disk",
                    "every grant is on its disk before it is answered");
    else
        finding_add(d, is_alone ? LEVEL_WARN : LEVEL_NOTE, i, "disk",
                    "%s off: a crash of its host may damage or lose anything; "
                    "set it to on%s",
                    fact_is(n, "fsync", "on") ? "full_page_writes" : "fsync",
                    is_alone || n->durable
                        ? ""
                        : "; restarted, it does not vote for one quarantine");
    if (!is_alone && n->durable && postgres_keeping(n) != KEEPS_ALL)
        finding_add(d, LEVEL_WARN, i, "disk",
                    "it is marked as durable (init --durable), but it is not: "
                    "set fsync and full_page_writes to on");
    if (fact_is(n, "synchronous_commit_default", "off")
        || fact_is(n, "synchronous_commit_default", "local")) {
        hf_probe_fact(n, "synchronous_commit_default", text, sizeof(text));
        finding_add(d, LEVEL_NOTE, i, "disk",
                    "synchronous_commit is %s there; sessions of holdfast set "
                    "it to on",
                    text);
    }
}

/* A grant waits for the standbys that synchronous_standby_names asks for. */
static void standbys_check(struct doctor *d, int i)
{
    const struct hf_probe_node *n = hf_probe_node(d->probe, i);
    long long standbys = (long long)fact_number(n, "standbys", 0);
    const char *s = standbys == 1 ? "" : "s";
    char names[64];
    hf_probe_fact(n, "synchronous_standby_names", names, sizeof(names));
    if (hf_probe_quorum(d->probe) && standbys > 0)
        finding_add(d, LEVEL_NOTE, i, "role",
                    "%lld standby%s: one that is promoted in its place sits "
                    "out a quarantine",
                    standbys, s);
    if (names[0] && standbys == 0)
        finding_add(d, LEVEL_WARN, i, "replica",
                    "synchronous_standby_names is %s, and no standby follows: "
                    "no lock can be taken now",
                    names);
    else if (names[0])
        finding_add(d, LEVEL_NOTE, i, "replica",
                    "%lld standby%s, and synchronous_standby_names is %s: "
                    "promote none but those that it waits for; another may "
                    "lack the last grants",
                    standbys, s, names);
    else if (standbys > 0 && !hf_probe_quorum(d->probe))
        finding_add(d, LEVEL_WARN, i, "replica",
                    "%lld standby%s, of which none is waited for: a failover "
                    "may grant a lock again: set synchronous_standby_names, "
                    "or check the fence at the resource",
                    standbys, s);
}

/* Each client of holdfast has one connection. */
static void connections_check(struct doctor *d, int i)
{
    const struct hf_probe_node *n = hf_probe_node(d->probe, i);
    int64_t most = fact_number(n, "max_connections", 0)
                   - fact_number(n, "reserved_connections", 0);
    int64_t used = fact_number(n, "connections", 0);
    if (most <= 0) return;
    int is_full = used * 100 >= most * CONNECTIONS_FULL_PERCENT;
    finding_add(d, is_full ? LEVEL_WARN : LEVEL_NOTE, i, "server",
                "%lld of %lld connections are used, and each client takes "
                "one%s",
                (long long)used, (long long)most,
                is_full ? ": a client that gets none gets no lock: raise "
                          "max_connections"
                        : "");
}

static void server_check(struct doctor *d, int i)
{
    const struct hf_probe_node *n = hf_probe_node(d->probe, i);
    char version[64], isolation[32];
    hf_probe_fact(n, "server_version", version, sizeof(version));
    if (version[0] && version_number(version) < VERSION_MIN)
        finding_add(d, LEVEL_WARN, i, "version",
                    "%s: 12 is the oldest that is supported", version);
    hf_probe_fact(n, "isolation_default", isolation, sizeof(isolation));
    if (isolation[0] && !fact_is(n, "isolation_default", "read committed"))
        finding_add(d, LEVEL_NOTE, i, "server",
                    "default_transaction_isolation is %s there; sessions of "
                    "holdfast set it to read committed",
                    isolation);
}

/* Nothing of a session's lock is on a disk or on a standby. */
void session_check(struct doctor *d, int i)
{
    finding_add(d, LEVEL_NOTE, i, "server",
                "session=on: a lock ends with its connection, and has no "
                "fence: a resource cannot refuse a holder that has lost it");
}

void shedlock_check(struct doctor *d, int i)
{
    if (!fact_is(hf_probe_node(d->probe, i), "layout", "shedlock")) return;
    finding_add(d, LEVEL_NOTE, i, "server",
                "layout=shedlock: every program must lock by the database's "
                "clock (usingDbTime), and there is no fence: a resource cannot "
                "refuse a holder that has lost it");
}

void postgres_check(struct doctor *d, int i)
{
    const struct hf_probe_node *n = hf_probe_node(d->probe, i);
    server_check(d, i);
    connections_check(d, i);
    if (fact_is(n, "session", "on")) {
        session_check(d, i);
        return;
    }
    shedlock_check(d, i);
    standbys_check(d, i);
    disk_check(d, i);
}
