/*
 * utf8.c: see utf8.h.  One rule: what a server would refuse as text is none:
 * surrogates, and characters in more bytes than they need.
 */
#include "backend/sql/utf8.h"

/* Length of the UTF-8 character at `at`, of `left` bytes; 0: it is none. */
static size_t char_len(const unsigned char *at, size_t left)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t len = at[0] < 0x80             ? 1
                 : (at[0] & 0xe0) == 0xc0 ? 2
                 : (at[0] & 0xf0) == 0xe0 ? 3
                 : (at[0] & 0xf8) == 0xf0 ? 4
                                          : 0;
    if (len < 2 || len > left) return len > left ? 0 : len;
    unsigned code = at[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((at[i] & 0xc0) != 0x80) return 0;
        code = code << 6 | (at[i] & 0x3fu);
    }
    int is_half = code >= 0xd800 && code < 0xe000;
    return code < least[len] || code > 0x10ffff || is_half ? 0 : len;
}

int hf__sql_utf8_is_text(const char *bytes, size_t len)
{
    const unsigned char *at = (const unsigned char *)bytes;
    for (size_t i = 0, step; i < len; i += step) {
        step = char_len(at + i, len - i);
        if (step == 0) return 0;
    }
    return 1;
}
