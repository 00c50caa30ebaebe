/*
 * redact.c: a URL that may be shown.  One rule: when in doubt about where a
 * password ends, leave out too much.
 */
#include "base/url.h"

#include <string.h>

struct cut {
    const char *from, *to; /* not shown */
};

/* Where the URL's password is, if it has one.  In a URL that does not parse
 * the password may hold anything, so everything up to the last '@' goes. */
static struct cut password_find(const char *text)
{
    struct url url;
    struct cut none = {NULL, NULL};
    const char *user = strstr(text, "//");
    int is_sound = hf__url_parse(&url, text, NULL) == HF_OK;
    if (!user) return none;
    user += 2;
    size_t len = is_sound ? strcspn(user, "/?") : strlen(user);
    const char *at = user + len;
    while (at > user && *at != '@') at--;
    if (*at != '@') return none;
    const char *colon = memchr(user, ':', (size_t)(at - user));
    if (!colon) return none;
    struct cut cut = {colon, colon == user ? at + 1 : at};
    return cut;
}

/* The first byte at or behind `option` that may be shown. */
static const char *secrets_skip(const char *option)
{
    static const char *const names[] = {"password=", "secret=", "token="};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strncmp(option, names[i], strlen(names[i])) != 0) continue;
        option += strcspn(option, "&");
        if (*option) option++;
        i = (size_t)-1; /* the next one may be a secret too */
    }
    return option;
}

void hf__url_redact(const char *text, char *out, size_t out_size)
{
    struct cut cut = password_find(text);
    const char *query = strchr(text, '?');
    size_t n = 0;
    if (out_size == 0) return;
    for (const char *p = text; *p && n + 1 < out_size; p++) {
        if (p == cut.from) p = cut.to;
        if (query && p > query && (p[-1] == '&' || p == query + 1))
            p = secrets_skip(p);
        if (!*p) break;
        out[n++] = *p;
    }
    out[n] = '\0';
}
