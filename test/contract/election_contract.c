/*
 * election_contract.c: one of many candidates leads, every client sees which
 * one, and a former leader can change nothing.  One rule for all of it: no two
 * candidates lead at once.
 */
#include <string.h>

#include "lib/rig_started.h"

#define VALUES (HF_CAP_VALUE | HF_CAP_FENCE)

/* Candidates are closed before their clients are, passed or failed. */
static struct {
    hf_election *all[8];
    size_t len;
} candidates;

static void candidates_close(void *unused)
{
    (void)unused;
    rig_join(); /* no call may be under way */
    while (candidates.len > 0)
        hf_election_close(candidates.all[--candidates.len]);
}

static hf_election *candidate_with(hf_client *c,
                                   const struct hf_election_options *o)
{
    struct hf_error err = {0};
    hf_election *e;
    if (hf_election_open(c, "post", o, &e, &err))
        TEST_FAIL("open: %s", err.text);
    if (candidates.len == 0) test_cleanup(candidates_close, NULL);
    candidates.all[candidates.len++] = e;
    return e;
}

static hf_election *candidate(void)
{
    return candidate_with(rig_client(NULL), NULL);
}

static void candidate_close(hf_election *e)
{
    for (size_t i = 0; i < candidates.len; i++)
        if (candidates.all[i] == e)
            candidates.all[i] = candidates.all[--candidates.len];
    hf_election_close(e);
}

static int campaign(hf_election *e, int64_t wait_ms, const char *value)
{
    struct hf_campaign_options o = HF_CAMPAIGN_OPTIONS_INIT;
    if (wait_ms == RIG_TRY)
        o.flags = HF_CAMPAIGN_TRY;
    else
        o.wait_ms = wait_ms;
    o.value = value;
    o.value_len = value ? strlen(value) : 0;
    return hf_election_campaign(e, &o, NULL, NULL);
}

/* The state of this candidate's leadership. */
static int leads(hf_election *e)
{
    return hf_hold_state(hf_election_hold(e));
}

/* A living process's kernel lock cannot be taken away. */
static int can_be_broken(void)
{
    return rig_has(HF_CAP_BREAK) && !rig_has(HF_CAP_KERNEL);
}

/* What is published, as another one sees it: "" if nothing is. */
static const char *published(hf_election *e)
{
    static char text[64];
    struct hf_leader l = HF_LEADER_INIT;
    CHECK_INT(hf_election_look(e, &l, NULL), HF_OK);
    snprintf(text, sizeof text, "%s", l.data ? l.data : "");
    hf_leader_free(e, &l);
    return text;
}

/* ---- campaign and resign ------------------------------------------------ */

TEST(election, shows_the_leaders_own_fence_whoever_else_campaigned)
{
    struct hf_election_options fair = HF_ELECTION_OPTIONS_INIT;
    struct hf_campaign_options o = HF_CAMPAIGN_OPTIONS_INIT;
    hf_hold *g;
    struct hf_leader l = HF_LEADER_INIT;
    if (!rig_begin_with(HF_CAP_QUEUE | HF_CAP_FENCE)) return;
    fair.order = HF_ORDER_FAIR;
    hf_election *a = candidate_with(rig_client(NULL), &fair);
    hf_election *b = candidate_with(rig_client(NULL), &fair);
    CHECK_INT(hf_election_campaign(a, &o, &g, NULL), HF_OK);
    CHECK_INT(campaign(b, 1500, NULL), HF_TIMEOUT);
    CHECK_INT(hf_election_look(b, &l, NULL), HF_OK);
    CHECK(l.fence == hf_hold_fence(g));
    hf_leader_free(b, &l);
}

TEST(election, is_won_by_one)
{
    rig_begin();
    hf_election *a = candidate(), *b = candidate();
    CHECK_INT(campaign(a, RIG_TRY, NULL), HF_OK);
    CHECK_INT(campaign(b, RIG_TRY, NULL), HF_TAKEN);
    CHECK_INT(leads(a), HF_STATE_HELD);
    CHECK_INT(leads(b), HF_STATE_NONE);
    CHECK(hf_election_hold(b) == NULL);
    CHECK(hf_hold_valid_ms(hf_election_hold(a)) > 0);
}

TEST(election, is_won_with_a_rising_fence)
{
    hf_hold *first, *second;
    rig_begin();
    hf_election *a = candidate(), *b = candidate();
    CHECK_INT(hf_election_campaign(a, NULL, &first, NULL), HF_OK);
    uint64_t fence = hf_hold_fence(first);
    CHECK_INT(hf_election_resign(a, NULL), HF_OK);
    CHECK_INT(hf_hold_state(first), HF_STATE_NONE); /* it was borrowed */
    CHECK_INT(hf_election_campaign(b, NULL, &second, NULL), HF_OK);
    CHECK(rig_fence_rises(fence, hf_hold_fence(second)));
}

TEST(election, is_won_by_the_next_when_the_leader_resigns)
{
    rig_begin();
    hf_election *a = candidate(), *b = candidate();
    CHECK_INT(campaign(a, 0, NULL), HF_OK);
    CHECK_INT(hf_election_resign(a, NULL), HF_OK);
    CHECK_INT(campaign(b, RIG_WAIT_MS, NULL), HF_OK);
    CHECK_INT(leads(a), HF_STATE_NONE);
}

static void campaign_in_a_thread(void *arg)
{
    (void)campaign(arg, RIG_WAIT_MS, NULL);
}

static int is_led_by(void *e)
{
    return leads(e) == HF_STATE_HELD;
}

TEST(election, is_waited_for_until_the_leader_resigns)
{
    rig_begin();
    hf_election *a = candidate(), *b = candidate();
    CHECK_INT(campaign(a, 0, NULL), HF_OK);
    rig_spawn(campaign_in_a_thread, b);
    rig_pause_ms(50);
    CHECK_INT(leads(b), HF_STATE_NONE);
    CHECK_INT(hf_election_resign(a, NULL), HF_OK);
    CHECK(rig_until(is_led_by, b));
    rig_join();
}

TEST(election, is_waited_for_no_longer_than_asked)
{
    rig_begin();
    hf_election *a = candidate(), *b = candidate();
    CHECK_INT(campaign(a, 0, NULL), HF_OK);
    CHECK_INT(campaign(b, 1500, NULL), HF_TIMEOUT);
}

TEST(election, is_left_when_the_campaign_is_cancelled)
{
    struct hf_campaign_options o = HF_CAMPAIGN_OPTIONS_INIT;
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_election *a = candidate(), *b = candidate_with(c, NULL);
    CHECK_INT(campaign(a, 0, NULL), HF_OK);
    CHECK_INT(hf_cancel_open(c, &o.cancel), HF_OK);
    hf_cancel_fire(o.cancel);
    CHECK_INT(hf_election_campaign(b, &o, NULL, NULL), HF_CANCELLED);
    hf_cancel_close(o.cancel);
    CHECK_INT(campaign(b, RIG_TRY, NULL), HF_TAKEN);
}

TEST(election, is_not_won_twice_by_one_candidate)
{
    struct hf_error err = {0};
    rig_begin();
    hf_election *a = candidate();
    CHECK_INT(campaign(a, 0, NULL), HF_OK);
    CHECK_INT(hf_election_campaign(a, NULL, NULL, &err), HF_INVALID);
    CHECK_STR(err.text, "this candidate leads already");
    CHECK_INT(leads(a), HF_STATE_HELD);
}

/* What several threads are told that campaign at the same time. */
static struct crowd {
    hf_election *e;
    atomic_int ready, won, refused;
} crowd;

#define CROWD 4

static void campaign_in_a_crowd(void *unused)
{
    (void)unused;
    atomic_fetch_add(&crowd.ready, 1);
    while (atomic_load(&crowd.ready) < CROWD) rig_pause_ms(0);
    int status = campaign(crowd.e, RIG_TRY, NULL);
    if (status == HF_OK) atomic_fetch_add(&crowd.won, 1);
    if (status == HF_INVALID) atomic_fetch_add(&crowd.refused, 1);
}

TEST(election, is_won_once_by_threads_with_one_candidate)
{
    rig_begin();
    crowd.e = candidate();
    for (int round = 0; round < 20; round++) {
        crowd.ready = crowd.won = crowd.refused = 0;
        for (int i = 0; i < CROWD; i++) rig_spawn(campaign_in_a_crowd, NULL);
        rig_join();
        CHECK_INT(crowd.won, 1);
        CHECK_INT(crowd.refused, CROWD - 1);
        CHECK_INT(hf_election_resign(crowd.e, NULL), HF_OK);
    }
}

TEST(election, is_not_resigned_by_who_does_not_lead)
{
    rig_begin();
    hf_election *a = candidate(), *b = candidate();
    CHECK_INT(hf_election_resign(b, NULL), HF_NOT_OWNER);
    CHECK_INT(campaign(a, 0, NULL), HF_OK);
    CHECK_INT(hf_election_resign(b, NULL), HF_NOT_OWNER);
    CHECK_INT(leads(a), HF_STATE_HELD);
}

TEST(election, is_resigned_when_the_candidate_is_closed)
{
    rig_begin();
    hf_election *a = candidate(), *b = candidate();
    CHECK_INT(campaign(a, 0, NULL), HF_OK);
    candidate_close(a);
    CHECK_INT(campaign(b, RIG_WAIT_MS, NULL), HF_OK);
}

TEST(election, and_a_plain_lock_of_the_name_exclude_each_other)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "post");
    hf_election *a = candidate();
    CHECK_INT(rig_acquire(l, 0, RIG_TRY, NULL), HF_OK);
    CHECK_INT(campaign(a, RIG_TRY, NULL), HF_TAKEN);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(campaign(a, RIG_WAIT_MS, NULL), HF_OK);
    CHECK_INT(rig_probe(l), HF_TAKEN);
}

TEST(election, may_be_won_again_after_it_was_lost)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_election *a = candidate_with(c, NULL);
    if (!can_be_broken()) return;
    hf_lock *l = rig_lock(c, "post");
    CHECK_INT(campaign(a, 0, NULL), HF_OK);
    hf_hold *lost = hf_election_hold(a);
    uint64_t fence = hf_hold_fence(lost);
    CHECK_INT(hf_lock_break(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_hold_extend(lost, 0, NULL), HF_EXPIRED);
    CHECK_INT(leads(a), HF_STATE_LOST);
    CHECK_INT(campaign(a, RIG_WAIT_MS, NULL), HF_OK);
    CHECK_INT(leads(a), HF_STATE_HELD);
    CHECK(hf_election_hold(a) != lost);
    CHECK(rig_fence_rises(fence, hf_hold_fence(hf_election_hold(a))));
}

/* ---- being told --------------------------------------------------------- */

static struct told {
    atomic_int at_risk, lost;
} told;

static void note(hf_election *e, const struct hf_event *ev, void *user)
{
    struct told *t = user;
    (void)e;
    if (ev->state == HF_STATE_AT_RISK && ev->valid_ms > 0)
        atomic_fetch_add(&t->at_risk, 1);
    if (ev->state == HF_STATE_LOST) atomic_fetch_add(&t->lost, 1);
}

static hf_election *candidate_who_listens(hf_client *c, int64_t lease_ms)
{
    struct hf_election_options o = HF_ELECTION_OPTIONS_INIT;
    atomic_store(&told.at_risk, 0);
    atomic_store(&told.lost, 0);
    o.lease_ms = lease_ms;
    o.on_state = note;
    o.user = &told;
    return candidate_with(c, &o);
}

TEST(election, that_is_lost_is_told_to_the_one_who_led)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    if (!can_be_broken()) return;
    hf_election *a = candidate_who_listens(c, 0);
    hf_lock *l = rig_lock(c, "post");
    CHECK_INT(campaign(a, 0, NULL), HF_OK);
    CHECK_INT(hf_lock_break(l, NULL, NULL), HF_OK);
    (void)hf_hold_extend(hf_election_hold(a), 0, NULL);
    CHECK(rig_until_equal(&told.lost, 1));
}

static int is_lost_by(void *e)
{
    return leads(e) == HF_STATE_LOST;
}

TEST(election, that_another_candidate_lost_is_not_told)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    if (!can_be_broken()) return;
    hf_election *a = candidate_with(c, NULL);
    (void)candidate_who_listens(c, 0);
    hf_lock *l = rig_lock(c, "post");
    CHECK_INT(campaign(a, 0, NULL), HF_OK);
    CHECK_INT(hf_lock_break(l, NULL, NULL), HF_OK);
    (void)hf_hold_extend(hf_election_hold(a), 0, NULL);
    CHECK(rig_until(is_lost_by, a));
    CHECK_INT(atomic_load(&told.lost), 0);
}

/* ---- who leads ---------------------------------------------------------- */

TEST(election, is_led_by_nobody_before_the_first_campaign)
{
    struct hf_leader l = HF_LEADER_INIT;
    rig_begin();
    hf_election *a = candidate();
    CHECK_INT(hf_election_look(a, &l, NULL), HF_OK);
    CHECK(!l.is_led && !l.is_me && l.fence == 0 && l.data == NULL);
}

TEST(election, shows_who_leads_and_since_when)
{
    struct hf_leader l = HF_LEADER_INIT;
    hf_hold *g;
    rig_begin();
    hf_election *a = candidate(), *b = candidate();
    CHECK_INT(hf_election_campaign(a, NULL, &g, NULL), HF_OK);
    CHECK_INT(hf_election_look(b, &l, NULL), HF_OK);
    CHECK(l.is_led && !l.is_me);
    if (rig_has(HF_CAP_FENCE)) CHECK_INT(l.fence, hf_hold_fence(g));
    CHECK(l.since_ms <= l.now_ms);
    CHECK(l.data == NULL);
    CHECK_INT(hf_election_look(a, &l, NULL), HF_OK);
    CHECK(l.is_led && l.is_me);
}

TEST(election, shows_what_the_leader_published)
{
    if (!rig_begin_with(VALUES)) return;
    hf_election *a = candidate(), *b = candidate();
    CHECK_INT(campaign(a, 0, "10.0.0.5:80"), HF_OK);
    CHECK_STR(published(b), "10.0.0.5:80");
    CHECK_INT(hf_election_publish(a, "10.0.0.6:80", 11, NULL), HF_OK);
    CHECK_STR(published(b), "10.0.0.6:80");
}

TEST(election, shows_nothing_published_once_the_leader_resigned)
{
    struct hf_value v = HF_VALUE_INIT;
    if (!rig_begin_with(VALUES)) return;
    hf_client *c = rig_client(NULL);
    hf_election *a = candidate_with(c, NULL), *b = candidate();
    CHECK_INT(campaign(a, 0, "mine"), HF_OK);
    CHECK_INT(hf_election_resign(a, NULL), HF_OK);
    CHECK_STR(published(b), "");
    CHECK_INT(hf_value_read(c, "holdfast_elect:{post}", &v, NULL), HF_OK);
    CHECK_INT(v.version, 0);
}

TEST(election, never_shows_a_former_leaders_value_as_the_present_ones)
{
    if (!rig_begin_with(VALUES)) return;
    hf_client *c = rig_client(NULL);
    hf_election *a = candidate_with(c, NULL), *b = candidate();
    CHECK_INT(campaign(a, 0, "mine"), HF_OK);
    /* It goes without resigning, like a process that is killed. */
    CHECK_INT(hf_hold_release(hf_election_hold(a), NULL), HF_OK);
    CHECK_INT(campaign(b, RIG_WAIT_MS, NULL), HF_OK);
    CHECK_STR(published(b), "");
}

TEST(election, refuses_what_who_was_succeeded_would_publish)
{
    if (!rig_begin_with(VALUES)) return;
    hf_client *c = rig_client(NULL);
    hf_election *a = candidate(), *b = candidate_with(c, NULL);
    if (!can_be_broken()) return;
    CHECK_INT(campaign(a, 0, "old"), HF_OK);
    CHECK_INT(hf_lock_break(rig_lock(c, "post"), NULL, NULL), HF_OK);
    CHECK_INT(campaign(b, RIG_WAIT_MS, "new"), HF_OK);
    /* By its own clock it still leads; the fence shows that it does not. */
    CHECK_INT(hf_election_publish(a, "again", 5, NULL), HF_LOST);
    CHECK_STR(published(b), "new");
}

TEST(election, refuses_a_value_where_none_can_be_kept)
{
    struct hf_error err = {0};
    struct hf_campaign_options o = HF_CAMPAIGN_OPTIONS_INIT;
    rig_begin();
    hf_election *a = candidate();
    if (rig_has(VALUES)) return;
    o.value = "mine";
    o.value_len = 4;
    CHECK_INT(hf_election_campaign(a, &o, NULL, &err), HF_UNSUPPORTED);
    CHECK(strstr(err.text, "lead without one") != NULL);
    CHECK_INT(campaign(a, RIG_TRY, NULL), HF_OK);
}

TEST(election, refuses_a_value_that_is_too_long)
{
    static char long_value[HF_ELECTION_VALUE_MAX + 1];
    if (!rig_begin_with(VALUES)) return;
    hf_election *a = candidate();
    CHECK_INT(campaign(a, 0, NULL), HF_OK);
    CHECK_INT(hf_election_publish(a, long_value, sizeof long_value, NULL),
              HF_INVALID);
    CHECK_INT(hf_election_publish(a, long_value, sizeof long_value - 1, NULL),
              HF_OK);
}

TEST(election, is_not_won_where_something_else_is_in_the_values_place)
{
    struct hf_error err = {0};
    struct hf_campaign_options o = HF_CAMPAIGN_OPTIONS_INIT;
    if (!rig_begin_with(VALUES)) return;
    hf_client *c = rig_client(NULL);
    hf_election *a = candidate_with(c, NULL), *b = candidate();
    CHECK_INT(hf_value_write(c, "holdfast_elect:{post}", 0, "foreign", 7, 0,
                             NULL, NULL),
              HF_OK);
    o.value = "mine";
    o.value_len = 4;
    CHECK_INT(hf_election_campaign(a, &o, NULL, &err), HF_CONFLICT);
    CHECK_STR(err.text, "not what a leader published");
    CHECK_INT(leads(a), HF_STATE_NONE);
    CHECK_INT(campaign(b, RIG_WAIT_MS, NULL), HF_OK);
}

/* ---- waiting for a change ----------------------------------------------- */

static struct hf_await_options soon(int64_t wait_ms)
{
    struct hf_await_options o = HF_AWAIT_OPTIONS_INIT;
    if (wait_ms == RIG_TRY)
        o.flags = HF_AWAIT_TRY;
    else
        o.wait_ms = wait_ms;
    o.look_ms = 10;
    return o;
}

TEST(election, tells_of_no_change_when_there_is_none)
{
    struct hf_leader seen = HF_LEADER_INIT, now = HF_LEADER_INIT;
    struct hf_await_options o = soon(1500), once = soon(RIG_TRY);
    rig_begin();
    hf_election *a = candidate(), *b = candidate();
    CHECK_INT(campaign(a, 0, NULL), HF_OK);
    CHECK_INT(hf_election_look(b, &seen, NULL), HF_OK);
    CHECK_INT(hf_election_await(b, &seen, &o, &now, NULL), HF_TIMEOUT);
    CHECK_INT(hf_election_await(b, &seen, &once, &now, NULL), HF_TIMEOUT);
}

static void resign_in_a_thread(void *e)
{
    rig_pause_ms(40);
    (void)hf_election_resign(e, NULL);
}

TEST(election, tells_that_nobody_leads_any_more)
{
    struct hf_leader seen = HF_LEADER_INIT, now = HF_LEADER_INIT;
    struct hf_await_options o = soon(RIG_WAIT_MS);
    rig_begin();
    hf_election *a = candidate(), *b = candidate();
    CHECK_INT(campaign(a, 0, NULL), HF_OK);
    CHECK_INT(hf_election_look(b, &seen, NULL), HF_OK);
    rig_spawn(resign_in_a_thread, a);
    CHECK_INT(hf_election_await(b, &seen, &o, &now, NULL), HF_OK);
    CHECK(!now.is_led);
    rig_join();
}

static void publish_in_a_thread(void *e)
{
    rig_pause_ms(40);
    (void)hf_election_publish(e, "second", 6, NULL);
}

TEST(election, tells_of_another_value)
{
    struct hf_leader seen = HF_LEADER_INIT, now = HF_LEADER_INIT;
    struct hf_await_options o = soon(RIG_WAIT_MS);
    if (!rig_begin_with(VALUES)) return;
    hf_election *a = candidate(), *b = candidate();
    CHECK_INT(campaign(a, 0, "first"), HF_OK);
    CHECK_INT(hf_election_look(b, &seen, NULL), HF_OK);
    hf_leader_free(b, &seen);
    rig_spawn(publish_in_a_thread, a);
    CHECK_INT(hf_election_await(b, &seen, &o, &now, NULL), HF_OK);
    CHECK_STR(now.data, "second");
    hf_leader_free(b, &now);
    rig_join();
}

TEST(election, is_not_watched_any_more_when_that_is_cancelled)
{
    struct hf_leader seen = HF_LEADER_INIT, now = HF_LEADER_INIT;
    struct hf_await_options o = soon(RIG_NO_LIMIT);
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_election *b = candidate_with(c, NULL);
    CHECK_INT(hf_election_look(b, &seen, NULL), HF_OK);
    CHECK_INT(hf_cancel_open(c, &o.cancel), HF_OK);
    hf_cancel_fire(o.cancel);
    CHECK_INT(hf_election_await(b, &seen, &o, &now, NULL), HF_CANCELLED);
    hf_cancel_close(o.cancel);
}

/* ---- asynchronously ----------------------------------------------------- */

static struct answer {
    atomic_int calls;
    int status;
    int is_led;
    uint64_t fence;
} answers[3];

static void answer_set(struct answer *a, int status)
{
    a->status = status;
    atomic_fetch_add(&a->calls, 1);
}

static void on_campaigned(hf_election *e, int status, hf_hold *hold,
                          const struct hf_error *err, void *user)
{
    struct answer *a = user;
    (void)e;
    (void)err;
    a->fence = hf_hold_fence(hold);
    answer_set(a, status);
}

static void on_resigned(hf_election *e, int status, const struct hf_error *err,
                        void *user)
{
    (void)e;
    (void)err;
    answer_set(user, status);
}

static void on_awaited(hf_election *e, int status,
                       const struct hf_leader *leader,
                       const struct hf_error *err, void *user)
{
    struct answer *a = user;
    (void)e;
    (void)err;
    a->is_led = leader ? leader->is_led : -1;
    answer_set(a, status);
}

TEST(election, is_won_and_resigned_asynchronously)
{
    struct hf_campaign_options o = HF_CAMPAIGN_OPTIONS_INIT;
    rig_begin();
    memset(answers, 0, sizeof answers);
    hf_election *a = candidate(), *b = candidate();
    if (rig_has(VALUES)) {
        o.value = "mine";
        o.value_len = 4;
    }
    CHECK_INT(
        hf_election_campaign_start(a, &o, on_campaigned, &answers[0], NULL),
        HF_OK);
    CHECK(rig_until_equal(&answers[0].calls, 1));
    CHECK_INT(answers[0].status, HF_OK);
    CHECK(rig_fence_rises(0, answers[0].fence));
    CHECK_STR(published(b), rig_has(VALUES) ? "mine" : "");
    CHECK_INT(hf_election_resign_start(a, on_resigned, &answers[1], NULL),
              HF_OK);
    CHECK(rig_until_equal(&answers[1].calls, 1));
    CHECK_INT(answers[1].status, HF_OK);
    CHECK_INT(campaign(b, RIG_WAIT_MS, NULL), HF_OK);
}

TEST(election, is_campaigned_for_once_at_a_time)
{
    struct hf_error err = {0};
    rig_begin();
    memset(answers, 0, sizeof answers);
    hf_election *a = candidate(), *b = candidate();
    CHECK_INT(campaign(a, 0, NULL), HF_OK);
    CHECK_INT(
        hf_election_campaign_start(b, NULL, on_campaigned, &answers[0], NULL),
        HF_OK);
    CHECK_INT(hf_election_campaign(b, NULL, NULL, &err), HF_INVALID);
    CHECK_STR(err.text, "it campaigns already");
    CHECK_INT(hf_election_resign(a, NULL), HF_OK);
    CHECK(rig_until_equal(&answers[0].calls, 1));
    CHECK_INT(answers[0].status, HF_OK);
}

TEST(election, is_watched_asynchronously)
{
    struct hf_leader seen = HF_LEADER_INIT;
    struct hf_await_options o = soon(RIG_NO_LIMIT);
    rig_begin();
    memset(answers, 0, sizeof answers);
    hf_election *a = candidate(), *b = candidate();
    CHECK_INT(hf_election_look(b, &seen, NULL), HF_OK);
    CHECK_INT(
        hf_election_await_start(b, &seen, &o, on_awaited, &answers[0], NULL),
        HF_OK);
    rig_pause_ms(40);
    CHECK_INT(atomic_load(&answers[0].calls), 0);
    CHECK_INT(campaign(a, 0, NULL), HF_OK);
    CHECK(rig_until_equal(&answers[0].calls, 1));
    CHECK_INT(answers[0].status, HF_OK);
    CHECK_INT(answers[0].is_led, 1);
}

TEST(election, publishes_asynchronously)
{
    if (!rig_begin_with(VALUES)) return;
    for (int mode = 0; mode < RIG_MODES; mode++) {
        memset(answers, 0, sizeof answers);
        hf_client *c = rig_client_in((enum rig_mode)mode);
        hf_election *a = candidate_with(c, NULL), *b = candidate();
        CHECK_INT(hf_election_publish_start(a, "x", 1, on_resigned, &answers[0],
                                            NULL),
                  HF_NOT_OWNER);
        CHECK_INT(campaign(a, RIG_WAIT_MS, NULL), HF_OK);
        CHECK_INT(hf_election_publish_start(a, "x", 1, NULL, NULL, NULL),
                  HF_INVALID);
        CHECK_INT(hf_election_publish_start(a, "mine", 4, on_resigned,
                                            &answers[0], NULL),
                  HF_OK);
        CHECK(rig_until_told(c, &answers[0].calls, 1));
        CHECK_INT(answers[0].status, HF_OK);
        CHECK_STR(published(b), "mine");
        CHECK_INT(hf_election_resign(a, NULL), HF_OK);
    }
}

/* The callback may close the election. */
static void on_awaited_last(hf_election *e, int status,
                            const struct hf_leader *leader,
                            const struct hf_error *err, void *user)
{
    hf_election_close(e);
    on_awaited(e, status, leader, err, user);
}

TEST(election, hears_that_its_client_is_closed_in_a_started_call)
{
    struct hf_await_options o = soon(RIG_NO_LIMIT);
    struct hf_leader seen = HF_LEADER_INIT;
    rig_begin();
    for (int mode = 0; mode < RIG_MODES; mode++) {
        memset(answers, 0, sizeof answers);
        hf_client *c = rig_client_in((enum rig_mode)mode);
        hf_election *e;
        CHECK_INT(hf_election_open(c, "post", NULL, &e, NULL), HF_OK);
        CHECK_INT(hf_election_look(e, &seen, NULL), HF_OK);
        CHECK_INT(hf_election_await_start(e, &seen, &o, on_awaited_last,
                                          &answers[0], NULL),
                  HF_OK);
        for (int i = 0; i < 5; i++) rig_turn(c, 10);
        CHECK_INT(atomic_load(&answers[0].calls), 0);
        rig_close(c);
        CHECK_INT(atomic_load(&answers[0].calls), 1);
        CHECK_INT(answers[0].status, HF_CLOSED);
    }
}

/* ---- bad input ---------------------------------------------------------- */

TEST(election, of_a_bad_name_or_with_bad_options_is_refused)
{
    static char name[HF_ELECTION_NAME_MAX + 2];
    struct hf_election_options o = HF_ELECTION_OPTIONS_INIT;
    struct hf_campaign_options co = HF_CAMPAIGN_OPTIONS_INIT;
    struct hf_await_options ao = soon(0);
    struct hf_leader l = HF_LEADER_INIT;
    hf_election *e;
    rig_begin();
    hf_client *c = rig_client(NULL);
    memset(name, 'n', sizeof name - 1);
    CHECK_INT(hf_election_open(c, "", NULL, &e, NULL), HF_INVALID);
    CHECK_INT(hf_election_open(c, name, NULL, &e, NULL), HF_INVALID);
    o.lease_ms = 1;
    CHECK_INT(hf_election_open(c, "post", &o, &e, NULL), HF_INVALID);
    o.lease_ms = 0;
    o.order = 7;
    CHECK_INT(hf_election_open(c, "post", &o, &e, NULL), HF_INVALID);
    e = candidate_with(c, NULL);
    co.flags = 2;
    CHECK_INT(hf_election_campaign(e, &co, NULL, NULL), HF_INVALID);
    co.flags = 0;
    co.wait_ms = -7;
    CHECK_INT(hf_election_campaign(e, &co, NULL, NULL), HF_INVALID);
    ao.look_ms = 1;
    CHECK_INT(hf_election_await(e, NULL, &ao, &l, NULL), HF_INVALID);
    CHECK_INT(campaign(e, RIG_TRY, NULL), HF_OK);
}

TEST(election, keeps_order_where_the_store_keeps_a_queue)
{
    struct hf_election_options o = HF_ELECTION_OPTIONS_INIT;
    hf_election *e;
    rig_begin();
    hf_client *c = rig_client(NULL);
    o.order = HF_ORDER_FAIR;
    if (!rig_has(HF_CAP_QUEUE)) {
        CHECK_INT(hf_election_open(c, "post", &o, &e, NULL), HF_UNSUPPORTED);
        return;
    }
    e = candidate_with(c, &o);
    CHECK_INT(campaign(e, RIG_WAIT_MS, NULL), HF_OK);
}
