/*
 * sim_host.c: the locks of the machine that all clients are on, for those that
 * fall back to it: a pure store without a network, as the engine sees it.
 *
 * The rule: it is always there once it is open, and tells nobody anything that
 * was not asked.  What a client that crashed has there ends with its lease; or
 * at once, where locks are the kernel's, which have no lease while they are
 * kept.
 */
#include <string.h>

#include "base/error.h"
#include "sim/sim.h"

#define HOST_EPOCH_US INT64_C(1600000000000000)
#define ETERNITY_US (86400 * US_PER_S)
#define HOST_ATTEMPTS (UINT64_C(1) << 40) /* none of them is one at a node */

int64_t host_clock(const struct sim *s)
{
    return HOST_EPOCH_US + s->now_us;
}

int host_begin(struct sim *s)
{
    if (!s->k.falls) return 0;
    s->host = hf__rules_store_open(&hf__alloc_default);
    return s->host ? 0 : -1;
}

void host_end(struct sim *s)
{
    if (s->host) hf__rules_store_close(s->host);
    s->host = NULL;
}

/* ---- the backend -------------------------------------------------------- */

static int host_connect(struct backend_env *env, const struct url *url,
                        struct backend_conn **out, struct hf_error *err)
{
    struct backend_conn *c = hf__alloc_zero(env->alloc, sizeof *c);
    (void)url;
    (void)err;
    if (!c) return HF_NOMEM;
    c->env = env;
    c->client = ((struct node *)env)->engine->owner;
    c->sim = c->client->sim;
    c->queue_end = &c->queue;
    *out = c;
    env->link(env, 1, host_clock(c->sim), NULL);
    return HF_OK;
}

static void host_submit(struct backend_conn *c, struct request *req)
{
    check_sent(c->client, req);
    check_host_asked(c->client, req);
    req->next = NULL;
    *c->queue_end = req;
    c->queue_end = &req->next;
}

static struct request *queue_take(struct backend_conn *c)
{
    struct request *req = c->queue;
    if (!req) return NULL;
    c->queue = req->next;
    if (!c->queue) c->queue_end = &c->queue;
    return req;
}

static void request_do(struct backend_conn *c, struct request *req)
{
    struct sim *s = c->sim;
    struct request copy = *req;
    struct reply rep;
    if (req->flags & REQ_NO_EXPIRY) copy.lease_us = ETERNITY_US;
    if (req->flags & REQ_QUEUE)
        sim_fail(s, "host: c%d asks for a place, and there are none",
                 c->client->index);
    hf__rules_store_apply(s->host, host_clock(s), &copy, &rep);
    rep.waiters = -1;
    sim_trace(s, "host c%d op %d attempt %llu %s -> verdict %d",
              c->client->index, (int)req->verb,
              (unsigned long long)(req->attempt - HOST_ATTEMPTS), req->owner,
              (int)rep.verdict);
    c->env->reply(c->env, req, &rep);
}

static void host_flush(struct backend_conn *c)
{
    struct request *req;
    while ((req = queue_take(c))) request_do(c, req);
}

static int host_process(struct backend_conn *c, int fd, unsigned ready)
{
    (void)c;
    (void)fd;
    (void)ready;
    return 0;
}

/* As the kernel does when a process ends. */
static void locks_end(const struct backend_conn *c)
{
    struct sim *s = c->sim;
    struct store_view view;
    for (int i = 0; i < s->k.names; i++)
        if (hf__rules_store_look(s->host, host_clock(s), sim_names[i], 1, &view)
            && !strncmp(view.owner, c->client->engine.uuid, 36))
            hf__rules_store_expire(s->host, sim_names[i], 1);
}

static void host_close(struct backend_conn *c)
{
    struct reply rep = {.verdict = V_UNSENT,
                        .status = HF_CLOSED,
                        .ttl_us = -1,
                        .waiters = -1,
                        .text = "sim: closed"};
    struct request *req;
    while ((req = queue_take(c))) c->env->reply(c->env, req, &rep);
    if (c->sim->k.host_is_kernel) locks_end(c);
    hf__free(c->env->alloc, c);
}

static const struct backend host_backend = {
    .abi = BACKEND_ABI,
    .scheme = "host",
    .caps = HF_CAP_FENCE | HF_CAP_LEASE | HF_CAP_BALLOT,
    .options = "",
    .open = host_connect,
    .submit = host_submit,
    .flush = host_flush,
    .process = host_process,
    .close = host_close,
};

/* ---- as src/api/client/fallback.c sets it up ----------------------------- */

static int host_open(struct engine *e, struct hf_error *err)
{
    struct sim_client *c = e->owner;
    struct host *h = e->host;
    struct url url;
    if ((int)sim_host_random(c->sim, 100) < c->sim->k.no_host_percent) {
        c->sim->deeds[DEED_NO_HOST]++;
        return hf__error_set(err, HF_UNAVAILABLE, "sim: no such directory");
    }
    memset(&url, 0, sizeof url);
    url.scheme = "host";
    h->conf = e->conf;
    h->conf.nodes = h->conf.quorum = 1;
    h->conf.request_flags = REQ_SERVER_FENCE;
    h->conf.handover = 0;
    h->conf.rtt_us = 0;
    h->conf.unsettled = h->conf.down = 0;
    h->conf.settle_us = h->conf.lease_max_us = 0;
    h->conf.attempts = HOST_ATTEMPTS;
    h->caps = host_backend.caps;
    if (c->sim->k.host_is_kernel) h->caps |= HF_CAP_KERNEL;
    h->node.is_host = 1;
    return hf__node_open(e, &h->node, 0, &host_backend, &url, err);
}

void host_lend(struct sim_client *c)
{
    memset(&c->host, 0, sizeof c->host);
    c->host.open = host_open;
    c->host.store = "sim:";
    c->engine.host = &c->host;
}
