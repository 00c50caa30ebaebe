/*
 * redlock_stopped_test.c: a node of five that is stopped, or slow.  One rule:
 * the majority decides, and nobody waits for the others.
 */
#include "lib/redlock.h"

#define TIMES 50
#define PROPOSE_MS 250 /* one node of several answers within, or is given up */
#define SLOW_MS 400    /* each way */

static struct redlock r;

/* Each lock would take PROPOSE_MS longer if it waited for the stopped one. */
TEST(redlock_stopped, one_slows_nobody)
{
    redlock_begin(&r, 30000);
    hf_lock *l = rig_lock(redlock_client(&r, 0, NULL), "a");
    int64_t usual_ms = redlock_use_often(l, TIMES);
    five_stop(&r.five, 0);
    int64_t took_ms = redlock_use_often(l, TIMES);
    printf("    %d locks in %lld ms\n", TIMES, (long long)took_ms);
    CHECK(took_ms < TIMES * PROPOSE_MS / 2 + 3 * usual_ms);
    for (int i = 1; i < REDLOCK_NODES; i++)
        CHECK(redlock_until_has(&r, i, "a", 0));
    five_cont(&r.five, 0);
    CHECK(redlock_until_gone(&r, "a"));
}

/* It was stopped before the client came: there is no connection to it. */
TEST(redlock_stopped, one_slows_no_newcomer)
{
    redlock_begin(&r, 30000);
    hf_lock *before = rig_lock(redlock_client(&r, 0, NULL), "a");
    int64_t usual_ms = redlock_use_often(before, TIMES);
    five_stop(&r.five, 4);
    hf_lock *l = rig_lock(redlock_newcomer(&r, 0, NULL), "a");
    int64_t took_ms = redlock_use_often(l, TIMES);
    CHECK(took_ms < TIMES * PROPOSE_MS / 2 + 3 * usual_ms);
    five_cont(&r.five, 4);
    CHECK(redlock_until_gone(&r, "a"));
}

TEST(redlock_stopped, a_hold_is_renewed_without_it)
{
    struct hf_acquire_options o = rig_renewed(RIG_WAIT_MS);
    hf_hold *g;
    redlock_begin(&r, 30000);
    hf_lock *l = rig_lock(redlock_client(&r, 0, NULL), "a");
    o.lease_ms = 0; /* the longest */
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    uint64_t fence = hf_hold_fence(g);
    five_stop(&r.five, 2);
    CHECK(rig_until_renewed(l, 0, 10));
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(rig_probe(rig_lock(redlock_newcomer(&r, 0, NULL), "a")),
              HF_TAKEN);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    five_cont(&r.five, 2);
    CHECK(redlock_until_gone(&r, "a"));
    redlock_use(l, fence);
}

/* How long closing takes: far less than the time that a client waits for an
 * answer. */
static int64_t close_ms(hf_client *c)
{
    int64_t began_ms = rig_now_ms();
    rig_close(c);
    return rig_now_ms() - began_ms;
}

static const struct hf_client_options *patient(void)
{
    static struct hf_client_options o;
    o = (struct hf_client_options)HF_CLIENT_OPTIONS_INIT;
    o.timeout_ms = RIG_WAIT_MS;
    return &o;
}

TEST(redlock_stopped, who_closes_does_not_wait_for_one_that_never_answered)
{
    redlock_begin(&r, 30000);
    five_stop(&r.five, 4);
    hf_client *c = redlock_newcomer(&r, 0, patient());
    redlock_use(rig_lock(c, "a"), 0);
    CHECK(close_ms(c) < RIG_WAIT_MS / 4);
    five_cont(&r.five, 4);
    CHECK(redlock_until_gone(&r, "a"));
}

TEST(redlock_stopped, who_closes_does_not_wait_for_one_that_had_the_lock)
{
    redlock_begin(&r, 30000);
    hf_client *c = redlock_client(&r, 0, patient());
    CHECK_INT(rig_acquire(rig_lock(c, "a"), 0, RIG_WAIT_MS, NULL), HF_OK);
    CHECK(redlock_until_has(&r, 4, "a", 1));
    five_stop(&r.five, 4);
    CHECK(close_ms(c) < RIG_WAIT_MS / 4);
    five_cont(&r.five, 4);
    CHECK(redlock_until_gone(&r, "a"));
}

/* The two answer every request, but after the majority has decided. */
TEST(redlock_stopped, two_slow_ones_are_not_waited_for)
{
    redlock_begin(&r, 30000);
    hf_lock *l = rig_lock(redlock_client(&r, 0, NULL), "a");
    int64_t usual_ms = redlock_use_often(l, TIMES);
    five_delay(&r.five, 1, SLOW_MS);
    five_delay(&r.five, 3, SLOW_MS);
    int64_t took_ms = redlock_use_often(l, TIMES);
    printf("    %d locks in %lld ms\n", TIMES, (long long)took_ms);
    CHECK(took_ms < TIMES * SLOW_MS / 2 + 3 * usual_ms);
    five_delay(&r.five, 1, 0);
    five_delay(&r.five, 3, 0);
    CHECK(redlock_until_gone(&r, "a"));
}

/* What the test above would measure if the delay counted. */
TEST(redlock_stopped, a_slow_majority_is_waited_for)
{
    redlock_begin(&r, 30000);
    hf_lock *l = rig_lock(redlock_client(&r, 0, NULL), "a");
    for (int i = 0; i < 3; i++) five_delay(&r.five, i, 50);
    CHECK(redlock_use_often(l, 1) >= 100);
    for (int i = 0; i < 3; i++) five_delay(&r.five, i, 0);
    CHECK(redlock_until_gone(&r, "a"));
}
