/*
 * play/connect.c: where each client finds the stores and the resource.  One
 * rule: the naive way is told of ports, holdfast's way of a URL.
 */
#include "play/stage.h"

#include <stdio.h>

#include "common/exit.h"
#include "play/etcd.h"

/* The port at which a client finds a store. */
static int client_port(const struct play *p, int client, int store)
{
    int is_behind = p->scene->is_pair || (p->scene->is_far && client == 0);
    if (p->scene->is_etcd) return stage.stores[store].etcd.port;
    return is_behind ? stage.front.port : stage.stores[store].redis.port;
}

/* How many stores a client asks. */
static int client_stores(const struct play *p)
{
    return p->scene->is_pair ? 1 : stage.stores_len;
}

/* The URL of holdfast's clients, for a machine that may be slow. */
static void url_write(const struct play *p, int client, char *out, size_t size)
{
    int stores = client_stores(p);
    const char *scheme = p->scene->is_etcd ? "etcd"
                         : stores > 1      ? "redlock"
                                           : "redis";
    size_t len = (size_t)snprintf(out, size, "%s://", scheme);
    for (int i = 0; i < stores; i++)
        len += (size_t)snprintf(out + len, size - len, "%s127.0.0.1:%d",
                                i ? "," : "", client_port(p, client, i));
    snprintf(out + len, size - len, "%s?%s",
             p->scene->is_etcd ? "/" ETCD_PREFIX : "",
             p->scene->query ? p->scene->query : "patience=20s&timeout=20s");
}

/* What it said last is why. */
static _Noreturn void url_fail(struct play *p, int client)
{
    int last = p->record.events_len - 1;
    stage_fail(p, EXIT_UNREACHABLE, "client %c: %s", 'A' + client,
               last >= 0 ? p->record.events[last].text : "cannot use its URL");
}

void stage_connect(struct play *p, int client)
{
    char url[256];
    if (play_is_naive(p)) {
        for (int i = 0; i < client_stores(p); i++) {
            stage_tell(client, "store %d", client_port(p, client, i));
            stage_answer(client);
        }
    } else {
        url_write(p, client, url, sizeof(url));
        if (client == 0 && client_stores(p) > 1) {
            stage_tell(client, "init %s", url);
            if (!stage_answer(client))
                stage_fail(p, EXIT_BUG, "the quorum cannot be set up");
        }
        stage_tell(client, "url %s", url);
        if (!stage_answer(client)) url_fail(p, client);
    }
    if (!p->scene->has_resource) return;
    if (p->scene->resource != ON_REDIS)
        stage_tell(client, "resource %s", stage.where);
    else
        stage_tell(client,
                   play_is_naive(p)
                       ? "resource %d"
                       : "resource redis://127.0.0.1:%d?timeout=20s",
                   stage.resource.port);
    stage_answer(client);
}
