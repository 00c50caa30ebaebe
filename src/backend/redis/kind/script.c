/*
 * script.c: what the commands of all scripts have in common: their beginning,
 * their keys, the record of a hold, the channel.  One rule: a key is made in
 * one place, so that its name is the same in every script.
 */
#include "backend/redis/kind/script.h"
#include "backend/redis/member/boot.h"
#include "backend/redis/redis.h"

const char hf__redis_fence_prefix[] = "redisson_lock_token";
const char hf__redis_channel_prefix[] = "redisson_lock__channel";
const char hf__redis_rw_channel_prefix[] = "redisson_rwlock";
const char hf__redis_permit_channel_prefix[] = "redisson_sc";
const char hf__redis_latch_channel_prefix[] =
    "redisson_countdownlatch__channel__";
const char hf__redis_barrier_channel_prefix[] = "holdfast_barrier__channel";

int64_t hf__redis_lease_ms(const struct request *req)
{
    return (req->lease_us + US_PER_MS - 1) / US_PER_MS;
}

void hf__redis_cmd_script(struct command *cmd, int64_t keys)
{
    const struct redis_script *s = cmd->script;
    if (cmd->sent_as == FLIGHT_EVAL || cmd->sent_as == FLIGHT_LOOK) {
        hf__redis_cmd_begin(cmd,
                            cmd->sent_as == FLIGHT_LOOK ? "EVAL_RO" : "EVAL");
        hf__redis_cmd_bytes(cmd, s->text, s->len);
    } else {
        hf__redis_cmd_begin(cmd, "EVALSHA");
        hf__redis_cmd_bytes(cmd, s->sha1, 40);
    }
    hf__redis_cmd_number(cmd, keys);
}

void hf__redis_cmd_script_one(struct command *cmd, const struct request *req,
                              int has_fence)
{
    int has_marker = has_fence && req->verb == VERB_PROPOSE
                     && (req->flags & REQ_QUORUM) != 0;
    hf__redis_cmd_script(cmd, 1 + has_fence + has_marker);
    hf__redis_cmd_bytes(cmd, req->name, req->name_len);
    if (has_fence)
        hf__redis_cmd_key(cmd, hf__redis_fence_prefix, req->name,
                          req->name_len);
    if (has_marker) hf__redis_cmd_text(cmd, BOOT_KEY);
}

void hf__redis_cmd_script_many(struct command *cmd, const struct request *reqs)
{
    int64_t n = 0;
    for (const struct request *r = reqs; r; r = r->next) n++;
    hf__redis_cmd_script(cmd, n);
    for (const struct request *r = reqs; r; r = r->next)
        hf__redis_cmd_bytes(cmd, r->name, r->name_len);
}

void hf__redis_put_mark(struct command *cmd, const struct request *req,
                        int with_number)
{
    hf__redis_cmd_part_begin(cmd);
    hf__redis_cmd_part_text(cmd, "v1 ");
    hf__redis_cmd_part_text(cmd, req->owner);
    hf__redis_cmd_part_text(cmd, " ");
    hf__redis_cmd_part_number(cmd, (int64_t)req->attempt);
    hf__redis_cmd_part_text(cmd, " ");
    if (with_number) {
        hf__redis_cmd_part_number(cmd, req->ballot);
        hf__redis_cmd_part_text(cmd, " ");
    }
    hf__redis_cmd_part_end(cmd);
}

void hf__redis_put_channel(struct command *cmd, const struct request *req)
{
    static const char *const prefixes[KINDS_LEN] = {
        [KIND_READ] = hf__redis_rw_channel_prefix,
        [KIND_WRITE] = hf__redis_rw_channel_prefix,
        [KIND_PERMIT] = hf__redis_permit_channel_prefix,
        [KIND_COUNT] = hf__redis_permit_channel_prefix,
        [KIND_BARRIER] = hf__redis_barrier_channel_prefix,
    };
    const char *prefix = prefixes[req->kind];
    if (req->kind == KIND_LATCH) {
        hf__redis_cmd_braced_key(cmd, hf__redis_latch_channel_prefix, req->name,
                                 req->name_len);
        return;
    }
    hf__redis_cmd_key(cmd, prefix ? prefix : hf__redis_channel_prefix,
                      req->name, req->name_len);
}

/* "q": of any group. */
void hf__redis_put_group(struct command *cmd, const struct request *req)
{
    int is_given = (req->flags & REQ_QUORUM) && req->group;
    hf__redis_cmd_text(cmd, is_given ? req->group : "q");
}

void hf__redis_put_letters(struct command *cmd, const char *first,
                           int has_first, const char *second, int has_second)
{
    if (!has_first && !has_second) return;
    hf__redis_cmd_part_begin(cmd);
    if (has_first) hf__redis_cmd_part_text(cmd, first);
    if (has_second) hf__redis_cmd_part_text(cmd, second);
    hf__redis_cmd_part_end(cmd);
}

const char *hf__redis_sharded_letters(const struct backend_conn *c)
{
    return c->is_both ? "sb" : "s";
}
