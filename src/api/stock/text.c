/*
 * text.c: the texts of a sale: users, request ids, tokens.
 *
 * The rule: a text that goes to a store never has a character that the store
 * uses as a separator; such bytes are escaped here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/stock/stock.h"
#include "base/error.h"
#include "sys/random.h"

static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwx"
                            "yz0123456789-_.~@:+";

void hf__sale_escape(const char *text, char *out)
{
    static const char digits[] = "0123456789ABCDEF";
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        if (strchr(plain, byte)) {
            *out++ = *text;
            continue;
        }
        *out++ = '%';
        *out++ = digits[byte >> 4];
        *out++ = digits[byte & 15];
    }
    *out = '\0';
}

int hf__sale_text_check(const char *what, const char *text, size_t most,
                        struct hf_error *err)
{
    size_t len = text ? strlen(text) : 0;
    if (len >= 1 && len <= most) return HF_OK;
    if (len == 0)
        return hf__error_set(err, HF_INVALID,
                             "%s: empty: give it 1 to %zu bytes", what, most);
    return hf__error_set(err, HF_INVALID,
                         "%s: %zu bytes: at most %zu are allowed", what, len,
                         most);
}

int hf__sale_units_check(int64_t units, struct hf_error *err)
{
    if (units >= 1 && units <= HF_STOCK_UNITS_MAX) return HF_OK;
    return hf__error_set(err, HF_INVALID, "%lld units: out of range: 1 to %lld",
                         (long long)units, (long long)HF_STOCK_UNITS_MAX);
}

/* The CRC-32 of zlib and of nginx (ngx.crc32_long), so that other programs find
 * the same segment. */
static uint32_t crc32_of(const char *text)
{
    uint32_t crc = UINT32_MAX;
    for (; *text; text++) {
        crc ^= (unsigned char)*text;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
    }
    return ~crc;
}

uint32_t hf__sale_home(const char *user, uint32_t segments)
{
    return crc32_of(user) % segments;
}

int hf__sale_nonce(char out[STOCK_NONCE_LEN + 1], struct hf_error *err)
{
    uint64_t random;
    if (hf__random_bytes(&random, sizeof random) != 0)
        return hf__error_set(err, HF_INTERNAL, "no randomness for a token");
    for (int i = 0; i < STOCK_NONCE_LEN; i++, random >>= 6)
        out[i] = plain[random & 63];
    out[STOCK_NONCE_LEN] = '\0';
    return HF_OK;
}

/* ---- tokens ---- */

void hf__sale_token_write(const struct stock_job *job,
                          char out[HF_STOCK_TOKEN_MAX])
{
    snprintf(out, HF_STOCK_TOKEN_MAX, "%u.%lld.%s.%s", job->segment,
             (long long)job->told.order, job->told.nonce, job->user);
}

/* Read a number up to `most` and the dot behind it; -1 if that is not there. */
static int64_t number_read(const char **at, int64_t most)
{
    char *end;
    if (**at < '0' || **at > '9') return -1;
    long long number = strtoll(*at, &end, 10);
    if (end - *at > 18 || *end != '.' || number > most) return -1;
    *at = end + 1;
    return number;
}

static int token_take(const char *at, uint32_t segments, struct stock_job *job)
{
    int64_t segment = number_read(&at, (int64_t)segments - 1);
    int64_t order = segment < 0 ? -1 : number_read(&at, INT64_MAX);
    size_t nonce = strcspn(at, ".");
    if (order < 1 || nonce != STOCK_NONCE_LEN || at[nonce] != '.') return -1;
    const char *user = at + nonce + 1;
    size_t len = strlen(user);
    if (len == 0 || len >= STOCK_ESCAPED(HF_STOCK_USER_MAX)) return -1;
    for (const char *c = at; *c; c++)
        if (*c != '%' && !strchr(plain, *c)) return -1;
    memcpy(job->nonce, at, nonce);
    job->nonce[nonce] = '\0';
    job->segment = (uint32_t)segment;
    job->order = order;
    job->user = user;
    return 0;
}

int hf__sale_token_read(const char *token, uint32_t segments,
                        struct stock_job *job, struct hf_error *err)
{
    if (token && token_take(token, segments, job) == 0) return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "token: not one of this sale: give it as the "
                         "reservation had it");
}
