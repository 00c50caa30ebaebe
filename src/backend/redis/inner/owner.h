/* owner.h: a connection that is a part of another one. */
#ifndef HF_REDIS_INNER_OWNER_H
#define HF_REDIS_INNER_OWNER_H

#include "backend/redis/redis.h"

/* In request.priv, for a connection with an owner: ASKING goes before it. */
#define PRIV_ASKING 0x80000000u
/* The same: it is asked of the lock's key alone, for the counter is, or was,
 * on another server. */
#define PRIV_ALONE 0x40000000u

/* The backend that this connection is a part of: cluster/. */
struct redis_owner {
    /* `v` is an error, and `req` was not carried out.  1: the owner has taken
     * the request back; 0: it is answered as usual. */
    int (*refused)(struct backend_conn *c, struct request *req,
                   const struct resp *v);
    /* The server has ended the subscription of this name, as this kind. */
    void (*unwatched)(struct backend_conn *c, enum lock_kind kind,
                      const char *name, size_t name_len);
    /* The answer to hf__redis_ask(). */
    void (*told)(struct backend_conn *c, enum flight_kind kind,
                 const struct resp *v);
};

/* From now on all keys of a lock are in one slot, and `owner` is told. */
void hf__redis_adopt(struct backend_conn *c, const struct redis_owner *owner);
/* Ask one of the owner's questions, with the next flush; told() has the answer,
 * unless the link goes down first.  0, or -1: it is down already, or there is
 * no memory. */
int hf__redis_ask(struct backend_conn *c, enum flight_kind kind);
/* How long the server has owed an answer, on either link; 0 if it owes none. */
int64_t hf__redis_silence_us(const struct backend_conn *c);
/* Put ASKING into the output if `req` wants it.  0, or -1: no memory. */
int hf__redis_asking(struct backend_conn *c, const struct request *req);
/* 1 if the command is to be built without the counter's key. */
int hf__redis_is_alone(const struct backend_conn *c, const struct request *req);
/* 1 if the owner has taken the requests back. */
int hf__redis_is_taken_back(struct backend_conn *c, struct request *reqs,
                            const struct resp *v);

#endif
