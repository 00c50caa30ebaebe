/* look.h: what is being looked at. */
#ifndef HF_ZOOKEEPER_LOOK_H
#define HF_ZOOKEEPER_LOOK_H

#include "backend/zookeeper/job.h"
#include "backend/zookeeper/queue.h"

struct look {
    int tries;
    char node[256]; /* the first of the queue */
    struct hf_info info;
};

/* Fill `info` with what the data of a node say. */
void hf__zookeeper_node_tell(struct hf_info *info, const char *node,
                             const char *data, size_t len);
/* The same of the first of a queue, and that it has the lock. */
void hf__zookeeper_holder_tell(struct hf_info *info, const char *node,
                               const char *data, size_t len,
                               const struct jute_stat *stat);

#endif
