/*
 * output.c: commands on their way out.  One rule: a command is in the
 * output exactly as long as its flight is in the ring, in the same order.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "backend/redis/cluster/hash_slot.h"
#include "backend/redis/link/link.h"
#include "backend/redis/link/output.h"
#include "backend/redis/redis.h"

#define OUT_KEPT_MAX (64 * 1024) /* a larger buffer is given back when empty */
#define ARG_FRAME_MAX 25         /* "$", 20 digits and twice "\r\n" */

/* ---- building a command ---- */

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

void hf__redis_cmd_key(struct command *cmd, const char *prefix,
                       const char *name, size_t name_len)
{
    /* Redisson adds a tag unless the name has a brace anywhere. */
    int is_tagged = memchr(name, '{', name_len) != NULL;
    size_t used = cmd->used;
    int argc = cmd->argc;
    hf__redis_cmd_part_begin(cmd);
    hf__redis_cmd_part_text(cmd, prefix);
    hf__redis_cmd_part_text(cmd, is_tagged ? ":" : ":{");
    part_bytes(cmd, name, name_len);
    if (!is_tagged) part_bytes(cmd, "}", 1);
    hf__redis_cmd_part_end(cmd);
    if (!is_astray(cmd, cmd->scratch + used, cmd->used - used, name, name_len))
        return;
    cmd->used = used;
    cmd->argc = argc;
    hf__redis_cmd_part_text(cmd, prefix);
    hf__redis_cmd_part_text(cmd, ":");
    part_tagged(cmd, name, name_len);
    hf__redis_cmd_part_end(cmd);
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

void hf__redis_cmd_braced_key(struct command *cmd, const char *prefix,
                              const char *name, size_t name_len)
{
    size_t used = cmd->used;
    int argc = cmd->argc;
    hf__redis_cmd_part_begin(cmd);
    hf__redis_cmd_part_text(cmd, prefix);
    part_bytes(cmd, "{", 1);
    part_bytes(cmd, name, name_len);
    part_bytes(cmd, "}", 1);
    hf__redis_cmd_part_end(cmd);
    if (!is_astray(cmd, cmd->scratch + used, cmd->used - used, name, name_len))
        return;
    cmd->used = used;
    cmd->argc = argc;
    hf__redis_cmd_part_text(cmd, prefix);
    part_tagged(cmd, name, name_len);
    hf__redis_cmd_part_end(cmd);
}

/* ---- flights ---- */

static struct flight *flight_at(struct flights *f, size_t i)
{
    return &f->ring[(f->first + i) & (f->size - 1)];
}

static int flights_grow(struct flights *f, const struct allocator *a)
{
    size_t size = f->size ? f->size * 2 : 64;
    struct flight *ring = hf__alloc(a, size * sizeof *ring);
    if (!ring) return -1;
    for (size_t i = 0; i < f->len; i++) ring[i] = *flight_at(f, i);
    hf__free(a, f->ring);
    *f = (struct flights){.ring = ring, .size = size, .len = f->len};
    return 0;
}

struct flight *hf__redis_flight_first(struct link *l)
{
    return l->flights.len > 0 ? flight_at(&l->flights, 0) : NULL;
}

struct flight *hf__redis_flight_nth(struct link *l, size_t i)
{
    return i < l->flights.len ? flight_at(&l->flights, i) : NULL;
}

void hf__redis_flight_drop(struct link *l)
{
    struct flights *f = &l->flights;
    f->first = (f->first + 1) & (f->size - 1);
    f->len--;
}

int hf__redis_flight_is_unsent(const struct link *l, const struct flight *f)
{
    return f->begins >= l->out_base + l->out_done;
}

/* ---- output ---- */

/* Room for `len` more.  0, or -1: no memory. */
static int bytes_reserve(struct bytes *b, const struct allocator *a, size_t len)
{
    if (b->size - b->len >= len) return 0;
    size_t size = b->size ? b->size : 4096;
    while (size - b->len < len) size *= 2;
    char *more = hf__realloc(a, b->data, size);
    if (!more) return -1;
    b->data = more;
    b->size = size;
    return 0;
}

/* "<type><number>\r\n"; returns its end. */
static char *head_put(char *at, char type, size_t number)
{
    char digits[24];
    size_t n = 0;
    *at++ = type;
    do {
        digits[n++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    while (n > 0) *at++ = digits[--n];
    *at++ = '\r';
    *at++ = '\n';
    return at;
}

/* An array of bulk strings, straight into the output: by hiredis' formatter,
 * which prints every length and copies twice, it was 60 % of what a lock costs
 * its caller outside the kernel. */
static int output_add(struct link *l, const struct command *cmd)
{
    size_t most = ARG_FRAME_MAX;
    if (cmd->is_full) return -1;
    for (int i = 0; i < cmd->argc; i++) most += cmd->lens[i] + ARG_FRAME_MAX;
    if (bytes_reserve(&l->out, l->c->env->alloc, most) != 0) return -1;
    char *at = head_put(l->out.data + l->out.len, '*', (size_t)cmd->argc);
    for (int i = 0; i < cmd->argc; i++) {
        at = head_put(at, '$', cmd->lens[i]);
        if (cmd->lens[i] > 0) memcpy(at, cmd->argv[i], cmd->lens[i]);
        at += cmd->lens[i];
        *at++ = '\r';
        *at++ = '\n';
    }
    l->out.len = (size_t)(at - l->out.data);
    return 0;
}

struct flight *hf__redis_link_push(struct link *l, enum flight_kind kind)
{
    struct flights *fs = &l->flights;
    uint64_t begins = l->out_base + l->out.len;
    if (fs->len == fs->size && flights_grow(fs, l->c->env->alloc) != 0)
        return NULL;
    if (output_add(l, &l->c->cmd) != 0) return NULL;
    if (fs->len == 0) l->owed_us = l->c->env->now(l->c->env);
    struct flight *f = flight_at(fs, fs->len++);
    *f = (struct flight){.kind = kind, .begins = begins};
    return f;
}

static void output_reset(struct link *l)
{
    l->out_base += l->out.len;
    l->out.len = 0;
    l->out_done = 0;
    if (l->out.size <= OUT_KEPT_MAX) return;
    hf__free(l->c->env->alloc, l->out.data);
    l->out = (struct bytes){0};
}

void hf__redis_link_write(struct link *l)
{
    size_t left = l->out.len - l->out_done;
    if (left == 0 || l->fd < 0) return;
    const char *from = l->out.data + l->out_done;
    ssize_t n = l->tls ? hf__tls_write(l->tls, from, left)
                       : hf__stream_write(l->fd, from, left);
    if (n < 0) {
        /* What the server said before it closed the connection tells more than
         * EPIPE: reading finds both. */
        int code = errno;
        if (hf__redis_link_ready(l, AWAIT_READ) == 0)
            hf__redis_link_fail(l, HF_UNAVAILABLE, code, "write");
        return;
    }
    l->active_us = l->c->env->now(l->c->env);
    l->out_done += (size_t)n;
    if (l->out_done == l->out.len) output_reset(l);
    hf__redis_link_watch(l, l->out.len > 0 ? AWAIT_READ | AWAIT_WRITE
                                           : AWAIT_READ);
}
