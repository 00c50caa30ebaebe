/* classic.h: classic subscriptions beside sharded ones. */
#ifndef HF_REDIS_WATCH_CLASSIC_H
#define HF_REDIS_WATCH_CLASSIC_H

#include "backend/redis/redis.h"

/* Subscribe in the classic way too, where that is wanted.  0, or -1: no
 * memory. */
int hf__redis_classic_subscribe(struct backend_conn *c, const struct watch *w);
int hf__redis_classic_unsubscribe(struct backend_conn *c, const char *channel,
                                  size_t len);
/* A lock of Redisson's was met: subscribe all watched names in the classic way
 * too, and those that follow. */
void hf__redis_classic_learn(struct backend_conn *c);
/* 1 if it is a classic message.  It wakes the waiters, unless it is the second
 * copy of the sharded one that was read just before it. */
int hf__redis_classic_heard(struct backend_conn *c, const struct resp *v);

#endif
