/* wait_many.h: mode=wait of the runner `peer`. */
#ifndef BENCH_WAIT_MANY_H
#define BENCH_WAIT_MANY_H

#include "options.h"

/* `count` waiters for the locks hold-0 and so on, for `secs`. */
void wait_many_run(const struct options *o);

#endif
