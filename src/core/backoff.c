/*
 * backoff.c: see backoff.h.
 *
 * The rule: no pause is longer than the longest that is allowed, after any
 * number of tries, and the growth stops before it could overflow.
 */
#include "core/backoff.h"

#include <assert.h>

#include "base/math.h"
#include "holdfast/lock.h"

static int64_t pause_grow(const struct hold_backoff *b, unsigned tries)
{
    int64_t pause = b->first_us;
    for (unsigned i = 0; i < tries && pause < b->most_us; i++) {
        if (b->factor <= 1) break; /* it will not grow */
        if (pause > b->most_us / b->factor) return b->most_us;
        pause *= b->factor;
    }
    return min64(pause, b->most_us);
}

int64_t hf__backoff_us(const struct hold_backoff *b, unsigned tries,
                       uint64_t random)
{
    assert(b->first_us > 0 && b->most_us > 0 && b->factor >= 1);
    if (b->kind == HF_BACKOFF_CONSTANT) return b->first_us;
    int64_t pause = pause_grow(b, tries);
    assert(pause >= 1 && pause <= b->most_us);
    if (b->kind != HF_BACKOFF_JITTER) return pause;
    return 1 + (int64_t)(random % (uint64_t)pause);
}
