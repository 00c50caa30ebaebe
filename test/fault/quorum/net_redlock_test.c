/*
 * net_redlock_test.c: the network between the five servers of a quorum is cut,
 * with clients on both sides.  One rule: a client that reaches three of them
 * works, a client that reaches two does not and is told so in time, and the two
 * never hold the lock at once.
 */
#include <string.h>

#include "lib/net.h"
#include "lib/nodes.h"
#include "lib/rig.h"
#include "lib/rig_redis.h"
#include "lib/storm.h"

#define NODES 5
#define LEFT 0  /* a client is on this host */
#define RIGHT 4 /* and another one on that */
#define LEASE_MS 3000
#define SHORT_MS 1500 /* of a call that must fail */
#define LATE_MS 8000  /* beyond its deadline; the machine may be busy */

static struct lab_net net;
static struct lab_server servers[NODES];
static char url[200];

/* What each of the two was told. */
static struct side {
    hf_client *client;
    hf_lock *lock;
    hf_hold *hold; /* the last that it took */
    atomic_int at_risk, lost;
} left, right;

static void servers_begin(void)
{
    struct hf_quorum_node nodes[NODES];
    struct hf_quorum_options o = HF_QUORUM_OPTIONS_INIT;
    struct hf_error err = {0};
    int len = 0;
    net_begin(&net, NODES);
    snprintf(url, sizeof url, "redlock://");
    for (int i = 0; i < NODES; i++) {
        size_t used = strlen(url);
        servers[i].at = &net.hosts[i];
        redis_begin(&servers[i], NULL);
        snprintf(url + used, sizeof url - used, "%s%s:%d", i ? "," : "",
                 servers[i].ip, servers[i].port);
    }
    rig_begin_at(url);
    o.timeout_ms = RIG_WAIT_MS;
    if (nodes_init(url, &o, nodes, NODES, &len, &err) != HF_OK)
        TEST_FAIL("init %s: %s", url, err.text);
}

static void on_state(const struct hf_event *ev, void *user)
{
    struct side *s = user;
    if (ev->state == HF_STATE_AT_RISK) atomic_fetch_add(&s->at_risk, 1);
    if (ev->state == HF_STATE_LOST) atomic_fetch_add(&s->lost, 1);
}

static void side_begin(struct side *s, int host)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    atomic_store(&s->at_risk, 0);
    atomic_store(&s->lost, 0);
    o.lease_ms = LEASE_MS;
    o.patience_ms = RIG_PATIENCE_MS; /* each call says how long it waits */
    o.on_state = on_state;
    o.state_user = s;
    net_go(&net, host);
    s->client = rig_client_at(url, &o);
    s->lock = rig_lock(s->client, "a");
}

static void begin(void)
{
    servers_begin();
    side_begin(&left, LEFT);
    side_begin(&right, RIGHT);
}

static uint64_t can_take(struct side *s, uint64_t above)
{
    net_go(&net, s == &left ? LEFT : RIGHT);
    CHECK_INT(rig_acquire(s->lock, 0, RIG_WAIT_MS, &s->hold), HF_OK);
    CHECK(hf_hold_fence(s->hold) > above);
    return hf_hold_fence(s->hold);
}

static void gives_back(const struct side *s)
{
    net_go(&net, s == &left ? LEFT : RIGHT);
    CHECK_INT(hf_hold_release(s->hold, NULL), HF_OK);
}

static void cannot_take(const struct side *s)
{
    struct hf_acquire_options o = rig_options(SHORT_MS, 0, 0);
    struct hf_error err = {0};
    int64_t began_ms = rig_now_ms();
    net_go(&net, s == &left ? LEFT : RIGHT);
    int status = hf_lock_acquire(s->lock, &o, NULL, &err);
    CHECK(rig_now_ms() - began_ms < SHORT_MS + LATE_MS);
    if (status != HF_UNAVAILABLE)
        TEST_FAIL("%s: %s", hf_status_name(status), err.text);
}

static int is_gone_everywhere(void *arg)
{
    for (int i = 0; i < NODES; i++)
        if (redis_number(&servers[i], "EXISTS %s", (const char *)arg)) return 0;
    return 1;
}

TEST(net_redlock, who_is_with_three_can_take_it_and_who_is_with_two_cannot)
{
    begin();
    uint64_t fence = can_take(&left, 0);
    gives_back(&left);
    net_cut(&net, NET_HOST(3) | NET_HOST(4));
    cannot_take(&right); /* though nobody has it */
    fence = can_take(&left, fence);
    cannot_take(&right);
    gives_back(&left);
    net_heal(&net);
    fence = can_take(&right, fence);
    gives_back(&right);
    net_cut(&net, NET_HOST(0) | NET_HOST(1)); /* the other way round */
    cannot_take(&left);
    fence = can_take(&right, fence);
    cannot_take(&left);
    gives_back(&right);
    net_heal(&net);
    can_take(&left, fence);
    gives_back(&left);
    CHECK(rig_until(is_gone_everywhere, "a"));
}

/* By its own clock, for nobody can tell it: and before the others can have the
 * lock, for its lease counts from before it was asked for. */
TEST(net_redlock, a_holder_left_with_two_is_told_before_another_has_it)
{
    char path[160];
    begin();
    snprintf(path, sizeof path, "%s/guarded", servers[0].dir);
    uint64_t old = can_take(&left, 0);
    CHECK_INT(hf_guard_file_replace(path, old, "old", 3, NULL), HF_OK);
    net_cut(&net, NET_HOST(0) | NET_HOST(1));
    uint64_t new = can_take(&right, old);
    CHECK_INT(hf_hold_state(left.hold), HF_STATE_LOST);
    CHECK(rig_until_equal(&left.lost, 1));
    CHECK_INT(atomic_load(&left.at_risk), 1);
    CHECK_INT(hf_guard_file_replace(path, new, "new", 3, NULL), HF_OK);
    CHECK_INT(hf_guard_file_replace(path, old, "old", 3, NULL), HF_STALE);
    net_heal(&net);
    gives_back(&right);
    can_take(&left, new);
    gives_back(&left);
    CHECK(rig_until(is_gone_everywhere, "a"));
}

/* Renewed by the three that are left. */
TEST(net_redlock, a_holder_left_with_three_goes_on)
{
    begin();
    struct hf_acquire_options o = rig_renewed(RIG_WAIT_MS);
    o.lease_ms = 30000; /* the longest that these members know */
    net_go(&net, LEFT);
    CHECK_INT(hf_lock_acquire(left.lock, &o, &left.hold, NULL), HF_OK);
    net_cut(&net, NET_HOST(3) | NET_HOST(4));
    CHECK(rig_until_renewed(left.lock, 0, 3));
    CHECK_INT(hf_hold_state(left.hold), HF_STATE_HELD);
    CHECK_INT(atomic_load(&left.lost), 0);
    net_heal(&net);
    gives_back(&left);
    CHECK(rig_until(is_gone_everywhere, "a"));
}

TEST(net_redlock, processes_on_both_sides_work_again_by_themselves)
{
    static struct storm here, there;
    servers_begin();
    net_go(&net, LEFT);
    storm_begin(&here, url, 2);
    net_go(&net, RIGHT);
    storm_begin(&there, url, 2);
    net_cut(&net, NET_HOST(3) | NET_HOST(4));
    storm_until_moving(&here);
    net_heal(&net);
    storm_until_moving(&there);
    net_cut(&net, NET_HOST(0) | NET_HOST(1));
    storm_until_moving(&there);
    net_heal(&net);
    storm_until_moving(&here);
    storm_end(&here);
    storm_end(&there);
    CHECK(rig_until(is_gone_everywhere, STORM_NAME));
}
