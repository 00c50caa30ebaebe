/*
 * play/resource.h: the resource that the lock is for, where it is not on Redis:
 * a file, or a table of a database.  One rule: the naive way and holdfast's way
 * write the same thing; holdfast's way shows its fence before.
 */
#ifndef HOLDFAST_CLI_PLAY_RESOURCE_H
#define HOLDFAST_CLI_PLAY_RESOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "play/play.h"

#define WHERE_MAX 200

/* What came of a write. */
enum written { WRITE_FAILED, WRITE_TAKEN, WRITE_STALE };

/* Of the run's process: make it, ready to be written, and say where it is: a
 * path, or a port.  A status as those of lab.h. */
int resource_make(enum resource on, char where[WHERE_MAX]);
/* The name of its lane. */
const char *resource_name(enum resource on);

/* Of a client: write, whatever was written before. */
enum written resource_set(enum resource on, const char *where, char me);
/* Show the fence, as a new holder does; write with the fence. */
enum written resource_touch(enum resource on, const char *where,
                            uint64_t fence);
enum written resource_guarded(enum resource on, const char *where,
                              uint64_t fence, char me);

#endif
