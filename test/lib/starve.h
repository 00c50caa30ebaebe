/*
 * starve.h: memory runs out at every place in turn.
 */
#ifndef HF_TEST_STARVE_H
#define HF_TEST_STARVE_H

#include "backend/backend.h"

/* An allocator of which allocation `n`, from 0, fails. */
struct hf_allocator starve_begin(int n);
/* Has it failed?  How many blocks are in use? */
int starve_has_failed(void);
int starve_open_count(void);

/* Open `url` on the redis backend, ask it for everything, and close it, as
 * often as there are allocations to fail.  Every request is answered once,
 * nothing leaks, and afterwards it works. */
void starve_in_turn(const char *url);

/* The same on any backend, with a name. */
void starve_backend(const struct backend *backend, const char *url,
                    const char *name);

#endif
