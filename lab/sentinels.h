/*
 * sentinels.h: a primary, two replicas and three Sentinels, all real.  One
 * rule: they are ready when every Sentinel knows all the others and both
 * replicas.
 *
 *     static struct lab_sentinels g;
 *     lab_sentinels_start(&g, "");
 *     lab_sentinels_await(&g);
 *     lab_server_shutdown(lab_sentinels_primary(&g), 0);        kill -9
 *
 * With `net` set before, each server is on a host of its own, and so is the
 * Sentinel of the same number.
 */
#ifndef LAB_SENTINELS_H
#define LAB_SENTINELS_H

#include "lab/server.h"

#define LAB_SENTINELS 3
#define LAB_SENTINELS_MASTER "the-master"

struct lab_sentinels {
    const struct lab_net *net; /* NULL: all are on 127.0.0.1 */
    unsigned unasked; /* Sentinels, by bit, whose word does not count */
    struct lab_server servers[LAB_SENTINELS]; /* the first is the primary */
    struct lab_server sentinels[LAB_SENTINELS];
    char hosts[96]; /* "127.0.0.1:1,127.0.0.1:2,127.0.0.1:3" */
    char url[160];  /* "redis-sentinel://<hosts>/the-master" */
};

/* Start all, the Sentinels with these further lines in their files ("": none).
 * `g` must stay until it is stopped. */
int lab_sentinels_start(struct lab_sentinels *g, const char *conf);
void lab_sentinels_stop(struct lab_sentinels *g);

/* Wait until each Sentinel knows all there is to know. */
int lab_sentinels_await(struct lab_sentinels *g);

/* The primary, as the first Sentinel that answers says; NULL if none does. */
struct lab_server *lab_sentinels_primary(struct lab_sentinels *g);

/* Wait until another server than `old` is the primary, by its own word too.
 * Returns it, or NULL. */
struct lab_server *lab_sentinels_await_other(struct lab_sentinels *g,
                                             struct lab_server *old);

#endif
