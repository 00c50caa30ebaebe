/*
 * server.h: the Redis server of a benchmark: our own, on a free loopback port,
 * without persistence, in a directory that goes away with it.
 */
#ifndef BENCH_SERVER_H
#define BENCH_SERVER_H

#include <stdint.h>
#include <sys/types.h>

#include "lab/launch.h"

struct redisContext;

struct server {
    pid_t pid;
    int port;
    int bus_port;               /* 0: in no cluster */
    struct redisContext *redis; /* the driver's own connection */
    char version[32];
};

/* Start redis-server with its files in `dir`, or fail(). */
void server_start(struct server *s, const char *dir);

/* The same for a cluster's node, which has a port for its bus besides. */
void server_start_node(struct server *s, const char *dir);
void server_stop(struct server *s);

/* Serve TLS too, with these files: on the port that is returned, or 0 if the
 * server cannot; and no longer. */
int server_tls_begin(struct server *s, const char *crt, const char *key);
void server_tls_end(struct server *s);

/* Start a server and wait until it answers, or fail(); child_end() ends it. */
pid_t server_launch(const struct lab_launch *l);

/* A loopback port that is reserved for this program. */
int port_free(void);

/* Forget all keys. */
void server_flush(struct server *s);

/* Count commands from here on. */
void server_count_begin(struct server *s);

/* Commands that clients have sent since; what scripts call does not count.
 * `plain` names the commands that this client sends outside of scripts besides
 * those that only clients can send, as "set lpush". */
double server_count_end(struct server *s, const char *plain);

/* How many of <stem>-0 to <stem>-<len - 1> are not there. */
int64_t server_missing(struct server *s, const char *stem, int len);

/* The longest time to live of all keys in ms, 0 if none has any. */
int64_t server_ttl_ms(struct server *s);

#endif
