/*
 * jute.c: see jute.h.  One rule: nothing is read that was not sent, whatever
 * the lengths in it say.
 */
#include "backend/zookeeper/jute.h"

#include <string.h>

#define LENGTH_SIZE 4

/* ---- out ---------------------------------------------------------------- */

static char *room(struct jute_out *o, size_t len)
{
    size_t size = o->size ? o->size : 1024;
    if (o->is_failed) return NULL;
    while (size - o->len < len) size *= 2;
    if (size != o->size) {
        char *more = hf__realloc(o->alloc, o->data, size);
        if (!more) {
            o->is_failed = 1;
            return NULL;
        }
        o->data = more;
        o->size = size;
    }
    o->len += len;
    return o->data + o->len - len;
}

static void put(char *at, uint64_t n, size_t bytes)
{
    for (size_t i = bytes; i-- > 0; n >>= 8) at[i] = (char)(n & 0xff);
}

void hf__zookeeper_out_int(struct jute_out *o, int32_t n)
{
    char *at = room(o, 4);
    if (at) put(at, (uint32_t)n, 4);
}

void hf__zookeeper_out_long(struct jute_out *o, int64_t n)
{
    char *at = room(o, 8);
    if (at) put(at, (uint64_t)n, 8);
}

void hf__zookeeper_out_bool(struct jute_out *o, int is_true)
{
    char *at = room(o, 1);
    if (at) *at = is_true != 0;
}

void hf__zookeeper_out_bytes(struct jute_out *o, const void *data, size_t len)
{
    hf__zookeeper_out_int(o, (int32_t)len);
    char *at = len > 0 ? room(o, len) : NULL;
    if (at) memcpy(at, data, len);
}

void hf__zookeeper_out_text(struct jute_out *o, const char *text)
{
    hf__zookeeper_out_bytes(o, text, strlen(text));
}

void hf__zookeeper_out_begin(struct jute_out *o)
{
    o->frame = o->len;
    o->is_failed = 0;
    hf__zookeeper_out_int(o, 0);
}

int hf__zookeeper_out_end(struct jute_out *o)
{
    if (o->is_failed) {
        o->len = o->frame;
        o->is_failed = 0;
        return -1;
    }
    put(o->data + o->frame, o->len - o->frame - LENGTH_SIZE, 4);
    return 0;
}

void hf__zookeeper_out_free(struct jute_out *o)
{
    hf__free(o->alloc, o->data);
    *o = (struct jute_out){.alloc = o->alloc};
}

/* ---- in ----------------------------------------------------------------- */

static uint64_t take(struct jute_in *in, size_t bytes)
{
    uint64_t n = 0;
    if (in->is_bad || in->left < bytes) {
        in->is_bad = 1;
        return 0;
    }
    for (size_t i = 0; i < bytes; i++) n = n << 8 | in->at[i];
    in->at += bytes;
    in->left -= bytes;
    return n;
}

int32_t hf__zookeeper_in_int(struct jute_in *in)
{
    return (int32_t)(uint32_t)take(in, 4);
}

int64_t hf__zookeeper_in_long(struct jute_in *in)
{
    return (int64_t)take(in, 8);
}

int hf__zookeeper_in_bool(struct jute_in *in)
{
    return take(in, 1) != 0;
}

const char *hf__zookeeper_in_text(struct jute_in *in, size_t *len)
{
    int32_t n = hf__zookeeper_in_int(in);
    *len = 0;
    if (n < -1 || (n > 0 && (size_t)n > in->left)) in->is_bad = 1;
    if (in->is_bad || n < 0) return NULL;
    const char *text = (const char *)in->at;
    *len = (size_t)n;
    in->at += n;
    in->left -= (size_t)n;
    return text;
}

void hf__zookeeper_in_stat(struct jute_in *in, struct jute_stat *stat)
{
    stat->czxid = hf__zookeeper_in_long(in);
    stat->mzxid = hf__zookeeper_in_long(in);
    stat->ctime_ms = hf__zookeeper_in_long(in);
    stat->mtime_ms = hf__zookeeper_in_long(in);
    stat->version = hf__zookeeper_in_int(in);
    stat->cversion = hf__zookeeper_in_int(in);
    (void)hf__zookeeper_in_int(in); /* aversion */
    stat->owner = hf__zookeeper_in_long(in);
    stat->data_len = hf__zookeeper_in_int(in);
    stat->children = hf__zookeeper_in_int(in);
    stat->pzxid = hf__zookeeper_in_long(in);
}

ptrdiff_t hf__zookeeper_frame(const char *data, size_t len)
{
    struct jute_in in = {.at = (const unsigned char *)data, .left = len};
    if (len < LENGTH_SIZE) return 0;
    int32_t body = hf__zookeeper_in_int(&in);
    if (body < 0 || body > JUTE_FRAME_MAX) return -1;
    if (in.left < (size_t)body) return 0;
    return (ptrdiff_t)body + LENGTH_SIZE;
}
