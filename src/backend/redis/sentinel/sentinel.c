/*
 * sentinel.c: redis-sentinel://h1,h2,h3/master-name[/db], the backend's table
 * and its URL.  One rule: requests go straight to the led connection; the rest
 * of this backend only decides where that one connects.
 */
#include "backend/redis/inner/bounds.h"
#include "backend/redis/inner/inner.h"
#include "backend/redis/redis.h"
#include "backend/redis/sentinel/ask.h"
#include "backend/redis/sentinel/sentinel.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* ---- what the inner connections tell ---- */

static struct sentinel *sentinel_of(struct inner_set *inners)
{
    return (struct sentinel *)((char *)inners
                               - offsetof(struct sentinel, inners));
}

static void hook_reply(struct inner *n, struct request *req,
                       const struct reply *reply)
{
    struct sentinel *s = sentinel_of(n->inners);
    if (n == &s->data)
        s->env->reply(s->env, req, reply);
    else
        hf__redis_seed_reply((struct seed *)n, req, reply);
}

static void hook_link(struct inner *n, int up, int64_t node_us,
                      const struct hf_error *err)
{
    struct sentinel *s = sentinel_of(n->inners);
    if (n != &s->data) {
        hf__redis_seed_link((struct seed *)n, up, err);
        return;
    }
    hf__redis_sentinel_link(s, up);
    s->env->link(s->env, up, node_us, err);
}

static void hook_wake(struct inner *n, const char *name, size_t name_len)
{
    struct sentinel *s = sentinel_of(n->inners);
    if (n == &s->data)
        s->env->wake(s->env, name, name_len);
    else
        hf__redis_sentinel_soon(s);
}

static void hook_timer(struct inner_set *inners)
{
    hf__redis_sentinel_timer(sentinel_of(inners));
}

static void hook_dropped(struct inner *n)
{
    if (n != &sentinel_of(n->inners)->data)
        hf__redis_seed_dropped((struct seed *)n);
}

static const struct inner_hooks hooks = {.reply = hook_reply,
                                         .link = hook_link,
                                         .wake = hook_wake,
                                         .timer = hook_timer,
                                         .dropped = hook_dropped};

/* ---- the URL ---- */

static int starved(struct hf_error *err)
{
    return hf__error_set(err, HF_NOMEM, "redis: out of memory");
}

static int seeds_read(struct sentinel *s, const struct url *url,
                      struct hf_error *err)
{
    struct url one;
    const char *list = url->host;
    size_t size = SEEDS_MAX * sizeof *s->seeds;
    s->seeds = hf__alloc_zero(s->env->alloc, size);
    if (!s->seeds) return starved(err);
    while (*list) {
        if (s->seeds_len == SEEDS_MAX)
            return hf__error_set(err, HF_INVALID,
                                 "url: host: more than %d Sentinels",
                                 SEEDS_MAX);
        if (hf__url_host_next(&list, &one, err) != HF_OK) return HF_INVALID;
        struct seed *d = &s->seeds[s->seeds_len++];
        d->s = s;
        d->port = one.port ? one.port : SENTINEL_PORT;
        d->host = hf__strdup(s->env->alloc, one.host ? one.host : "");
        if (!d->host
            || hf__redis_bounds_list(&s->bounds, s->env->alloc, d->host))
            return starved(err);
    }
    return HF_OK;
}

/* "/name" or "/name/db"; `*db` is what follows the name. */
static int name_read(struct sentinel *s, const struct url *url, const char **db,
                     struct hf_error *err)
{
    const char *path = url->path ? url->path : "";
    if (*path == '/') path++;
    size_t len = strcspn(path, "/");
    if (len == 0)
        return hf__error_set(err, HF_INVALID,
                             "url: path: the master's name is missing: write "
                             "redis-sentinel://h1,h2,h3/name");
    if (len > NAME_LEN_MAX)
        return hf__error_set(err, HF_INVALID,
                             "url: path: the master's name is too long");
    s->name = hf__strdup(s->env->alloc, path);
    if (!s->name) return starved(err);
    s->name[len] = '\0';
    *db = path[len] ? path + len : NULL;
    snprintf(s->where, sizeof s->where, "redis-sentinel://%.80s/%.40s",
             url->host, s->name);
    return HF_OK;
}

static int option_copy(struct sentinel *s, const struct url *url,
                       const char *key, char **out, struct hf_error *err)
{
    const char *text = hf__url_option(url, key);
    if (!text || !*text) return HF_OK;
    *out = hf__strdup(s->env->alloc, text);
    return *out ? HF_OK : starved(err);
}

/* The counterpart, in the copy, of `text` in `from`; "" is in neither. */
static const char *text_of(const char *text, const struct url *from,
                           const struct url *to)
{
    return *text ? to->text + (text - from->text) : "";
}

/* Keep a copy of the URL for the askers: the options, without the user and the
 * password of the primary. */
static int url_keep(struct sentinel *s, const struct url *url,
                    struct hf_error *err)
{
    s->url = hf__alloc(s->env->alloc, sizeof *s->url);
    if (!s->url) return starved(err);
    *s->url = *url;
    s->url->scheme = "redis";
    s->url->user = s->url->password = s->url->path = NULL;
    s->url->options_len = 0;
    for (size_t i = 0; i < url->options_len; i++) {
        const struct url_option *from = &url->options[i];
        if (!strcmp(from->key, "password_file")) continue;
        struct url_option *o = &s->url->options[s->url->options_len++];
        o->key = text_of(from->key, url, s->url);
        o->value = text_of(from->value, url, s->url);
    }
    if (url->password)
        hf__wipe(s->url->text + (url->password - url->text),
                 strlen(url->password));
    return HF_OK;
}

static int url_read(struct sentinel *s, const struct url *url, const char **db,
                    struct hf_error *err)
{
    int status = name_read(s, url, db, err);
    if (status == HF_OK)
        status = hf__redis_bounds_read(&s->bounds, s->env->alloc, url, err);
    if (status == HF_OK) status = seeds_read(s, url, err);
    if (status == HF_OK)
        status = option_copy(s, url, "sentinel_user", &s->user, err);
    if (status == HF_OK)
        status = option_copy(s, url, "sentinel_password_file",
                             &s->password_file, err);
    if (status == HF_OK) status = url_keep(s, url, err);
    return status == HF_OK ? hf__redis_sentinel_auth_open(s, err) : status;
}

/* ---- life ---- */

static void sentinel_free(struct sentinel *s)
{
    const struct allocator *a = s->env->alloc;
    for (int i = 0; i < s->seeds_len; i++) hf__free(a, s->seeds[i].host);
    hf__free(a, s->seeds);
    hf__free(a, s->name);
    hf__free(a, s->user);
    hf__free(a, s->password_file);
    hf__free_secret(a, s->password);
    hf__tls_context_close(s->asker_conf.tls);
    hf__redis_bounds_free(&s->bounds, a);
    hf__free(a, s->url);
    hf__free(a, s);
}

/* The led connection: the same URL, without a host. */
static int data_open(struct sentinel *s, const struct url *url, const char *db,
                     struct hf_error *err)
{
    struct url *u = hf__alloc(s->env->alloc, sizeof *u);
    if (!u) return starved(err);
    *u = *url; /* its pointers are into `url` */
    u->scheme = "redis";
    u->host = NULL;
    u->path = db;
    int status =
        hf__redis_inner_open(&s->inners, &s->data, &s->led, NULL, u, err);
    if (status == HF_OK) {
        s->asker_conf.tls = hf__tls_context_share(s->data.conn->tls);
        s->data.conn->bounds = &s->bounds;
    }
    hf__wipe(u, sizeof *u);
    hf__free(s->env->alloc, u);
    return status;
}

static int sentinel_open(struct backend_env *env, const struct url *url,
                         struct backend_conn **out, struct hf_error *err)
{
    const char *db = NULL;
    struct sentinel *s = hf__alloc_zero(env->alloc, sizeof *s);
    if (!s) return starved(err);
    s->env = env;
    s->asker_conf = *env->conf;
    s->asker_conf.is_part = 1;
    s->ask_us = TIME_NEVER;
    s->down_us = env->now(env);
    hf__redis_sentinel_backends(&s->asker, &s->led);
    hf__redis_inner_init(&s->inners, env, &hooks);
    int status = url_read(s, url, &db, err);
    if (status == HF_OK) status = data_open(s, url, db, err);
    if (status != HF_OK) {
        sentinel_free(s);
        return status;
    }
    hf__redis_sentinel_soon(s);
    *out = (struct backend_conn *)s;
    return HF_OK;
}

static struct sentinel *conn_of(struct backend_conn *c)
{
    return (struct sentinel *)c;
}

static unsigned sentinel_caps(const struct backend_conn *c)
{
    const struct sentinel *s = (const struct sentinel *)c;
    return s->led.conn_caps(s->data.conn) & ~HF_CAP_BALLOT;
}

/* An old primary that was cut off together with this client still answers it:
 * with the renewals, ask a Sentinel now and then where the primary is. */
static void sentinel_submit(struct backend_conn *c, struct request *req)
{
    struct sentinel *s = conn_of(c);
    int64_t now = s->env->now(s->env);
    if (req->verb == VERB_RENEW && s->is_up
        && now - s->confirmed_us > CONFIRM_US) {
        s->confirmed_us = now;
        hf__redis_seeds_confirm(s);
    }
    hf__redis_inner_submit(&s->data, req);
}

static void sentinel_flush(struct backend_conn *c)
{
    hf__redis_inner_flush(&conn_of(c)->inners);
}

static int sentinel_process(struct backend_conn *c, int fd, unsigned ready)
{
    return hf__redis_inner_process(&conn_of(c)->inners, fd, ready);
}

static void sentinel_close(struct backend_conn *c)
{
    struct sentinel *s = conn_of(c);
    s->is_led = s->is_up = 1; /* no Sentinel is asked any more */
    hf__redis_inner_close(&s->inners);
    sentinel_free(s);
}

static void sentinel_forked(struct backend_conn *c)
{
    hf__redis_inner_forked(&conn_of(c)->inners);
}

const struct backend hf__backend_sentinel = {
    .abi = BACKEND_ABI,
    .scheme = "redis-sentinel",
    .caps = HF_CAP_FENCE | HF_CAP_LEASE | HF_CAP_DETACHED | HF_CAP_WATCH
            | HF_CAP_BREAK | HF_CAP_LIST | HF_CAP_VALUE | HF_CAP_GUARD
            | HF_CAP_STOCK | REDIS_KINDS,
    .options = "db format fence waitaof wait wait_renew member sentinel_user "
               "sentinel_password_file " BOUNDS_OPTIONS " " LINK_OPTIONS,
    .open = sentinel_open,
    .conn_caps = sentinel_caps,
    .submit = sentinel_submit,
    .flush = sentinel_flush,
    .process = sentinel_process,
    .close = sentinel_close,
    .forked = sentinel_forked,
};
