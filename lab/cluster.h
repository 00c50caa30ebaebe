/*
 * cluster.h: a real Redis Cluster on loopback ports, and everything that can
 * happen to it.  One rule: a step is over when every node that is up knows of
 * it, not when some time has passed.
 *
 *     static struct lab_cluster c;
 *     lab_cluster_start(&c, 3, 1);
 *     int at = lab_cluster_at(&c, "job");
 *     lab_cluster_kill(&c, at);
 *
 * Masters come first: nodes[0] to nodes[masters - 1], then their replicas in
 * the same order.  With `net` set before, master i is on host i, and beside it
 * the replica of the next one.
 */
#ifndef LAB_CLUSTER_H
#define LAB_CLUSTER_H

#include "lab/server.h"

#define LAB_CLUSTER_MAX 8

struct lab_cluster {
    const struct lab_net *net; /* NULL: all are on 127.0.0.1 */
    int masters, len;
    unsigned stopped; /* by bit: they would not answer, or are cut off */
    struct lab_server nodes[LAB_CLUSTER_MAX];
    char bus[LAB_CLUSTER_MAX][8]; /* ports */
    int bus_fds[LAB_CLUSTER_MAX]; /* their reservations, 0: none */
    const char *args[LAB_CLUSTER_MAX][12];
    char ids[LAB_CLUSTER_MAX][48];
    char url[512]; /* "redis-cluster://" and all of them */
};

/* Start it; each master has `replicas` (0 or 1).  `c` must stay until it is
 * stopped. */
int lab_cluster_start(struct lab_cluster *c, int masters, int replicas);
void lab_cluster_stop(struct lab_cluster *c);

/* The slot of a key. */
int lab_cluster_slot(struct lab_cluster *c, const char *key);

/* Which node serves the key's slot now; waits until one does. */
int lab_cluster_at(struct lab_cluster *c, const char *key);

/* Resharding: open the window, move the slot's keys, close it; or all three. */
int lab_cluster_move_begin(struct lab_cluster *c, int slot, int from, int to);
int lab_cluster_move_keys(struct lab_cluster *c, int slot, int from, int to);
int lab_cluster_move_end(struct lab_cluster *c, int slot, int to);
int lab_cluster_move(struct lab_cluster *c, int slot, int from, int to);

/* kill -9; come back (it finds its place by itself); SIGSTOP, SIGCONT. */
int lab_cluster_kill(struct lab_cluster *c, int node);
int lab_cluster_restart(struct lab_cluster *c, int node);
int lab_cluster_pause(struct lab_cluster *c, int node);
int lab_cluster_resume(struct lab_cluster *c, int node);

#endif
