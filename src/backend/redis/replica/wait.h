/* wait.h: wait=, wait_renew=. */
#ifndef HF_REDIS_REPLICA_WAIT_H
#define HF_REDIS_REPLICA_WAIT_H

#include "backend/redis/redis.h"

#define REPLICAS_MAX 1000

int hf__redis_wait_read(struct backend_conn *c, const struct url *url,
                        struct hf_error *err);
/* What wait= says, in `out` or elsewhere; "" if it says nothing. */
const char *hf__redis_wait_text(const struct backend_conn *c, char *out,
                                size_t size);
/* Ask on a new link whether the server can do it.  0, or -1: no memory. */
int hf__redis_wait_greet(struct link *l);
/* It cannot: fail the link. */
void hf__redis_wait_refused(struct link *l, const struct resp *v);
/* The greeting is answered: check that the number of replicas to wait for is
 * known.  0; or -1 if not, and the link was failed. */
int hf__redis_wait_up(struct link *l);
/* When the caller, and the request itself, need an answer. */
int64_t hf__redis_wait_by_us(const struct request *req);
/* How long the server may take for what must be answered by then. */
int64_t hf__redis_wait_limit_us(const struct backend_conn *c, int64_t by_us);
/* This chain was put into the output: note if it needs a WAIT behind it. */
void hf__redis_wait_sent(struct backend_conn *c, const struct request *req);
/* Put that WAIT there, once for all that went out with this flush. */
void hf__redis_wait_push(struct backend_conn *c);
/* It was granted: it is answered when the replicas have it.  0 if there is
 * nothing to wait for. */
int hf__redis_wait_park(struct backend_conn *c, struct request *req,
                        const struct reply *reply);
void hf__redis_wait_reply(struct backend_conn *c, const struct resp *v);
/* The parked grants will not be confirmed: answer them with this status. */
void hf__redis_wait_fail(struct backend_conn *c, int status, const char *text);
int64_t hf__redis_wait_deadline(const struct backend_conn *c);

#endif
