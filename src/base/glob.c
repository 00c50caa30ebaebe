/*
 * glob.c: a matcher of bytes, whatever the locale is.  One rule: it only
 * ever goes back to the last star, so no pattern makes it slow.
 */
#include "base/glob.h"

/* The end of the set that begins behind a '[': its ']' or the pattern's end. */
static const char *set_match(const char *p, unsigned char byte, int *matches)
{
    int negated = *p == '^', found = 0;
    if (negated) p++;
    while (*p && *p != ']') {
        if (*p == '\\' && p[1]) p++;
        unsigned char low = (unsigned char)*p++, high = low;
        if (*p == '-' && p[1] && p[1] != ']') {
            p++;
            if (*p == '\\' && p[1]) p++;
            high = (unsigned char)*p++;
        }
        if (low > high) {
            unsigned char swap = low;
            low = high;
            high = swap;
        }
        if (byte >= low && byte <= high) found = 1;
    }
    *matches = found != negated;
    return *p ? p + 1 : p;
}

/* Match one pattern element, not a star; NULL if it does not match. */
static const char *one_match(const char *p, unsigned char byte)
{
    int matches = 1;
    if (*p == '?') return p + 1;
    if (*p == '[') {
        p = set_match(p + 1, byte, &matches);
        return matches ? p : NULL;
    }
    if (*p == '\\' && p[1]) p++;
    return *p && (unsigned char)*p == byte ? p + 1 : NULL;
}

int hf__glob_match(const char *pattern, const char *text, size_t text_len)
{
    const char *p = pattern, *star = NULL;
    size_t i = 0, star_i = 0;
    while (i < text_len) {
        if (*p == '*') {
            star = ++p;
            star_i = i;
            continue;
        }
        const char *next = one_match(p, (unsigned char)text[i]);
        if (next) {
            p = next;
            i++;
        } else if (star) {
            p = star;
            i = ++star_i;
        } else {
            return 0;
        }
    }
    while (*p == '*') p++;
    return *p == '\0';
}
