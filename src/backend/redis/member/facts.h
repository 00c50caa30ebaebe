/* facts.h: what a server says of itself. */
#ifndef HF_REDIS_MEMBER_FACTS_H
#define HF_REDIS_MEMBER_FACTS_H

#include "backend/redis/redis.h"

void hf__redis_facts_begin(struct backend_conn *c, struct request *req);
/* The answer to FLIGHT_FACTS, FLIGHT_SETTING or, after the greeting,
 * FLIGHT_MARKER. */
void hf__redis_facts_reply(struct backend_conn *c, const struct flight *f,
                           const struct resp *v);

#endif
