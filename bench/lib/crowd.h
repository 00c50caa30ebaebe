/*
 * crowd.h: many locks of one client, taken through the asynchronous calls with
 * a bounded number in flight.
 */
#ifndef BENCH_CROWD_H
#define BENCH_CROWD_H

#include <holdfast/holdfast.h>

#include "options.h"

struct crowd;

/* A client for these options, or fail().  on_state may be NULL. */
hf_client *crowd_client(const struct options *o, uint32_t flags,
                        hf_state_fn on_state, void *user);

/* Room for `len` locks; nothing is opened yet, but all of its own memory is
 * touched, so that what grows from here on is the library's. */
struct crowd *crowd_new(int len);

/* Open and acquire the locks <stem>-0 to <stem>-<len - 1>, or fail(). */
void crowd_take(struct crowd *c, hf_client *client, const char *stem);

/* Release them all, or fail(); the lock objects stay open. */
void crowd_give(struct crowd *c);

/* How many are not held now, by the library's own word. */
int64_t crowd_missing(const struct crowd *c);

/* mode=hold: `count` locks, renewed by the watchdog. */
void crowd_hold_run(const struct options *o);

#endif
