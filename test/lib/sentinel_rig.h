/*
 * sentinel_rig.h: lab/sentinels.h in a test: a primary, two replicas and three
 * Sentinels, all real.
 *
 *     static struct lab_sentinels g;
 *     sentinel_begin(&g);
 *     hf_client *c = rig_client_at(g.url, NULL);
 *     redis_shutdown(sentinel_primary(&g), 0);        kill -9
 *
 * With `net` set before, each server is on a host of its own, and so is the
 * Sentinel of the same number.
 */
#ifndef HF_TEST_SENTINEL_RIG_H
#define HF_TEST_SENTINEL_RIG_H

#include "lab/sentinels.h"
#include "lib/rig_redis.h"

#define SENTINEL_SERVERS LAB_SENTINELS
#define SENTINEL_MASTER LAB_SENTINELS_MASTER

/* Start all, and the rig.  `g` static. */
void sentinel_begin(struct lab_sentinels *g);

/* The same, the Sentinels with these further lines in their files. */
void sentinel_begin_with(struct lab_sentinels *g, const char *conf);

/* Wait until each Sentinel knows all there is to know; after _with(). */
void sentinel_until_ready(struct lab_sentinels *g);

/* The primary, as the first Sentinel that answers says; NULL if none does. */
#define sentinel_primary(g) lab_sentinels_primary(g)

/* Wait until another server than `old` is the primary, by its own word too.
 * Returns it. */
struct lab_server *sentinel_until_other(struct lab_sentinels *g,
                                        struct lab_server *old);

#endif
