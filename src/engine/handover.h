/*
 * handover.h: hand-over within the process, without asking the store.
 */
#ifndef HF_ENGINE_HANDOVER_H
#define HF_ENGINE_HANDOVER_H

#include <stdint.h>

struct engine;
struct op;
struct seat;

/* The owner of a chain that may begin with this acquire; 0: no hand-over. */
uint64_t hf__handover_owner(struct engine *e, const struct op *op);
/* Release by handing over to the next in line.  1: done, with `op`. */
int hf__handover_try(struct engine *e, struct seat *s, struct op *op);
int hf__handover_is_over(const struct seat *s);

#endif
