/*
 * queue.h: reading the queue of a lock, to find the node before a place.
 */
#ifndef HF_ZOOKEEPER_QUEUE_H
#define HF_ZOOKEEPER_QUEUE_H

#include "backend/zookeeper/place.h"

/* Ask for the nodes of the place's queue; the next step depends on its
 * state. */
void hf__zookeeper_queue_look(struct backend_conn *c, struct place *p);

/* The nodes of a queue, as getChildren2 lists them. */
struct queue_view {
    int len;
    int is_missing; /* the lock has no node */
    int lower;      /* number of nodes with a lower number than the own one */
    int has_own;
    const char *strange; /* a node that does not belong in a queue, or NULL */
    size_t strange_len;
    const char *first; /* the node with the lowest number; borrowed */
    size_t first_len;
    int64_t first_seq;
    const char *before; /* the node right before the own one, or NULL */
    size_t before_len;
    int64_t before_seq;
    const char *own; /* the own node, found by its prefix */
    size_t own_len;
    int64_t pzxid; /* of the last change of the queue */
    int is_bad;
};

/* `prefix` and `seq` tell the own node, and its number if that is known; else
 * NULL and INT64_MAX. */
void hf__zookeeper_queue_read(struct jute_in *in, const char *prefix,
                              int64_t seq, struct queue_view *out);

/* ---- place.c ---- */
void hf__zookeeper_place_busy(struct backend_conn *c, struct place *p);
void hf__zookeeper_place_first(struct backend_conn *c, struct place *p);
void hf__zookeeper_place_lost(struct backend_conn *c, struct place *p);
void hf__zookeeper_place_fail(struct backend_conn *c, struct place *p,
                              int32_t err);
void hf__zookeeper_place_create(struct backend_conn *c, struct place *p,
                                int with_parent);
void hf__zookeeper_place_watch(struct backend_conn *c, struct place *p,
                               struct job *job);

#endif
