/*
 * tallies.h: numbers that are kept under a name: permits, counters, latches.
 */
#ifndef HF_ENGINE_TALLIES_H
#define HF_ENGINE_TALLIES_H

struct engine;
struct op;
struct reply;

void hf__tallies_start(struct engine *e, struct op *op);
void hf__tallies_answered(struct engine *e, struct op *op,
                          const struct reply *rep);

#endif
