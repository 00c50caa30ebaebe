/*
 * cluster_rig.h: a real Redis Cluster on loopback ports, and everything that
 * can happen to it.  One rule: a step is over when every node that is up knows
 * of it, not when some time has passed.
 *
 *     static struct lab_cluster c;
 *     cluster_rig_begin(&c, 3, 1);
 *     hf_client *client = rig_client_at(c.url, NULL);
 *     int at = cluster_rig_at(&c, "job");
 *     cluster_rig_kill(&c, at);
 *
 * Masters come first: nodes[0] to nodes[masters - 1], then their replicas in
 * the same order.  With `net` set before, master i is on host i, and beside it
 * the replica of the next one.
 */
#ifndef HF_TEST_CLUSTER_RIG_H
#define HF_TEST_CLUSTER_RIG_H

#include "lib/rig_redis.h"

#define CLUSTER_RIG_MAX 8

struct lab_cluster {
    const struct lab_net *net; /* NULL: all are on 127.0.0.1 */
    int masters, len;
    unsigned stopped; /* by bit: they would not answer, or are cut off */
    struct lab_server nodes[CLUSTER_RIG_MAX];
    char bus[CLUSTER_RIG_MAX][8];
    const char *args[CLUSTER_RIG_MAX][12];
    char ids[CLUSTER_RIG_MAX][48];
    char url[512]; /* "redis-cluster://" and all of them */
};

/* Start it, and the rig with its URL; stopped when the test ends.  Each master
 * has so many (0 or 1) replicas.  `c` static. */
void cluster_rig_begin(struct lab_cluster *c, int masters, int replicas);

/* The URL of one of three masters for the whole run, emptied. */
void cluster_rig_fresh(char *url, size_t size);

/* A port for a bus, that no connection can be given meanwhile. */
int cluster_rig_bus_port(void);

int cluster_rig_slot(struct lab_cluster *c, const char *key);

/* Which node serves the key's slot now; waits until one does. */
int cluster_rig_at(struct lab_cluster *c, const char *key);

/* Resharding: open the window, move the slot's keys, close it; or all three. */
void cluster_rig_move_begin(struct lab_cluster *c, int slot, int from, int to);
void cluster_rig_move_keys(struct lab_cluster *c, int slot, int from, int to);
void cluster_rig_move_end(struct lab_cluster *c, int slot, int to);
void cluster_rig_move(struct lab_cluster *c, int slot, int from, int to);

/* kill -9; come back (it finds its place by itself); SIGSTOP, SIGCONT. */
void cluster_rig_kill(struct lab_cluster *c, int node);
void cluster_rig_restart(struct lab_cluster *c, int node);
void cluster_rig_stop(struct lab_cluster *c, int node);
void cluster_rig_cont(struct lab_cluster *c, int node);

#endif
