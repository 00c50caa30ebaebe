/* alone.h: members of a quorum, met alone. */
#ifndef HF_REDIS_MEMBER_ALONE_H
#define HF_REDIS_MEMBER_ALONE_H

#include "backend/redis/redis.h"

int hf__redis_member_greet(struct link *l);
/* How many members the quorum of a marker has; 0: it is no marker. */
int hf__redis_member_count(const struct resp *v);
/* Why it is not asked for what it could grant past its quorum; or NULL. */
const char *hf__redis_member_refusal(struct backend_conn *c,
                                     const struct request *req, char *text,
                                     size_t size);

#endif
