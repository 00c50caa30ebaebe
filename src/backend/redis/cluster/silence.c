/*
 * silence.c: masters that do not answer.  One rule: a master that
 * owes an answer is looked at now and then, and while one is silent the others
 * are asked which node serves its slots: a replica may have taken over
 * long before the link to the old master is given up.
 */
#include "backend/redis/cluster/cluster.h"
#include "backend/redis/inner/inner.h"
#include "backend/redis/inner/owner.h"

int hf__redis_cluster_is_silent(const struct cluster_node *n)
{
    return n->is_open && hf__redis_silence_us(n->inner.conn) >= SILENT_US;
}

void hf__redis_cluster_silence_begin(struct cluster *c)
{
    if (c->look_us == TIME_NEVER) c->look_us = cluster_now(c) + SILENT_US;
}

void hf__redis_cluster_silence_tick(struct cluster *c)
{
    int is_owed = 0, is_silent = 0;
    if (cluster_now(c) < c->look_us) return;
    for (int i = 0; i < c->nodes_len; i++) {
        const struct cluster_node *n = c->nodes[i];
        if (!n || n->open == 0) continue;
        is_owed = 1;
        if (hf__redis_cluster_is_silent(n)) is_silent = 1;
    }
    c->look_us = is_owed ? cluster_now(c) + SILENT_US : TIME_NEVER;
    if (is_silent) hf__redis_cluster_map_refresh(c);
}
