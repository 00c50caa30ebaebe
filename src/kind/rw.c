/*
 * rw.c: the two sides of a read/write lock.  The rule: a holder who writes may
 * read, too; one who reads becomes the writer only as the last reader, at once.
 */
#include "kind/kind.h"

#define ORDERS                                                                 \
    (1u << HF_ORDER_ANY | 1u << HF_ORDER_FAIR | 1u << HF_ORDER_WRITERS)

const struct kind hf__kind_read = {
    .word = "a read lock",
    .cap = HF_CAP_RW,
    .hold_flags = HOLD_SHARED,
    .orders = ORDERS,
    .is_held = 1,
    .reenters = 1,
};

const struct kind hf__kind_write = {
    .word = "a write lock",
    .cap = HF_CAP_RW,
    .orders = ORDERS,
    .is_held = 1,
    .reenters = 1,
};
