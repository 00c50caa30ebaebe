/*
 * table.c: all places of a connection, by the node of their lock.  One rule: a
 * dropped place is not found any more, but stays in memory until its last call
 * is answered.
 */
#include <stdio.h>
#include <string.h>

#include "backend/zookeeper/zookeeper.h"
#include "base/math.h"

#define BUCKETS_MIN 64

const char *hf__zookeeper_path(struct backend_conn *c, const char *name,
                               size_t len)
{
    char node[NODE_NAME_MAX + 1];
    hf__zookeeper_name_escape(name, len, node);
    snprintf(c->path, sizeof c->path, "%s/%s", c->root, node);
    return c->path;
}

const char *hf__zookeeper_place_path(struct backend_conn *c,
                                     const struct place *p)
{
    snprintf(c->path, sizeof c->path, "%s/%s", p->parent, p->node);
    return c->path;
}

static uint32_t hash_of(const char *parent, size_t len)
{
    return (uint32_t)hash64(parent, len);
}

struct place *hf__zookeeper_places_of(const struct backend_conn *c,
                                      const char *parent, size_t len)
{
    const struct places *t = &c->places;
    return t->size ? t->buckets[hash_of(parent, len) & (t->size - 1)] : NULL;
}

struct place *hf__zookeeper_place_find(struct backend_conn *c,
                                       const struct request *req)
{
    const char *parent = hf__zookeeper_path(c, req->name, req->name_len);
    struct place *p = hf__zookeeper_places_of(c, parent, strlen(parent));
    while (p
           && (p->attempt != req->attempt || strcmp(p->owner, req->owner) != 0
               || strcmp(p->parent, parent) != 0))
        p = p->next;
    return p;
}

/* 0, or -1 without memory. */
static int table_grow(struct backend_conn *c)
{
    struct places *t = &c->places;
    size_t size = t->size ? t->size * 2 : BUCKETS_MIN;
    if (t->len < t->size) return 0;
    struct place **more =
        hf__alloc_zero(c->env->alloc, size * sizeof(struct place *));
    if (!more) return -1;
    for (size_t i = 0; i < t->size; i++)
        for (struct place *p = t->buckets[i], *next; p; p = next) {
            next = p->next;
            p->next = more[p->hash & (size - 1)];
            more[p->hash & (size - 1)] = p;
        }
    hf__free(c->env->alloc, t->buckets);
    t->buckets = more;
    t->size = size;
    return 0;
}

struct place *hf__zookeeper_place_make(struct backend_conn *c,
                                       const struct request *req)
{
    const char *parent = hf__zookeeper_path(c, req->name, req->name_len);
    size_t len = strlen(parent);
    if (table_grow(c) != 0) return NULL;
    const char *info = req->info ? req->info : "";
    struct place *p = hf__alloc_zero(
        c->env->alloc, sizeof *p + len + req->name_len + PLACE_INFO_MAX + 3);
    if (!p) return NULL;
    memcpy(p->parent, parent, len + 1);
    p->name = p->parent + len + 1;
    memcpy(p->name, req->name, req->name_len);
    p->name_len = req->name_len;
    p->info = p->name + req->name_len + 1;
    snprintf(p->info, PLACE_INFO_MAX, "%s", info);
    p->attempt = req->attempt;
    snprintf(p->owner, sizeof p->owner, "%s", req->owner);
    hf__zookeeper_name_prefix(p->owner, p->attempt, c->session.id, p->prefix);
    p->hash = hash_of(p->parent, len);
    struct place **at = &c->places.buckets[p->hash & (c->places.size - 1)];
    p->next = *at;
    *at = p;
    c->places.len++;
    return p;
}

static void place_free(struct backend_conn *c, struct place *p)
{
    hf__free(c->env->alloc, p->before);
    hf__free(c->env->alloc, p);
}

void hf__zookeeper_place_drop(struct backend_conn *c, struct place *p)
{
    struct places *t = &c->places;
    struct place **at = &t->buckets[p->hash & (t->size - 1)];
    while (*at != p) at = &(*at)->next;
    *at = p->next;
    t->len--;
    t->held -= p->ends_us != 0;
    p->is_dropped = 1;
    p->job = p->leaver = NULL;
    if (p->calls == 0) place_free(c, p);
}

void hf__zookeeper_place_unref(struct backend_conn *c, struct place *p)
{
    p->calls--;
    if (p->is_dropped && p->calls == 0) place_free(c, p);
}

struct place *hf__zookeeper_places_next(const struct backend_conn *c,
                                        size_t *bucket, struct place *after)
{
    struct place *p = after;
    while (!p && *bucket < c->places.size) p = c->places.buckets[(*bucket)++];
    return p;
}

void hf__zookeeper_places_free(struct backend_conn *c)
{
    for (size_t i = 0; i < c->places.size; i++)
        while (c->places.buckets[i])
            hf__zookeeper_place_drop(c, c->places.buckets[i]);
    hf__free(c->env->alloc, c->places.buckets);
    c->places = (struct places){.ends_us = TIME_NEVER};
}
