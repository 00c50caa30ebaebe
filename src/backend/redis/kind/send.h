/* send.h: requests on their way out. */
#ifndef HF_REDIS_KIND_SEND_H
#define HF_REDIS_KIND_SEND_H

#include "backend/redis/redis.h"

/* Put all waiting requests into main's output. */
void hf__redis_send_all(struct backend_conn *c);
/* Put one chain into it: FLIGHT_REQUEST, or FLIGHT_EVAL or FLIGHT_LOOK with the
 * script. */
void hf__redis_send(struct backend_conn *c, enum flight_kind kind,
                    struct request *reqs);

#endif
