/*
 * common/json.c: JSON objects, written into one fixed buffer.
 *
 * One rule: a member comes whole or not at all, so that a line is always
 * valid JSON.
 */
#include "common/json.h"
#include "common/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Room is always left for what closes a string and the object. */
#define JSON_TAIL 16

static void json_raw(struct json *j, const char *text, size_t len)
{
    if (j->len + len > sizeof(j->buf) - JSON_TAIL) return;
    memcpy(j->buf + j->len, text, len);
    j->len += len;
}

static void json_tail(struct json *j, const char *text)
{
    size_t len = strlen(text);
    if (j->len + len >= sizeof(j->buf)) return;
    memcpy(j->buf + j->len, text, len);
    j->len += len;
}

static void json_char(struct json *j, const unsigned char **p)
{
    char code[8];
    size_t n = text_char_len(*p);
    if (n == 0) {
        json_raw(j, "\\ufffd", 6);
        n = 1;
    } else if (**p == '"' || **p == '\\') {
        code[0] = '\\';
        code[1] = (char)**p;
        json_raw(j, code, 2);
    } else if (text_is_control(*p)) {
        /* One byte in ASCII; in Latin-1 the second byte is the number. */
        snprintf(code, sizeof(code), "\\u%04x", (*p)[n - 1]);
        json_raw(j, code, 6);
    } else {
        json_raw(j, (const char *)*p, n);
    }
    *p += n;
}

static void json_string(struct json *j, const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    json_tail(j, "\"");
    while (*p) json_char(j, &p);
    json_tail(j, "\"");
}

/* Members come whole or not at all; 0 if there is no room for another. */
static int json_key(struct json *j, const char *key)
{
    if (j->len + strlen(key) + 64 > sizeof(j->buf)) return 0;
    if (j->any) json_tail(j, ",");
    j->any = 1;
    json_string(j, key);
    json_tail(j, ":");
    return 1;
}

void json_begin(struct json *j)
{
    j->len = 0;
    j->any = 0;
    json_raw(j, "{", 1);
}

void json_text(struct json *j, const char *key, const char *value)
{
    if (json_key(j, key)) json_string(j, value);
}

void json_int(struct json *j, const char *key, int64_t value)
{
    char text[32];
    snprintf(text, sizeof(text), "%" PRId64, value);
    if (json_key(j, key)) json_tail(j, text);
}

void json_uint(struct json *j, const char *key, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof(text), "%" PRIu64, value);
    if (json_key(j, key)) json_tail(j, text);
}

void json_bool(struct json *j, const char *key, int value)
{
    if (json_key(j, key)) json_tail(j, value ? "true" : "false");
}

void json_end(struct json *j)
{
    json_tail(j, "}\n");
    j->buf[j->len] = '\0';
}
