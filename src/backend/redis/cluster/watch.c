/*
 * watch.c: watched names, and where they are subscribed.
 *
 * A name is subscribed at the node that serves its slot, so that a release
 * there can count the listeners; sharded messages are heard nowhere else.  When
 * the slot or the node goes, the watch follows by itself.  One rule: a waiter
 * that was told that a name is watched is woken once more after every time in
 * which a message may have been missed.
 */
#include <string.h>

#include "backend/redis/cluster/cluster.h"
#include "backend/redis/inner/inner.h"
#include "backend/redis/redis.h"
#include "base/math.h"

static struct cluster_watch **watch_find(struct cluster *c, enum lock_kind kind,
                                         const char *name, size_t name_len)
{
    size_t i = (size_t)hash64(name, name_len) & (c->watches_size - 1);
    struct cluster_watch **at = &c->watches[i];
    while (*at
           && ((*at)->kind != kind || (*at)->name_len != name_len
               || memcmp((*at)->name, name, name_len) != 0))
        at = &(*at)->next;
    return at;
}

static int table_grow(struct cluster *c)
{
    struct cluster_watch **old = c->watches;
    size_t old_size = c->watches_size;
    size_t size = old_size ? old_size * 2 : 64;
    struct cluster_watch **bigger =
        hf__alloc_zero(c->env->alloc, size * sizeof *bigger);
    if (!bigger) return -1;
    c->watches = bigger;
    c->watches_size = size;
    for (size_t i = 0; i < old_size; i++)
        while (old[i]) {
            struct cluster_watch *w = old[i];
            old[i] = w->next;
            w->next = NULL;
            *watch_find(c, w->kind, w->name, w->name_len) = w;
        }
    hf__free(c->env->alloc, old);
    return 0;
}

static struct cluster_watch *watch_add(struct cluster *c,
                                       const struct request *req)
{
    if (c->watches_len >= c->watches_size && table_grow(c) != 0) return NULL;
    struct cluster_watch *w =
        hf__alloc_zero(c->env->alloc, sizeof *w + req->name_len + 1);
    if (!w) return NULL;
    w->kind = req->kind;
    w->name_len = req->name_len;
    memcpy(w->name, req->name, req->name_len);
    *watch_find(c, w->kind, w->name, w->name_len) = w;
    c->watches_len++;
    return w;
}

static void watch_remove(struct cluster *c, struct cluster_watch **at)
{
    *at = (*at)->next;
    c->watches_len--;
}

/* Subscribe the name at the node that serves its slot. */
static void watch_fly(struct cluster *c, struct cluster_watch *w)
{
    int64_t deadline = cluster_now(c) + c->env->conf->timeout_us;
    if (w->asked) deadline = w->asked->deadline_us;
    w->own = (struct request){.verb = VERB_WATCH,
                              .kind = w->kind,
                              .flags = w->flags,
                              .name = w->name,
                              .name_len = w->name_len,
                              .deadline_us = deadline,
                              .priv_ptr = w};
    w->at = NULL;
    w->is_lost = 0;
    w->is_flying = 1;
    hf__redis_cluster_route(c, &w->own);
}

/* ---- the engine's requests ---- */

void hf__redis_cluster_watch_begin(struct cluster *c, struct request *req)
{
    struct cluster_watch *w = NULL;
    if (c->watches_size > 0)
        w = *watch_find(c, req->kind, req->name, req->name_len);
    if (!w) w = watch_add(c, req);
    if (!w || w->asked) {
        hf__redis_cluster_route_answer_soon(c, req, V_ERROR);
        return;
    }
    w->asked = req;
    w->is_gone = 0;
    w->flags |= req->flags & REQ_QUEUE;
    if (!w->is_flying) watch_fly(c, w);
}

void hf__redis_cluster_watch_end(struct cluster *c, struct request *req)
{
    struct cluster_watch **at = NULL, *w = NULL;
    if (c->watches_size > 0)
        at = watch_find(c, req->kind, req->name, req->name_len);
    if (at) w = *at;
    struct cluster_node *n = w ? w->at : NULL;
    if (w && w->asked)
        hf__redis_cluster_route_answer_soon(c, w->asked, V_UNSENT);
    if (w) w->asked = NULL;
    if (w && w->is_flying && hf__redis_cluster_route_unwait(c, &w->own))
        w->is_flying = 0;
    if (w && w->is_flying) {
        /* Once it is subscribed, it is ended there: gone_landed(). */
        w->is_gone = 1;
    } else if (w) {
        watch_remove(c, at);
        hf__free(c->env->alloc, w);
    }
    if (n) {
        n->open++;
        hf__redis_inner_submit(&n->inner, req);
    } else {
        hf__redis_cluster_route_answer_soon(c, req, V_GRANTED);
    }
}

/* ---- what comes back ---- */

/* A watch that was ended meanwhile is subscribed now: end it there. */
static void gone_landed(struct cluster *c, struct cluster_node *n,
                        struct cluster_watch *w, const struct reply *reply)
{
    watch_remove(c, watch_find(c, w->kind, w->name, w->name_len));
    if (n && reply->verdict == V_GRANTED && !n->inner.is_dropped) {
        w->own.verb = VERB_UNWATCH;
        n->open++;
        hf__redis_inner_submit(&n->inner, &w->own);
        return;
    }
    hf__free(c->env->alloc, w);
}

void hf__redis_cluster_watch_ended(struct cluster *c, struct request *own)
{
    hf__free(c->env->alloc, own->priv_ptr);
}

/* Subscribe again later; until then the waiters poll. */
static void watch_lost(struct cluster *c, struct cluster_watch *w)
{
    w->is_lost = 1;
    c->rewatch_us = min64(c->rewatch_us, cluster_now(c) + REWATCH_US);
}

void hf__redis_cluster_watch_replied(struct cluster *c, struct cluster_node *n,
                                     struct request *own,
                                     const struct reply *reply)
{
    struct cluster_watch *w = (struct cluster_watch *)own;
    struct request *asked = w->asked;
    w->is_flying = 0;
    if (w->is_gone) {
        gone_landed(c, n, w, reply);
        return;
    }
    w->asked = NULL;
    int is_granted = reply->verdict == V_GRANTED;
    if (is_granted && !n->inner.is_dropped) {
        w->at = n;
        if (!asked) c->env->wake(c->env, w->name, w->name_len);
    } else if (asked && !is_granted) {
        watch_remove(c, watch_find(c, w->kind, w->name, w->name_len));
        hf__free(c->env->alloc, w);
    } else {
        /* Refused; or confirmed by a node that was dropped since. */
        watch_lost(c, w);
    }
    if (asked) c->env->reply(c->env, asked, reply);
}

void hf__redis_cluster_watch_unwatched(struct backend_conn *conn,
                                       enum lock_kind kind, const char *name,
                                       size_t name_len)
{
    struct inner *inner = (struct inner *)conn->env;
    struct cluster *c = cluster_of(inner);
    if (c->watches_size == 0 || c->is_closing) return;
    struct cluster_watch *w = *watch_find(c, kind, name, name_len);
    if (!w || w->is_flying || w->at != (struct cluster_node *)inner) return;
    hf__redis_cluster_map_refresh(c);
    watch_fly(c, w);
}

/* ---- all of them ---- */

static void each(struct cluster *c,
                 void (*fn)(struct cluster *, struct cluster_watch *,
                            const struct cluster_node *),
                 const struct cluster_node *n)
{
    for (size_t i = 0; i < c->watches_size; i++)
        for (struct cluster_watch *w = c->watches[i]; w; w = w->next)
            fn(c, w, n);
}

static void each_leave(struct cluster *c, struct cluster_watch *w,
                       const struct cluster_node *n)
{
    if (w->at != n) return;
    w->at = NULL;
    watch_lost(c, w);
    c->rewatch_us = cluster_now(c);
}

void hf__redis_cluster_watch_leave(struct cluster *c,
                                   const struct cluster_node *n)
{
    each(c, each_leave, n);
}

static void each_again(struct cluster *c, struct cluster_watch *w,
                       const struct cluster_node *n)
{
    (void)n;
    if (w->is_lost && !w->is_flying) watch_fly(c, w);
}

void hf__redis_cluster_watch_tick(struct cluster *c)
{
    if (cluster_now(c) < c->rewatch_us) return;
    c->rewatch_us = TIME_NEVER;
    each(c, each_again, NULL);
}

void hf__redis_cluster_watch_free(struct cluster *c)
{
    for (size_t i = 0; i < c->watches_size; i++)
        while (c->watches[i]) {
            struct cluster_watch *w = c->watches[i];
            c->watches[i] = w->next;
            hf__free(c->env->alloc, w);
        }
    hf__free(c->env->alloc, c->watches);
    c->watches = NULL;
    c->watches_size = 0;
}
