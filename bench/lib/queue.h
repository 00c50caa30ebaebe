/* queue.h: mode=queue of the runner `peer`. */
#ifndef BENCH_QUEUE_H
#define BENCH_QUEUE_H

#include "options.h"

/* `count` waiters in the queue of one fair lock; after GO each gets it. */
void queue_run(const struct options *o);

#endif
