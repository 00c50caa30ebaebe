/*
 * zookeeper_beside.c: see zookeeper_beside.h.  One rule: our side says nothing
 * but the address; the names of the nodes are the same without an option.
 */
#include "zookeeper_beside.h"

#include "lib/rig_zookeeper.h"

static struct zookeeper_beside beside;

void zookeeper_beside_serve(struct zookeeper_beside *t, const char *options)
{
    *t = (struct zookeeper_beside){.name = "a"};
    zookeeper_begin(&t->server);
    snprintf(t->url, sizeof t->url, "%s/locks?chroot=create&%s", t->server.url,
             options);
    rig_begin_at(t->url);
}

void zookeeper_beside_start(struct zookeeper_beside *t, struct peer *p,
                            const char *language)
{
    struct lab_server where = {.port = t->server.port};
    p->language = language;
    peer_start(p, &where, 0);
}

struct zookeeper_beside *zookeeper_beside_begin(const char *language,
                                                const char *options)
{
    zookeeper_beside_serve(&beside, options);
    zookeeper_beside_start(&beside, &beside.there, language);
    return &beside;
}

static hf_lock *lock_of(const struct zookeeper_beside *t, hf_client *c)
{
    struct hf_lock_options o = HF_LOCK_OPTIONS_INIT;
    o.order = t->order;
    return rig_lock_as(c, t->name, &o);
}

void zookeeper_beside_open(struct zookeeper_beside *t)
{
    if (!t->client) t->client = rig_client(NULL);
    t->lock = lock_of(t, t->client);
}

hf_lock *zookeeper_beside_another(const struct zookeeper_beside *t)
{
    return lock_of(t, rig_client(NULL));
}

void zookeeper_beside_claim(const char *language, zookeeper_claim claim)
{
    struct zookeeper_beside *t = zookeeper_beside_begin(language, "session=4m");
    t->order = HF_ORDER_ANY;
    t->name = "plain";
    zookeeper_beside_open(t);
    claim(t);
    t->order = HF_ORDER_FAIR;
    t->name = "fair";
    zookeeper_beside_open(t);
    claim(t);
}
