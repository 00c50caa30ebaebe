/*
 * net_cluster_test.c: one of three hosts of a cluster is cut off, with a master
 * and a replica of another one on it.  One rule: on the side of the majority
 * work goes on; on the other side every call ends by its deadline, and a holder
 * there is told by the end of its lease.
 *
 * A master that reaches no majority for cluster-node-timeout refuses whatever
 * it is asked.  Until then it answers renewals, of which its replica hears
 * nothing: until then there can be two holders, unless wait_renew=on.
 */
#include <stdlib.h>
#include <string.h>

#include "lab/port.h"
#include "lib/cluster_rig.h"
#include "lib/lab_check.h"
#include "lib/net.h"
#include "lib/rig.h"
#include "lib/storm.h"

#define HOSTS 3
#define OUTSIDE 1     /* a client is on this host, which is not cut off */
#define LEASE_MS 5000 /* far beyond the node timeout of the rig */
#define SHORT_MS 2000 /* of a call that must fail */
#define LATE_MS 8000  /* beyond its deadline; the machine may be busy */

static struct lab_net net;
static struct lab_cluster c;
static char name[24];

static struct side {
    int host;
    hf_client *client;
    hf_lock *lock;
    hf_hold *hold; /* the last that it took */
    atomic_int lost;
} inside, outside;

static void on_state(const struct hf_event *ev, void *user)
{
    struct side *s = user;
    if (ev->state == HF_STATE_LOST) atomic_fetch_add(&s->lost, 1);
}

static void side_begin(struct side *s, int host, const char *options)
{
    char url[600];
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    snprintf(url, sizeof url, "%s%s", c.url, options);
    atomic_store(&s->lost, 0);
    o.lease_ms = LEASE_MS;
    o.patience_ms = RIG_PATIENCE_MS; /* each call says how long it waits */
    o.on_state = on_state;
    o.state_user = s;
    s->host = host;
    net_go(&net, host);
    s->client = rig_client_at(url, &o);
    s->lock = rig_lock(s->client, name);
}

/* A name whose slot is on that host. */
static void name_find(const char *stem, int host)
{
    int i = 0;
    do snprintf(name, sizeof name, "%s%d", stem, i++);
    while (cluster_rig_at(&c, name) != host);
}

static void servers_begin(void)
{
    net_begin(&net, HOSTS);
    c.net = &net;
    cluster_rig_begin(&c, HOSTS, 1);
}

/* The options are those of the client that will be cut off. */
static void begin(const char *options)
{
    servers_begin();
    name_find("cut", 0);
    side_begin(&inside, 0, options);
    side_begin(&outside, OUTSIDE, "");
}

/* Until the others serve the name. */
static void cut(int host)
{
    for (int i = 0; i < c.len; i++)
        if (c.nodes[i].at == &net.hosts[host]) c.stopped |= 1u << i;
    net_cut(&net, NET_HOST(host));
    CHECK(cluster_rig_at(&c, name) != host);
}

static void heal(void)
{
    c.stopped = 0;
    net_heal(&net);
}

static uint64_t takes(struct side *s, uint64_t above)
{
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 0, 0);
    struct hf_error err = {0};
    net_go(&net, s->host);
    if (hf_lock_acquire(s->lock, &o, &s->hold, &err) != HF_OK)
        TEST_FAIL("host %d: %s", s->host, err.text);
    CHECK(hf_hold_fence(s->hold) > above);
    return hf_hold_fence(s->hold);
}

static void gives_back(const struct side *s)
{
    net_go(&net, s->host);
    CHECK_INT(hf_hold_release(s->hold, NULL), HF_OK);
}

static void cannot_take(const struct side *s, hf_lock *l)
{
    struct hf_acquire_options o = rig_options(SHORT_MS, 0, 0);
    struct hf_error err = {0};
    net_go(&net, s->host);
    int64_t began_ms = rig_now_ms();
    int status = hf_lock_acquire(l, &o, NULL, &err);
    CHECK(rig_now_ms() - began_ms < SHORT_MS + LATE_MS);
    if (status != HF_UNAVAILABLE)
        TEST_FAIL("%s: %s", hf_status_name(status), err.text);
}

static int writes(const struct side *s, uint64_t fence)
{
    char key[40];
    net_go(&net, s->host);
    snprintf(key, sizeof key, "guarded:{%s}", name);
    return hf_guard_set(s->client, key, fence, "x", 1, 0, NULL);
}

static int is_replicated(void *arg)
{
    (void)arg;
    return redis_info(&c.nodes[HOSTS], "slave_repl_offset")
           >= redis_info(&c.nodes[0], "master_repl_offset");
}

static int is_free(void *arg)
{
    (void)arg;
    return redis_number(&c.nodes[cluster_rig_at(&c, name)], "EXISTS %s", name)
           == 0;
}

/* The lock was taken inside and is taken outside now; the token of that. */
static uint64_t lock_moves(uint64_t old)
{
    CHECK_INT(writes(&inside, old), HF_OK);
    CHECK(rig_until(is_replicated, NULL));
    cut(0);
    return takes(&outside, old);
}

/* Both clients find the new master without help. */
static void lock_returns(uint64_t old, uint64_t new)
{
    heal();
    gives_back(&outside);
    takes(&inside, new);
    CHECK_INT(writes(&inside, old), HF_STALE);
    gives_back(&inside);
    CHECK(rig_until(is_free, NULL));
}

/* A reservation counts on its own host only. */
TEST(net_cluster, has_both_ports_of_a_node_reserved_on_its_host)
{
    servers_begin();
    for (int i = 0; i < c.len; i++) {
        int back;
        LAB_CHECK(lab_net_enter(c.nodes[i].at, &back));
        CHECK_INT(lab_port_take(c.nodes[i].port), LAB_FAILED);
        CHECK_INT(lab_port_take((int)strtol(c.bus[i], NULL, 10)), LAB_FAILED);
        LAB_CHECK(lab_net_leave(back));
    }
}

TEST(net_cluster, a_holder_cut_off_with_its_master_is_told_and_refused)
{
    begin("");
    uint64_t old = takes(&inside, 0);
    uint64_t new = lock_moves(old);
    CHECK(rig_until_equal(&inside.lost, 1)); /* by its own clock */
    CHECK_INT(writes(&outside, new), HF_OK);
    CHECK_INT(writes(&outside, old), HF_STALE);
    lock_returns(old, new);
}

TEST(net_cluster, with_wait_renew_a_holder_is_told_before_another_has_it)
{
    begin("?wait=all&wait_renew=on");
    uint64_t old = takes(&inside, 0);
    uint64_t new = lock_moves(old);
    CHECK_INT(hf_hold_state(inside.hold), HF_STATE_LOST);
    CHECK_INT(writes(&outside, new), HF_OK);
    lock_returns(old, new);
}

TEST(net_cluster, whoever_is_cut_off_is_told_so_in_time_whatever_he_asks_for)
{
    begin("");
    hf_lock *far;
    cut(0);
    cannot_take(&inside, inside.lock); /* its master is here */
    name_find("far", 2);
    far = rig_lock(inside.client, name);
    cannot_take(&inside, far); /* and here it is not */
    heal();
    takes(&inside, 0);
    gives_back(&inside);
    CHECK_INT(rig_acquire(far, 0, RIG_WAIT_MS, NULL), HF_OK);
    CHECK_INT(hf_lock_release(far, NULL, NULL), HF_OK);
}

TEST(net_cluster, a_holder_of_the_majority_keeps_its_lock)
{
    hf_hold *g = NULL;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    begin("");
    o.lease_ms = 15000;
    o.patience_ms = RIG_PATIENCE_MS;
    net_go(&net, OUTSIDE);
    hf_lock *l = rig_lock(rig_client_at(c.url, &o), name);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &g), HF_OK);
    CHECK(rig_until(is_replicated, NULL));
    cut(0);
    int64_t began_ms = rig_now_ms();
    CHECK_INT(hf_hold_extend(g, 0, NULL), HF_OK);
    CHECK(rig_now_ms() - began_ms < RIG_PATIENCE_MS);
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK(rig_until(is_free, NULL));
}

TEST(net_cluster, processes_on_both_sides_work_again_by_themselves)
{
    static struct storm here, there;
    servers_begin();
    snprintf(name, sizeof name, STORM_NAME);
    int host = cluster_rig_at(&c, name);
    net_go(&net, host);
    storm_begin(&here, c.url, 2);
    net_go(&net, (host + 1) % HOSTS);
    storm_begin(&there, c.url, 2);
    cut(host);
    storm_until_moving(&there);
    heal();
    storm_until_moving(&here);
    storm_until_moving(&there);
    storm_end(&here);
    storm_end(&there);
    CHECK(rig_until(is_free, NULL));
}
