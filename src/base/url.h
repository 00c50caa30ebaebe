/*
 * url.h: the one URL parser.  It accepts what is documented in client.h, says
 * where and why it refuses anything else, and changes nothing.
 */
#ifndef HF_BASE_URL_H
#define HF_BASE_URL_H

#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "holdfast/status.h"

#define URL_OPTIONS_MAX 32

struct url_option {
    const char *key;
    const char *value; /* percent-decoded, "" if there was no '=' */
};

/* Pointers go into `text`, percent-decoded, NUL-terminated; NULL if absent. */
struct url {
    char text[URL_LEN_MAX + 1];
    const char *scheme;
    const char *user;
    const char *password;
    const char *host; /* without the brackets of an IPv6 address; of a scheme
                       * with many hosts, the list as it is */
    int port;         /* 0 if absent */
    const char *path; /* with its leading '/', or the opaque part of file:x */
    struct url_option options[URL_OPTIONS_MAX];
    size_t options_len;
};

/* Parse `text`.  HF_OK, or HF_INVALID with err filled. */
int hf__url_parse(struct url *url, const char *text, struct hf_error *err);

/* The next host of a list ("h1:1,h2,[::1]:3"): its host and port in `out`, and
 * `*list` moves behind it and its comma.  HF_OK, or HF_INVALID with err
 * filled. */
int hf__url_host_next(const char **list, struct url *out, struct hf_error *err);

/* The value of `key`, or NULL. */
const char *hf__url_option(const struct url *url, const char *key);

/* Write the URL without its password into `out`. */
void hf__url_redact(const char *text, char *out, size_t out_size);

/* A duration: "250ms", "10s", "2m", "1h", or a bare number of seconds.
 * Returns 0 and fills `out_ms`, or -1. */
int hf__duration_parse(const char *text, int64_t *out_ms);

/* A whole number in [min, max].  Returns 0 and fills `out`, or -1. */
int hf__number_parse(const char *text, int64_t min, int64_t max, int64_t *out);

/* `len` digits, without a NUL behind them, that make at most `max`.  Returns 0
 * and fills `out`, or -1. */
int hf__digits_parse(const char *text, size_t len, uint64_t max, uint64_t *out);

#endif
