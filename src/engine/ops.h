/*
 * ops.h: beginning and ending operations.
 */
#ifndef HF_ENGINE_OPS_H
#define HF_ENGINE_OPS_H

#include "engine/op.h"

struct engine;

/* Count it among the operations under way, until hf__op_finish(). */
void hf__op_enlist(struct engine *e, struct op *op);
/* Its turn has come: start it. */
void hf__op_begin(struct engine *e, struct op *op);
/* `text` NULL: the status says it all.  Callers are told after the step. */
void hf__op_finish(struct engine *e, struct op *op, int status,
                   const char *text);
/* End its wait with `status`, wherever it has come to. */
void hf__op_fail(struct engine *e, struct op *op, int status);
void hf__op_append(struct op **head, struct op **tail, struct op *op);

/* Does it wait behind another operation of its holder? */
int hf__op_is_pending(const struct op *op);
void hf__pending_append(struct seat *s, struct op *op);
void hf__pending_remove(struct seat *s, struct op *op);
/* The operation before it is done: make the next one ready; all of them if the
 * hold is over. */
void hf__pending_go(struct engine *e, struct seat *s);

#endif
