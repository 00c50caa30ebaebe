/*
 * doctor/check.c: what the facts of one server mean for locks.
 *
 * One rule: an unknown fact is reported as unknown, and never counts as good.
 */
#include "doctor/doctor.h"
#include "doctor/fact.h"

#include <string.h>

#define VERSION_MIN 602 /* Redis 6.2 */
#define MEMORY_FULL_PERCENT 80

/* ---- what it keeps ---- */

enum keeping keeping_of(const struct hf_probe_node *n)
{
    char save[64];
    if (fact_is(n, "engine", "postgres")) return postgres_keeping(n);
    int is_logged = fact_is(n, "aof_enabled", "1");
    int has_save = hf_probe_fact(n, "save", save, sizeof(save)) && save[0];
    if (!hf_probe_fact(n, "aof_enabled", save, sizeof(save)))
        return KEEPS_UNKNOWN;
    if (!is_logged) return has_save ? KEEPS_SOME : KEEPS_NOTHING;
    if (!hf_probe_fact(n, "appendfsync", save, sizeof(save)))
        return KEEPS_UNKNOWN;
    return fact_is(n, "appendfsync", "always")
                   && fact_is(n, "no-appendfsync-on-rewrite", "no")
               ? KEEPS_ALL
               : KEEPS_SOME;
}

static const char *keeping_text(const struct hf_probe_node *n)
{
    switch (keeping_of(n)) {
    case KEEPS_ALL:
        return "every grant is on its disk before it is answered";
    case KEEPS_NOTHING:
        return "nothing on disk: a restart forgets every lock";
    case KEEPS_UNKNOWN:
        return "not known: INFO or CONFIG GET is not permitted";
    default:
        break;
    }
    if (!fact_is(n, "aof_enabled", "1"))
        return "snapshots alone: a restart forgets the newest locks";
    if (fact_is(n, "appendfsync", "always"))
        return "appendfsync always, but no sync while its log is rewritten: "
               "set no-appendfsync-on-rewrite to no";
    if (fact_is(n, "appendfsync", "no"))
        return "appendfsync no: a crash of its host forgets the newest locks";
    return "appendfsync everysec: a crash of its host forgets the locks of a "
           "second or two";
}

/* A single server that forgets its locks grants them twice; a member of a
 * quorum does not vote for a while instead. */
static void keeping_check(struct doctor *d, int i)
{
    const struct hf_probe_node *n = hf_probe_node(d->probe, i);
    int is_all = keeping_of(n) == KEEPS_ALL;
    int is_alone = hf_probe_quorum(d->probe) == 0;
    finding_add(d, is_alone && !is_all ? LEVEL_WARN : LEVEL_NOTE, i, "disk",
                "%s%s%s", keeping_text(n),
                is_alone && keeping_of(n) == KEEPS_NOTHING
                        && fact_number(n, "connected_slaves", 0) > 0
                    ? ", and its replicas copy that"
                    : "",
                is_alone && !is_all
                    ? "; set appendonly yes and appendfsync always, or check "
                      "the fence at the resource"
                : is_all || n->durable
                    ? ""
                    : "; restarted, it does not vote for one quarantine");
    if (!is_alone && n->durable && !is_all)
        finding_add(d, LEVEL_WARN, i, "disk",
                    "it is marked as durable (init --durable), but it is not: "
                    "set appendonly yes, appendfsync always and "
                    "no-appendfsync-on-rewrite no");
    if (fact_is(n, "aof_last_write_status", "err"))
        finding_add(d, LEVEL_WARN, i, "disk",
                    "its last write to its log failed: is the disk full?");
}

/* ---- what it throws away ---- */

static void memory_check(struct doctor *d, int i)
{
    const struct hf_probe_node *n = hf_probe_node(d->probe, i);
    int64_t most = fact_number(n, "maxmemory", -1);
    int64_t used = fact_number(n, "used_memory", 0);
    int64_t evicted = fact_number(n, "evicted_keys", 0);
    char policy[64];
    hf_probe_fact(n, "maxmemory_policy", policy, sizeof(policy));
    int is_safe = strcmp(policy, "noeviction") == 0;
    if (most > 0 && !is_safe)
        finding_add(d, LEVEL_WARN, i, "memory",
                    "maxmemory-policy %s: when its memory is full it throws "
                    "locks away: set noeviction",
                    policy);
    else if (most == 0 && policy[0] && !is_safe)
        finding_add(d, LEVEL_NOTE, i, "memory",
                    "maxmemory-policy %s would throw locks away, if there "
                    "were a maxmemory",
                    policy);
    if (evicted > 0 && !is_safe)
        finding_add(d, LEVEL_WARN, i, "memory",
                    "it has thrown away %lld keys since it was started",
                    (long long)evicted);
    if (most > 0 && used / 100 * 100 > most / 100 * MEMORY_FULL_PERCENT)
        finding_add(d, LEVEL_WARN, i, "memory",
                    "%lld %% of maxmemory is used: no lock can be taken when "
                    "it is full",
                    (long long)(used / (most / 100 + 1)));
}

/* ---- what it is ---- */

/* Redis says redis_mode, Valkey server_mode. */
int is_of_cluster(const struct hf_probe_node *n)
{
    return fact_is(n, "redis_mode", "cluster")
           || fact_is(n, "server_mode", "cluster");
}

/* A member of a quorum grants nothing to a client that names it alone. */
static void membership_check(struct doctor *d, int i)
{
    const struct hf_probe_node *n = hf_probe_node(d->probe, i);
    int64_t members = fact_number(n, "quorum_of", 0);
    char engine[16];
    if (hf_probe_quorum(d->probe) > 1 || members < 2) return;
    int is_redis = !hf_probe_fact(n, "engine", engine, sizeof engine);
    finding_add(d, LEVEL_WARN, i, "member",
                "it is one of %lld members of a quorum, and no lock can be "
                "taken by this URL: name all of them, or %s if a lock of this "
                "server alone is meant",
                (long long)members,
                is_redis ? "use redis://HOST?member=ok"
                         : "add member=ok to the URL");
}

static void server_check(struct doctor *d, int i)
{
    const struct hf_probe_node *n = hf_probe_node(d->probe, i);
    char version[64];
    if (fact_is(n, "info", "denied"))
        finding_add(d, LEVEL_WARN, i, "rights",
                    "INFO is not permitted to this user: its role and what it "
                    "keeps are not known%s",
                    hf_probe_quorum(d->probe)
                        ? ", and every connect counts as a restart"
                        : "");
    if (fact_is(n, "config", "denied"))
        finding_add(d, LEVEL_WARN, i, "rights",
                    "CONFIG GET is not permitted to this user: how often it "
                    "syncs is not known, and counts as too seldom");
    if (hf_probe_fact(n, "redis_version", version, sizeof(version))
        && version_number(version) < VERSION_MIN)
        finding_add(d, LEVEL_WARN, i, "version",
                    "%s: 6.2 is the oldest that is supported", version);
    replicas_check(d, i);
    memory_check(d, i);
    keeping_check(d, i);
}

static void directory_check(struct doctor *d, int i)
{
    const struct hf_probe_node *n = hf_probe_node(d->probe, i);
    char kind[64], path[160];
    hf_probe_fact(n, "filesystem", kind, sizeof(kind));
    hf_probe_fact(n, "directory", path, sizeof(path));
    if (fact_is(n, "shared", "1"))
        finding_add(d, LEVEL_WARN, i, "disk",
                    "%s is on %s: locks of the kernel there may not reach "
                    "other hosts, or not at all: use a disk of this host",
                    path, kind);
    else
        finding_add(d, LEVEL_NOTE, i, "disk", "%s is on %s", path, kind);
}

static void database_check(struct doctor *d, int i)
{
    const struct hf_probe_node *n = hf_probe_node(d->probe, i);
    char kind[64], path[160];
    hf_probe_fact(n, "filesystem", kind, sizeof(kind));
    hf_probe_fact(n, "file", path, sizeof(path));
    finding_add(d, LEVEL_NOTE, i, "disk", "%s is on %s", path, kind);
    if (!fact_is(n, "sync", "full"))
        finding_add(d, LEVEL_NOTE, i, "disk",
                    "a crash of the host may lose the last moments: sync=full "
                    "in the URL prevents that, at the speed of the disk");
}

/* A server of MariaDB or MySQL. */
static void mysql_check(struct doctor *d, int i)
{
    const struct hf_probe_node *n = hf_probe_node(d->probe, i);
    if (fact_is(n, "session", "on")) {
        session_check(d, i);
        return;
    }
    shedlock_check(d, i);
    if (!fact_is(n, "flush_at_commit", "on"))
        finding_add(d, LEVEL_WARN, i, "disk",
                    "a crash may lose the newest locks: set "
                    "innodb_flush_log_at_trx_commit to 1");
    if (fact_is(n, "log_bin", "on") && !fact_is(n, "sync_binlog", "on"))
        finding_add(d, LEVEL_WARN, i, "disk",
                    "a crash of its host may undo the newest locks: set "
                    "sync_binlog to 1");
    if (fact_is(n, "galera", "on"))
        finding_add(d, LEVEL_WARN, i, "clock",
                    "a node of a Galera cluster: each counts leases by its own "
                    "clock: keep the clocks together, or use one node");
}

static void etcd_check(struct doctor *d, int i)
{
    const struct hf_probe_node *n = hf_probe_node(d->probe, i);
    if (fact_number(n, "endpoints", 0) < 2)
        finding_add(d, LEVEL_NOTE, i, "cluster",
                    "the URL names one server: name all of the cluster, so "
                    "that one may fail: etcd://h1,h2,h3");
    finding_add(d, LEVEL_NOTE, i, "disk",
                "a majority has every grant on its disk before it is "
                "answered, unless it runs with --unsafe-no-fsync");
}

void node_check(struct doctor *d, int i)
{
    const struct hf_probe_node *n = hf_probe_node(d->probe, i);
    if (n->answers) d->answering++;
    if (n->status != HF_OK)
        finding_add(d, LEVEL_WARN, i, n->answers ? "member" : "link", "%s",
                    n->text);
    if (!n->answers) return;
    membership_check(d, i);
    if (fact_is(n, "engine", "file"))
        directory_check(d, i);
    else if (fact_is(n, "engine", "sqlite"))
        database_check(d, i);
    else if (fact_is(n, "engine", "postgres"))
        postgres_check(d, i);
    else if (fact_is(n, "engine", "mysql"))
        mysql_check(d, i);
    else if (fact_is(n, "engine", "etcd"))
        etcd_check(d, i);
    else if (!fact_is(n, "engine", "memory"))
        server_check(d, i);
}
