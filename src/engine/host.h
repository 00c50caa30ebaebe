/*
 * host.h: the lock of this host that stands in for a store that is silent.
 * One rule: only an engine that has a host has entries of it.
 */
#ifndef HF_ENGINE_HOST_H
#define HF_ENGINE_HOST_H

#include <assert.h>

#include "engine/engine.h"
#include "engine/locks.h"

/* A store of its own, with one node, which is opened when it is first
 * needed. */
struct host {
    struct hold_conf conf;
    unsigned caps;
    struct node node;
    int is_open;
    /* HF_OK, or why not.  In a step. */
    int (*open)(struct engine *e, struct hf_error *err);
    const char *store;  /* borrowed: the store's URL, for the log */
    int is_standing_in; /* holds were given here, and the store has not answered
                         * since */
    int64_t stood_in_us; /* when the last of them was given */
};

/* The store behind an entry: what its holds share, what it can do, and its
 * nodes by their number there. */
static inline struct hold_conf *hf__conf_of(struct engine *e,
                                            const struct lock_entry *entry)
{
    return entry && entry->is_host ? &e->host->conf : &e->conf;
}
static inline unsigned hf__caps_of(const struct engine *e,
                                   const struct lock_entry *entry)
{
    assert(!entry->is_host || e->host);
    return entry->is_host ? e->host->caps : e->caps;
}
static inline struct node *hf__node_of(struct engine *e,
                                       const struct lock_entry *entry, int i)
{
    return entry && entry->is_host ? &e->host->node : &e->nodes[i];
}

/* The four that follow are for an engine that has a host. */

/* Decide where the operation is carried out; op->entry may be the host's
 * afterwards.  1: the operation has ended by that. */
int hf__host_route(struct engine *e, struct op *op);
/* The operation ended at the store, or at the host.  1: it has not ended after
 * all, and begins again at the other. */
int hf__host_takes(struct engine *e, struct op *op, int status,
                   const char *text);
/* The operation begins again after a grant that is not to be kept: give that
 * back.  1: the operation has ended by that. */
int hf__host_undo(struct engine *e, struct op *op);
/* The operation was carried out at the host and is over: add to its result
 * what the caller is told of the host. */
void hf__host_told(struct engine *e, struct op *op);
/* The host's clock; 0 while it is not known. */
int64_t hf__host_now(const struct engine *e);
/* The hold of this holder, of the host or of the store; or NULL. */
struct seat *hf__holder_seat(struct engine *e, struct lock_entry *entry,
                             uint64_t holder);

#endif
