/*
 * common/text.c: what others wrote (names, labels, hosts), made safe to show.
 *
 * Nothing that came from a store or from arguments reaches a terminal or a
 * JSON reader unescaped: it could move the cursor or end the string.
 */
#include "cli.h"

#include <inttypes.h>
#include <string.h>

/* The length of the well-formed UTF-8 character at `p` (RFC 3629), or 0. */
static size_t utf8_len(const unsigned char *p)
{
    size_t len;
    unsigned min = 0x80, max = 0xbf; /* of the second byte */
    if (p[0] < 0x80) return 1;
    if (p[0] >= 0xc2 && p[0] <= 0xdf)
        len = 2;
    else if (p[0] >= 0xe0 && p[0] <= 0xef)
        len = 3;
    else if (p[0] >= 0xf0 && p[0] <= 0xf4)
        len = 4;
    else
        return 0;
    if (p[0] == 0xe0) min = 0xa0;
    if (p[0] == 0xed) max = 0x9f;
    if (p[0] == 0xf0) min = 0x90;
    if (p[0] == 0xf4) max = 0x8f;
    if (p[1] < min || p[1] > max) return 0;
    for (size_t i = 2; i < len; i++) {
        if (p[i] < 0x80 || p[i] > 0xbf) return 0;
    }
    return len;
}

/* Control characters of ASCII, and those of Latin-1 (U+0080 to U+009F). */
static int is_control(const unsigned char *p)
{
    return p[0] < 0x20 || p[0] == 0x7f || (p[0] == 0xc2 && p[1] < 0xa0);
}

const char *text_escape(const char *text, char *out, size_t size)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t len = 0;
    while (*p) {
        size_t n = utf8_len(p);
        if (n && !is_control(p) && *p != '\\') {
            if (len + n >= size) break;
            memcpy(out + len, p, n);
            len += n;
            p += n;
            continue;
        }
        if (len + 4 >= size) break;
        int w = *p == '\\' ? snprintf(out + len, size - len, "\\\\")
                           : snprintf(out + len, size - len, "\\x%02x", *p);
        len += (size_t)w;
        p++;
    }
    out[len] = '\0';
    return out;
}

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
    size_t n = utf8_len(*p);
    if (n == 0) {
        json_raw(j, "\\ufffd", 6);
        n = 1;
    } else if (**p == '"' || **p == '\\') {
        code[0] = '\\';
        code[1] = (char)**p;
        json_raw(j, code, 2);
    } else if (is_control(*p)) {
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
