/*
 * common/duration.h: lengths of time, clocks and numbers.
 */
#ifndef HOLDFAST_CLI_COMMON_DURATION_H
#define HOLDFAST_CLI_COMMON_DURATION_H

#include <stddef.h>
#include <stdint.h>

/* "250ms", "1.5", "10s", "1h30m", "1d", "1w": 0 and milliseconds, or -1. */
int duration_parse(const char *text, int64_t *out_ms);
/* "4m10s", "22s", "250ms" into `out`, which is returned. */
const char *duration_text(int64_t ms, char *out, size_t size);
/* A wall clock time in the local time zone: "2026-08-02 14:05:09 +0200" into
 * `out`. */
const char *when_text(int64_t wall_ms, char *out, size_t size);
/* A whole number in [min, max]: 0, or -1. */
int number_parse(const char *text, int64_t min, int64_t max, int64_t *out);
/* Milliseconds of a clock that also runs while the machine is suspended. */
int64_t clock_ms(void);
/* Milliseconds since 1970, by the clock of this host. */
int64_t wall_now_ms(void);

#endif
