/* script.h: what the commands of all scripts have in common. */
#ifndef HF_REDIS_KIND_SCRIPT_H
#define HF_REDIS_KIND_SCRIPT_H

#include "backend/redis/redis.h"

extern const char hf__redis_fence_prefix[];
extern const char hf__redis_channel_prefix[];
extern const char hf__redis_rw_channel_prefix[];
extern const char hf__redis_permit_channel_prefix[];
extern const char hf__redis_latch_channel_prefix[];
extern const char hf__redis_barrier_channel_prefix[];

/* Rounded up: the server may end it later than we believe, not earlier. */
int64_t hf__redis_lease_ms(const struct request *req);
/* Two letters, as far as they are wanted; no argument if none is. */
void hf__redis_put_letters(struct command *cmd, const char *first,
                           int has_first, const char *second, int has_second);
/* The letters of a script that publishes by SPUBLISH: "s", or "sb". */
const char *hf__redis_sharded_letters(const struct backend_conn *c);
/* The channel on which a release of this kind is told. */
void hf__redis_put_channel(struct command *cmd, const struct request *req);
/* "v1 <owner> <attempt> ", and with a number "<T> " behind it: the beginning of
 * the record that says whose the lock is. */
void hf__redis_put_mark(struct command *cmd, const struct request *req,
                        int with_number);
void hf__redis_put_group(struct command *cmd, const struct request *req);
/* Begin the command of cmd->script on this number of keys, which come next. */
void hf__redis_cmd_script(struct command *cmd, int64_t keys);
/* The same on a lock, and on its counter if it has one. */
void hf__redis_cmd_script_one(struct command *cmd, const struct request *req,
                              int has_fence);
/* The same on the locks of many requests. */
void hf__redis_cmd_script_many(struct command *cmd, const struct request *reqs);

#endif
