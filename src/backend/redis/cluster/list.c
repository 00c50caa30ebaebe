/*
 * list.c: what is asked of all masters, one after the other: a list, or
 * what each says of itself.  One rule: a cursor names the master, by its lowest
 * slot, and that master's own cursor, so that any client that has it
 * can ask for the page.
 */
#include "backend/redis/cluster/cluster.h"
#include "backend/redis/inner/owner.h"

#define CURSOR_BITS 54 /* of a node's own; above them, which master it is */
#define CURSOR_MASK ((UINT64_C(1) << CURSOR_BITS) - 1)

/* A page of a list: from the master that its cursor names. */
struct cluster_node *hf__redis_cluster_list_node(struct cluster *c,
                                                 struct request *req)
{
    int count;
    uint64_t which = req->cursor >> CURSOR_BITS;
    struct cluster_node *n = hf__redis_cluster_master(c, (int)which, &count);
    if (!n) return NULL;
    req->priv |= (uint32_t)which << PRIV_LIST_SHIFT;
    req->cursor &= CURSOR_MASK;
    return n;
}

static uint64_t which_of(const struct request *req)
{
    return (req->priv & ~PRIV_ASKING) >> PRIV_LIST_SHIFT;
}

void hf__redis_cluster_list_restore(struct request *req)
{
    req->cursor |= which_of(req) << CURSOR_BITS;
}

/* Where the next master's list begins; 0 if this was the last. */
static uint64_t cursor_next(const struct cluster *c, const struct request *req)
{
    int count;
    uint64_t which = which_of(req) + 1;
    hf__redis_cluster_master(c, 0, &count);
    return which < (uint64_t)count ? which << CURSOR_BITS : 0;
}

/* The cursor of all masters from that of one.  -1: there is no room for it. */
static int cursor_join(const struct cluster *c, const struct request *req,
                       struct reply *reply)
{
    if (reply->cursor > CURSOR_MASK) return -1;
    if (reply->cursor == 0)
        reply->cursor = cursor_next(c, req);
    else
        reply->cursor |= which_of(req) << CURSOR_BITS;
    return 0;
}

void hf__redis_cluster_list_replied(struct cluster *c, struct request *req,
                                    const struct reply *told)
{
    struct reply reply = *told;
    if (reply.verdict == V_GRANTED && cursor_join(c, req, &reply) != 0)
        reply = (struct reply){
            .verdict = V_ERROR,
            .status = HF_UNSUPPORTED,
            .ttl_us = -1,
            .waiters = -1,
            .text = "redis-cluster: list: the server's cursor is too large"};
    /* A master that does not answer is skipped. */
    if (reply.verdict != V_GRANTED) reply.cursor = cursor_next(c, req);
    hf__redis_cluster_list_restore(req);
    c->env->reply(c->env, req, &reply);
}

struct cluster_node *hf__redis_cluster_facts_node(struct cluster *c,
                                                  const struct request *req)
{
    int count;
    return hf__redis_cluster_master(c, (int)req->cursor, &count);
}

void hf__redis_cluster_facts_replied(struct cluster *c, struct request *req,
                                     const struct reply *told)
{
    struct reply reply = *told;
    int count;
    hf__redis_cluster_master(c, 0, &count);
    reply.cursor = (int)req->cursor + 1 < count ? req->cursor + 1 : 0;
    c->env->reply(c->env, req, &reply);
}
