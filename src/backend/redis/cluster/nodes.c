/*
 * nodes.c: the nodes of a cluster, as far as they are of use.  One
 * rule: a node that is dropped is in no slot, in no question and in no watch
 * from that moment on; its memory goes when its connection is closed.
 */
#include <string.h>

#include "backend/redis/cluster/cluster.h"
#include "backend/redis/inner/bounds.h"
#include "backend/redis/inner/inner.h"
#include "backend/redis/inner/owner.h"
#include "backend/redis/link/link.h"
#include "backend/redis/redis.h"
#include "base/error.h"

static const struct redis_owner owner = {
    .refused = hf__redis_cluster_route_refused,
    .unwatched = hf__redis_cluster_watch_unwatched,
    .told = hf__redis_cluster_map_told};

/* ---- one node ---- */

static int place_find(struct cluster *c)
{
    for (int i = 0; i < c->nodes_len; i++)
        if (!c->nodes[i]) return i;
    return c->nodes_len < CLUSTER_NODES_MAX ? c->nodes_len++ : -1;
}

struct cluster_node *hf__redis_cluster_node(struct cluster *c, const char *host,
                                            int port)
{
    const struct allocator *a = c->env->alloc;
    for (int i = 0; i < c->nodes_len; i++)
        if (c->nodes[i] && c->nodes[i]->port == port
            && !strcmp(c->nodes[i]->host, host))
            return c->nodes[i];
    struct cluster_node *n = hf__alloc_zero(a, sizeof *n);
    char *copy = hf__strdup(a, host);
    int place = n && copy ? place_find(c) : -1;
    if (place < 0) {
        hf__free(a, copy);
        hf__free(a, n);
        return NULL;
    }
    n->host = copy;
    n->port = port;
    n->index = place;
    n->asked_us = -LEAVE_US;
    c->nodes[place] = n;
    return n;
}

/* Set the bounds of redirect= before the connection begins. */
static int node_open(struct backend_env *env, const struct url *url,
                     struct backend_conn **out, struct hf_error *err)
{
    int status = hf__redis_open_idle(env, url, out, err);
    if (status != HF_OK) return status;
    (*out)->bounds = &cluster_of((struct inner *)env)->bounds;
    hf__redis_link_start(&(*out)->main);
    hf__redis_timer_set(*out);
    return HF_OK;
}

void hf__redis_cluster_node_kind(struct backend *node)
{
    *node = hf__backend_redis;
    node->open = node_open;
}

int hf__redis_cluster_connect(struct cluster *c, struct cluster_node *n,
                              struct hf_error *err)
{
    if (n->is_open) return HF_OK;
    c->url.host = n->host;
    c->url.port = n->port;
    int status =
        hf__redis_inner_open(&c->inners, &n->inner, &c->node,
                             c->conf.is_part ? &c->conf : NULL, &c->url, err);
    if (status != HF_OK) return status;
    hf__redis_adopt(n->inner.conn, &owner);
    n->inner.conn->is_sharded = c->is_sharded;
    n->inner.conn->is_both = c->pubsub == PUBSUB_BOTH;
    n->inner.conn->hears_both = c->pubsub == PUBSUB_BOTH;
    n->is_open = 1;
    return HF_OK;
}

static void node_free(struct cluster *c, struct cluster_node *n)
{
    hf__free(c->env->alloc, n->host);
    hf__free(c->env->alloc, n);
}

void hf__redis_cluster_drop(struct cluster *c, struct cluster_node *n)
{
    if (c->nodes[n->index] != n) return;
    c->nodes[n->index] = NULL;
    for (int i = 0; n->slots > 0 && i < HASH_SLOTS; i++)
        if (c->slots[i] == n->index) c->slots[i] = HASH_SLOT_NONE;
    n->slots = 0;
    if (c->asking == n) c->asking = NULL;
    hf__redis_cluster_watch_leave(c, n);
    if (n->is_open)
        hf__redis_inner_drop(&n->inner);
    else
        node_free(c, n);
}

void hf__redis_cluster_dropped(struct inner *inner)
{
    struct cluster *c = cluster_of(inner);
    struct cluster_node *n = (struct cluster_node *)inner;
    /* If the whole cluster is closed, the node was not dropped before. */
    if (c->nodes[n->index] == n) c->nodes[n->index] = NULL;
    node_free(c, n);
}

/* ---- all of them ---- */

struct cluster_node *hf__redis_cluster_owner(const struct cluster *c,
                                             uint16_t slot)
{
    uint16_t i = c->slots[slot];
    return i == HASH_SLOT_NONE ? NULL : c->nodes[i];
}

void hf__redis_cluster_assign(struct cluster *c, uint16_t slot,
                              struct cluster_node *n)
{
    struct cluster_node *before = hf__redis_cluster_owner(c, slot);
    if (before == n) return;
    if (before) before->slots--;
    if (n) n->slots++;
    c->slots[slot] = n ? (uint16_t)n->index : HASH_SLOT_NONE;
}

/* 1 if the node is to be kept.  One that was used because of ASK will be a
 * master soon.  A silent one without slots is not kept for its open requests:
 * the nodes that serve the slots now can answer them. */
static int is_of_use(const struct cluster *c, const struct cluster_node *n)
{
    if (n->slots > 0) return 1;
    if (n->has_failed) return 0;
    if (cluster_now(c) - n->asked_us < LEAVE_US) return 1;
    return n->open > 0 && !hf__redis_cluster_is_silent(n);
}

void hf__redis_cluster_tidy(struct cluster *c)
{
    for (int i = 0; i < c->nodes_len; i++) {
        struct cluster_node *n = c->nodes[i];
        if (!n || n->slots > 0) continue;
        if (is_of_use(c, n))
            hf__redis_cluster_watch_leave(c, n);
        else
            hf__redis_cluster_drop(c, n);
    }
}

struct cluster_node *hf__redis_cluster_master(const struct cluster *c, int i,
                                              int *count)
{
    struct cluster_node *found = NULL;
    unsigned char seen[CLUSTER_NODES_MAX] = {0};
    *count = 0;
    for (int slot = 0; slot < HASH_SLOTS; slot++) {
        struct cluster_node *n = hf__redis_cluster_owner(c, (uint16_t)slot);
        if (!n || seen[n->index]) continue;
        seen[n->index] = 1;
        if ((*count)++ == i) found = n;
    }
    return found;
}
