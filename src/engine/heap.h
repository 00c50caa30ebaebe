/*
 * heap.h: a heap of timers that are embedded in what they belong to.
 *
 * 100,000 held locks are one of these: arming, moving and disarming cost
 * O(log n), the next one is at the top.
 */
#ifndef HF_ENGINE_HEAP_H
#define HF_ENGINE_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include "sys/alloc.h"

struct timer {
    int64_t due_us;
    size_t index; /* in the heap, plus one; 0: not armed */
};

struct heap {
    struct timer **items;
    size_t len;
    size_t room;
};

/* Make room for `len` timers, so that arming them cannot fail.  0 or -1. */
int hf__heap_reserve(struct heap *h, const struct allocator *a, size_t len);

/* Arm, or move, `t`; TIME_NEVER disarms it. */
void hf__heap_set(struct heap *h, struct timer *t, int64_t due_us);

/* The next to be due, or NULL. */
struct timer *hf__heap_top(const struct heap *h);

void hf__heap_free(struct heap *h, const struct allocator *a);

#endif
