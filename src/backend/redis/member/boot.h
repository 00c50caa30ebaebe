/* boot.h: a server as a member of a quorum. */
#ifndef HF_REDIS_MEMBER_BOOT_H
#define HF_REDIS_MEMBER_BOOT_H

#include "backend/redis/redis.h"

#define BOOT_KEY "holdfast:boot" /* the marker of a member */

/* Ask what must be known first; the script follows when that is answered. */
void hf__redis_boot_begin(struct backend_conn *c, struct request *req);
/* 1 if this is the error of a server in cluster mode. */
int hf__redis_boot_is_sliced(const struct resp *v);
#define BOOT_OF_CLUSTER "it is in cluster mode, and a member must stand alone"
/* The answer to FLIGHT_CONFIG or FLIGHT_SCAN. */
void hf__redis_boot_step(struct backend_conn *c, const struct flight *f,
                         const struct resp *v);

#endif
