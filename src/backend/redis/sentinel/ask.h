/*
 * ask.h: what a Sentinel's client needs of the redis connection; see
 * ask.c.
 */
#ifndef HF_REDIS_ASK_H
#define HF_REDIS_ASK_H

#include "backend/redis/redis.h"

#define HOST_LEN_MAX 255

/* "There is no master of that name": the status of such an answer. */
#define MASTER_UNKNOWN HF_INVALID

/* What a Sentinel said of a master: reply.data of VERB_PRIMARY. */
struct master {
    char host[HOST_LEN_MAX + 1];
    int port;
    int is_promoted; /* it is being promoted: not yet known to all */
    int64_t epoch;   /* rises with every failover; 0 if it may not be asked */
    struct hf_error err;
};

/* The two kinds of connections: the redis backend, but for open(). */
void hf__redis_sentinel_backends(struct backend *asker, struct backend *led);

/* A led connection: the primary is there.  What was on its way to another one
 * is answered; watches are moved.  0, or -1: no memory.  Not from inside its
 * own callbacks. */
int hf__redis_lead(struct backend_conn *c, const char *host, int port);

/* A led connection that has no address yet: no Sentinel knows the primary. */
void hf__redis_leaderless(struct backend_conn *c, const struct hf_error *err);

/* The question goes out, and its answers come in. */
void hf__redis_ask_send(struct backend_conn *c, struct request *req);
void hf__redis_ask_reply(struct backend_conn *c, const struct flight *f,
                         const struct resp *v);

#endif
