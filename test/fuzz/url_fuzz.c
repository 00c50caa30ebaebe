/*
 * url_fuzz.c: whatever is given, the URL parser stays within its buffer, and
 * what is shown of a URL it took has no password.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int is_inside(const struct url *u, const char *p)
{
    return !p || (p >= u->text && p < u->text + sizeof u->text);
}

static void url_check(const struct url *u, const char *text)
{
    char shown[URL_LEN_MAX + 1];
    struct url again;
    if (!is_inside(u, u->scheme) || !is_inside(u, u->user)) abort();
    if (!is_inside(u, u->password) || !is_inside(u, u->host)) abort();
    if (!is_inside(u, u->path) || !u->scheme) abort();
    if (u->port < 0 || u->port > 65535) abort();
    if (u->options_len > URL_OPTIONS_MAX) abort();
    for (size_t i = 0; i < u->options_len; i++)
        if (!hf__url_option(u, u->options[i].key)) abort();
    hf__url_redact(text, shown, sizeof shown);
    if (hf__url_parse(&again, shown, NULL) != HF_OK) abort();
    if (again.password) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[URL_LEN_MAX + 64];
    char shown[128];
    struct url u;
    int64_t n;
    if (size >= sizeof text) return 0;
    if (size > 0) memcpy(text, data, size);
    text[size] = '\0';
    if (hf__url_parse(&u, text, NULL) == HF_OK)
        url_check(&u, text);
    else if (u.text[0])
        abort();
    hf__url_redact(text, shown, sizeof shown);
    if (hf__duration_parse(text, &n) == 0 && n < 0) abort();
    if (hf__number_parse(text, -5, 5, &n) == 0 && (n < -5 || n > 5)) abort();
    return 0;
}
