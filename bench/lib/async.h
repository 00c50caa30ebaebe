/*
 * async.h: one thread, its own loop, ASYNC_DEPTH locks in flight.
 */
#ifndef BENCH_ASYNC_H
#define BENCH_ASYNC_H

#include "options.h"

#define ASYNC_DEPTH 64

/* mode=loop of peer=holdfast-async. */
void async_run(const struct options *o);

#endif
