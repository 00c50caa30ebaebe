/*
 * common/text.c: what others wrote (names, labels, hosts), made safe to show.
 *
 * Nothing that came from a store or from arguments reaches a terminal or a
 * JSON reader unescaped: it could move the cursor or end the string.
 */
#include "common/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

size_t text_char_len(const unsigned char *p)
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

int text_is_control(const unsigned char *p)
{
    return p[0] < 0x20 || p[0] == 0x7f || (p[0] == 0xc2 && p[1] < 0xa0);
}

const char *text_escape(const char *text, char *out, size_t size)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t len = 0;
    while (*p) {
        size_t n = text_char_len(p);
        if (n && !text_is_control(p) && *p != '\\') {
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
