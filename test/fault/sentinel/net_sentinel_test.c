/*
 * net_sentinel_test.c: the primary's host is cut off from the other two, each
 * of which has a replica and a Sentinel.  One rule: a holder on either side is
 * told the truth as soon as it can be known there, and what it writes later is
 * refused.
 *
 * The majority promotes a replica.  The old primary does not know: it goes on
 * serving the clients that are cut off with it.  With wait=all and
 * wait_renew=on its answers do not count; without, there are two primaries
 * until the network is mended, and a lock can have a holder on each side.
 */
#include <string.h>

#include "lib/net.h"
#include "lib/rig.h"
#include "lib/sentinel_rig.h"
#include "lib/storm.h"

#define INSIDE 0  /* the host that is cut off; a client is there */
#define OUTSIDE 1 /* another one is here */
#define LEASE_MS 3000
#define SHORT_MS 2000 /* of a call that must fail */
#define LATE_MS 8000  /* beyond its deadline; the machine may be busy */

static struct lab_net net;
static struct lab_sentinels g;

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

static void side_begin(struct side *s, int host, const char *options,
                       int64_t lease_ms)
{
    char url[200];
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    snprintf(url, sizeof url, "%s%s", g.url, options);
    atomic_store(&s->lost, 0);
    o.lease_ms = lease_ms;
    o.patience_ms = RIG_PATIENCE_MS; /* each call says how long it waits */
    o.on_state = on_state;
    o.state_user = s;
    s->host = host;
    net_go(&net, host);
    s->client = rig_client_at(url, &o);
    s->lock = rig_lock(s->client, "a");
}

static void servers_begin(void)
{
    net_begin(&net, SENTINEL_SERVERS);
    g.net = &net;
    sentinel_begin(&g);
}

static void begin(const char *options, int64_t lease_ms)
{
    servers_begin();
    side_begin(&inside, INSIDE, options, lease_ms);
    side_begin(&outside, OUTSIDE, options, lease_ms);
}

/* Until the others have a primary of their own, which is returned. */
static struct lab_server *cut(void)
{
    net_cut(&net, NET_HOST(INSIDE));
    g.unasked = 1u << INSIDE; /* nobody tells its Sentinel */
    return sentinel_until_other(&g, &g.servers[INSIDE]);
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

/* Write what it guards, on the primary of this side. */
static int writes(const struct side *s, uint64_t fence)
{
    net_go(&net, s->host);
    return hf_guard_set(s->client, "guarded", fence, "x", 1, 0, NULL);
}

static int is_free(void *arg)
{
    return redis_number(arg, "EXISTS a " STORM_NAME) == 0;
}

/* ---- without wait= ------------------------------------------------------- */

/* The holder inside cannot know: the only server and the only Sentinel that it
 * reaches know nothing either, and its renewals are answered.  From the end of
 * the lease that the replicas had until the network is mended, two hold.  What
 * is true all the time is that the new holder's token is higher, and that the
 * new primary, whose data is the one that stays, refuses the old one's. */
TEST(net_sentinel, two_may_hold_until_it_heals_and_then_the_old_one_is_told)
{
    begin("", LEASE_MS);
    uint64_t old = takes(&inside, 0);
    CHECK_INT(writes(&inside, old), HF_OK);
    cut();
    uint64_t new = takes(&outside, old);
    CHECK_INT(hf_hold_state(inside.hold), HF_STATE_HELD);
    CHECK_INT(writes(&outside, new), HF_OK);
    CHECK_INT(writes(&outside, old), HF_STALE);
    net_heal(&net);
    CHECK(rig_until_equal(&inside.lost, 1));
    CHECK_INT(atomic_load(&outside.lost), 0);
    CHECK_INT(writes(&inside, old), HF_STALE);
    gives_back(&outside);
    takes(&inside, new); /* it finds the new primary without help */
    gives_back(&inside);
    CHECK(rig_until(is_free, sentinel_primary(&g)));
}

static int is_replicated(void *arg)
{
    (void)arg;
    return redis_number(&g.servers[1], "EXISTS a")
           && redis_number(&g.servers[2], "EXISTS a");
}

TEST(net_sentinel, a_holder_of_the_majority_keeps_its_lock)
{
    begin("", 15000);
    uint64_t fence = takes(&outside, 0);
    CHECK(rig_until(is_replicated, NULL));
    struct lab_server *now = cut();
    int64_t began_ms = rig_now_ms();
    CHECK_INT(hf_hold_extend(outside.hold, 0, NULL), HF_OK);
    CHECK(rig_now_ms() - began_ms < RIG_PATIENCE_MS);
    CHECK(redis_number(now, "PTTL a") > 0);
    CHECK_INT(hf_hold_state(outside.hold), HF_STATE_HELD);
    CHECK(hf_hold_fence(outside.hold) == fence);
    CHECK_INT(atomic_load(&outside.lost), 0);
    gives_back(&outside);
    CHECK(rig_until(is_free, now));
}

static int is_replica(void *arg)
{
    return !strncmp(redis_say(arg, "ROLE"), "slave", 5);
}

TEST(net_sentinel, processes_on_both_sides_work_again_by_themselves)
{
    static struct storm here, there;
    servers_begin();
    net_go(&net, INSIDE);
    storm_begin(&here, g.url, 2);
    net_go(&net, OUTSIDE);
    storm_begin(&there, g.url, 2);
    struct lab_server *now = cut();
    storm_until_moving(&there);
    storm_until_moving(&here); /* at the old primary */
    net_heal(&net);
    CHECK(rig_until(is_replica, &g.servers[INSIDE]));
    storm_until_moving(&there);
    storm_until_moving(&here);
    storm_end(&here);
    storm_end(&there);
    CHECK(rig_until(is_free, now));
}

/* ---- with wait= ---------------------------------------------------------- */

static void cannot_take(const struct side *s, const char *name)
{
    struct hf_acquire_options o = rig_options(SHORT_MS, 0, 0);
    struct hf_error err = {0};
    net_go(&net, s->host);
    hf_lock *l = rig_lock(s->client, name);
    int64_t began_ms = rig_now_ms();
    int status = hf_lock_acquire(l, &o, NULL, &err);
    CHECK(rig_now_ms() - began_ms < SHORT_MS + LATE_MS);
    if (status != HF_UNAVAILABLE || !strstr(err.text, "wait: 0 of 1 replicas"))
        TEST_FAIL("%s: %s", hf_status_name(status), err.text);
}

TEST(net_sentinel, with_wait_nothing_is_taken_where_no_replica_is)
{
    begin("?wait=1", LEASE_MS);
    net_cut(&net, NET_HOST(INSIDE));
    cannot_take(&inside, "b");
    cannot_take(&inside, "b"); /* nor later, when it is known */
    struct lab_server *now = cut();
    uint64_t fence = takes(&outside, 0);
    gives_back(&outside);
    net_heal(&net);
    takes(&inside, fence);
    gives_back(&inside);
    CHECK(rig_until(is_free, now));
}

/* It is told by its own clock, before another client can have the lock: only a
 * renewal that every replica has, whichever is promoted, has counted. */
TEST(net_sentinel, with_wait_renew_a_holder_is_told_before_another_has_it)
{
    begin("?wait=all&wait_renew=on", LEASE_MS);
    uint64_t old = takes(&inside, 0);
    struct lab_server *now = cut();
    uint64_t new = takes(&outside, old);
    CHECK_INT(hf_hold_state(inside.hold), HF_STATE_LOST);
    CHECK(rig_until_equal(&inside.lost, 1));
    CHECK_INT(writes(&outside, new), HF_OK);
    CHECK_INT(writes(&outside, old), HF_STALE);
    net_heal(&net);
    gives_back(&outside);
    takes(&inside, new);
    gives_back(&inside);
    CHECK(rig_until(is_free, now));
}
