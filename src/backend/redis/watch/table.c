/*
 * table.c: the table of watched names, by channel.  One rule: a watch
 * that is removed is also taken out of every flight that names it.
 */
#include <string.h>

#include "backend/redis/cluster/cluster.h"
#include "backend/redis/kind/queue.h"
#include "backend/redis/kind/command.h"
#include "backend/redis/redis.h"
#include "backend/redis/sentinel/ask.h"
#include "backend/redis/watch/table.h"
#include "base/math.h"

static size_t bucket_of(const struct watches *w, const char *data, size_t len)
{
    return (size_t)hash64(data, len) & (w->size - 1);
}

static int is_on(const struct watch *w, const char *channel, size_t len)
{
    return w->channel_len == len && !memcmp(w->channel, channel, len);
}

static int table_grow(struct backend_conn *c)
{
    struct watches bigger = {.size = c->watches.size ? c->watches.size * 2 : 64,
                             .len = c->watches.len};
    bigger.buckets =
        hf__alloc_zero(c->env->alloc, bigger.size * sizeof *bigger.buckets);
    if (!bigger.buckets) return -1;
    for (size_t i = 0; i < c->watches.size; i++) {
        struct watch *w = c->watches.buckets[i];
        while (w) {
            struct watch *next = w->next;
            size_t to = bucket_of(&bigger, w->channel, w->channel_len);
            w->next = bigger.buckets[to];
            bigger.buckets[to] = w;
            w = next;
        }
    }
    hf__free(c->env->alloc, c->watches.buckets);
    c->watches = bigger;
    return 0;
}

static int is_named(const struct watch *w, const char *name, size_t name_len)
{
    return w->name_len == name_len && !memcmp(w->name, name, name_len);
}

/* Where the watch of `req`'s name is linked, or the end of its bucket. */
struct watch **hf__redis_watches_find(struct backend_conn *c,
                                      const struct request *req, int is_own)
{
    static struct watch *none;
    struct command *cmd = &c->cmd;
    hf__redis_cmd_begin(cmd, "");
    if (c->master)
        hf__redis_cmd_bytes(cmd, req->name, req->name_len);
    else if (is_own)
        hf__redis_queue_put_channel(c, req);
    else
        hf__redis_put_channel(cmd, req);
    if (c->watches.size == 0) return &none;
    size_t i = bucket_of(&c->watches, cmd->argv[1], cmd->lens[1]);
    struct watch **at = &c->watches.buckets[i];
    for (; *at; at = &(*at)->next)
        if ((*at)->kind == req->kind && (*at)->is_own == is_own
            && is_named(*at, req->name, req->name_len))
            break;
    return at;
}

/* A new watch; its channel is what hf__redis_watches_find() left in the
 * command. */
struct watch *hf__redis_watches_add(struct backend_conn *c,
                                    const struct request *req, int is_own)
{
    if (c->watches.len >= c->watches.size && table_grow(c) != 0) return NULL;
    const char *channel = c->cmd.argv[1];
    size_t channel_len = c->cmd.lens[1];
    struct watch *w = hf__alloc_zero(c->env->alloc, sizeof *w + req->name_len
                                                        + 1 + channel_len);
    if (!w) return NULL;
    w->kind = req->kind;
    w->is_own = is_own;
    w->name_len = req->name_len;
    memcpy(w->name, req->name, req->name_len);
    w->channel = w->name + req->name_len + 1;
    w->channel_len = channel_len;
    memcpy(w->channel, channel, channel_len);
    size_t i = bucket_of(&c->watches, channel, channel_len);
    w->next = c->watches.buckets[i];
    c->watches.buckets[i] = w;
    c->watches.len++;
    return w;
}

void hf__redis_watches_remove(struct backend_conn *c, struct watch **at)
{
    struct watch *w = *at;
    struct flight *f;
    for (size_t i = 0; (f = hf__redis_flight_nth(&c->sub, i)) != NULL; i++)
        if (f->watch == w) f->watch = NULL;
    if (w->half) w->half->half = NULL;
    *at = w->next;
    c->watches.len--;
    hf__free(c->env->alloc, w);
}

void hf__redis_watches_drop(struct backend_conn *c, struct watch *w)
{
    size_t i = bucket_of(&c->watches, w->channel, w->channel_len);
    struct watch **at = &c->watches.buckets[i];
    while (*at != w) at = &(*at)->next;
    hf__redis_watches_remove(c, at);
}

int hf__redis_watches_on(struct backend_conn *c, const char *channel,
                         size_t len)
{
    size_t i = bucket_of(&c->watches, channel, len);
    for (struct watch *w = c->watches.buckets[i]; w; w = w->next)
        if (is_on(w, channel, len)) return 1;
    return 0;
}

/* Call fn for each watch; it may remove the one it is given. */
void hf__redis_watches_each(struct backend_conn *c,
                            void (*fn)(struct backend_conn *, struct watch **))
{
    for (size_t i = 0; i < c->watches.size; i++) {
        struct watch **at = &c->watches.buckets[i];
        while (*at) {
            struct watch *w = *at;
            fn(c, at);
            if (*at == w) at = &w->next;
        }
    }
}

/* 1 if the name was woken already: one wake serves all its kinds. */
static int is_woken(const struct watch *first, const struct watch *w)
{
    for (; first != w; first = first->next)
        if (is_on(first, w->channel, w->channel_len)
            && is_named(first, w->name, w->name_len))
            return 1;
    return 0;
}

void hf__redis_watches_wake(struct backend_conn *c, const struct resp *channel,
                            const struct resp *message)
{
    if (c->watches.size == 0) return;
    size_t i = bucket_of(&c->watches, channel->text, channel->len);
    const struct watch *first = c->watches.buckets[i];
    for (const struct watch *w = first; w; w = w->next) {
        if (!is_on(w, channel->text, channel->len)) continue;
        if (w->is_own)
            hf__redis_queue_handed(c, w, message);
        else if (!is_woken(first, w))
            c->env->wake(c->env, w->name, w->name_len);
    }
}

static void each_free(struct backend_conn *c, struct watch **at)
{
    hf__redis_watches_remove(c, at);
}

void hf__redis_watches_free(struct backend_conn *c)
{
    hf__redis_watches_each(c, each_free);
    hf__free(c->env->alloc, c->watches.buckets);
    c->watches = (struct watches){0};
}
