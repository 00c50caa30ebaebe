/*
 * ticket.c: see ticket.h.
 */
#include "base/ticket.h"

#include <string.h>

#include "base/sha256.h"

/* What is hashed for one purpose is of no use for the other. */
#define SECRET_WORD "holdfast secret "
#define ATTEMPT_WORD "holdfast attempt"

static void number_put(unsigned char *out, uint64_t n)
{
    for (int i = 0; i < 8; i++) out[i] = (unsigned char)(n >> (56 - 8 * i));
}

static uint64_t hash(const unsigned char *data, size_t len)
{
    unsigned char out[SHA256_LEN];
    uint64_t n = 0;
    hf__sha256_short(data, len, out);
    for (int i = 0; i < 8; i++) n = n << 8 | out[i];
    return n;
}

uint64_t hf__ticket_secret(const unsigned char seed[TICKET_SEED_LEN],
                           uint64_t n)
{
    unsigned char data[sizeof SECRET_WORD - 1 + TICKET_SEED_LEN + 8];
    size_t at = sizeof SECRET_WORD - 1;
    memcpy(data, SECRET_WORD, at);
    memcpy(data + at, seed, TICKET_SEED_LEN);
    number_put(data + at + TICKET_SEED_LEN, n);
    return hash(data, sizeof data);
}

uint64_t hf__ticket_attempt(uint64_t secret)
{
    unsigned char data[sizeof ATTEMPT_WORD - 1 + 8];
    memcpy(data, ATTEMPT_WORD, sizeof ATTEMPT_WORD - 1);
    number_put(data + sizeof ATTEMPT_WORD - 1, secret);
    return hash(data, sizeof data) >> 1;
}
