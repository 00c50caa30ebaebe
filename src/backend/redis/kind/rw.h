/* rw.h: read/write locks. */
#ifndef HF_REDIS_KIND_RW_H
#define HF_REDIS_KIND_RW_H

#include "backend/redis/redis.h"

/* The holder's field in the lock's hash; of any other kind, its name. */
void hf__redis_rw_put_field(struct command *cmd, const struct request *req);
/* The key of the number up to which proposals were given back. */
void hf__redis_rw_put_floor(struct command *cmd, const struct request *req);
/* What PROPOSE is answered while others have it. */
void hf__redis_rw_busy(const struct resp *v, struct reply *reply);

#endif
