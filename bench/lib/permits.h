/* permits.h: holdfast's semaphore as a peer: `permits` holders at once. */
#ifndef BENCH_PERMITS_H
#define BENCH_PERMITS_H

#include "runner.h"

extern const struct lock_peer permits_peer; /* "holdfast-permits" */

#endif
