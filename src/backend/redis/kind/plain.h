/* plain.h: what all layouts of a lock answer alike. */
#ifndef HF_REDIS_KIND_PLAIN_H
#define HF_REDIS_KIND_PLAIN_H

#include "backend/redis/redis.h"

int hf__redis_acquire_read(struct backend_conn *c, const struct request *req,
                           const struct resp *v, struct reply *reply);
int hf__redis_renew_read(struct backend_conn *c, const struct request *req,
                         const struct resp *v, struct reply *reply);
int hf__redis_release_read(struct backend_conn *c, const struct request *req,
                           const struct resp *v, struct reply *reply);

#endif
