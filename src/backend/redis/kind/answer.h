/* answer.h: answers to replies. */
#ifndef HF_REDIS_KIND_ANSWER_H
#define HF_REDIS_KIND_ANSWER_H

#include "backend/redis/redis.h"

/* Make the reply an error with this status and text. */
void hf__redis_refuse(struct backend_conn *c, const char *where, int status,
                      const char *what, struct reply *reply);
/* Something else is stored there: HF_CONFLICT. */
void hf__redis_conflict(struct backend_conn *c, const struct request *req,
                        const char *what, struct reply *reply);
#define COUNTER_IS_NO_NUMBER "the fence counter is no number below 2^53"
#define NO_LOCK "something that is no lock is stored there"
#define FOREIGN_NUMBER                                                         \
    "a number that another program made is stored there: a semaphore or a "    \
    "latch of Redisson's, or a counter, or one of ours that was not used for " \
    "30 days"
#define IN_USE_PLAIN "it is in use as a plain lock"
#define IN_USE_RW "it is in use as a read/write lock"
/* The text for the kind that a script found: "permit", "count", "latch". */
const char *hf__redis_in_use(const struct resp *kind);
/* An answer that no script gives: the link is ended. */
void hf__redis_strange(struct backend_conn *c, struct request *reqs);
/* After how many milliseconds to ask again, in microseconds; 0 if it is not
 * told, -1 if it is out of range. */
int64_t hf__redis_poll_us(const struct resp *v);
/* 1 if a number in the reply is out of range; c->text says which. */
int hf__redis_is_strange(struct backend_conn *c, const struct request *req,
                         const struct reply *reply);
/* The answer to a flight of requests.  The flight is dropped already. */
void hf__redis_answered(struct backend_conn *c, const struct flight *f,
                        const struct resp *v);

#endif
