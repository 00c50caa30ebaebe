/*
 * sha256.h: the hash of FIPS 180-4, for what fits into one block.
 */
#ifndef HF_BASE_SHA256_H
#define HF_BASE_SHA256_H

#include <stddef.h>

#define SHA256_LEN 32
#define SHA256_SHORT_MAX 55 /* bytes; one block has a mark and a length, too */

/* Hash `len` bytes, at most SHA256_SHORT_MAX. */
void hf__sha256_short(const void *data, size_t len,
                      unsigned char out[SHA256_LEN]);

#endif
