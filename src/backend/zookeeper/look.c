/*
 * look.c: who holds a lock, and taking it away.  One rule: a lock is looked at
 * after a sync, so that the server has all that was done before the question;
 * and what is taken away is the very node that was looked at.
 */
#include "backend/zookeeper/look.h"

#include <stdio.h>
#include <string.h>

#include "backend/zookeeper/zookeeper.h"

#define TRIES_MAX 20

static void looked(struct backend_conn *c, const struct call *call,
                   struct answer *a);

/* ---- what a node says --------------------------------------------------- */

/* The next word of what is left of the text. */
static void word_take(const char **at, size_t *left, char *out, size_t size,
                      int rest)
{
    size_t len = 0;
    while (len < *left && (rest || (*at)[len] != ' ')) len++;
    snprintf(out, size, "%.*s", (int)(len < size ? len : size - 1), *at);
    *at += len;
    *left -= len;
    if (*left > 0) {
        ++*at;
        --*left;
    }
}

static int64_t number_of(const char *digits)
{
    int64_t n = 0;
    for (const char *p = digits; *p >= '0' && *p <= '9' && p - digits < 18; p++)
        n = n * 10 + (*p - '0');
    return n;
}

static void foreign_read(struct hf_info *info, const char *node,
                         const char *data, size_t len)
{
    size_t n = 0;
    info->foreign = 1;
    snprintf(info->owner, sizeof info->owner, "%.*s",
             (int)(sizeof info->owner - 1), node);
    /* Curator writes its address. */
    while (data && n < len && data[n] > ' ' && data[n] < 0x7f) n++;
    if (n == len)
        snprintf(info->host, sizeof info->host, "%.*s",
                 (int)(len < sizeof info->host ? len : sizeof info->host - 1),
                 data ? data : "");
}

void hf__zookeeper_node_tell(struct hf_info *info, const char *node,
                             const char *data, size_t len)
{
    static const char ours[] = "holdfast ";
    size_t skip = sizeof ours - 1;
    char pid[24];
    if (!data || len < skip || memcmp(data, ours, skip) != 0) {
        foreign_read(info, node, data, len);
        return;
    }
    data += skip;
    len -= skip;
    word_take(&data, &len, info->owner, sizeof info->owner, 0);
    word_take(&data, &len, pid, sizeof pid, 0);
    info->owner_count = number_of(pid);
    word_take(&data, &len, pid, sizeof pid, 0);
    info->pid = number_of(pid);
    word_take(&data, &len, info->host, sizeof info->host, 0);
    word_take(&data, &len, info->label, sizeof info->label, 1);
}

/* ---- looking ------------------------------------------------------------ */

static void look_again(struct backend_conn *c, struct job *job)
{
    if (job->look->tries++ < TRIES_MAX) {
        const struct request *req = job->req;
        hf__zookeeper_read(c, ZK_GET_CHILDREN,
                           hf__zookeeper_path(c, req->name, req->name_len), 0,
                           looked, job, NULL);
        return;
    }
    hf__zookeeper_refuse(c, job, HF_UNAVAILABLE,
                         "look: it changes hands too often");
}

static void info_tell(struct backend_conn *c, struct job *job)
{
    struct hf_info *info = &job->look->info;
    struct reply rep = {.verdict = V_GRANTED,
                        .node_us = hf__zookeeper_clock_us(c),
                        .ttl_us = -1,
                        .waiters = -1,
                        .info = info};
    info->now_ms = rep.node_us / US_PER_MS;
    /* What we know of the leader's clock is its least. */
    if (info->now_ms < info->since_ms) info->now_ms = info->since_ms;
    if (info->locked) rep.fence = (int64_t)info->fence;
    if (info->ttl_ms >= 0) rep.ttl_us = info->ttl_ms * US_PER_MS;
    hf__zookeeper_reply(c, job, &rep);
}

/* The place of this connection whose node that is; or NULL. */
static struct place *place_of(struct backend_conn *c, const char *parent,
                              const char *node)
{
    struct place *p = hf__zookeeper_places_of(c, parent, strlen(parent));
    while (p && (strcmp(p->node, node) != 0 || strcmp(p->parent, parent) != 0))
        p = p->next;
    return p;
}

/* What the store does not know, this client may. */
static void own_tell(struct backend_conn *c, const struct request *req,
                     struct look *look)
{
    struct hf_info *info = &look->info;
    char parent[ZOOKEEPER_PATH_MAX];
    snprintf(parent, sizeof parent, "%s",
             hf__zookeeper_path(c, req->name, req->name_len));
    const struct place *p = place_of(c, parent, look->node);
    info->mine = req->owner[0] && !strcmp(info->owner, req->owner);
    if (info->mine && req->attempt)
        info->mine = p && p->attempt == req->attempt;
    if (p && p->ends_us) {
        int64_t left_us = p->ends_us - c->env->now(c->env);
        info->owner_count = p->count;
        info->ttl_ms = left_us > 0 ? left_us / US_PER_MS : 0;
    }
    if (info->mine) info->count = info->owner_count;
}

static void broken(struct backend_conn *c, const struct call *call,
                   struct answer *a)
{
    struct job *job = call->job;
    struct look *look = job->look;
    const struct request *req = job->req;
    char parent[ZOOKEEPER_PATH_MAX];
    job->may_have_changed = 0;
    if (a->err == ZK_NO_NODE) {
        look_again(c, job);
        return;
    }
    if (a->err != ZK_OK) {
        hf__zookeeper_refuse_error(c, job, a->err);
        return;
    }
    snprintf(parent, sizeof parent, "%s",
             hf__zookeeper_path(c, req->name, req->name_len));
    struct place *p = place_of(c, parent, look->node);
    info_tell(c, job);
    if (p && p->state != PLACE_LEAVING) hf__zookeeper_place_lost(c, p);
}

static const char *node_path(struct backend_conn *c, const struct job *job)
{
    const struct request *req = job->req;
    hf__zookeeper_path(c, req->name, req->name_len);
    size_t len = strlen(c->path);
    snprintf(c->path + len, sizeof c->path - len, "/%s", job->look->node);
    return c->path;
}

static void first_read(struct backend_conn *c, const struct call *call,
                       struct answer *a)
{
    struct job *job = call->job;
    struct look *look = job->look;
    struct jute_stat stat;
    size_t len = 0;
    if (a->err == ZK_NO_NODE) {
        look_again(c, job);
        return;
    }
    if (a->err != ZK_OK) {
        hf__zookeeper_refuse_error(c, job, a->err);
        return;
    }
    const char *data = hf__zookeeper_in_text(&a->body, &len);
    hf__zookeeper_in_stat(&a->body, &stat);
    hf__zookeeper_holder_tell(&look->info, look->node, data, len, &stat);
    own_tell(c, job->req, look);
    if (job->req->verb == VERB_INSPECT) {
        info_tell(c, job);
        return;
    }
    job->may_have_changed = 1;
    hf__zookeeper_delete(c, node_path(c, job), broken, job, NULL);
}

void hf__zookeeper_holder_tell(struct hf_info *info, const char *node,
                               const char *data, size_t len,
                               const struct jute_stat *stat)
{
    info->locked = 1;
    info->ttl_ms = -1;
    info->owner_count = 1;
    info->fence = (uint64_t)stat->czxid;
    info->since_ms = stat->ctime_ms;
    hf__zookeeper_node_tell(info, node, data, len);
    snprintf(info->layout, sizeof info->layout, "%s",
             info->foreign ? "curator" : "holdfast");
}

/* Where the owner's own place is in the queue. */
static int64_t position_of(struct backend_conn *c, const struct request *req,
                           struct jute_in in)
{
    char parent[ZOOKEEPER_PATH_MAX];
    struct queue_view v;
    snprintf(parent, sizeof parent, "%s",
             hf__zookeeper_path(c, req->name, req->name_len));
    struct place *p = hf__zookeeper_places_of(c, parent, strlen(parent));
    while (p
           && (strcmp(p->owner, req->owner) != 0 || p->state != PLACE_WAITING
               || strcmp(p->parent, parent) != 0))
        p = p->next;
    if (!p) return 0;
    hf__zookeeper_queue_read(&in, p->prefix, p->seq, &v);
    return v.has_own ? v.lower : 0;
}

static void looked(struct backend_conn *c, const struct call *call,
                   struct answer *a)
{
    struct job *job = call->job;
    struct look *look = job->look;
    struct jute_in again = a->body;
    struct queue_view v = {.len = 0};
    look->info = (struct hf_info){.ttl_ms = -2, .waiters = -1};
    if (a->err != ZK_OK && a->err != ZK_NO_NODE) {
        hf__zookeeper_refuse_error(c, job, a->err);
        return;
    }
    if (a->err == ZK_OK)
        hf__zookeeper_queue_read(&a->body, NULL, INT64_MAX, &v);
    look->info.fence = (uint64_t)v.pzxid;
    if (!v.first || v.first_len >= sizeof look->node) {
        info_tell(c, job);
        return;
    }
    look->info.queued = v.len - 1;
    look->info.position = position_of(c, job->req, again);
    memcpy(look->node, v.first, v.first_len);
    look->node[v.first_len] = '\0';
    hf__zookeeper_read(c, ZK_GET_DATA, node_path(c, job), 0, first_read, job,
                       NULL);
}

void hf__zookeeper_look_begin(struct backend_conn *c, struct job *job)
{
    job->look = hf__alloc_zero(c->env->alloc, sizeof *job->look);
    if (!job->look) {
        hf__zookeeper_refuse(c, job, HF_NOMEM, "look: out of memory");
        return;
    }
    hf__zookeeper_sync(c, c->root[0] ? c->root : "/", NULL, NULL);
    look_again(c, job);
}

void hf__zookeeper_look_free(struct backend_conn *c, struct look *look)
{
    hf__free(c->env->alloc, look);
}
