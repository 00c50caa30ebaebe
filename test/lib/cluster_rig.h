/*
 * cluster_rig.h: lab/cluster.h in a test: a real Redis Cluster, and everything
 * that can happen to it.
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

#include "lab/cluster.h"
#include "lib/lab_check.h"
#include "lib/rig_redis.h"

/* Start it, and the rig with its URL; stopped when the test ends.  Each master
 * has `replicas` (0 or 1).  `c` static. */
void cluster_rig_begin(struct lab_cluster *c, int masters, int replicas);

/* The URL of one of three masters for the whole run, emptied. */
void cluster_rig_fresh(char *url, size_t size);

/* A port for a bus, that no connection can be given meanwhile. */
int cluster_rig_bus_port(void);

/* The slot of a key; which node serves it now, waiting until one does. */
int cluster_rig_slot(struct lab_cluster *c, const char *key);
int cluster_rig_at(struct lab_cluster *c, const char *key);

/* The others of lab/cluster.h, which must succeed. */
#define cluster_rig_move_begin(...)                                            \
    LAB_CHECK(lab_cluster_move_begin(__VA_ARGS__))
#define cluster_rig_move_keys(...) LAB_CHECK(lab_cluster_move_keys(__VA_ARGS__))
#define cluster_rig_move_end(...) LAB_CHECK(lab_cluster_move_end(__VA_ARGS__))
#define cluster_rig_move(...) LAB_CHECK(lab_cluster_move(__VA_ARGS__))
#define cluster_rig_kill(c, node) LAB_CHECK(lab_cluster_kill(c, node))
#define cluster_rig_restart(c, node) LAB_CHECK(lab_cluster_restart(c, node))
#define cluster_rig_stop(c, node) LAB_CHECK(lab_cluster_pause(c, node))
#define cluster_rig_cont(c, node) LAB_CHECK(lab_cluster_resume(c, node))

#endif
