/*
 * classic.c: classic subscriptions beside sharded ones.
 *
 * Redisson before 3.28 often publishes by PUBLISH in a cluster whose servers
 * have SPUBLISH, and a sharded subscription does not hear that.  A client that
 * was told so (pubsub=both), or that was refused by a lock of Redisson's, also
 * subscribes in the classic way.  One rule: the sharded subscription decides
 * whether a name is watched; the classic one goes out just before it and is
 * ended with it.
 */
#include <string.h>

#include "backend/redis/cluster/cluster.h"
#include "backend/redis/link/link.h"
#include "backend/redis/redis.h"
#include "backend/redis/watch/classic.h"
#include "backend/redis/watch/table.h"
#include "base/math.h"

static int is_wanted(const struct backend_conn *c, const struct watch *w)
{
    return c->is_sharded && c->hears_both && !w->is_own;
}

int hf__redis_classic_subscribe(struct backend_conn *c, const struct watch *w)
{
    if (!is_wanted(c, w)) return 0;
    hf__redis_cmd_begin(&c->cmd, "SUBSCRIBE");
    hf__redis_cmd_bytes(&c->cmd, w->channel, w->channel_len);
    struct flight *f = hf__redis_link_push(&c->sub, FLIGHT_SUBSCRIBE);
    if (!f) return -1;
    /* No server redirects it, and no request waits for its answer. */
    f->slot = HASH_SLOT_NONE;
    return 0;
}

int hf__redis_classic_unsubscribe(struct backend_conn *c, const char *channel,
                                  size_t len)
{
    if (!c->is_sharded || !c->hears_both || c->sub.state != LINK_UP) return 0;
    hf__redis_cmd_begin(&c->cmd, "UNSUBSCRIBE");
    hf__redis_cmd_bytes(&c->cmd, channel, len);
    struct flight *f = hf__redis_link_push(&c->sub, FLIGHT_UNSUBSCRIBE);
    if (!f) return -1;
    f->slot = HASH_SLOT_NONE;
    return 0;
}

static void each_subscribe(struct backend_conn *c, struct watch **at)
{
    if (hf__redis_classic_subscribe(c, *at) != 0) c->watch_starved = 1;
}

void hf__redis_classic_learn(struct backend_conn *c)
{
    if (!c->is_sharded || c->hears_both) return;
    c->hears_both = 1;
    if (c->sub.state != LINK_UP) return;
    c->watch_starved = 0;
    hf__redis_watches_each(c, each_subscribe);
    if (c->watch_starved)
        hf__redis_link_fail(&c->sub, HF_NOMEM, 0, "watch: out of memory");
}

static uint64_t hash_of(const struct resp *channel)
{
    return hash64(channel->text, channel->len) | 1;
}

int hf__redis_classic_heard(struct backend_conn *c, const struct resp *v)
{
    uint64_t last = c->heard;
    c->heard = 0;
    if (!c->hears_both || !hf__redis_resp_is_array(v, 3)) return 0;
    const struct resp *channel = hf__redis_resp_at(v, 1);
    if (channel->type != RESP_STRING) return 0;
    if (hf__redis_resp_is_text(v->first, "smessage"))
        c->heard = hash_of(channel);
    if (!hf__redis_resp_is_text(v->first, "message")) return 0;
    if (hash_of(channel) != last)
        hf__redis_watches_wake(c, channel, hf__redis_resp_at(v, 2));
    return 1;
}
