/*
 * ticket.h: what proves that a detached hold is one's own.
 *
 * A ticket carries a secret, which is told to nobody else.  The stores know the
 * hold by its owner and attempt, and the attempt is a hash of the secret: a
 * ticket cannot be made from what a store keeps and shows.
 */
#ifndef HF_BASE_TICKET_H
#define HF_BASE_TICKET_H

#include <stdint.h>

#define TICKET_SEED_LEN 16

/* The secret of a client's n-th attempt, from the client's own random bytes.
 * It tells nothing about those, nor about any other secret. */
uint64_t hf__ticket_secret(const unsigned char seed[TICKET_SEED_LEN],
                           uint64_t n);

/* The attempt that belongs to a secret, below 2^63. */
uint64_t hf__ticket_attempt(uint64_t secret);

#endif
