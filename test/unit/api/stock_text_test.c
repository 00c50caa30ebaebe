/*
 * stock_text_test.c: the texts of a sale.
 */
#include <string.h>

#include "api/stock/stock.h"
#include "test.h"

/* Check values of CRC-32, as zlib and nginx compute it. */
TEST(stock_text, home_is_the_crc_32_of_the_user)
{
    CHECK_INT(hf__sale_home("123456789", 64), 0xcbf43926u % 64);
    CHECK_INT(hf__sale_home("123456789", 7), 0xcbf43926u % 7);
    CHECK_INT(hf__sale_home("a", 64), 0xe8b7be43u % 64);
    CHECK_INT(hf__sale_home("anyone", 1), 0);
}

TEST(stock_text, escaped_has_no_separators)
{
    char out[STOCK_ESCAPED(16)];
    hf__sale_escape("a,b;c|d e%\xff", out);
    CHECK_STR(out, "a%2Cb%3Bc%7Cd%20e%25%FF");
    hf__sale_escape("Z09-_.~@:+", out);
    CHECK_STR(out, "Z09-_.~@:+");
}

TEST(stock_text, nonces_differ)
{
    char a[STOCK_NONCE_LEN + 1], b[STOCK_NONCE_LEN + 1];
    CHECK_INT(hf__sale_nonce(a, NULL), HF_OK);
    CHECK_INT(hf__sale_nonce(b, NULL), HF_OK);
    CHECK_INT(strlen(a), STOCK_NONCE_LEN);
    CHECK(strcmp(a, b) != 0);
}

TEST(stock_text, the_longest_token_is_read_as_it_was_written)
{
    char token[HF_STOCK_TOKEN_MAX], user[STOCK_ESCAPED(HF_STOCK_USER_MAX)];
    char bytes[HF_STOCK_USER_MAX + 1];
    memset(bytes, '\x01', sizeof bytes - 1);
    bytes[sizeof bytes - 1] = '\0';
    hf__sale_escape(bytes, user);
    struct stock_job job = {.segment = HF_STOCK_SEGMENTS_MAX - 1, .user = user};
    struct stock_job read = {0};
    job.told.order = INT64_C(9007199250000000);
    CHECK_INT(hf__sale_nonce(job.told.nonce, NULL), HF_OK);
    hf__sale_token_write(&job, token);
    CHECK(strlen(token) < HF_STOCK_TOKEN_MAX - 1);
    CHECK_INT(hf__sale_token_read(token, HF_STOCK_SEGMENTS_MAX, &read, NULL),
              HF_OK);
    CHECK_INT(read.segment, job.segment);
    CHECK_INT(read.order, job.told.order);
    CHECK_STR(read.nonce, job.told.nonce);
    CHECK_STR(read.user, user);
    CHECK_INT(
        hf__sale_token_read(token, HF_STOCK_SEGMENTS_MAX - 1, &read, NULL),
        HF_INVALID);
}
