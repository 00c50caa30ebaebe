/*
 * cluster.c: the redis-cluster backend's table and its URL.  One rule: it is
 * made of redis connections, and does nothing that one of them could do.
 */
#include "backend/redis/cluster/cluster.h"
#include "backend/redis/inner/bounds.h"
#include "backend/redis/inner/inner.h"
#include "backend/redis/redis.h"

#include <string.h>

#include "base/error.h"
#include "base/math.h"

static struct cluster *cluster(struct backend_conn *c)
{
    return (struct cluster *)(void *)c;
}

/* ---- work ---- */

void hf__redis_cluster_plan(struct cluster *c)
{
    int64_t due = min64(c->refresh_us, c->stagger_us);
    if (c->asking) due = min64(due, c->ask_due_us);
    due = min64(due, min64(c->waiting_us, c->rewatch_us));
    due = min64(due, c->look_us);
    if (due != c->inners.own_us) hf__redis_inner_timer(&c->inners, due);
}

static void cluster_timer(struct inner_set *inners)
{
    struct cluster *c = (struct cluster *)inners;
    hf__redis_cluster_silence_tick(c);
    hf__redis_cluster_map_tick(c);
    hf__redis_cluster_route_expire(c);
    hf__redis_cluster_watch_tick(c);
}

static void cluster_submit(struct backend_conn *conn, struct request *req)
{
    struct cluster *c = cluster(conn);
    req->priv = 0;
    req->priv_ptr = NULL;
    if (req->verb == VERB_WATCH)
        hf__redis_cluster_watch_begin(c, req);
    else if (req->verb == VERB_UNWATCH)
        hf__redis_cluster_watch_end(c, req);
    else if (req->verb != VERB_RELEASE || !hf__redis_cluster_undo(c, req))
        hf__redis_cluster_route(c, req);
}

static void cluster_flush(struct backend_conn *conn)
{
    struct cluster *c = cluster(conn);
    hf__redis_inner_flush(&c->inners);
    /* Inside process(), its end sends the answers. */
    if (c->inners.depth == 0) hf__redis_cluster_route_answers(c);
    hf__redis_cluster_plan(c);
}

static int cluster_process(struct backend_conn *conn, int fd, unsigned ready)
{
    struct cluster *c = cluster(conn);
    int done = hf__redis_inner_process(&c->inners, fd, ready);
    if (c->answers.first) hf__redis_cluster_route_answers(c);
    hf__redis_cluster_plan(c);
    return done;
}

static void cluster_wake(struct inner *inner, const char *name, size_t name_len)
{
    struct cluster *c = cluster_of(inner);
    c->env->wake(c->env, name, name_len);
}

static const struct inner_hooks hooks = {.reply = hf__redis_cluster_route_reply,
                                         .link = hf__redis_cluster_map_link,
                                         .wake = cluster_wake,
                                         .timer = cluster_timer,
                                         .dropped = hf__redis_cluster_dropped};

/* ---- the URL ---- */

static int pubsub_read(struct cluster *c, struct hf_error *err)
{
    static const char *const words[] = {[PUBSUB_AUTO] = "auto",
                                        [PUBSUB_CLASSIC] = "classic",
                                        [PUBSUB_SHARDED] = "sharded",
                                        [PUBSUB_BOTH] = "both"};
    const char *text = hf__url_option(&c->url, "pubsub");
    if (!text) return HF_OK;
    for (int i = PUBSUB_AUTO; i <= PUBSUB_BOTH; i++) {
        c->pubsub = (enum pubsub)i;
        if (!strcmp(text, words[i])) return HF_OK;
    }
    return hf__error_set(err, HF_INVALID,
                         "url: pubsub: \"%.40s\" is neither auto, classic, "
                         "sharded nor both",
                         text);
}

static int db_check(const struct url *url, struct hf_error *err)
{
    const char *db = hf__url_option(url, "db");
    const char *path = url->path ? url->path : "";
    if (!db && path[0] == '/' && path[1]) db = path + 1;
    if (!db || !strcmp(db, "0")) return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "url: database: \"%.40s\": a cluster has only "
                         "database 0",
                         db);
}

static int seeds_read(struct cluster *c, struct hf_error *err)
{
    const char *list = c->url.host;
    while (*list) {
        struct url one;
        if (hf__url_host_next(&list, &one, err) != HF_OK) return HF_INVALID;
        if (c->seeds_len == CLUSTER_SEEDS_MAX)
            return hf__error_set(err, HF_INVALID,
                                 "url: host: more than %d are given",
                                 CLUSTER_SEEDS_MAX);
        struct cluster_seed *s = &c->seeds[c->seeds_len];
        s->port = one.port ? one.port : REDIS_PORT;
        s->host = hf__strdup(c->env->alloc, one.host);
        c->seeds_len++;
        if (!s->host
            || hf__redis_bounds_list(&c->bounds, c->env->alloc, s->host))
            return hf__error_set(err, HF_NOMEM, "redis-cluster: out of memory");
    }
    return HF_OK;
}

/* Where `at`, a pointer into the text of `from`, is in the copy `to`. */
static const char *moved(const struct url *from, struct url *to, const char *at)
{
    return at ? to->text + (at - from->text) : NULL;
}

static void url_copy(struct url *to, const struct url *from)
{
    *to = *from;
    to->user = moved(from, to, from->user);
    to->password = moved(from, to, from->password);
    to->host = moved(from, to, from->host);
    to->scheme = "redis";
    to->path = NULL;
    for (size_t i = 0; i < from->options_len; i++) {
        to->options[i].key = moved(from, to, from->options[i].key);
        /* An option without '=' has "", which is not part of the text. */
        const char *value = from->options[i].value;
        to->options[i].value = *value ? moved(from, to, value) : "";
    }
}

/* ---- life ---- */

static void cluster_free(struct cluster *c)
{
    const struct allocator *a = c->env->alloc;
    hf__redis_cluster_watch_free(c);
    for (int i = 0; i < c->nodes_len; i++) {
        if (!c->nodes[i]) continue;
        hf__free(a, c->nodes[i]->host);
        hf__free(a, c->nodes[i]);
    }
    for (int i = 0; i < c->seeds_len; i++) hf__free(a, c->seeds[i].host);
    hf__redis_bounds_free(&c->bounds, a);
    hf__wipe(&c->url, sizeof c->url);
    hf__tls_context_close(c->conf.tls);
    hf__free(a, c);
}

/* Connect to the first seed; that also reports what is wrong with the options.
 */
static int first_connect(struct cluster *c, struct hf_error *err)
{
    hf__redis_cluster_map_begin(c);
    const struct cluster_seed *s = &c->seeds[c->seed_next];
    struct cluster_node *n = hf__redis_cluster_node(c, s->host, s->port);
    if (!n) return hf__error_set(err, HF_NOMEM, "redis-cluster: out of memory");
    int status = hf__redis_cluster_connect(c, n, err);
    if (status != HF_OK) return status;
    c->caps = hf__backend_redis.conn_caps(n->inner.conn) & ~HF_CAP_BALLOT;
    c->conf.is_part = 1;
    c->conf.tls = hf__tls_context_share(n->inner.conn->tls);
    hf__redis_cluster_map_tick(c);
    return HF_OK;
}

static int cluster_open(struct backend_env *env, const struct url *url,
                        struct backend_conn **out, struct hf_error *err)
{
    struct cluster *c = hf__alloc_zero(env->alloc, sizeof *c);
    if (!c) return hf__error_set(err, HF_NOMEM, "redis-cluster: out of memory");
    c->env = env;
    c->conf = *env->conf;
    c->refresh_us = c->stagger_us = c->waiting_us = c->rewatch_us = TIME_NEVER;
    c->look_us = TIME_NEVER;
    url_copy(&c->url, url);
    hf__redis_inner_init(&c->inners, env, &hooks);
    hf__redis_cluster_node_kind(&c->node);
    int status = db_check(url, err);
    if (status == HF_OK) status = pubsub_read(c, err);
    if (status == HF_OK)
        status = hf__redis_bounds_read(&c->bounds, env->alloc, url, err);
    if (status == HF_OK) status = seeds_read(c, err);
    if (status == HF_OK) status = first_connect(c, err);
    if (status != HF_OK) {
        c->is_closing = 1;
        hf__redis_inner_close(&c->inners);
        cluster_free(c);
        return status;
    }
    hf__redis_cluster_plan(c);
    *out = (struct backend_conn *)(void *)c;
    return HF_OK;
}

static unsigned cluster_caps(const struct backend_conn *conn)
{
    return ((const struct cluster *)(const void *)conn)->caps;
}

static void cluster_close(struct backend_conn *conn)
{
    struct cluster *c = cluster(conn);
    c->is_closing = 1;
    hf__redis_inner_close(&c->inners);
    hf__redis_cluster_route_answers(c);
    hf__redis_cluster_route_fail(c, HF_CLOSED, "redis-cluster: closed");
    cluster_free(c);
}

static void cluster_forked(struct backend_conn *conn)
{
    hf__redis_inner_forked(&cluster(conn)->inners);
}

const struct backend hf__backend_redis_cluster = {
    .abi = BACKEND_ABI,
    .scheme = "redis-cluster",
    .caps = HF_CAP_FENCE | HF_CAP_LEASE | HF_CAP_DETACHED | HF_CAP_WATCH
            | HF_CAP_BREAK | HF_CAP_LIST | HF_CAP_VALUE | HF_CAP_GUARD
            | HF_CAP_STOCK | REDIS_KINDS,
    .options = REDIS_OPTIONS " pubsub " BOUNDS_OPTIONS,
    .open = cluster_open,
    .conn_caps = cluster_caps,
    .submit = cluster_submit,
    .flush = cluster_flush,
    .process = cluster_process,
    .close = cluster_close,
    .forked = cluster_forked,
};
