/*
 * stocks.h: sending jobs to segments of a sale.
 */
#ifndef HF_ENGINE_STOCKS_H
#define HF_ENGINE_STOCKS_H

struct engine;
struct op;
struct reply;

void hf__stocks_start(struct engine *e, struct op *op);
void hf__stocks_answered(struct engine *e, struct op *op,
                         const struct reply *rep);

#endif
