/*
 * common/duration.c: lengths of time, as people write and read them.  A bare
 * number is seconds, as in flock(1); all arithmetic is whole milliseconds.
 */
#include "common/duration.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct {
    const char *unit;
    int64_t ms;
} units[] = {
    {"w", 604800000}, {"d", 86400000}, {"h", 3600000},
    {"m", 60000},     {"s", 1000},     {"ms", 1},
};

/* The unit at `*text`, up to the next digit; `*text` then is behind it. */
static int unit_take(const char **text, int64_t *out_ms)
{
    size_t len = strcspn(*text, "0123456789.");
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strlen(units[i].unit) != len
            || memcmp(units[i].unit, *text, len) != 0)
            continue;
        *out_ms = units[i].ms;
        *text += len;
        return 0;
    }
    return -1;
}

/* The digits behind the point, in thousandths; more than three are cut. */
static const char *fraction_parse(const char *p, int64_t *out)
{
    int64_t scale = 100;
    *out = 0;
    for (; *p >= '0' && *p <= '9'; p++) {
        *out += (*p - '0') * scale;
        scale /= 10;
    }
    return p;
}

/* "1.5h" at `*text`, which then is behind it; a number that ends the text and
 * has no unit is in seconds if `is_bare_ok`. */
static int part_take(const char **text, int is_bare_ok, int64_t *out_ms,
                     int64_t *out_unit_ms)
{
    int64_t whole = 0, thousandths = 0, unit_ms = 1000;
    const char *p = *text;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (whole > INT64_C(100000000000)) return -1;
        whole = whole * 10 + (*p - '0');
    }
    int digits = p != *text;
    if (*p == '.') {
        const char *end = fraction_parse(p + 1, &thousandths);
        digits |= end != p + 1;
        p = end;
    }
    if (!digits || (!*p && !is_bare_ok)) return -1;
    if (*p && unit_take(&p, &unit_ms) != 0) return -1;
    if (whole > INT64_MAX / 4 / unit_ms) return -1;
    *out_ms = whole * unit_ms + thousandths * unit_ms / 1000;
    *out_unit_ms = unit_ms;
    *text = p;
    return 0;
}

/* Each unit of "1h30m" must be smaller than the one before it. */
int duration_parse(const char *text, int64_t *out_ms)
{
    int64_t sum_ms = 0, last_ms = INT64_MAX;
    const char *p = text;
    do {
        int64_t ms, unit_ms;
        if (part_take(&p, p == text, &ms, &unit_ms) != 0) return -1;
        if (unit_ms >= last_ms || sum_ms > INT64_MAX / 2 - ms) return -1;
        sum_ms += ms;
        last_ms = unit_ms;
    } while (*p);
    *out_ms = sum_ms;
    return 0;
}

const char *duration_text(int64_t ms, char *out, size_t size)
{
    int64_t s = ms / 1000;
    if (ms < 1000)
        snprintf(out, size, "%" PRId64 "ms", ms);
    else if (s < 10 && ms % 1000 >= 100)
        snprintf(out, size, "%" PRId64 ".%" PRId64 "s", s, ms % 1000 / 100);
    else if (s < 60)
        snprintf(out, size, "%" PRId64 "s", s);
    else if (s < 3600)
        snprintf(out, size, "%" PRId64 "m%02" PRId64 "s", s / 60, s % 60);
    else if (s < 86400)
        snprintf(out, size, "%" PRId64 "h%02" PRId64 "m", s / 3600,
                 s % 3600 / 60);
    else
        snprintf(out, size, "%" PRId64 "d%02" PRId64 "h", s / 86400,
                 s % 86400 / 3600);
    return out;
}

const char *when_text(int64_t wall_ms, char *out, size_t size)
{
    struct tm tm;
    time_t at = (time_t)(wall_ms / 1000);
    if (!localtime_r(&at, &tm)
        || strftime(out, size, "%Y-%m-%d %H:%M:%S %z", &tm) == 0)
        snprintf(out, size, "%" PRId64, wall_ms / 1000);
    return out;
}

int number_parse(const char *text, int64_t min, int64_t max, int64_t *out)
{
    char *end;
    if (!(*text >= '0' && *text <= '9')) return -1;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    if (errno || *end || n < min || n > max) return -1;
    *out = n;
    return 0;
}

int64_t clock_ms(void)
{
    struct timespec ts;
#ifdef CLOCK_BOOTTIME
    if (clock_gettime(CLOCK_BOOTTIME, &ts) == 0)
        return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
#endif
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int64_t wall_now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}
