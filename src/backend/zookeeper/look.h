/* look.h: looks: reading a queue and the data of its first node. */
#ifndef HF_ZOOKEEPER_LOOK_H
#define HF_ZOOKEEPER_LOOK_H

#include "backend/zookeeper/job.h"
#include "backend/zookeeper/queue.h"

struct look {
    int tries;
    char node[256]; /* the first node of the queue */
    struct hf_info info;
};

/* Fill `info` from the data of a node. */
void hf__zookeeper_node_tell(struct hf_info *info, const char *node,
                             const char *data, size_t len);
/* The same for the first node of a queue, which has the lock. */
void hf__zookeeper_holder_tell(struct hf_info *info, const char *node,
                               const char *data, size_t len,
                               const struct jute_stat *stat);

#endif
