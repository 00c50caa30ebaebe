/* value.h: versioned values, and the clock they are written by. */
#ifndef HF_REDIS_KIND_VALUE_H
#define HF_REDIS_KIND_VALUE_H

#include "backend/redis/redis.h"

/* The server's clock, counted on from when it last told it. */
int64_t hf__redis_now_us(const struct backend_conn *c);
/* `what` came too late to be carried out; reply->node_us is set already. */
void hf__redis_late(struct backend_conn *c, const char *what,
                    struct reply *reply);

#endif
