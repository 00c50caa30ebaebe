/*
 * command.c: a command under construction: its arguments, its keys, and what
 * the commands of all scripts have in common.  One rule: a key is made in one
 * place, so that its name is the same in every script.
 */
#include "backend/redis/kind/command.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "backend/redis/cluster/hash_slot.h"
#include "backend/redis/member/boot.h"
#include "backend/redis/redis.h"

const char hf__redis_fence_prefix[] = "redisson_lock_token";
const char *const hf__redis_queue_prefixes[2] = {"holdfast_queue",
                                                 "holdfast_queue_tagged"};
const char hf__redis_channel_prefix[] = "redisson_lock__channel";
const char hf__redis_rw_channel_prefix[] = "redisson_rwlock";
const char hf__redis_permit_channel_prefix[] = "redisson_sc";
const char hf__redis_latch_channel_prefix[] =
    "redisson_countdownlatch__channel__";
const char hf__redis_barrier_channel_prefix[] = "holdfast_barrier__channel";

/* ---- arguments ---- */

void hf__redis_cmd_begin(struct command *cmd, const char *word)
{
    cmd->argc = 0;
    cmd->is_full = 0;
    cmd->used = 0;
    hf__redis_cmd_text(cmd, word);
}

void hf__redis_cmd_bytes(struct command *cmd, const char *data, size_t len)
{
    if (cmd->argc == ARGS_MAX) {
        cmd->is_full = 1;
        return;
    }
    cmd->argv[cmd->argc] = data;
    cmd->lens[cmd->argc++] = len;
}

void hf__redis_cmd_text(struct command *cmd, const char *text)
{
    hf__redis_cmd_bytes(cmd, text, strlen(text));
}

void hf__redis_cmd_printf(struct command *cmd, const char *format, ...)
{
    char *at = cmd->scratch + cmd->used;
    size_t room = sizeof cmd->scratch - cmd->used;
    va_list ap;
    va_start(ap, format);
    int len = vsnprintf(at, room, format, ap);
    va_end(ap);
    if (len < 0 || (size_t)len >= room) {
        cmd->is_full = 1;
        return;
    }
    cmd->used += (size_t)len;
    hf__redis_cmd_bytes(cmd, at, (size_t)len);
}

/* Parts that make up one argument, in the scratch. */
void hf__redis_cmd_part_begin(struct command *cmd)
{
    cmd->part = cmd->used;
}

static void part_bytes(struct command *cmd, const char *data, size_t len)
{
    if (sizeof cmd->scratch - cmd->used < len) {
        cmd->is_full = 1;
        return;
    }
    memcpy(cmd->scratch + cmd->used, data, len);
    cmd->used += len;
}

void hf__redis_cmd_part_text(struct command *cmd, const char *text)
{
    part_bytes(cmd, text, strlen(text));
}

void hf__redis_cmd_part_number(struct command *cmd, int64_t number)
{
    char digits[24];
    size_t i = sizeof digits;
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do {
        digits[--i] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (number < 0) digits[--i] = '-';
    part_bytes(cmd, digits + i, sizeof digits - i);
}

void hf__redis_cmd_part_end(struct command *cmd)
{
    hf__redis_cmd_bytes(cmd, cmd->scratch + cmd->part, cmd->used - cmd->part);
}

void hf__redis_cmd_scratch(struct command *cmd, const char *data, size_t len)
{
    hf__redis_cmd_part_begin(cmd);
    part_bytes(cmd, data, len);
    hf__redis_cmd_part_end(cmd);
}

void hf__redis_cmd_number(struct command *cmd, int64_t number)
{
    hf__redis_cmd_part_begin(cmd);
    hf__redis_cmd_part_number(cmd, number);
    hf__redis_cmd_part_end(cmd);
}

void hf__redis_cmd_more(struct command *cmd, const char *text)
{
    size_t used = cmd->used;
    part_bytes(cmd, text, strlen(text));
    if (!cmd->is_full) cmd->lens[cmd->argc - 1] += cmd->used - used;
}

/* ---- keys ---- */

/* A tag in the slot of `name`, remembered. */
static const char *tag_for(struct command *cmd, const char *name,
                           size_t name_len)
{
    uint16_t slot = hf__redis_hash_slot_of(name, name_len);
    unsigned i = 0;
    while (i < TAGS_KEPT && !(cmd->tags[i].tag[0] && cmd->tags[i].slot == slot))
        i++;
    if (i == TAGS_KEPT) {
        i = cmd->tags_next++ % TAGS_KEPT;
        cmd->tags[i].slot = slot;
        hf__redis_hash_slot_tag(slot, cmd->tags[i].tag);
    }
    return cmd->tags[i].tag;
}

/* 1 if the key needs a tag of ours to be in the slot of the name.  Not if there
 * are no braces at all, or if the name has a tag of its own. */
static int is_astray(const struct command *cmd, const char *key, size_t key_len,
                     const char *name, size_t name_len)
{
    if (!cmd->is_sliced) return 0;
    if (!memchr(name, '{', name_len) && !memchr(name, '}', name_len)) return 0;
    return hf__redis_hash_slot_of(key, key_len)
           != hf__redis_hash_slot_of(name, name_len);
}

/* The name behind a tag of ours, which is in the name's slot. */
static void part_tagged(struct command *cmd, const char *name, size_t name_len)
{
    hf__redis_cmd_part_text(cmd, "{");
    hf__redis_cmd_part_text(cmd, tag_for(cmd, name, name_len));
    hf__redis_cmd_part_text(cmd, "}:");
    part_bytes(cmd, name, name_len);
}

/* "<prefix><open>name<close>"; in a cluster, where that would be in another
 * slot than the name, "<prefix><colon>{tag}:name". */
static void key_put(struct command *cmd, const char *prefix,
                    const char *const frame[3], const char *name,
                    size_t name_len)
{
    const char *open = frame[0], *close = frame[1], *colon = frame[2];
    size_t used = cmd->used;
    int argc = cmd->argc;
    hf__redis_cmd_part_begin(cmd);
    hf__redis_cmd_part_text(cmd, prefix);
    hf__redis_cmd_part_text(cmd, open);
    part_bytes(cmd, name, name_len);
    hf__redis_cmd_part_text(cmd, close);
    hf__redis_cmd_part_end(cmd);
    if (!is_astray(cmd, cmd->scratch + used, cmd->used - used, name, name_len))
        return;
    cmd->used = used;
    cmd->argc = argc;
    hf__redis_cmd_part_text(cmd, prefix);
    hf__redis_cmd_part_text(cmd, colon);
    part_tagged(cmd, name, name_len);
    hf__redis_cmd_part_end(cmd);
}

void hf__redis_cmd_key(struct command *cmd, const char *prefix,
                       const char *name, size_t name_len)
{
    static const char *const tagged[3] = {":", "", ":"};
    static const char *const untagged[3] = {":{", "}", ":"};
    /* Redisson adds a tag unless the name has a brace anywhere. */
    int is_tagged = memchr(name, '{', name_len) != NULL;
    key_put(cmd, prefix, is_tagged ? tagged : untagged, name, name_len);
}

void hf__redis_cmd_braced_key(struct command *cmd, const char *prefix,
                              const char *name, size_t name_len)
{
    static const char *const braced[3] = {"{", "}", ""};
    key_put(cmd, prefix, braced, name, name_len);
}

/* The same for keys that begin with `base`, whatever follows: no tag of ours is
 * needed if `base` has a tag, and that is in the slot of the name. */
static int is_base_astray(const struct command *cmd, const char *base,
                          size_t base_len, const char *name, size_t name_len)
{
    const char *open = memchr(base, '{', base_len);
    const char *end = base + base_len, *close = NULL;
    if (open) close = memchr(open + 1, '}', (size_t)(end - open - 1));
    if (cmd->is_sliced && (!close || close == open + 1)) return 1;
    return is_astray(cmd, base, base_len, name, name_len);
}

void hf__redis_cmd_side_key(struct command *cmd, const char *name,
                            size_t name_len, const char *suffix)
{
    /* Redisson adds a tag unless the name has a brace anywhere. */
    int is_tagged = memchr(name, '{', name_len) != NULL;
    size_t at = cmd->used;
    hf__redis_cmd_part_begin(cmd);
    if (!is_tagged) part_bytes(cmd, "{", 1);
    part_bytes(cmd, name, name_len);
    hf__redis_cmd_part_text(cmd, is_tagged ? ":" : "}:");
    if (is_base_astray(cmd, cmd->scratch + at, cmd->used - at, name,
                       name_len)) {
        cmd->used = at;
        part_tagged(cmd, name, name_len);
        part_bytes(cmd, ":", 1);
    }
    hf__redis_cmd_part_text(cmd, suffix);
    hf__redis_cmd_part_end(cmd);
}

/* The locks "a" and "{a}" share counter and channel, which does no harm;
 * their queues are two. */
void hf__redis_put_queue_key(struct command *cmd, const char *const prefixes[2],
                             const struct request *req)
{
    int is_tagged = memchr(req->name, '{', req->name_len) != NULL;
    hf__redis_cmd_key(cmd, prefixes[is_tagged], req->name, req->name_len);
}

/* ---- scripts ---- */

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
