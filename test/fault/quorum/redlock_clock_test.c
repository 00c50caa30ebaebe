/*
 * redlock_clock_test.c: the clock of a node is set by two minutes.  One rule:
 * the step is noticed, holders that count on that node are warned, and tokens
 * rise whatever the clocks do.
 */
#include <string.h>

#include "lib/planted.h"
#include "lib/redlock.h"

#define LEASE_MS 3000
#define MAX_LEASE_MS 5000 /* a quarantine is as long */
#define JUMP_MS INT64_C(120000)
#define FIXED_MS 6000 /* a lease that is not renewed */
#define STEP_MS 1900  /* a node that is 2 s ahead takes no number of ours */

static struct redlock r;
static hf_client *holder; /* whose hold it is */

/* What a client has told: its log, and the states of its hold. */
static struct {
    atomic_int forward, back, at_risk, lost, early;
    atomic_llong risk_valid_ms; /* left when it was told AT_RISK */
} told;

static void log_hear(int level, const char *line, void *user)
{
    (void)level;
    (void)user;
    if (strstr(line, "its clock was set forward"))
        atomic_fetch_add(&told.forward, 1);
    if (strstr(line, "its clock was set back")) atomic_fetch_add(&told.back, 1);
}

static void state_hear(const struct hf_event *ev, void *user)
{
    (void)user;
    if (ev->state == HF_STATE_AT_RISK) {
        atomic_store(&told.risk_valid_ms, ev->valid_ms);
        atomic_fetch_add(&told.at_risk, 1);
    }
    if (ev->state != HF_STATE_LOST) return;
    if (!atomic_load(&told.at_risk)) atomic_fetch_add(&told.early, 1);
    atomic_fetch_add(&told.lost, 1);
}

/* A hold on all five, watched. */
static hf_lock *hold_begin(int64_t lease_ms, hf_hold **g)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    memset(&told, 0, sizeof told);
    redlock_begin(&r, MAX_LEASE_MS);
    o.log = log_hear;
    o.on_state = state_hear;
    holder = redlock_client(&r, lease_ms, &o);
    hf_lock *l = rig_lock(holder, "a");
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, g), HF_OK);
    for (int i = 0; i < REDLOCK_NODES; i++)
        CHECK(redlock_until_has(&r, i, "a", 1));
    return l;
}

struct marking {
    int node;
    int64_t settled_us;
};

static int is_marked(void *arg)
{
    const struct marking *m = arg;
    return redlock_settled_us(&r, m->node) != m->settled_us;
}

/* Two minutes forward, until it is known and written down there. */
static void forward(int node)
{
    struct marking m = {node, redlock_settled_us(&r, node)};
    five_jump(&r.five, node, JUMP_MS);
    CHECK(rig_until_equal(&told.forward, 1));
    CHECK(rig_until(is_marked, &m));
}

/* The lock has ended early on that node, but the four others still have it.
 * The step was noticed by one client, and counts for all. */
TEST(redlock_clock, forward_it_is_in_quarantine_for_all_and_the_hold_is_safe)
{
    hf_hold *g;
    hold_begin(LEASE_MS, &g);
    forward(2);
    hf_client *other = redlock_newcomer(&r, 0, NULL);
    CHECK(redlock_until_quarantined(other, 2));
    CHECK_INT(rig_probe(rig_lock(other, "a")), HF_TAKEN);
    rig_pause_ms(LEASE_MS);
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(atomic_load(&told.at_risk), 0);
    uint64_t fence = hf_hold_fence(g);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    redlock_use(rig_lock(other, "a"), fence);
}

/* Back in step, it votes again when its quarantine is over. */
TEST(redlock_clock, forward_and_back_it_votes_again)
{
    hf_hold *g;
    hf_lock *l = hold_begin(LEASE_MS, &g);
    forward(2);
    five_jump(&r.five, 2, -JUMP_MS);
    CHECK(rig_until_equal(&told.back, 1));
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK(redlock_until_has(&r, 2, "a", 1)); /* healed */
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK(redlock_until_gone(&r, "a"));
    CHECK(redlock_until_voters(holder, REDLOCK_NODES));
    hf_lock *other = rig_lock(redlock_client(&r, 0, NULL), "a");
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, &g), HF_OK);
    uint64_t fence = hf_hold_fence(g);
    CHECK(redlock_until_has(&r, 2, "a", 1));
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    redlock_use(l, fence);
}

/* Two are away already, so that every one of the others counts.  The holder is
 * told at once, not when its time is nearly over: that is the last third. */
TEST(redlock_clock, forward_where_the_majority_depends_on_it_is_told)
{
    hf_hold *g;
    hf_lock *l = hold_begin(MAX_LEASE_MS, &g);
    five_kill(&r.five, 3);
    five_kill(&r.five, 4);
    rig_pause_ms(MAX_LEASE_MS / 2);
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(atomic_load(&told.at_risk), 0);
    five_jump(&r.five, 0, JUMP_MS);
    CHECK(rig_until_equal(&told.at_risk, 1));
    CHECK(atomic_load(&told.risk_valid_ms) > MAX_LEASE_MS / 3);
    CHECK(rig_until_equal(&told.lost, 1));
    CHECK_INT(atomic_load(&told.early), 0);
    five_jump(&r.five, 0, -JUMP_MS);
    five_restart(&r.five, 3);
    five_restart(&r.five, 4);
    redlock_use(l, hf_hold_fence(g));
}

/* Leases there last two minutes longer, but not ours: it is released. */
TEST(redlock_clock, back_it_is_noticed_and_nothing_stays_behind)
{
    hf_hold *g;
    hf_lock *l = hold_begin(LEASE_MS, &g);
    five_jump(&r.five, 1, -JUMP_MS);
    CHECK(rig_until_equal(&told.back, 1));
    rig_pause_ms(LEASE_MS);
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(atomic_load(&told.at_risk), 0);
    uint64_t fence = hf_hold_fence(g);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK(redlock_until_gone(&r, "a"));
    redlock_use(l, fence);
    CHECK(redlock_until_gone(&r, "a"));
}

/* Nothing can keep two from holding it then: tokens tell them apart. */
TEST(redlock_clock, forward_of_a_majority_tokens_rise_and_the_holder_is_told)
{
    hf_hold *a, *b;
    hf_lock *l = hold_begin(LEASE_MS, &a);
    hf_lock *other = rig_lock(redlock_client(&r, LEASE_MS, NULL), "a");
    for (int i = 0; i < 3; i++) five_jump(&r.five, i, JUMP_MS);
    CHECK(rig_until_equal(&told.lost, 1));
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, &b), HF_OK);
    uint64_t b_fence = hf_hold_fence(b);
    CHECK(hf_hold_fence(b) > hf_hold_fence(a));
    CHECK_INT(hf_hold_release(b, NULL), HF_OK);
    for (int i = 0; i < 3; i++) five_jump(&r.five, i, -JUMP_MS);
    uint64_t fence = redlock_use(l, b_fence);
    redlock_use(other, fence);
}

/* Held on 0, 1 and 2 only, by a lease that nobody renews. */
static hf_hold *hold_on_three(void)
{
    struct hf_acquire_options o =
        rig_options(RIG_WAIT_MS, FIXED_MS, HF_ACQUIRE_FIXED);
    hf_lock *l = rig_lock(redlock_client(&r, 0, NULL), "a");
    hf_hold *g = NULL;
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    for (int i = 3; i < REDLOCK_NODES; i++) {
        CHECK(redlock_until_has(&r, i, "a", 1));
        redis_say(&r.five.nodes[i].redis, "DEL a");
    }
    return g;
}

static int is_about_to_end(void *arg)
{
    (void)arg;
    return redis_number(&r.five.nodes[0].redis, "PTTL a") < STEP_MS - 50;
}

enum second { SECOND_WAITS, SECOND_HOLDS_TOO, SECOND_CAME_LATE };

/* The lease ends on 0 alone, and with 3 and 4 that is a majority; the reply
 * that grants it shows what happened to the clock.  A node that is farther
 * ahead would grant nothing. */
static enum second second_tries(void)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    memset(&told, 0, sizeof told);
    o.log = log_hear;
    redlock_begin(&r, FIXED_MS);
    holder = redlock_client(&r, 0, &o);
    hf_lock *second = rig_lock(holder, "a");
    hf_hold *first = hold_on_three();
    CHECK(redlock_until_voters(holder, REDLOCK_NODES));
    CHECK(rig_until(is_about_to_end, NULL));
    five_jump(&r.five, 0, STEP_MS);
    int status = rig_acquire(second, 0, RIG_TRY, NULL);
    if (hf_hold_state(first) == HF_STATE_LOST) return SECOND_CAME_LATE;
    return status == HF_OK ? SECOND_HOLDS_TOO : SECOND_WAITS;
}

TEST(redlock_clock, forward_it_does_not_vote_by_the_reply_that_shows_it)
{
    CHECK(second_tries() != SECOND_HOLDS_TOO);
    CHECK(redlock_until_quarantined(holder, 0));
    CHECK_INT(atomic_load(&told.forward), 1);
}

TEST(redlock_clock, forward_a_vote_by_the_reply_that_shows_it_is_found)
{
    planted_begin(CORE_MUT_SUSPECT_VOTES);
    enum second result = second_tries();
    if (result == SECOND_CAME_LATE) printf("    too slow to tell\n");
    CHECK(result != SECOND_WAITS);
}
