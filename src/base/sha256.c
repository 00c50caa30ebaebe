/*
 * sha256.c: see sha256.h.  The names are those of FIPS 180-4, section 6.2.
 */
#include "base/sha256.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#define BLOCK_LEN 64

static const uint32_t k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotr(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

/* The message schedule: 16 words of the block, and 48 made of them. */
static void schedule(const unsigned char block[BLOCK_LEN], uint32_t w[64])
{
    for (int t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16
               | (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
    for (int t = 16; t < 64; t++) {
        uint32_t a = w[t - 15], b = w[t - 2];
        uint32_t s0 = rotr(a, 7) ^ rotr(a, 18) ^ a >> 3;
        uint32_t s1 = rotr(b, 17) ^ rotr(b, 19) ^ b >> 10;
        w[t] = s1 + w[t - 7] + s0 + w[t - 16];
    }
}

/* One of the 64 steps on the working variables a to h. */
static void step(uint32_t v[8], uint32_t word)
{
    uint32_t a = v[0], e = v[4];
    uint32_t s1 = rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25);
    uint32_t ch = (e & v[5]) ^ (~e & v[6]);
    uint32_t t1 = v[7] + s1 + ch + word;
    uint32_t s0 = rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22);
    uint32_t maj = (a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]);
    memmove(v + 1, v, 7 * sizeof v[0]);
    v[4] += t1;
    v[0] = t1 + s0 + maj;
}

void hf__sha256_short(const void *data, size_t len,
                      unsigned char out[SHA256_LEN])
{
    static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                        0xa54ff53a, 0x510e527f, 0x9b05688c,
                                        0x1f83d9ab, 0x5be0cd19};
    unsigned char block[BLOCK_LEN] = {0};
    uint32_t w[64], v[8];
    assert(len <= SHA256_SHORT_MAX);
    if (len > 0) memcpy(block, data, len);
    block[len] = 0x80;
    block[62] = (unsigned char)(len * 8 >> 8);
    block[63] = (unsigned char)(len * 8);
    schedule(block, w);
    memcpy(v, initial, sizeof v);
    for (int t = 0; t < 64; t++) step(v, k[t] + w[t]);
    for (int i = 0; i < 8; i++) {
        uint32_t sum = v[i] + initial[i];
        for (int j = 0; j < 4; j++)
            out[4 * i + j] = (unsigned char)(sum >> (24 - 8 * j));
    }
}
