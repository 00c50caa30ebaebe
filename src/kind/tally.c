/*
 * tally.c: what is waited for and then not held: a counter to be high enough, a
 * latch to come to zero, the others at a barrier.
 */
#include "kind/kind.h"

const struct kind hf__kind_count = {
    .word = "a plain counter",
    .cap = HF_CAP_TALLY,
    .hold_flags = HOLD_ONCE | HOLD_MANY,
    .orders = 1u << HF_ORDER_ANY,
};

const struct kind hf__kind_latch = {
    .word = "a latch",
    .cap = HF_CAP_TALLY,
    .hold_flags = HOLD_ONCE | HOLD_SHARED | HOLD_LOOKS,
    .orders = 1u << HF_ORDER_ANY,
};

/* Whoever gives up must be taken off again: as from a queue. */
const struct kind hf__kind_barrier = {
    .word = "a barrier",
    .cap = HF_CAP_TALLY,
    .hold_flags = HOLD_ONCE | HOLD_SHARED | HOLD_QUEUES,
    .orders = 1u << HF_ORDER_ANY,
};
