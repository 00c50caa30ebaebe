/*
 * backoff.h: how long to pause between one try and the next.
 *
 * Pure: the number of tries and the chance go in, the pause comes out.
 */
#ifndef HF_CORE_BACKOFF_H
#define HF_CORE_BACKOFF_H

#include <stdint.h>

/* Pauses between looks, where the user wants no wake-ups. */
struct hold_backoff {
    int32_t kind; /* enum hf_backoff */
    int32_t factor;
    int64_t first_us, most_us;
};

/* The pause after `tries` earlier ones; CONSTANT: always the first. */
int64_t hf__backoff_us(const struct hold_backoff *b, unsigned tries,
                       uint64_t random);

#endif
