/* queue.h: locks that are handed to the longest waiter. */
#ifndef HF_REDIS_KIND_QUEUE_H
#define HF_REDIS_KIND_QUEUE_H

#include "backend/redis/redis.h"

/* In request.priv: its script said that there is a queue. */
#define PRIV_QUEUE 0x20000000u
/* The same: it is sent without the keys of the queue, which the user lacks. */
#define PRIV_PAST_QUEUE 0x10000000u

/* 1 if the queue's key is among those of this request's script. */
static inline int hf__redis_queue_has_key(const struct backend_conn *c,
                                          const struct request *req)
{
    return !c->is_string && !c->queue_is_denied && req->kind == KIND_PLAIN
           && !(req->flags & REQ_QUORUM) && !(req->priv & PRIV_PAST_QUEUE);
}
/* The key of the waiters' records, and of the last break. */
void hf__redis_queue_put_records(struct command *cmd,
                                 const struct request *req);
/* The keys of the queue and of the records. */
void hf__redis_queue_put_keys(struct command *cmd, const struct request *req);
/* The channel on which this client is told what it is given. */
void hf__redis_queue_put_channel(struct backend_conn *c,
                                 const struct request *req);
/* May the answer be about a queue?  A grant is a number, and is not. */
static inline int hf__redis_queue_is_told(const struct request *req,
                                          const struct resp *v)
{
    return v->type == RESP_ARRAY || req->verb == VERB_RELEASE
           || req->priv & PRIV_PAST_QUEUE;
}
/* 1 if the answer says that there is a queue: the request is sent once more, to
 * a queue_*.lua script. */
int hf__redis_queue_again(struct backend_conn *c, struct request *req,
                          const struct resp *v);
/* 1 if the user lacks the queue's keys: the request is sent once more without
 * them. */
int hf__redis_queue_is_denied(struct backend_conn *c, struct request *req,
                              const struct resp *v);
/* A message on the client's own channel. */
void hf__redis_queue_handed(struct backend_conn *c, const struct watch *w,
                            const struct resp *message);

#endif
