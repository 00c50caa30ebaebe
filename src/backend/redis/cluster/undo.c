/*
 * undo.c: releases of what was never sent.
 *
 * A proposal that is given up while it still waits for a link is undone by a
 * release, which would wait for the same link: the close of the client would
 * wait for both.  One rule: neither is sent, because the attempt's earlier
 * proposals were all refused.  (That is not so for a member of a quorum, but a
 * cluster cannot be one.)
 */
#include <string.h>

#include "backend/redis/cluster/cluster.h"
#include "backend/redis/cluster/hash_slot.h"
#include "backend/redis/inner/inner.h"
#include "backend/redis/redis.h"

static int is_undone_by(const struct request *req,
                        const struct request *release)
{
    return req->verb == VERB_PROPOSE && req->attempt == release->attempt
           && req->name_len == release->name_len
           && !memcmp(req->name, release->name, req->name_len)
           && !strcmp(req->owner, release->owner);
}

/* Remove the proposal from the list; NULL if it is not there. */
static struct request *undone_take(struct request_list *list,
                                   const struct request *release)
{
    struct request *before = NULL, *req = list->first;
    while (req && !is_undone_by(req, release)) {
        before = req;
        req = req->next;
    }
    if (!req) return NULL;
    if (before)
        before->next = req->next;
    else
        list->first = req->next;
    if (list->last == req) list->last = before;
    req->next = NULL;
    return req;
}

int hf__redis_cluster_undo(struct cluster *c, struct request *release)
{
    struct request *req = undone_take(&c->waiting, release);
    uint16_t slot = hf__redis_hash_slot_of(release->name, release->name_len);
    struct cluster_node *n = hf__redis_cluster_owner(c, slot);
    if (!req && n && n->is_open) {
        req = undone_take(&n->inner.conn->unsent, release);
        if (req) n->open--;
    }
    if (!req) return 0;
    hf__redis_cluster_route_answer_soon(c, req, V_UNSENT);
    hf__redis_cluster_route_answer_soon(c, release, V_ABSENT);
    return 1;
}
