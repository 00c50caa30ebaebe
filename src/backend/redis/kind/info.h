/* info.h: who holds a lock. */
#ifndef HF_REDIS_KIND_INFO_H
#define HF_REDIS_KIND_INFO_H

#include "backend/redis/redis.h"

/* Who holds a lock, by its record.  0, or -1 if it is none of ours. */
int hf__redis_info_holder(const struct resp *v, struct hf_info *info);

#endif
