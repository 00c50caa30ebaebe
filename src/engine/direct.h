/*
 * direct.h: operations without a hold: INSPECT, BREAK, LIST, TICKET_RELEASE.
 */
#ifndef HF_ENGINE_DIRECT_H
#define HF_ENGINE_DIRECT_H

struct engine;
struct op;
struct reply;
struct request;

void hf__direct_start(struct engine *e, struct op *op);
/* A request of `op`, with the client's limits.  NULL: there is no memory, and
 * `op` has ended. */
struct request *hf__direct_request(struct engine *e, struct op *op);
/* Set until when one answer is waited for, and until when is asked at all. */
void hf__direct_bound(struct engine *e, const struct op *op, struct request *r);
/* Also for the operations of values.c, guards.c and tallies.c. */
void hf__direct_answered(struct engine *e, struct op *op,
                         const struct request *r, const struct reply *rep);

#endif
