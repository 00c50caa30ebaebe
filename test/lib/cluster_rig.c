/*
 * cluster_rig.c: see cluster_rig.h.  One rule: the cluster is made by its own
 * commands, one at a time, so that a test sees which of them failed.
 */
#include "lib/cluster_rig.h"

#include <stdlib.h>
#include <string.h>

#include "lib/rig.h"

#define SLOTS_ALL 16384
#define KEYS_AT_ONCE "1000"

static const char *must(struct lab_server *r, const char *command)
{
    const char *reply = redis_say(r, "%s", command);
    if (reply[0] == '-' || reply[0] == '(') TEST_FAIL("%s: %s", command, reply);
    return reply;
}

/* ---- making it ---- */

int cluster_rig_bus_port(void)
{
    return redis_free_port();
}

static void node_args(struct lab_cluster *c, int i)
{
    const char **args = c->args[i];
    int n = 0;
    snprintf(c->bus[i], sizeof c->bus[i], "%d", cluster_rig_bus_port());
    args[n++] = "--cluster-enabled";
    args[n++] = "yes";
    args[n++] = "--cluster-node-timeout";
    args[n++] = "1000";
    args[n++] = "--cluster-port";
    args[n++] = c->bus[i];
    args[n++] = "--cluster-replica-validity-factor";
    args[n++] = "0"; /* a slow machine must not keep it from standing in */
    args[n] = NULL;
}

static void slots_share(struct lab_cluster *c)
{
    char command[64];
    for (int i = 0; i < c->masters; i++) {
        int first = SLOTS_ALL * i / c->masters;
        int last = SLOTS_ALL * (i + 1) / c->masters - 1;
        snprintf(command, sizeof command, "CLUSTER SET-CONFIG-EPOCH %d", i + 1);
        must(&c->nodes[i], command);
        snprintf(command, sizeof command, "CLUSTER ADDSLOTSRANGE %d %d", first,
                 last);
        must(&c->nodes[i], command);
    }
}

/* By their names: who has only just been met goes by another one. */
static int all_are_known(void *arg)
{
    struct lab_cluster *c = arg;
    for (int i = 0; i < c->len; i++) {
        const char *list = redis_say(&c->nodes[i], "CLUSTER NODES");
        for (int k = 0; k < c->len; k++)
            if (!strstr(list, c->ids[k])) return 0;
    }
    return 1;
}

static int all_are_well(void *arg)
{
    struct lab_cluster *c = arg;
    for (int i = 0; i < c->len; i++) {
        struct lab_server *r = &c->nodes[i];
        if (!strstr(redis_say(r, "CLUSTER INFO"), "cluster_state:ok")) return 0;
        int is_replica = i >= c->masters;
        if (is_replica
            && !strstr(redis_say(r, "INFO replication"),
                       "master_link_status:up"))
            return 0;
    }
    return 1;
}

static void replicas_assign(struct lab_cluster *c)
{
    char command[80];
    for (int i = c->masters; i < c->len; i++) {
        snprintf(command, sizeof command, "CLUSTER REPLICATE %s",
                 c->ids[i - c->masters]);
        must(&c->nodes[i], command);
    }
}

static void cluster_make(struct lab_cluster *c)
{
    char command[80];
    for (int i = 0; i < c->len; i++)
        snprintf(c->ids[i], sizeof c->ids[i], "%s",
                 must(&c->nodes[i], "CLUSTER MYID"));
    slots_share(c);
    for (int i = 1; i < c->len; i++) {
        snprintf(command, sizeof command, "CLUSTER MEET %s %d %s",
                 c->nodes[i].ip, c->nodes[i].port, c->bus[i]);
        must(&c->nodes[0], command);
    }
    if (!rig_until(all_are_known, c)) TEST_FAIL("the nodes do not meet");
    replicas_assign(c);
    if (!rig_until(all_are_well, c)) TEST_FAIL("the cluster does not come up");
}

static void url_make(struct lab_cluster *c)
{
    snprintf(c->url, sizeof c->url, "redis-cluster://");
    for (int i = 0; i < c->len; i++) {
        size_t len = strlen(c->url);
        snprintf(c->url + len, sizeof c->url - len, "%s%s:%d", i > 0 ? "," : "",
                 c->nodes[i].ip, c->nodes[i].port);
    }
}

void cluster_rig_begin(struct lab_cluster *c, int masters, int replicas)
{
    c->stopped = 0;
    c->masters = masters;
    c->len = masters * (1 + replicas);
    CHECK(c->len <= CLUSTER_RIG_MAX);
    for (int i = 0; i < c->len; i++) {
        int host = i < masters ? i : (i - 1) % masters;
        c->nodes[i].at = c->net ? &c->net->hosts[host] : NULL;
        node_args(c, i);
        redis_begin(&c->nodes[i], c->args[i]);
    }
    cluster_make(c);
    url_make(c);
    rig_begin_at(c->url);
}

static struct lab_cluster shared;

static void shared_end(void)
{
    for (int i = 0; i < shared.len; i++) redis_end(&shared.nodes[i]);
}

void cluster_rig_fresh(char *url, size_t size)
{
    if (shared.len == 0) {
        shared.len = shared.masters = 3;
        atexit(shared_end);
        for (int i = 0; i < shared.len; i++) {
            node_args(&shared, i);
            redis_open(&shared.nodes[i], shared.args[i]);
        }
        cluster_make(&shared);
        url_make(&shared);
    }
    for (int i = 0; i < shared.len; i++) {
        redis_say(&shared.nodes[i], "FLUSHALL");
        redis_say(&shared.nodes[i], "SCRIPT FLUSH");
    }
    snprintf(url, size, "%s", shared.url);
}

/* ---- looking ---- */

static struct lab_server *any(struct lab_cluster *c)
{
    for (int i = 0; i < c->len; i++)
        if (c->nodes[i].pid > 0 && !(c->stopped & 1u << i)) return &c->nodes[i];
    TEST_FAIL("no node of the cluster answers");
}

int cluster_rig_slot(struct lab_cluster *c, const char *key)
{
    return (int)redis_number(any(c), "CLUSTER KEYSLOT \"%s\"", key);
}

struct search {
    struct lab_cluster *c;
    const char *key;
    int found;
};

static int is_served(void *arg)
{
    struct search *s = arg;
    for (int i = 0; i < s->c->len; i++) {
        struct lab_server *r = &s->c->nodes[i];
        if (r->pid == 0 || s->c->stopped & 1u << i) continue;
        const char *reply = redis_say(r, "EXISTS \"%s\"", s->key);
        if (strcmp(reply, "0") != 0 && strcmp(reply, "1") != 0) continue;
        s->found = i;
        return 1;
    }
    return 0;
}

int cluster_rig_at(struct lab_cluster *c, const char *key)
{
    struct search s = {.c = c, .key = key};
    if (!rig_until(is_served, &s)) TEST_FAIL("no node serves %s", key);
    return s.found;
}

/* ---- resharding ---- */

void cluster_rig_move_begin(struct lab_cluster *c, int slot, int from, int to)
{
    char command[100];
    snprintf(command, sizeof command, "CLUSTER SETSLOT %d IMPORTING %s", slot,
             c->ids[from]);
    must(&c->nodes[to], command);
    snprintf(command, sizeof command, "CLUSTER SETSLOT %d MIGRATING %s", slot,
             c->ids[to]);
    must(&c->nodes[from], command);
}

void cluster_rig_move_keys(struct lab_cluster *c, int slot, int from, int to)
{
    char list[REDIS_REPLY_MAX];
    char *rest = NULL;
    snprintf(list, sizeof list, "%s",
             redis_say(&c->nodes[from],
                       "CLUSTER GETKEYSINSLOT %d " KEYS_AT_ONCE, slot));
    for (char *key = strtok_r(list, "\n", &rest); key;
         key = strtok_r(NULL, "\n", &rest)) {
        const char *reply =
            redis_say(&c->nodes[from], "MIGRATE %s %d \"%s\" 0 5000",
                      c->nodes[to].ip, c->nodes[to].port, key);
        /* It may have been deleted meanwhile. */
        if (reply[0] == '-') TEST_FAIL("MIGRATE %s: %s", key, reply);
    }
}

void cluster_rig_move_end(struct lab_cluster *c, int slot, int to)
{
    char command[100];
    snprintf(command, sizeof command, "CLUSTER SETSLOT %d NODE %s", slot,
             c->ids[to]);
    must(&c->nodes[to], command);
    for (int i = 0; i < c->masters; i++)
        if (i != to) must(&c->nodes[i], command);
}

void cluster_rig_move(struct lab_cluster *c, int slot, int from, int to)
{
    cluster_rig_move_begin(c, slot, from, to);
    cluster_rig_move_keys(c, slot, from, to);
    /* What came while the first were on their way. */
    cluster_rig_move_keys(c, slot, from, to);
    cluster_rig_move_end(c, slot, to);
}

/* ---- faults ---- */

void cluster_rig_kill(struct lab_cluster *c, int node)
{
    redis_shutdown(&c->nodes[node], 0);
}

void cluster_rig_restart(struct lab_cluster *c, int node)
{
    redis_start(&c->nodes[node]);
}

void cluster_rig_stop(struct lab_cluster *c, int node)
{
    c->stopped |= 1u << node;
    redis_pause(&c->nodes[node]);
}

void cluster_rig_cont(struct lab_cluster *c, int node)
{
    c->stopped &= ~(1u << node);
    redis_resume(&c->nodes[node]);
}
