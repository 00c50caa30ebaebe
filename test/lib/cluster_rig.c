/*
 * cluster_rig.c: see cluster_rig.h.
 */
#include "lib/cluster_rig.h"

#include "lib/rig.h"
#include "lib/server.h"

static void cluster_end(void *arg)
{
    lab_cluster_stop(arg);
}

void cluster_rig_begin(struct lab_cluster *c, int masters, int replicas)
{
    server_backend(); /* skips a test that this build has no backend for */
    LAB_CHECK(lab_cluster_start(c, masters, replicas));
    test_cleanup(cluster_end, c);
    rig_begin_at(c->url);
}

void cluster_rig_fresh(char *url, size_t size)
{
    static struct lab_cluster shared; /* the lab stops it with the program */
    server_backend();
    if (shared.nodes[0].pid == 0) LAB_CHECK(lab_cluster_start(&shared, 3, 0));
    for (int i = 0; i < shared.len; i++) {
        redis_say(&shared.nodes[i], "FLUSHALL");
        redis_say(&shared.nodes[i], "SCRIPT FLUSH");
    }
    snprintf(url, size, "%s", shared.url);
}

int cluster_rig_bus_port(void)
{
    return redis_free_port();
}

int cluster_rig_slot(struct lab_cluster *c, const char *key)
{
    int slot = lab_cluster_slot(c, key);
    LAB_CHECK(slot);
    return slot;
}

int cluster_rig_at(struct lab_cluster *c, const char *key)
{
    int node = lab_cluster_at(c, key);
    LAB_CHECK(node);
    return node;
}
