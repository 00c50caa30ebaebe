/*
 * url.c: the one URL parser.  One rule: it refuses what it does not fully
 * understand, and no text it writes can hold a part of a password.
 */
#include "base/url.h"

#include <string.h>

#include "base/error.h"

/* What may stand behind a scheme; schemes that are not here take anything. */
enum {
    HOST_NONE = 1,
    HOST_NEEDED = 2,
    PATH_ROOTED = 4,
    PATH_NEEDED = 8,
    HOST_LIST = 16, /* "h1:1,h2,h3": kept as it is, but checked */
    USER_ALONE = 32 /* "user:password@" without a host behind it */
};

static const struct scheme_rule {
    const char *scheme;
    unsigned rules;
} scheme_rules[] = {
    {"file", HOST_NONE | PATH_ROOTED},
    {"memory", HOST_NONE},
    {"redis", HOST_NEEDED},
    {"rediss", HOST_NEEDED},
    {"redis+unix", HOST_NONE | USER_ALONE | PATH_ROOTED | PATH_NEEDED},
    {"redis-cluster", HOST_NEEDED | HOST_LIST},
    {"redis-sentinel", HOST_NEEDED | HOST_LIST},
    {"etcd", HOST_NEEDED | HOST_LIST},
    {"etcds", HOST_NEEDED | HOST_LIST},
    {"zookeeper", HOST_NEEDED | HOST_LIST},
    {"zk", HOST_NEEDED | HOST_LIST},
};

static unsigned scheme_rules_of(const char *scheme)
{
    size_t n = sizeof scheme_rules / sizeof scheme_rules[0];
    for (size_t i = 0; i < n; i++)
        if (!strcmp(scheme_rules[i].scheme, scheme))
            return scheme_rules[i].rules;
    return 0;
}

static int bad(struct hf_error *err, const char *what, const char *why)
{
    return hf__error_set(err, HF_INVALID, "url: %s: %s", what, why);
}

static int is_alpha(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int is_word(char c)
{
    return is_alpha(c) || (c >= '0' && c <= '9') || (c && strchr("_.-~", c));
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Decode %XX in place. */
static int part_decode(char *part, const char *what, struct hf_error *err)
{
    char *to = part;
    for (const char *p = part; *p; p++) {
        if (*p != '%') {
            *to++ = *p;
            continue;
        }
        int high = hex_value(p[1]);
        int low = high < 0 ? -1 : hex_value(p[2]);
        if (low < 0) return bad(err, what, "'%' needs two hex digits after it");
        if (high == 0 && low == 0) return bad(err, what, "%00 is not allowed");
        *to++ = (char)(high * 16 + low);
        p += 2;
    }
    *to = '\0';
    return HF_OK;
}

/* Characters that RFC 3986 leaves out, the fragment's '#' with them.  Bytes
 * above ASCII pass: people's directories have names. */
static int chars_check(const char *text, struct hf_error *err)
{
    size_t i = 0;
    for (; text[i]; i++) {
        if (i == URL_LEN_MAX)
            return hf__error_set(err, HF_INVALID,
                                 "url: too long: %d bytes is the limit",
                                 URL_LEN_MAX);
        unsigned char c = (unsigned char)text[i];
        if (c <= ' ' || c == 0x7f || strchr("\"#<>\\^`{|}", c))
            return hf__error_set(err, HF_INVALID,
                                 "url: byte %zu: not allowed in a URL: write "
                                 "it as %%XX",
                                 i + 1);
    }
    return i == 0 ? bad(err, "empty", "a scheme such as file: is needed")
                  : HF_OK;
}

/* Cut the scheme off; `*rest` is what follows its colon. */
static int scheme_parse(struct url *url, char **rest, struct hf_error *err)
{
    char *p = url->text;
    if (!is_alpha(*p)) return bad(err, "scheme", "missing");
    for (; *p && *p != ':'; p++) {
        if (!is_word(*p) && *p != '+')
            return bad(err, "scheme", "missing: begin with file: or redis://");
        if (*p >= 'A' && *p <= 'Z') *p = (char)(*p - 'A' + 'a');
    }
    if (*p != ':')
        return bad(err, "scheme", "missing: begin with file: or redis://");
    *p = '\0';
    url->scheme = url->text;
    *rest = p + 1;
    return HF_OK;
}

static int user_parse(struct url *url, char *user, struct hf_error *err)
{
    char *password = strchr(user, ':');
    if (password) {
        *password++ = '\0';
        if (strchr(password, ':'))
            return bad(err, "password", "write ':' in it as %3A");
        if (part_decode(password, "password", err)) return HF_INVALID;
        url->password = password;
    }
    if (part_decode(user, "user", err)) return HF_INVALID;
    if (*user) url->user = user;
    return HF_OK;
}

static int port_parse(struct url *url, const char *text, struct hf_error *err)
{
    int64_t port;
    if (hf__number_parse(text, 1, 65535, &port))
        return bad(err, "port", "must be a number from 1 to 65535");
    url->port = (int)port;
    return HF_OK;
}

/* "[::1]:6379": `host` points behind the bracket. */
static int ipv6_parse(struct url *url, char *host, struct hf_error *err)
{
    char *end = strchr(host, ']');
    if (!end) return bad(err, "host", "'[' without ']'");
    if (end[1] != '\0' && end[1] != ':')
        return bad(err, "host", "only a port may follow ']'");
    const char *port = end[1] == ':' ? end + 2 : NULL;
    *end = '\0';
    if (part_decode(host, "host", err)) return HF_INVALID;
    size_t len = strspn(host, "0123456789abcdefABCDEF:.");
    int is_zone = host[len] == '%' && host[len + 1] != '\0';
    for (const char *p = host + len + is_zone; is_zone && *p; p++)
        if (!is_word(*p)) return bad(err, "host", "no valid IPv6 zone");
    if (!strchr(host, ':') || (host[len] && !is_zone))
        return bad(err, "host", "no IPv6 address in the brackets");
    url->host = host;
    return port ? port_parse(url, port, err) : HF_OK;
}

static int host_parse(struct url *url, char *host, struct hf_error *err)
{
    if (*host == '[') return ipv6_parse(url, host + 1, err);
    char *port = strchr(host, ':');
    if (port) *port++ = '\0';
    for (const char *p = host; *p; p++)
        if (!is_word(*p))
            return bad(err, "host", "a character that no host name has");
    if (*host) url->host = host;
    if (port && !*host) return bad(err, "host", "missing before the port");
    return port ? port_parse(url, port, err) : HF_OK;
}

int hf__url_host_next(const char **list, struct url *out, struct hf_error *err)
{
    size_t len = strcspn(*list, ",");
    memset(out, 0, sizeof *out);
    if (len == 0) return bad(err, "host", "one of the list is empty");
    if (len > URL_LEN_MAX) return bad(err, "host", "too long");
    memcpy(out->text, *list, len);
    *list += len;
    if (**list == ',' && (*list)[1] != '\0') ++*list;
    return host_parse(out, out->text, err);
}

static int hosts_check(struct url *url, const char *list, struct hf_error *err)
{
    struct url one;
    url->host = *list ? list : NULL;
    while (*list)
        if (hf__url_host_next(&list, &one, err)) return HF_INVALID;
    return HF_OK;
}

/* [user[:password]@]host[:port], already cut off from what follows. */
static int authority_parse(struct url *url, char *text, struct hf_error *err)
{
    char *at = strrchr(text, '@');
    unsigned rules = scheme_rules_of(url->scheme);
    int is_list = (rules & HOST_LIST) != 0;
    if (!at && is_list) return hosts_check(url, text, err);
    if (!at) return host_parse(url, text, err);
    *at = '\0';
    if (is_list && strchr(text, '@') && strchr(text, ','))
        return bad(err, "user",
                   "one user and password, before the first host, are for all "
                   "of them; write '@' in them as %40");
    if (strchr(text, '@')) return bad(err, "user", "write '@' in it as %40");
    if (user_parse(url, text, err)) return HF_INVALID;
    if (at[1] == '\0' && rules & USER_ALONE) return HF_OK;
    if (at[1] == '\0') return bad(err, "host", "missing after '@'");
    if (is_list) return hosts_check(url, at + 1, err);
    return host_parse(url, at + 1, err);
}

static int option_add(struct url *url, char *text, struct hf_error *err)
{
    char *value = strchr(text, '=');
    if (value) *value++ = '\0';
    if (!*text) return bad(err, "option", "without a name");
    for (const char *p = text; *p; p++)
        if (!is_word(*p))
            return bad(err, "option", "a name has only letters, digits, _.-");
    if (hf__url_option(url, text))
        return hf__error_set(err, HF_INVALID, "url: option %.64s: given twice",
                             text);
    if (url->options_len == URL_OPTIONS_MAX)
        return bad(err, "options", "too many");
    if (value && part_decode(value, "option", err)) return HF_INVALID;
    url->options[url->options_len].key = text;
    url->options[url->options_len++].value = value ? value : "";
    return HF_OK;
}

/* `query` is what follows the '?', "" included. */
static int query_parse(struct url *url, char *query, struct hf_error *err)
{
    while (query && *query) {
        char *next = strchr(query, '&');
        if (next) *next++ = '\0';
        if (option_add(url, query, err)) return HF_INVALID;
        query = next;
    }
    return HF_OK;
}

static int rules_check(const struct url *url, struct hf_error *err)
{
    unsigned rules = scheme_rules_of(url->scheme);
    int has_host = url->host != NULL;
    if (!(rules & USER_ALONE)) has_host |= url->user || url->password;
    if ((rules & HOST_NONE) && has_host)
        return hf__error_set(err, HF_INVALID,
                             "url: host: %s: takes none: write %s:/path or "
                             "%s:///path",
                             url->scheme, url->scheme, url->scheme);
    if ((rules & HOST_NEEDED) && !url->host)
        return hf__error_set(err, HF_INVALID,
                             "url: host: missing: write %s://host:port",
                             url->scheme);
    if ((rules & PATH_NEEDED) && !url->path) return bad(err, "path", "missing");
    if ((rules & PATH_ROOTED) && url->path && url->path[0] != '/')
        return bad(err, "path", "must begin with '/'");
    return HF_OK;
}

/* What follows the scheme's colon. */
static int rest_parse(struct url *url, char *rest, struct hf_error *err)
{
    char *query = strchr(rest, '?');
    if (query) *query++ = '\0';
    if (!strncmp(rest, "//", 2)) {
        size_t len = strcspn(rest + 2, "/");
        /* The path keeps its slash, so the authority moves one byte down to
         * make room for its own NUL. */
        memmove(rest + 1, rest + 2, len);
        rest[1 + len] = '\0';
        char *path = rest + 2 + len;
        if (authority_parse(url, rest + 1, err)) return HF_INVALID;
        rest = path;
    } else if (scheme_rules_of(url->scheme) & HOST_NEEDED) {
        return bad(err, "host", "missing: '//' must follow the scheme");
    }
    if (part_decode(rest, "path", err)) return HF_INVALID;
    if (*rest) url->path = rest;
    if (query_parse(url, query, err)) return HF_INVALID;
    return rules_check(url, err);
}

int hf__url_parse(struct url *url, const char *text, struct hf_error *err)
{
    memset(url, 0, sizeof *url);
    if (chars_check(text, err)) return HF_INVALID;
    memcpy(url->text, text, strlen(text) + 1);
    char *rest = url->text;
    if (scheme_parse(url, &rest, err) || rest_parse(url, rest, err)) {
        memset(url, 0, sizeof *url); /* a password may be in there */
        return HF_INVALID;
    }
    return HF_OK;
}

const char *hf__url_option(const struct url *url, const char *key)
{
    for (size_t i = 0; i < url->options_len; i++)
        if (!strcmp(url->options[i].key, key)) return url->options[i].value;
    return NULL;
}
