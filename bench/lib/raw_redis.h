/*
 * raw_redis.h: the least that a lock on Redis needs, by plain hiredis.  These
 * are the references: no library can do less and still be a lock.
 */
#ifndef BENCH_RAW_REDIS_H
#define BENCH_RAW_REDIS_H

#include <hiredis/hiredis.h>

#include "runner.h"

#define SHA_LEN 40

struct raw_link {
    redisContext *redis;
    char release_sha[SHA_LEN + 1]; /* delete if it is ours */
    char renew_sha[SHA_LEN + 1];   /* extend if it is ours */
};

/* Connect and load the scripts, or fail(). */
void raw_link_open(struct raw_link *l, int port);

/* The next reply of a pipeline, or fail(); free it. */
redisReply *raw_link_reply(struct raw_link *l);

extern const struct lock_peer raw_peer;       /* SET NX PX, EVALSHA */
extern const struct lock_peer raw_blpop_peer; /* BLPOP, LPUSH */
extern const struct lock_peer raw_flock_peer; /* flock(2) */
extern const struct lock_peer raw_tls_peer;   /* raw over TLS */

extern const char raw_release_script[];

/* peer=raw-pipe64: PIPE_DEPTH locks per flush, one thread. */
void raw_pipe_run(const struct options *o);

/* mode=hold: `count` locks, renewed in pipelines from every third of the
 * lease on. */
void raw_hold_run(const struct options *o);

#endif
