/* stock.h: segments of sales: which script does what is asked. */
#ifndef HF_REDIS_KIND_STOCK_H
#define HF_REDIS_KIND_STOCK_H

#include "backend/redis/kind/kind.h"

struct stock_job;

const struct redis_call *hf__redis_stock_call(const struct stock_job *job);

#endif
