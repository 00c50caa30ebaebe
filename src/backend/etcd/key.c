/*
 * key.c: see key.h.  One rule: a value that holdfast has not written is taken
 * as a whole, and belongs to another program.
 */
#include "backend/etcd/key.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define VALUE_MARK "holdfast1 "

static void key_add(struct key *k, const char *bytes, size_t len)
{
    memcpy(k->at + k->len, bytes, len);
    k->len += len;
}

#define CELL "//cell/"
#define CELL_LEN (sizeof CELL - 1)

static void key_text(struct key *k, const char *text)
{
    key_add(k, text, strlen(text));
}

static void name_add(struct key *k, const char *name, size_t name_len)
{
    for (size_t i = 0; i < name_len; i++) {
        if (name[i] == '/')
            key_add(k, "%2F", 3);
        else if (name[i] == '%')
            key_add(k, "%25", 3);
        else
            key_add(k, name + i, 1);
    }
}

void hf__etcd_key_lock(struct key *k, const char *prefix, const char *name,
                       size_t name_len)
{
    k->len = 0;
    key_text(k, prefix);
    key_text(k, "/");
    name_add(k, name, name_len);
    key_text(k, "/");
}

void hf__etcd_key_cell(struct key *k, const char *prefix, const char *name,
                       size_t name_len)
{
    k->len = 0;
    key_text(k, prefix);
    key_text(k, CELL);
    name_add(k, name, name_len);
}

void hf__etcd_key_used(struct key *k, const char *prefix, const char *name,
                       size_t name_len)
{
    k->len = 0;
    key_text(k, prefix);
    key_text(k, "//used/");
    name_add(k, name, name_len);
}

void hf__etcd_key_clock(struct key *k, const char *prefix)
{
    k->len = 0;
    key_text(k, prefix);
    key_text(k, "//clock");
}

void hf__etcd_key_time(struct key *k, const char *prefix)
{
    k->len = 0;
    key_text(k, prefix);
    key_text(k, "//time");
}

/* The last byte of `k` is below 0xff (a '/', mostly), so it can be raised by
 * one. */
void hf__etcd_key_end(struct key *end, const struct key *k)
{
    *end = *k;
    end->at[end->len - 1]++;
}

void hf__etcd_key_own(struct key *k, const char *prefix, const char *name,
                      size_t name_len, int64_t lease, uint64_t attempt)
{
    char tail[KEY_TAIL_MAX];
    hf__etcd_key_lock(k, prefix, name, name_len);
    int len = snprintf(tail, sizeof tail, "%" PRIx64 "-%" PRIx64,
                       (uint64_t)lease, attempt);
    key_add(k, tail, (size_t)len);
}

void hf__etcd_key_gen(struct key *k, const char *prefix, uint64_t id)
{
    char tail[KEY_TAIL_MAX];
    int len = snprintf(tail, sizeof tail, "//gen/%" PRIx64, id);
    k->len = 0;
    key_add(k, prefix, strlen(prefix));
    key_add(k, tail, (size_t)len);
}

/* Read one byte of a name, escaped or not.  Returns how many bytes it takes in
 * the key; 0 if it is no valid escape. */
static size_t unescape(const char *at, size_t len, char *out)
{
    *out = at[0];
    if (at[0] != '%') return 1;
    if (len < 3) return 0;
    *out = !memcmp(at, "%2F", 3) ? '/' : '%';
    return *out == '/' || !memcmp(at, "%25", 3) ? 3 : 0;
}

/* Read the name that begins at `*i`, and set `*i` behind it.  Returns its
 * length; 0 if it is not a name. */
static size_t name_read(const char *at, size_t len, size_t *i,
                        char name[NAME_LEN_MAX + 1])
{
    size_t n = 0;
    while (*i < len && at[*i] != '/') {
        size_t took =
            n < NAME_LEN_MAX ? unescape(at + *i, len - *i, name + n) : 0;
        if (took == 0 || name[n] == '\0') return 0;
        *i += took;
        n++;
    }
    name[n] = '\0';
    return n;
}

size_t hf__etcd_key_name(const char *prefix, const char *at, size_t len,
                         char name[NAME_LEN_MAX + 1], size_t *head)
{
    size_t i = strlen(prefix);
    if (len <= i || memcmp(at, prefix, i) != 0 || at[i] != '/') return 0;
    i++;
    size_t n = name_read(at, len, &i, name);
    if (i >= len || n == 0) return 0;
    *head = i + 1;
    return n;
}

size_t hf__etcd_key_cell_name(const char *prefix, const char *at, size_t len,
                              char name[NAME_LEN_MAX + 1])
{
    size_t i = strlen(prefix);
    if (len <= i + CELL_LEN || memcmp(at, prefix, i) != 0
        || memcmp(at + i, CELL, CELL_LEN) != 0)
        return 0;
    i += CELL_LEN;
    size_t n = name_read(at, len, &i, name);
    return i == len ? n : 0;
}

size_t hf__etcd_value_write(const struct key_value *v, char out[KEY_VALUE_MAX])
{
    int len = snprintf(out, KEY_VALUE_MAX,
                       VALUE_MARK "%.63s %" PRIu64 " %" PRId64 " %" PRId64
                                  " %" PRId64 " %.255s",
                       v->owner, v->attempt, v->since_us, v->lease_us,
                       v->is_detached ? -v->count : v->count, v->info);
    return (size_t)len;
}

int hf__etcd_value_read(const char *at, size_t len, struct key_value *out)
{
    char text[KEY_VALUE_MAX];
    int info = 0;
    size_t mark = strlen(VALUE_MARK);
    if (len >= sizeof text || len < mark || memcmp(at, VALUE_MARK, mark) != 0
        || memchr(at, '\0', len))
        return 0;
    memcpy(text, at, len);
    text[len] = '\0';
    *out = (struct key_value){.count = 0};
    int n = sscanf(text + mark,
                   "%63s %20" SCNu64 " %18" SCNd64 " %18" SCNd64 " %10" SCNd64
                   " %n",
                   out->owner, &out->attempt, &out->since_us, &out->lease_us,
                   &out->count, &info);
    if (n != 5 || info == 0) return 0;
    out->is_detached = out->count < 0;
    if (out->is_detached) out->count = -out->count;
    snprintf(out->info, sizeof out->info, "%s", text + mark + info);
    return 1;
}
