/*
 * permit.c: permits of a semaphore.  The rule: who acquires is a holder of his
 * own, each time; what he got is given back as a whole.
 */
#include "kind/kind.h"

const struct kind hf__kind_permit = {
    .word = "a semaphore",
    .cap = HF_CAP_PERMIT,
    .hold_flags = HOLD_MANY,
    .orders = 1u << HF_ORDER_ANY | 1u << HF_ORDER_FAIR,
    .is_held = 1,
    .is_detachable = 1,
};
