/* stock.h: segments of sales: which script does what is asked. */
#ifndef HF_REDIS_KIND_STOCK_H
#define HF_REDIS_KIND_STOCK_H

#include "backend/redis/kind/kind.h"

struct stock_job;

struct stock_told;

const struct redis_call *hf__redis_stock_call(const struct stock_job *job);

/* Put the segment's keys, in one slot; then the number of segments. */
void hf__redis_stock_keys(struct backend_conn *c, const struct request *req);

/* What all answers begin with; 0 to go on, 1 if that is all, -1 if it is none
 * of them. */
int hf__redis_stock_head(const struct resp *v, struct stock_told *t,
                         struct reply *reply);

#endif
