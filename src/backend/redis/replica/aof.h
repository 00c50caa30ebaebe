/* aof.h: waitaof=1[,k]. */
#ifndef HF_REDIS_REPLICA_AOF_H
#define HF_REDIS_REPLICA_AOF_H

#include "backend/redis/redis.h"

int hf__redis_aof_read(struct backend_conn *c, const struct url *url,
                       struct hf_error *err);
/* Ask on a new link whether the server can do it.  0, or -1: no memory. */
int hf__redis_aof_greet(struct link *l);
/* It cannot: fail the link. */
void hf__redis_aof_refused(struct link *l, const struct resp *v);
/* Ask behind a proposal.  0, or -1: no memory. */
int hf__redis_aof_push(struct backend_conn *c, const struct request *req);
/* The proposal was granted: it is answered when the disk has it.  0 if there
 * is nothing to wait for. */
int hf__redis_aof_hold(struct backend_conn *c, struct request *req,
                       const struct reply *reply);
void hf__redis_aof_reply(struct backend_conn *c, const struct flight *f,
                         const struct resp *v);

#endif
