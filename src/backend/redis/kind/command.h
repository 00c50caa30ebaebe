/* command.h: a command under construction. */
#ifndef HF_REDIS_KIND_COMMAND_H
#define HF_REDIS_KIND_COMMAND_H

#include "backend/redis/cluster/hash_slot.h"
#include "backend/redis/link/wire.h"
#include "base/request.h"
#include "redis_scripts.h"

#define BATCH_MAX 100 /* locks renewed by one command */
#define ARGS_MAX (8 + 6 * BATCH_MAX)
#define SCRATCH_MAX (25 * 1024)
#define TAGS_KEPT 16 /* hash slots whose tags are remembered */

struct backend_conn;

/* A command under construction; `scratch` holds what had to be written. */
struct command {
    int argc;
    int is_full;
    size_t used;
    size_t part; /* where the argument begins that is being put together */
    const struct redis_script *script; /* what it calls, */
    enum flight_kind sent_as;          /* and how */
    const char *argv[ARGS_MAX];
    size_t lens[ARGS_MAX];
    char scratch[SCRATCH_MAX];

    int is_sliced; /* all keys of a lock must be in its slot */
    unsigned tags_next;
    struct {
        uint16_t slot;
        char tag[HASH_SLOT_TAG_MAX]; /* "" is a free place */
    } tags[TAGS_KEPT];
};

void hf__redis_cmd_begin(struct command *cmd, const char *word);
void hf__redis_cmd_text(struct command *cmd, const char *text);
/* Borrowed until the command is pushed. */
void hf__redis_cmd_bytes(struct command *cmd, const char *data, size_t len);
/* Copied. */
void hf__redis_cmd_scratch(struct command *cmd, const char *data, size_t len);
void hf__redis_cmd_number(struct command *cmd, int64_t number);
/* One argument made of several parts. */
void hf__redis_cmd_part_begin(struct command *cmd);
void hf__redis_cmd_part_text(struct command *cmd, const char *text);
void hf__redis_cmd_part_number(struct command *cmd, int64_t number);
void hf__redis_cmd_part_end(struct command *cmd);
void hf__redis_cmd_printf(struct command *cmd, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "<prefix>:{name}" by Redisson's rule; in a cluster, where that would be in
 * another slot than the name, "<prefix>:{tag}:name". */
void hf__redis_cmd_key(struct command *cmd, const char *prefix,
                       const char *name, size_t name_len);
/* "{name}:<suffix>" by Redisson's rule, or in a cluster "{tag}:name:<suffix>"
 * for the same reason. */
void hf__redis_cmd_side_key(struct command *cmd, const char *name,
                            size_t name_len, const char *suffix);
/* "<prefix>{name}", whatever braces the name has, or in a cluster
 * "<prefix>{tag}:name" for the same reason. */
void hf__redis_cmd_braced_key(struct command *cmd, const char *prefix,
                              const char *name, size_t name_len);
/* More of the last argument, which hf__redis_cmd_key() or the like has made. */
void hf__redis_cmd_more(struct command *cmd, const char *text);

/* ---- what the commands of all scripts have in common ---- */

extern const char hf__redis_fence_prefix[];
/* Of a lock whose name has no brace, and of one whose name has. */
extern const char *const hf__redis_queue_prefixes[2];
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
/* A key of the lock's queue, with prefixes as those above. */
void hf__redis_put_queue_key(struct command *cmd, const char *const prefixes[2],
                             const struct request *req);
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
