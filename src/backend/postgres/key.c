/*
 * key.c: see key.h.  One rule: a name that is text is its own key, so that
 * other programs find its lock by hashtextextended(name, 0); bytes that no
 * server would take as text are written in hexadecimal digits.
 */
#include "backend/postgres/key.h"

#include <string.h>

#include "backend/sql/utf8.h"

#define BYTES_PREFIX "hf-bytes:"

size_t hf__postgres_key(const char *name, size_t name_len,
                        char out[KEY_TEXT_MAX])
{
    static const char digits[] = "0123456789abcdef";
    size_t len = strlen(BYTES_PREFIX);
    if (hf__sql_utf8_is_text(name, name_len)) {
        memcpy(out, name, name_len);
        return name_len;
    }
    memcpy(out, BYTES_PREFIX, len);
    for (size_t i = 0; i < name_len; i++) {
        out[len++] = digits[(unsigned char)name[i] >> 4];
        out[len++] = digits[(unsigned char)name[i] & 15];
    }
    return len;
}
