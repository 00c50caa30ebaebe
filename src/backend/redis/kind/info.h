/* info.h: the holder of a lock, by its record. */
#ifndef HF_REDIS_KIND_INFO_H
#define HF_REDIS_KIND_INFO_H

#include "backend/redis/redis.h"

/* Read a record into `info`.  0, or -1 if it is not one of ours. */
int hf__redis_info_holder(const struct resp *v, struct hf_info *info);

#endif
