/*
 * cluster.c: see cluster.h.  One rule: the cluster is made by its own commands,
 * one at a time, so that the caller sees which of them failed.
 */
#include "lab/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab/own.h"
#include "lab/wait.h"

#define SLOTS_ALL 16384
#define KEYS_AT_ONCE "1000"
#define TIMEOUT_MS "1000" /* without an answer for this long it is down */
#define MEET_MS 5000

/* ---- making it ---------------------------------------------------------- */

static int node_args(struct lab_cluster *c, int i)
{
    const char **args = c->args[i];
    int n = 0, port;
    int fd = lab_net_port(c->nodes[i].at, &port);
    if (fd < 0) return fd;
    c->bus_fds[i] = fd;
    snprintf(c->bus[i], sizeof c->bus[i], "%d", port);
    args[n++] = "--cluster-enabled";
    args[n++] = "yes";
    args[n++] = "--cluster-node-timeout";
    args[n++] = TIMEOUT_MS;
    args[n++] = "--cluster-port";
    args[n++] = c->bus[i];
    args[n++] = "--cluster-replica-validity-factor";
    args[n++] = "0"; /* a slow machine must not keep it from standing in */
    args[n] = NULL;
    return LAB_OK;
}

static int node_start(struct lab_cluster *c, int i)
{
    int host = i < c->masters ? i : (i - 1) % c->masters;
    c->nodes[i].at = c->net ? &c->net->hosts[host] : NULL;
    int status = node_args(c, i);
    if (status != LAB_OK) return status;
    return lab_server_start(&c->nodes[i], c->args[i]);
}

static int ids_read(struct lab_cluster *c)
{
    for (int i = 0; i < c->len; i++) {
        int status = lab_server_do(&c->nodes[i], "CLUSTER MYID");
        if (status != LAB_OK) return status;
        snprintf(c->ids[i], sizeof c->ids[i], "%.40s", c->nodes[i].reply);
    }
    return LAB_OK;
}

static int slots_share(struct lab_cluster *c)
{
    int status = LAB_OK;
    for (int i = 0; i < c->masters && status == LAB_OK; i++) {
        int first = SLOTS_ALL * i / c->masters;
        int last = SLOTS_ALL * (i + 1) / c->masters - 1;
        status =
            lab_server_do(&c->nodes[i], "CLUSTER SET-CONFIG-EPOCH %d", i + 1);
        if (status == LAB_OK)
            status = lab_server_do(&c->nodes[i], "CLUSTER ADDSLOTSRANGE %d %d",
                                   first, last);
    }
    return status;
}

/* By their ids: a node that has only just been met goes by another one. */
static int all_are_known(void *arg)
{
    struct lab_cluster *c = arg;
    for (int i = 0; i < c->len; i++) {
        const char *list = lab_server_say(&c->nodes[i], "CLUSTER NODES");
        for (int k = 0; k < c->len; k++)
            if (!strstr(list, c->ids[k])) return 0;
    }
    return 1;
}

/* Tell the first node of every other one that it does not know. */
static int nodes_introduce(struct lab_cluster *c)
{
    char list[LAB_REPLY_MAX];
    snprintf(list, sizeof list, "%s",
             lab_server_say(&c->nodes[0], "CLUSTER NODES"));
    for (int i = 1; i < c->len; i++) {
        if (strstr(list, c->ids[i])) continue;
        int status = lab_server_do(&c->nodes[0], "CLUSTER MEET %s %d %s",
                                   c->nodes[i].ip, c->nodes[i].port, c->bus[i]);
        if (status != LAB_OK) return status;
    }
    return LAB_OK;
}

/* On a busy machine a node may not answer within its timeout: it is forgotten
 * then, and must be introduced again. */
static int nodes_meet(struct lab_cluster *c)
{
    int64_t end_ms = lab_now_ms() + LAB_PATIENCE_MS;
    while (lab_now_ms() < end_ms) {
        int status = nodes_introduce(c);
        if (status != LAB_OK) return status;
        int64_t again_ms = lab_now_ms() + MEET_MS;
        while (lab_now_ms() < again_ms) {
            if (all_are_known(c)) return LAB_OK;
            lab_pause_ms(2);
        }
    }
    return lab__fail("cluster: does not come up: the nodes do not meet");
}

static int all_are_well(void *arg)
{
    struct lab_cluster *c = arg;
    for (int i = 0; i < c->len; i++) {
        struct lab_server *s = &c->nodes[i];
        if (!strstr(lab_server_say(s, "CLUSTER INFO"), "cluster_state:ok"))
            return 0;
        int is_replica = i >= c->masters;
        if (is_replica
            && !strstr(lab_server_say(s, "INFO replication"),
                       "master_link_status:up"))
            return 0;
    }
    return 1;
}

static int replicas_assign(struct lab_cluster *c)
{
    for (int i = c->masters; i < c->len; i++) {
        int status = lab_server_do(&c->nodes[i], "CLUSTER REPLICATE %s",
                                   c->ids[i - c->masters]);
        if (status != LAB_OK) return status;
    }
    if (lab_until(all_are_well, c)) return LAB_OK;
    return lab__fail("cluster: does not come up: a node is not well");
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

void lab_cluster_stop(struct lab_cluster *c)
{
    for (int i = 0; i < c->len; i++) {
        lab_server_stop(&c->nodes[i]);
        if (c->bus_fds[i] > 0) close(c->bus_fds[i]);
        c->bus_fds[i] = 0;
    }
}

int lab_cluster_start(struct lab_cluster *c, int masters, int replicas)
{
    int status = LAB_OK;
    if (masters < 1 || replicas < 0 || replicas > 1
        || masters * (1 + replicas) > LAB_CLUSTER_MAX)
        return lab__fail("cluster: %d masters with %d replicas each: at most "
                         "%d nodes",
                         masters, replicas, LAB_CLUSTER_MAX);
    c->stopped = 0;
    c->masters = masters;
    c->len = masters * (1 + replicas);
    for (int i = 0; i < c->len && status == LAB_OK; i++)
        status = node_start(c, i);
    if (status == LAB_OK) status = ids_read(c);
    if (status == LAB_OK) status = slots_share(c);
    if (status == LAB_OK) status = nodes_meet(c);
    if (status == LAB_OK) status = replicas_assign(c);
    url_make(c);
    if (status != LAB_OK) lab_cluster_stop(c);
    return status;
}

/* ---- looking ------------------------------------------------------------ */

static int node_answers(const struct lab_cluster *c, int i)
{
    return c->nodes[i].pid > 0 && !(c->stopped & 1u << i);
}

int lab_cluster_slot(struct lab_cluster *c, const char *key)
{
    int i = 0;
    while (i < c->len && !node_answers(c, i)) i++;
    if (i == c->len)
        return lab__fail("cluster: no slot of %s: no node answers", key);
    int status = lab_server_do(&c->nodes[i], "CLUSTER KEYSLOT \"%s\"", key);
    if (status != LAB_OK) return status;
    return (int)strtol(c->nodes[i].reply, NULL, 10);
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
        if (!node_answers(s->c, i)) continue;
        const char *reply =
            lab_server_say(&s->c->nodes[i], "EXISTS \"%s\"", s->key);
        if (strcmp(reply, "0") != 0 && strcmp(reply, "1") != 0) continue;
        s->found = i;
        return 1;
    }
    return 0;
}

int lab_cluster_at(struct lab_cluster *c, const char *key)
{
    struct search s = {.c = c, .key = key};
    if (lab_until(is_served, &s)) return s.found;
    return lab__fail("cluster: no node serves %s", key);
}

/* ---- resharding --------------------------------------------------------- */

int lab_cluster_move_begin(struct lab_cluster *c, int slot, int from, int to)
{
    int status = lab_server_do(&c->nodes[to], "CLUSTER SETSLOT %d IMPORTING %s",
                               slot, c->ids[from]);
    if (status != LAB_OK) return status;
    return lab_server_do(&c->nodes[from], "CLUSTER SETSLOT %d MIGRATING %s",
                         slot, c->ids[to]);
}

int lab_cluster_move_keys(struct lab_cluster *c, int slot, int from, int to)
{
    char list[LAB_REPLY_MAX];
    char *rest = NULL;
    snprintf(list, sizeof list, "%s",
             lab_server_say(&c->nodes[from],
                            "CLUSTER GETKEYSINSLOT %d " KEYS_AT_ONCE, slot));
    for (char *key = strtok_r(list, "\n", &rest); key;
         key = strtok_r(NULL, "\n", &rest)) {
        /* NOKEY is no error: the key may have been deleted meanwhile. */
        const char *reply =
            lab_server_say(&c->nodes[from], "MIGRATE %s %d \"%s\" 0 5000",
                           c->nodes[to].ip, c->nodes[to].port, key);
        if (reply[0] == '-')
            return lab__fail("cluster: MIGRATE %.200s: %.200s", key, reply);
    }
    return LAB_OK;
}

int lab_cluster_move_end(struct lab_cluster *c, int slot, int to)
{
    int status = lab_server_do(&c->nodes[to], "CLUSTER SETSLOT %d NODE %s",
                               slot, c->ids[to]);
    for (int i = 0; i < c->masters && status == LAB_OK; i++)
        if (i != to)
            status = lab_server_do(&c->nodes[i], "CLUSTER SETSLOT %d NODE %s",
                                   slot, c->ids[to]);
    return status;
}

int lab_cluster_move(struct lab_cluster *c, int slot, int from, int to)
{
    int status = lab_cluster_move_begin(c, slot, from, to);
    /* Twice: more may come while the first keys are on their way. */
    for (int i = 0; i < 2 && status == LAB_OK; i++)
        status = lab_cluster_move_keys(c, slot, from, to);
    if (status == LAB_OK) status = lab_cluster_move_end(c, slot, to);
    return status;
}

/* ---- faults ------------------------------------------------------------- */

int lab_cluster_kill(struct lab_cluster *c, int node)
{
    return lab_server_shutdown(&c->nodes[node], 0);
}

int lab_cluster_restart(struct lab_cluster *c, int node)
{
    return lab_server_restart(&c->nodes[node]);
}

int lab_cluster_pause(struct lab_cluster *c, int node)
{
    c->stopped |= 1u << node;
    return lab_server_pause(&c->nodes[node]);
}

int lab_cluster_resume(struct lab_cluster *c, int node)
{
    c->stopped &= ~(1u << node);
    return lab_server_resume(&c->nodes[node]);
}
