/*
 * text.c: see text.h.  One rule: what comes from outside gets into a statement
 * as a number or as hexadecimal digits, and in no other way.
 */
#include "backend/mysql/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ROOM_FIRST 1024
#define NUMBER_MAX 24

/* Room for `len` more bytes, or NULL. */
static char *room(struct text *t, size_t len)
{
    size_t size = t->room ? t->room : ROOM_FIRST;
    if (t->is_short) return NULL;
    while (size < t->len + len) size *= 2;
    if (size != t->room) {
        char *at = hf__realloc(t->alloc, t->at, size);
        t->is_short = at == NULL;
        if (!at) return NULL;
        t->at = at;
        t->room = size;
    }
    t->len += len;
    return t->at + t->len - len;
}

static void add(struct text *t, const char *bytes, size_t len)
{
    char *at = room(t, len);
    if (at) memcpy(at, bytes, len);
}

void hf__mysql_text_add(struct text *t, const char *words)
{
    add(t, words, strlen(words));
}

void hf__mysql_text_number(struct text *t, int64_t number)
{
    char digits[NUMBER_MAX];
    int len = snprintf(digits, sizeof digits, "%" PRId64, number);
    add(t, digits, (size_t)len);
}

void hf__mysql_text_bytes(struct text *t, const void *bytes, size_t len)
{
    static const char digits[] = "0123456789ABCDEF";
    const unsigned char *from = bytes;
    char *at = room(t, len * 2 + 3);
    if (!at) return;
    *at++ = 'X';
    *at++ = '\'';
    for (size_t i = 0; i < len; i++) {
        *at++ = digits[from[i] >> 4];
        *at++ = digits[from[i] & 15];
    }
    *at = '\'';
}

void hf__mysql_text_string(struct text *t, const char *string)
{
    hf__mysql_text_bytes(t, string ? string : "", string ? strlen(string) : 0);
}

void hf__mysql_text_clear(struct text *t)
{
    t->len = 0;
    t->is_short = 0;
}

void hf__mysql_text_free(struct text *t)
{
    hf__free(t->alloc, t->at);
    t->at = NULL;
    t->len = t->room = 0;
}
