/* plain.c: one holder at a time, who may acquire it again. */
#include "kind/kind.h"

const struct kind hf__kind_plain = {
    .word = "a plain lock",
    .orders = 1u << HF_ORDER_ANY | 1u << HF_ORDER_FAIR,
    .is_held = 1,
    .is_detachable = 1,
    .reenters = 1,
};
