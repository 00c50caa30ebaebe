/*
 * value_text.c: a value's file as text: some lines that people can read,
 * the bytes, and a checksum over all of it.
 *
 * One rule: what the checksum does not confirm is not believed.
 */
#include <stdio.h>
#include <string.h>

#include "backend/file/name.h"
#include "backend/file/record_text.h"
#include "backend/file/value_text.h"
#include "base/url.h"

#define MAGIC "holdfast value 1\n"

size_t hf__file_value_format(const struct file_value *v, char *out)
{
    int n = snprintf(out, VALUE_HEAD_MAX,
                     MAGIC "name=%.*s\nversion=%llu\nexpires=%lld\n"
                           "owner=%s\nattempt=%llu\nlength=%zu\n",
                     (int)v->title_len, v->title,
                     (unsigned long long)v->version, (long long)v->expires_us,
                     v->owner, (unsigned long long)v->attempt, v->len);
    size_t len = (size_t)n;
    if (v->len > 0) memcpy(out + len, v->data, v->len);
    len += v->len;
    out[len++] = '\n';
    return len + hf__file_record_sign(out, len, out + len);
}

/* What is left to read; `at` is NULL once something did not fit. */
struct text {
    const char *at;
    const char *end;
};

/* The rest of the line behind `key`. */
static const char *line_take(struct text *t, const char *key, size_t *len)
{
    size_t key_len = strlen(key);
    *len = 0;
    if (!t->at || (size_t)(t->end - t->at) < key_len
        || memcmp(t->at, key, key_len)) {
        t->at = NULL;
        return NULL;
    }
    const char *from = t->at + key_len;
    const char *to = memchr(from, '\n', (size_t)(t->end - from));
    t->at = to ? to + 1 : NULL;
    if (to) *len = (size_t)(to - from);
    return to ? from : NULL;
}

static uint64_t number_take(struct text *t, const char *key, uint64_t max)
{
    size_t len;
    uint64_t n = 0;
    const char *line = line_take(t, key, &len);
    if (line && hf__digits_parse(line, len, max, &n) != 0) t->at = NULL;
    return n;
}

static void owner_take(struct text *t, struct file_value *v)
{
    size_t len;
    const char *line = line_take(t, "owner=", &len);
    if (!line || len >= sizeof v->owner || memchr(line, '\0', len)) {
        t->at = NULL;
        return;
    }
    memcpy(v->owner, line, len);
    v->owner[len] = '\0';
}

static void data_take(struct text *t, struct file_value *v)
{
    if (!t->at || (size_t)(t->end - t->at) <= v->len || t->at[v->len] != '\n') {
        t->at = NULL;
        return;
    }
    v->data = t->at;
    t->at += v->len + 1;
}

static int check_is_right(const char *text, const struct text *t)
{
    char line[RECORD_SIGN_SIZE];
    if (!t->at) return 0;
    size_t len = hf__file_record_sign(text, (size_t)(t->at - text), line);
    return (size_t)(t->end - t->at) == len && !memcmp(t->at, line, len);
}

int hf__file_value_parse(const char *text, size_t len, struct file_value *v)
{
    struct text t = {text, text + len};
    size_t none;
    memset(v, 0, sizeof *v);
    line_take(&t, "holdfast value 1", &none);
    v->title = line_take(&t, "name=", &v->title_len);
    v->version = number_take(&t, "version=", UINT64_MAX);
    v->expires_us = (int64_t)number_take(&t, "expires=", INT64_MAX);
    owner_take(&t, v);
    v->attempt = number_take(&t, "attempt=", UINT64_MAX);
    v->len = (size_t)number_take(&t, "length=", HF_VALUE_MAX);
    data_take(&t, v);
    if (none == 0 && v->version > 0 && v->title_len < TITLE_MAX
        && check_is_right(text, &t))
        return 0;
    memset(v, 0, sizeof *v);
    return -1;
}
