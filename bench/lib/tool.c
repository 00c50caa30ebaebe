/*
 * tool.c: clocks, CPU, memory and the one way to give up.  Nothing here is
 * called between two time stamps except now_ns().
 */
#define _POSIX_C_SOURCE 200809L
#include "tool.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

int64_t now_wall_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

void pause_ns(uint64_t ns)
{
    struct timespec left = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};

    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

uint64_t cpu_self_ns(void)
{
    struct rusage u;

    if (getrusage(RUSAGE_SELF, &u) != 0) fail("getrusage failed");
    return ((uint64_t)u.ru_utime.tv_sec + (uint64_t)u.ru_stime.tv_sec)
               * NS_PER_S
           + ((uint64_t)u.ru_utime.tv_usec + (uint64_t)u.ru_stime.tv_usec)
                 * NS_PER_US;
}

int64_t rss_self_kb(void)
{
    long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (!f) return 0;
    if (fscanf(f, "%*s %lld", &pages) != 1) pages = 0;
    fclose(f);
    return (int64_t)pages * (sysconf(_SC_PAGESIZE) / 1024);
}

void fail(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("bench: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(1);
}

void *allocate(size_t count, size_t size)
{
    void *p = calloc(count, size);

    if (!p) fail("out of memory");
    return p;
}

int64_t number_of(const char *key, const char *text, int64_t min, int64_t max)
{
    char *end;

    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (errno || end == text || *end || v < min || v > max)
        fail("%s=%s: not a whole number from %lld to %lld", key, text,
             (long long)min, (long long)max);
    return v;
}

double real_of(const char *key, const char *text, double min, double max)
{
    char *end;

    double v = strtod(text, &end);
    if (end == text || *end || !isfinite(v) || v < min || v > max)
        fail("%s=%s: not a number from %g to %g", key, text, min, max);
    return v;
}
