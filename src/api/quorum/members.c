/*
 * members.c: the members of a quorum, as its URL names them.
 *
 *   redlock://user:pw@h1,h2:6380,h3/0?lease=10s     redis members, one query
 *   quorum:lease=10s|redis://a|memory:b|file:/c     any, each with its own
 *
 * The rule: URLs that name the same servers give the same group, whatever the
 * order, the passwords and the options; and no server is named twice.
 */
#include "api/quorum/members.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "backend/registry.h"
#include "base/error.h"
#include "base/math.h"

#define REDLOCK "redlock://"
#define QUORUM "quorum:"
#define REDIS_PORT 6379
#define MEMBERS_URL_MAX (NODES_MAX * 512)

int hf__members_are_in(const char *url)
{
    return !strncasecmp(url, "redlock:", 8)
           || !strncasecmp(url, QUORUM, sizeof QUORUM - 1);
}

/* A text that grows; `failed` once there was no memory. */
struct text {
    const struct allocator *alloc;
    char *at;
    size_t len, room;
    int failed;
};

static void text_add(struct text *t, const char *bytes, size_t len)
{
    if (t->failed) return;
    if (!t->at || t->len + len + 1 > t->room) {
        size_t room = 2 * (t->len + len) + 64;
        char *bigger = hf__alloc(t->alloc, room);
        if (!bigger) {
            t->failed = 1;
            return;
        }
        if (t->len) memcpy(bigger, t->at, t->len);
        if (t->at) hf__wipe(t->at, t->len); /* it may hold a password */
        hf__free(t->alloc, t->at);
        t->at = bigger;
        t->room = room;
    }
    memcpy(t->at + t->len, bytes, len);
    t->len += len;
    t->at[t->len] = '\0';
}

static void text_add_str(struct text *t, const char *str)
{
    text_add(t, str, strlen(str));
}

/* ---- the query --------------------------------------------------------- */

static int is_common(const char *option, size_t len)
{
    char key[64];
    size_t key_len = strcspn(option, "=");
    if (key_len > len) key_len = len;
    if (key_len >= sizeof key) return 0;
    memcpy(key, option, key_len);
    key[key_len] = '\0';
    return hf__word_is_in(key, hf__common_options);
}

/* One option behind "scheme:?", or behind others.  In "1%" the sign stands for
 * itself. */
static void option_add(struct text *t, const char *option, size_t len)
{
    static const char hex[] = "0123456789abcdefABCDEF";
    text_add_str(t, strchr(t->at ? t->at : "", '?') ? "&" : "?");
    for (size_t i = 0; i < len; i++) {
        int is_code = i + 2 < len && strchr(hex, option[i + 1])
                      && strchr(hex, option[i + 2]);
        if (option[i] == '%' && !is_code)
            text_add_str(t, "%25");
        else
            text_add(t, option + i, 1);
    }
}

/* The options of `query` that are the client's, or those that are not. */
static void options_add(struct text *t, const char *query, int common)
{
    while (*query) {
        size_t len = strcspn(query, "&");
        if (len > 0 && is_common(query, len) == common)
            option_add(t, query, len);
        query += len + (query[len] == '&');
    }
}

static int options_keep(struct members *m, const struct allocator *a,
                        const char *query, int all, struct hf_error *err)
{
    struct text t = {.alloc = a};
    text_add_str(&t, QUORUM);
    options_add(&t, query, 1);
    if (all) options_add(&t, query, 0); /* unknown ones are refused later */
    m->options = t.at;
    if (t.failed) return hf__error_set(err, HF_NOMEM, "client: out of memory");
    return HF_OK;
}

/* ---- one member -------------------------------------------------------- */

/* The endpoint in its canonical form, without user, password and options. */
static void key_write(struct text *t, const struct url *url)
{
    char number[16];
    const char *path = url->path ? url->path : "";
    const char *db = hf__url_option(url, "db");
    int is_redis = !strncmp(url->scheme, "redis", 5);
    text_add_str(t, is_redis ? "redis" : url->scheme);
    text_add_str(t, ":");
    for (const char *h = url->host ? url->host : ""; *h; h++) {
        char c = *h >= 'A' && *h <= 'Z' ? (char)(*h - 'A' + 'a') : *h;
        text_add(t, &c, 1);
    }
    if (url->host) {
        int port = !url->port && is_redis ? REDIS_PORT : url->port;
        snprintf(number, sizeof number, ":%d", port);
        text_add_str(t, number);
        if (is_redis && (!strcmp(path, "/") || !strcmp(path, "/0"))) path = "";
    }
    text_add_str(t, path);
    if (db && strcmp(db, "0") != 0) {
        text_add_str(t, "#");
        text_add_str(t, db);
    }
}

static int options_check(const struct url *url, int index, struct hf_error *err)
{
    for (size_t i = 0; i < url->options_len; i++) {
        const char *key = url->options[i].key;
        if (!strcmp(key, "member"))
            return hf__error_set(err, HF_INVALID,
                                 "url: member %d: option member: a quorum asks "
                                 "its members anyway: it is for redis:// only",
                                 index + 1);
        if (!hf__word_is_in(key, hf__common_options)) continue;
        return hf__error_set(err, HF_INVALID,
                             "url: member %d: option %.60s: it is the "
                             "client's: write quorum:%.60s=...|URL|URL",
                             index + 1, key, key);
    }
    return HF_OK;
}

static int member_check(struct members *m, const struct allocator *a,
                        struct hf_error *err)
{
    struct url url;
    struct hf_error why;
    struct text key = {.alloc = a};
    int i = m->len - 1;
    if (hf__url_parse(&url, m->texts[i], &why) != HF_OK)
        return hf__error_set(err, HF_INVALID, "url: member %d: %.200s", i + 1,
                             strncmp(why.text, "url: ", 5) ? why.text
                                                           : why.text + 5);
    int status = options_check(&url, i, err);
    if (status == HF_OK && hf__members_are_in(m->texts[i]))
        status = hf__error_set(err, HF_INVALID,
                               "url: member %d: a quorum cannot be a member "
                               "of a quorum",
                               i + 1);
    if (status == HF_OK) key_write(&key, &url);
    hf__wipe(url.text, sizeof url.text);
    m->keys[i] = key.at;
    if (key.failed)
        return hf__error_set(err, HF_NOMEM, "client: out of memory");
    for (int k = 0; status == HF_OK && k < i; k++)
        if (!strcmp(m->keys[k], m->keys[i]))
            return hf__error_set(err, HF_INVALID,
                                 "url: members %d and %d: the same server "
                                 "twice: %.150s",
                                 k + 1, i + 1, m->keys[i]);
    return status;
}

/* Takes the text over. */
static int member_add(struct members *m, const struct allocator *a,
                      struct text *t, struct hf_error *err)
{
    if (t->failed || m->len == NODES_MAX) {
        hf__free_secret(a, t->at);
        if (t->failed)
            return hf__error_set(err, HF_NOMEM, "client: out of memory");
        return hf__error_set(err, HF_INVALID,
                             "url: members: more than %d: too many", NODES_MAX);
    }
    m->texts[m->len++] = t->at;
    return member_check(m, a, err);
}

static int member_empty(const struct members *m, struct hf_error *err)
{
    return hf__error_set(err, HF_INVALID, "url: member %d: empty", m->len + 1);
}

/* ---- both ways to write them ------------------------------------------- */

static int redlock_parse(struct members *m, const struct allocator *a,
                         const char *url, struct hf_error *err)
{
    if (strncasecmp(url, REDLOCK, sizeof REDLOCK - 1) != 0)
        return hf__error_set(err, HF_INVALID,
                             "url: host: missing: write redlock://h1,h2,h3");
    const char *user = url + sizeof REDLOCK - 1;
    size_t len = strcspn(user, "/?");
    const char *end = user + len, *host = end;
    while (host > user && host[-1] != '@') host--;
    const char *query = strchr(end, '?');
    size_t path_len = query ? (size_t)(query - end) : strlen(end);
    query = query ? query + 1 : "";
    for (const char *next = host; next <= end; next += len + 1) {
        struct text t = {.alloc = a};
        len = strcspn(next, ",");
        if (next + len > end) len = (size_t)(end - next);
        if (len == 0) return member_empty(m, err);
        text_add_str(&t, "redis://");
        text_add(&t, user, (size_t)(host - user));
        text_add(&t, next, len);
        text_add(&t, end, path_len);
        options_add(&t, query, 0);
        int status = member_add(m, a, &t, err);
        if (status != HF_OK) return status;
    }
    return options_keep(m, a, query, 0, err);
}

/* "lease=10s&drift=1%" is no URL: '=' comes before any ':'. */
static int is_options(const char *part, size_t len)
{
    size_t at = strcspn(part, ":=|");
    return at >= len || part[at] == '=';
}

static int quorum_parse(struct members *m, const struct allocator *a,
                        const char *url, struct hf_error *err)
{
    struct text query = {.alloc = a};
    const char *next = url + sizeof QUORUM - 1;
    size_t len = strcspn(next, "|");
    text_add_str(&query, "");
    if (is_options(next, len) && next[len] == '|') {
        text_add(&query, next, len);
        next += len + 1;
    }
    int status = query.failed ? HF_NOMEM : options_keep(m, a, query.at, 1, err);
    hf__free(a, query.at);
    for (int more = 1; status == HF_OK && more; next += len + 1) {
        struct text t = {.alloc = a};
        len = strcspn(next, "|");
        more = next[len] == '|';
        if (len == 0) return member_empty(m, err);
        text_add(&t, next, len);
        status = member_add(m, a, &t, err);
    }
    return status;
}

/* A hash of the sorted endpoints, and their number. */
static void group_make(struct members *m)
{
    const char *sorted[NODES_MAX];
    uint64_t hash = 0;
    for (int i = 0; i < m->len; i++) {
        int k = i;
        for (; k > 0 && strcmp(sorted[k - 1], m->keys[i]) > 0; k--)
            sorted[k] = sorted[k - 1];
        sorted[k] = m->keys[i];
    }
    for (int i = 0; i < m->len; i++)
        hash = hash * UINT64_C(0x9e3779b97f4a7c15)
               + hash64(sorted[i], strlen(sorted[i]));
    snprintf(m->group, sizeof m->group, "%016llx-%d", (unsigned long long)hash,
             m->len);
}

int hf__members_parse(struct members *m, const struct allocator *a,
                      const char *url, struct hf_error *err)
{
    memset(m, 0, sizeof *m);
    if (strlen(url) > MEMBERS_URL_MAX)
        return hf__error_set(err, HF_INVALID,
                             "url: too long: %d bytes is the limit",
                             MEMBERS_URL_MAX);
    int status = strncasecmp(url, QUORUM, sizeof QUORUM - 1)
                     ? redlock_parse(m, a, url, err)
                     : quorum_parse(m, a, url, err);
    if (status == HF_OK) group_make(m);
    if (status == HF_NOMEM)
        hf__error_set(err, HF_NOMEM, "client: out of memory");
    return status;
}

void hf__members_free(struct members *m, const struct allocator *a)
{
    for (int i = 0; i < m->len; i++) {
        hf__free_secret(a, m->texts[i]);
        hf__free(a, m->keys[i]);
    }
    hf__free(a, m->options);
    memset(m, 0, sizeof *m);
}
