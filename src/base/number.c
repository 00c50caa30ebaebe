/*
 * number.c: numbers and durations as people write them.  One rule: the whole
 * text must be the number; nothing is skipped, guessed or wrapped around.
 */
#include "base/url.h"

#include <string.h>

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* acc = acc * 10 + digit; -1 if that does not fit. */
static int digit_add(int64_t *acc, char c)
{
    int digit = c - '0';
    if (*acc > (INT64_MAX - digit) / 10) return -1;
    *acc = *acc * 10 + digit;
    return 0;
}

int hf__number_parse(const char *text, int64_t min, int64_t max, int64_t *out)
{
    int negative = text[0] == '-';
    const char *p = text + negative;
    int64_t n = 0;
    if (!is_digit(*p)) return -1;
    for (; is_digit(*p); p++)
        if (digit_add(&n, *p)) return -1;
    if (*p != '\0') return -1;
    if (negative) n = -n;
    if (n < min || n > max) return -1;
    *out = n;
    return 0;
}

int hf__digits_parse(const char *text, size_t len, uint64_t max, uint64_t *out)
{
    uint64_t n = 0;
    if (len == 0) return -1;
    for (size_t i = 0; i < len; i++) {
        unsigned digit = (unsigned)(unsigned char)text[i] - '0';
        if (digit > 9 || digit > max || n > (max - digit) / 10) return -1;
        n = n * 10 + digit;
    }
    *out = n;
    return 0;
}

/* Milliseconds in a unit; 0 if there is no such unit. */
static int64_t unit_ms(const char *unit)
{
    static const struct {
        const char *name;
        int64_t ms;
    } units[] = {
        {"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (!strcmp(units[i].name, unit)) return units[i].ms;
    return 0;
}

#define FRACTION_DIGITS 12 /* 10^12 hours in ms still fit into 63 bits */

/* The part behind the point, in milliseconds.  Rounded up: a short time must
 * not become 0, which means something else in many places. */
static int64_t fraction_ms(const char *digits, size_t len, int64_t unit)
{
    int64_t part = 0, scale = 1;
    int is_more = 0;
    for (size_t i = 0; i < len; i++) {
        if (i >= FRACTION_DIGITS) {
            is_more |= digits[i] != '0';
            continue;
        }
        part = part * 10 + (digits[i] - '0');
        scale *= 10;
    }
    int64_t ms = part * unit;
    return ms / scale + (ms % scale != 0 || is_more);
}

int hf__duration_parse(const char *text, int64_t *out_ms)
{
    const char *p = text;
    int64_t whole = 0;
    if (!is_digit(*p)) return -1;
    for (; is_digit(*p); p++)
        if (digit_add(&whole, *p)) return -1;
    const char *fraction = p, *end = p;
    if (*p == '.') {
        fraction = ++p;
        while (is_digit(*p)) p++;
        if (p == fraction) return -1;
        end = p;
    }
    int64_t unit = unit_ms(p);
    if (unit == 0) return -1;
    int64_t part = fraction_ms(fraction, (size_t)(end - fraction), unit);
    if (whole > (INT64_MAX - part) / unit) return -1;
    *out_ms = whole * unit + part;
    return 0;
}
