/* hold.h: operations on a hold that is in hand, for the calls of hold.c and for
 * sets. */
#ifndef HF_API_HOLD_H
#define HF_API_HOLD_H

#include "api/hold/handle.h"

/* An operation on the hold that is in hand. */
void hf__grip_op(struct op *op, enum op_type type, const struct grip *g);

/* An operation on a hold that was started.  hf__started_new() pins the hold,
 * which must be in hand.  hf__started_go() sends the operation, which is freed
 * when it is over; with HF_CLOSED it was not sent, and is freed already.
 * hf__started_free() frees one that was never sent. */
struct started;
struct started *hf__started_new(enum op_type type, const struct grip *g,
                                int64_t lease_ms, hf_hold_fn fn, void *user,
                                struct hf_error *err);
/* The operation is on one part of a set: the text of its error begins with
 * "lock NAME: ". */
void hf__started_as_part(struct started *s);
int hf__started_go(struct started *s, struct hf_error *err);
/* As hf__started_go(), also if the client is being closed: the callback
 * receives HF_CLOSED then. */
void hf__started_go_anyway(struct started *s);
void hf__started_free(struct started *s);

#endif
