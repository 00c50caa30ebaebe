/*
 * sentinel_rig.h: a primary, two replicas and three Sentinels, all real.  One
 * rule: it is ready when every Sentinel knows all the others and both replicas.
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

#include "lib/rig_redis.h"

#define SENTINEL_SERVERS 3
#define SENTINEL_MASTER "the-master"

struct lab_sentinels {
    const struct lab_net *net; /* NULL: all are on 127.0.0.1 */
    unsigned unasked; /* Sentinels, by bit, whose word does not count */
    struct lab_server servers[SENTINEL_SERVERS]; /* the first is the primary */
    struct lab_server sentinels[SENTINEL_SERVERS];
    char hosts[96]; /* "127.0.0.1:1,127.0.0.1:2,127.0.0.1:3" */
    char url[160];  /* "redis-sentinel://<hosts>/the-master" */
};

/* Start all, and the rig.  `g` static. */
void sentinel_begin(struct lab_sentinels *g);

/* The same, the Sentinels with these further lines in their files. */
void sentinel_begin_with(struct lab_sentinels *g, const char *conf);

/* Wait until each Sentinel knows all there is to know; after _with(). */
void sentinel_until_ready(struct lab_sentinels *g);

/* The primary, as the first Sentinel that answers says; NULL if none does. */
struct lab_server *sentinel_primary(struct lab_sentinels *g);

/* Wait until another server than `old` is the primary, by its own word too.
 * Returns it. */
struct lab_server *sentinel_until_other(struct lab_sentinels *g,
                                        struct lab_server *old);

#endif
