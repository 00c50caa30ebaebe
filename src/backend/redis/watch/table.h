/* table.h: the table of watched names. */
#ifndef HF_REDIS_WATCH_TABLE_H
#define HF_REDIS_WATCH_TABLE_H

#include "backend/redis/redis.h"

/* Where the watch of `req`'s name is linked, or the end of its bucket; of the
 * lock's channel, or the client's own.  Leaves the channel in c->cmd, as its
 * argument 1. */
struct watch **hf__redis_watches_find(struct backend_conn *c,
                                      const struct request *req, int is_own);
/* A new watch on the channel that hf__redis_watches_find() left; NULL: no
 * memory. */
struct watch *hf__redis_watches_add(struct backend_conn *c,
                                    const struct request *req, int is_own);
void hf__redis_watches_remove(struct backend_conn *c, struct watch **at);
/* 1 if there is a watch on this channel. */
int hf__redis_watches_on(struct backend_conn *c, const char *channel,
                         size_t len);
/* Call fn for each watch; it may remove the one it is given. */
void hf__redis_watches_each(struct backend_conn *c,
                            void (*fn)(struct backend_conn *, struct watch **));
/* A message on a channel: wake all its names, or tell what was handed over. */
void hf__redis_watches_wake(struct backend_conn *c, const struct resp *channel,
                            const struct resp *message);
/* Remove it wherever it is linked. */
void hf__redis_watches_drop(struct backend_conn *c, struct watch *w);
/* Answer nothing, free everything. */
void hf__redis_watches_free(struct backend_conn *c);

#endif
