/* queue.h: locks that are handed to the longest waiter. */
#ifndef HF_REDIS_KIND_QUEUE_H
#define HF_REDIS_KIND_QUEUE_H

#include "backend/redis/redis.h"

/* In request.priv: its script said that there is a queue. */
#define PRIV_QUEUE 0x20000000u
/* The same: it is sent without the keys of the queue, which the user lacks. */
#define PRIV_PAST_QUEUE 0x10000000u

/* Is the queue's key among those of this request's script? */
int hf__redis_queue_has_key(const struct backend_conn *c,
                            const struct request *req);
void hf__redis_queue_put_key(struct command *cmd, const struct request *req);
/* The key of what is known of the waiters, and of a break. */
void hf__redis_queue_put_who(struct command *cmd, const struct request *req);
/* Both of them. */
void hf__redis_queue_put_keys(struct command *cmd, const struct request *req);
/* The channel on which this client is told what it is given. */
void hf__redis_queue_put_channel(struct backend_conn *c,
                                 const struct request *req);
/* It is sent once more, to queue.lua, if that is what the answer says. */
int hf__redis_queue_again(struct backend_conn *c, struct request *req,
                          const struct resp *v);
/* ... without the queue's keys, if the user lacks them. */
int hf__redis_queue_is_denied(struct backend_conn *c, struct request *req,
                              const struct resp *v);
/* A message on the client's own channel. */
void hf__redis_queue_handed(struct backend_conn *c, const struct watch *w,
                            const struct resp *message);

#endif
