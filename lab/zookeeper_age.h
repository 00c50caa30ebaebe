/*
 * zookeeper_age.h: make a node of a ZooKeeper server old, by its snapshot.
 *
 *     lab_zookeeper_kill(&z), lab_zookeeper_restart(&z, 1);   // a snapshot
 *     lab_zookeeper_kill(&z);
 *     lab_zookeeper_age(&z, "/locks/a", LAB_AGE_CHILDREN, INT32_MAX, &was);
 *     lab_zookeeper_restart(&z, 1);
 */
#ifndef LAB_ZOOKEEPER_AGE_H
#define LAB_ZOOKEEPER_AGE_H

#include <stdint.h>

#include "lab/zookeeper.h"

enum lab_age {
    LAB_AGE_DATA,    /* changes of its data: its version */
    LAB_AGE_CHILDREN /* of its children: the next sequence number */
};

/* Set a number of the node in the newest snapshot of a server that is down;
 * `*was` is what it was. */
int lab_zookeeper_age(const struct lab_zookeeper *z, const char *node,
                      enum lab_age which, int32_t number, int32_t *was);

#endif
