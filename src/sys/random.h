/*
 * random.h: randomness.  Ids come from the kernel; jitter from a small
 * generator that the simulator can seed.
 */
#ifndef HF_SYS_RANDOM_H
#define HF_SYS_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* Fill `buf` from the kernel.  Returns 0, or -1 with errno. */
int hf__random_bytes(void *buf, size_t len);

/* "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx" and a NUL: 37 bytes.  0 or -1. */
int hf__random_uuid(char out[37]);

/* Next number of the generator whose state is `*state`: splitmix64 (Steele,
 * Lea, Flood 2014), for which every seed is a good seed. */
static inline uint64_t hf__random_next(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

#endif
