/*
 * name.h: names of locks as nodes, and the nodes of a queue.
 *
 * A lock is a node under the root, its name escaped; a place in its queue is a
 * child of that, named as Curator names it: `_c_<uuid>-lock-<10 digits>`.
 */
#ifndef HF_ZOOKEEPER_NAME_H
#define HF_ZOOKEEPER_NAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"

#define NODE_UUID_LEN 36
#define NODE_PREFIX_MAX 56 /* "_c_", the uuid, "-lock-" and a NUL */
#define NODE_NAME_MAX (NAME_LEN_MAX * 3)
/* The server's counter stops at INT32_MAX, and every node has that number from
 * then on: none is used from here on. */
#define NODE_SEQ_END (INT32_MAX - 1000)

/* Write the name as a node's: at most NODE_NAME_MAX bytes and a NUL.  What
 * ZooKeeper forbids, and '%', is "%XX"; the length. */
size_t hf__zookeeper_name_escape(const char *name, size_t len,
                                 char out[NODE_NAME_MAX + 1]);
/* And back; 0 if no name is written so. */
size_t hf__zookeeper_name_unescape(const char *node, size_t len,
                                   char out[NAME_LEN_MAX + 1]);

/* What the node of an attempt begins with, of one session only. */
void hf__zookeeper_name_prefix(const char *owner, uint64_t attempt,
                               int64_t session, char out[NODE_PREFIX_MAX]);

/* The number behind the last '-' or '_': 0 and *seq, or -1: there is none.
 * Numbers that the server's counter made beyond its end are negative. */
int hf__zookeeper_name_seq(const char *node, size_t len, int64_t *seq);

#endif
