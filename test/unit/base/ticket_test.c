/*
 * ticket_test.c: secrets and what is stored of them.  One rule: nothing that is
 * stored leads back to a secret, nor from one secret to another.
 */
#include "base/ticket.h"

#include <stdio.h>
#include <string.h>

#include "base/sha256.h"
#include "test.h"

static const char *hex(const char *text)
{
    static char out[2 * SHA256_LEN + 1];
    unsigned char bytes[SHA256_LEN];
    hf__sha256_short(text, strlen(text), bytes);
    for (int i = 0; i < SHA256_LEN; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    return out;
}

/* By sha256sum(1); the first two are those of FIPS 180-4's examples. */
TEST(sha256, is_that_of_the_standard)
{
    CHECK_STR(hex("abc"), "ba7816bf8f01cfea414140de5dae2223"
                          "b00361a396177a9cb410ff61f20015ad");
    CHECK_STR(hex(""), "e3b0c44298fc1c149afbf4c8996fb924"
                       "27ae41e4649b934ca495991b7852b855");
    CHECK_STR(hex("0123456789012345678901234567890123456789012345678901234"),
              "f34d5a0f80c0cbf84c8c0b90218c2263"
              "7abd199965249da736a20143c8c9c9d9");
}

TEST(ticket, an_attempt_is_no_secret_and_no_secret_is_another)
{
    static const unsigned char seed[TICKET_SEED_LEN] = "fifteen letters";
    static const unsigned char other[TICKET_SEED_LEN] = "other letters..";
    uint64_t last = 0;
    for (uint64_t n = 1; n < 1000; n++) {
        uint64_t secret = hf__ticket_secret(seed, n);
        uint64_t attempt = hf__ticket_attempt(secret);
        CHECK(secret != last && secret != hf__ticket_secret(other, n));
        CHECK(attempt >> 63 == 0 && attempt > UINT32_MAX);
        CHECK(attempt != secret && attempt != secret >> 1);
        CHECK(hf__ticket_attempt(attempt) != attempt);
        CHECK(attempt == hf__ticket_attempt(secret));
        last = secret;
    }
}
