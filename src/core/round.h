/*
 * round.h: sets of nodes, as a round of requests counts them.
 *
 * A set is a mask: the node with number i is bit i.
 */
#ifndef HF_CORE_ROUND_H
#define HF_CORE_ROUND_H

#include <stdint.h>

#define BIT(n) (UINT32_C(1) << (n))

/* The number of nodes in a set. */
int hf__round_count(uint32_t nodes);

#endif
