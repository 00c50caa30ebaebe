/*
 * etcd_beside.c: see etcd_beside.h.  One rule: our side says nothing but the
 * address; the shape of the keys is the same without an option.
 */
#include "etcd_beside.h"

#include "lib/rig_etcd.h"

static struct etcd_beside beside;

void etcd_beside_serve(struct lab_etcd *server)
{
    etcd_begin(server, NULL);
    rig_begin_at(server->url);
}

void etcd_beside_start(struct peer *p, const struct lab_etcd *server,
                       const char *language)
{
    struct lab_server where = {.port = server->port};
    p->language = language;
    peer_start(p, &where, 0);
}

struct etcd_beside *etcd_beside_begin(const char *language)
{
    etcd_beside_serve(&beside.server);
    etcd_beside_start(&beside.there, &beside.server, language);
    return &beside;
}
