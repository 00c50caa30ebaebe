/*
 * stake.c: see stake.h.  One rule: every key of this client that may exist has
 * a stake, until it is released or its lease is gone.
 */
#include "backend/etcd/stake.h"

#include <stdio.h>
#include <string.h>

#include "backend/etcd/etcd.h"
#include "base/math.h"

static struct stake **bucket_of(struct backend_conn *c,
                                const struct request *req)
{
    uint64_t h = hash64(req->name, req->name_len) + req->attempt;
    return &c->stakes.buckets[h % STAKE_BUCKETS];
}

struct stake *hf__etcd_stake(struct backend_conn *c, const struct request *req)
{
    struct stake *s = *bucket_of(c, req);
    while (s
           && (s->attempt != req->attempt || s->name_len != req->name_len
               || memcmp(s->name, req->name, s->name_len) != 0
               || strcmp(s->owner, req->owner) != 0))
        s = s->next;
    return s;
}

struct stake *hf__etcd_stake_make(struct backend_conn *c,
                                  const struct request *req, struct lease *x)
{
    struct stake **at = bucket_of(c, req);
    struct stake *s =
        hf__alloc_zero(c->env->alloc, sizeof *s + req->name_len + 1);
    if (!s) return NULL;
    s->lease = x;
    s->key_lease = x->id;
    x->refs++;
    s->is_detached = (req->flags & REQ_DETACHED) != 0;
    s->count = req->count;
    s->lease_us = req->lease_us;
    s->since_us = hf__etcd_wall(c);
    s->attempt = req->attempt;
    memcpy(s->owner, req->owner, sizeof s->owner);
    snprintf(s->info, sizeof s->info, "%s", req->info ? req->info : "");
    s->name_len = req->name_len;
    memcpy(s->name, req->name, req->name_len);
    s->next = *at;
    *at = s;
    return s;
}

static void unlink_free(struct backend_conn *c, struct stake **at)
{
    struct stake *s = *at;
    *at = s->next;
    s->lease->refs--;
    hf__free(c->env->alloc, s);
}

void hf__etcd_stake_drop(struct backend_conn *c, struct stake *s)
{
    uint64_t h = hash64(s->name, s->name_len) + s->attempt;
    struct stake **at = &c->stakes.buckets[h % STAKE_BUCKETS];
    while (*at != s) at = &(*at)->next;
    unlink_free(c, at);
}

void hf__etcd_stakes_drop(struct backend_conn *c, const struct lease *x)
{
    if (x && !x->refs) return;
    for (size_t i = 0; i < STAKE_BUCKETS; i++)
        for (struct stake **at = &c->stakes.buckets[i]; *at;) {
            if (!x || (*at)->lease == x)
                unlink_free(c, at);
            else
                at = &(*at)->next;
        }
}

void hf__etcd_stake_move(struct stake *s, struct lease *x)
{
    s->lease->refs--;
    s->lease = x;
    x->refs++;
}

void hf__etcd_stake_key(const struct backend_conn *c, const struct stake *s,
                        struct key *k)
{
    hf__etcd_key_own(k, c->prefix, s->name, s->name_len, s->key_lease,
                     s->attempt);
}

size_t hf__etcd_stake_value(const struct stake *s, char out[KEY_VALUE_MAX])
{
    struct key_value v = {.attempt = s->attempt,
                          .since_us = s->since_us,
                          .lease_us = s->lease_us,
                          .count = s->count,
                          .is_detached = s->is_detached};
    memcpy(v.owner, s->owner, sizeof v.owner);
    memcpy(v.info, s->info, sizeof v.info);
    return hf__etcd_value_write(&v, out);
}
