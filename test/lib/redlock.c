/*
 * redlock.c: see redlock.h.  One rule: only callers measure time; conditions
 * are waited for.
 */
#include "lib/nodes.h"
#include "lib/redlock.h"

void redlock_begin(struct redlock *r, int64_t max_lease_ms)
{
    struct hf_quorum_node nodes[REDLOCK_NODES];
    struct hf_quorum_options o = HF_QUORUM_OPTIONS_INIT;
    struct hf_error err = {0};
    int len = 0;
    five_begin(&r->five, REDLOCK_NODES);
    snprintf(r->url, sizeof r->url, "redlock://%s", r->five.hosts);
    r->max_lease_ms = o.max_lease_ms = max_lease_ms;
    o.timeout_ms = RIG_WAIT_MS;
    if (nodes_init(r->url, &o, nodes, REDLOCK_NODES, &len, &err) != HF_OK)
        TEST_FAIL("init %s: %s", r->url, err.text);
}

hf_client *redlock_newcomer(struct redlock *r, int64_t lease_ms,
                            const struct hf_client_options *options)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    if (options) o = *options;
    o.lease_ms = lease_ms ? lease_ms : r->max_lease_ms;
    if (!o.patience_ms) o.patience_ms = RIG_WAIT_MS;
    return rig_client_at(r->url, &o);
}

hf_client *redlock_client(struct redlock *r, int64_t lease_ms,
                          const struct hf_client_options *options)
{
    hf_client *c = redlock_newcomer(r, lease_ms, options);
    if (!redlock_until_voters(c, REDLOCK_NODES))
        TEST_FAIL("%d nodes may vote", redlock_voters(c));
    return c;
}

/* Ask for anything, so that its lines are looked at. */
static void nodes_hear(hf_client *c)
{
    hf_lock *l = NULL;
    int is_locked;
    CHECK_INT(hf_lock_open(c, "anything", &l, NULL), HF_OK);
    (void)hf_lock_is_locked(l, &is_locked, NULL);
    hf_lock_close(l);
}

static void nodes_ask(hf_client *c, struct hf_node nodes[REDLOCK_NODES])
{
    nodes_hear(c);
    CHECK_INT(nodes_of(c, nodes, REDLOCK_NODES), REDLOCK_NODES);
}

struct hf_node redlock_node(hf_client *c, int node)
{
    struct hf_node nodes[REDLOCK_NODES];
    CHECK(node >= 0 && node < REDLOCK_NODES);
    nodes_ask(c, nodes);
    return nodes[node];
}

int redlock_voters(hf_client *c)
{
    struct hf_node nodes[REDLOCK_NODES];
    int n = 0;
    nodes_ask(c, nodes);
    for (int i = 0; i < REDLOCK_NODES; i++) n += nodes[i].settled;
    return n;
}

struct waiting {
    hf_client *client;
    int node;
};

static int is_quarantined(void *arg)
{
    const struct waiting *w = arg;
    return redlock_node(w->client, w->node).quarantine_left_ms > 0;
}

int redlock_until_quarantined(hf_client *c, int node)
{
    struct waiting w = {c, node};
    return rig_until(is_quarantined, &w);
}

struct voting {
    hf_client *client;
    int wanted;
};

static int is_voting(void *arg)
{
    const struct voting *v = arg;
    return redlock_voters(v->client) == v->wanted;
}

int redlock_until_voters(hf_client *c, int wanted)
{
    struct voting v = {c, wanted};
    return rig_until(is_voting, &v);
}

int redlock_has(struct redlock *r, int node, const char *name)
{
    return (int)redis_number(&r->five.nodes[node].redis, "EXISTS %s", name);
}

struct storing {
    struct redlock *r;
    int node;
    const char *name;
    int wanted;
};

static int is_stored(void *arg)
{
    const struct storing *s = arg;
    return redlock_has(s->r, s->node, s->name) == s->wanted;
}

int redlock_until_has(struct redlock *r, int node, const char *name, int wanted)
{
    struct storing s = {r, node, name, wanted};
    return rig_until(is_stored, &s);
}

int redlock_until_gone(struct redlock *r, const char *name)
{
    for (int i = 0; i < REDLOCK_NODES; i++)
        if (!redlock_until_has(r, i, name, 0)) return 0;
    return 1;
}

int64_t redlock_settled_us(struct redlock *r, int node)
{
    long long settled = 0;
    const char *marker =
        redis_say(&r->five.nodes[node].redis, "GET holdfast:boot");
    if (sscanf(marker, "v1 %*s %*s %lld", &settled) != 1)
        TEST_FAIL("node %d: marker: %s", node, marker);
    return settled;
}

uint64_t redlock_use(hf_lock *lock, uint64_t fence)
{
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 0, 0);
    struct hf_error err = {0};
    hf_hold *g = NULL;
    if (hf_lock_acquire(lock, &o, &g, &err) != HF_OK)
        TEST_FAIL("acquire: %s: %s", hf_status_name(err.status), err.text);
    CHECK(hf_hold_fence(g) > fence);
    if (hf_lock_release(lock, NULL, &err) != HF_OK)
        TEST_FAIL("release: %s: %s", hf_status_name(err.status), err.text);
    return hf_hold_fence(g);
}

int64_t redlock_use_often(hf_lock *lock, int times)
{
    uint64_t fence = 0;
    int64_t began_ms = rig_now_ms();
    for (int i = 0; i < times; i++) fence = redlock_use(lock, fence);
    return rig_now_ms() - began_ms;
}
