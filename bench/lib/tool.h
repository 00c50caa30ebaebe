/*
 * tool.h: the few things every benchmark program needs.  A program that cannot
 * measure says why and ends; it never reports a figure it did not measure.
 */
#ifndef BENCH_TOOL_H
#define BENCH_TOOL_H

#include <stddef.h>
#include <stdint.h>

#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

/* CLOCK_MONOTONIC. */
uint64_t now_ns(void);

/* CLOCK_REALTIME, in microseconds: for what a server compares with its own. */
int64_t now_wall_us(void);

/* Sleep for `ns` nanoseconds, whatever signals come. */
void pause_ns(uint64_t ns);

/* CPU that this process and all its threads have used. */
uint64_t cpu_self_ns(void);

/* Resident memory of this process. */
int64_t rss_self_kb(void);

/* Say why on standard error and end with status 1; exit handlers run. */
void fail(const char *format, ...)
    __attribute__((format(printf, 1, 2), noreturn));

/* Memory or fail(); zeroed. */
void *allocate(size_t count, size_t size);

/* A number in [min, max] or fail(), naming `key`. */
int64_t number_of(const char *key, const char *text, int64_t min, int64_t max);
double real_of(const char *key, const char *text, double min, double max);

#endif
