/*
 * redlock_killed_test.c: nodes of five that are killed.  One rule: with a
 * majority everything goes on; without one nothing is held, every caller is
 * told why in time, and when the majority is back everything goes on without
 * help.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/redlock.h"

#define TIMES 50
#define LEASE_MS 3000

static struct redlock r;

static hf_lock *lock_begin(int64_t lease_ms)
{
    redlock_begin(&r, 30000);
    return rig_lock(redlock_client(&r, lease_ms, NULL), "a");
}

static void nodes_kill(int first, int len)
{
    for (int i = first; i < first + len; i++) five_kill(&r.five, i);
}

static void nodes_restart(int first, int len)
{
    for (int i = first; i < first + len; i++) five_restart(&r.five, i);
}

TEST(redlock_killed, two_slow_nobody)
{
    hf_lock *l = lock_begin(0);
    int64_t usual_ms = redlock_use_often(l, TIMES);
    nodes_kill(1, 2);
    int64_t took_ms = redlock_use_often(l, TIMES);
    printf("    %d locks in %lld ms\n", TIMES, (long long)took_ms);
    CHECK(took_ms < TIMES * 250 / 2 + 3 * usual_ms);
    for (int i = 0; i < REDLOCK_NODES; i += 3)
        CHECK(redlock_until_has(&r, i, "a", 0));
}

TEST(redlock_killed, a_hold_is_renewed_and_released_without_two)
{
    hf_hold *g;
    struct hf_acquire_options o = rig_renewed(RIG_WAIT_MS);
    hf_lock *l = lock_begin(0);
    o.lease_ms = 0; /* the longest */
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    uint64_t fence = hf_hold_fence(g);
    nodes_kill(3, 2);
    CHECK(rig_until_renewed(l, 0, 10));
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    nodes_restart(3, 2);
    CHECK(redlock_until_gone(&r, "a"));
    redlock_use(l, fence);
}

/* Each node that is away says why. */
static void nodes_say_why(hf_client *c, int first, int len)
{
    for (int i = 0; i < REDLOCK_NODES; i++) {
        struct hf_node n = redlock_node(c, i);
        int is_dead = i >= first && i < first + len;
        CHECK_STR(n.url, r.five.nodes[i].url);
        CHECK_INT(n.up, !is_dead);
        CHECK_INT(n.status, is_dead ? HF_UNAVAILABLE : HF_OK);
        CHECK_INT(n.text[0] != 0, is_dead);
        /* The URL is a field of its own. */
        if (is_dead && strstr(n.text, n.url))
            TEST_FAIL("node %d: %s", i, n.text);
    }
}

TEST(redlock_killed, without_three_nothing_is_held_and_all_say_why)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_acquire_options a = rig_options(RIG_WAIT_MS, 0, 0);
    struct hf_error err = {0};
    redlock_begin(&r, 30000);
    o.patience_ms = 2500;
    hf_client *c = redlock_client(&r, 0, &o);
    hf_lock *l = rig_lock(c, "a");
    uint64_t fence = redlock_use(l, 0);
    nodes_kill(0, 3);
    int64_t began_ms = rig_now_ms();
    CHECK_INT(hf_lock_acquire(l, &a, NULL, &err), HF_UNAVAILABLE);
    CHECK(rig_now_ms() - began_ms < RIG_WAIT_MS / 2);
    if (!strstr(err.text, "2 of 5 nodes can be reached"))
        TEST_FAIL("%s", err.text);
    nodes_say_why(c, 0, 3);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_NOT_OWNER);
    CHECK(redlock_until_has(&r, 3, "a", 0));
    CHECK(redlock_until_has(&r, 4, "a", 0));
    nodes_restart(0, 3);
    CHECK(redlock_until_voters(c, REDLOCK_NODES));
    redlock_use(l, fence);
}

/* A new client is told as well, and gets its lock when the nodes are back. */
TEST(redlock_killed, three_that_come_back_serve_who_never_met_them)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    redlock_begin(&r, 30000);
    o.patience_ms = 2000;
    nodes_kill(2, 3);
    hf_client *c = redlock_newcomer(&r, 0, &o);
    hf_lock *l = rig_lock(c, "a");
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_UNAVAILABLE);
    nodes_say_why(c, 2, 3);
    nodes_restart(2, 3);
    CHECK(redlock_until_voters(c, REDLOCK_NODES));
    redlock_use(l, 0);
}

struct heard {
    atomic_int at_risk, lost;
    atomic_int lost_first;
};

static void state_hear(const struct hf_event *ev, void *user)
{
    struct heard *h = user;
    if (ev->state == HF_STATE_AT_RISK) atomic_fetch_add(&h->at_risk, 1);
    if (ev->state != HF_STATE_LOST) return;
    if (!atomic_load(&h->at_risk)) atomic_store(&h->lost_first, 1);
    atomic_fetch_add(&h->lost, 1);
}

TEST(redlock_killed, a_hold_without_three_is_warned_of_and_lost)
{
    static struct heard heard;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    hf_hold *g;
    memset(&heard, 0, sizeof heard);
    redlock_begin(&r, 30000);
    o.on_state = state_hear;
    o.state_user = &heard;
    hf_lock *l = rig_lock(redlock_client(&r, LEASE_MS, &o), "a");
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &g), HF_OK);
    nodes_kill(0, 3);
    CHECK(rig_until_equal(&heard.lost, 1));
    CHECK_INT(atomic_load(&heard.at_risk), 1);
    CHECK_INT(atomic_load(&heard.lost_first), 0);
    CHECK_INT(hf_hold_valid_ms(g), 0);
    nodes_restart(0, 3);
    CHECK(redlock_until_gone(&r, "a"));
    redlock_use(l, hf_hold_fence(g));
}

/* They kept the lock on disk, and what was promised holds. */
TEST(redlock_killed, a_hold_outlives_a_restart_of_three)
{
    hf_hold *g = NULL;
    hf_lock *l = lock_begin(4500);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &g), HF_OK);
    nodes_kill(1, 3);
    nodes_restart(1, 3);
    rig_pause_ms(5000);
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(rig_probe(rig_lock(redlock_newcomer(&r, 0, NULL), "a")),
              HF_TAKEN);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK(redlock_until_gone(&r, "a"));
}

/* "2 may vote": how many of them; -1 if that is not said. */
static int told_voters(const char *text)
{
    const char *at = strstr(text, " may vote");
    while (at && at > text && at[-1] != ' ') at--;
    return at ? (int)strtol(at, NULL, 10) : -1;
}

/* A client that only looks at a lock asks no node for a vote, and may have its
 * answer before it knows which nodes have one: it must not say then that they
 * have none. */
TEST(redlock_killed, who_looks_and_who_acquires_agree_on_who_may_vote)
{
    struct hf_acquire_options o = rig_options(RIG_TRY, 0, 0);
    struct hf_client_options hasty = HF_CLIENT_OPTIONS_INIT;
    struct hf_error looked = {0}, asked = {0};
    int is_locked;
    hasty.patience_ms = 500;
    redlock_begin(&r, 30000);
    nodes_kill(0, 3);
    hf_lock *l = rig_lock(redlock_newcomer(&r, 0, &hasty), "a");
    CHECK_INT(hf_lock_is_locked(l, &is_locked, &looked), HF_UNAVAILABLE);
    l = rig_lock(redlock_newcomer(&r, 0, &hasty), "a");
    CHECK_INT(hf_lock_acquire(l, &o, NULL, &asked), HF_UNAVAILABLE);
    printf("    looked: %.60s\n    asked:  %.60s\n", looked.text, asked.text);
    CHECK(told_voters(looked.text) == -1 || told_voters(looked.text) == 2);
    CHECK(told_voters(asked.text) == -1 || told_voters(asked.text) == 2);
}
