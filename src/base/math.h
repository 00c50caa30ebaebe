/* math.h: the smaller, the larger, a part of it, and a hash of bytes. */
#ifndef HF_BASE_MATH_H
#define HF_BASE_MATH_H

#include <stddef.h>
#include <stdint.h>

static inline int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* `ppm` millionths of it, without overflow. */
static inline int64_t part64(int64_t whole, int64_t ppm)
{
    return whole / 1000000 * ppm + whole % 1000000 * ppm / 1000000;
}

/* FNV-1a. */
static inline uint64_t hash64(const char *bytes, size_t len)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211);
    return h ^ (h >> 32); /* the low bits are what tables use */
}

#endif
