/*
 * hold_test.c: the hold machine, one claim a test, on time that is an argument.
 *
 * The rig drives one hold and keeps what the last step put out.
 */
#include <string.h>

#include "core/hold.h"
#include "test.h"

#define MS US_PER_MS

struct rig {
    struct hold_conf conf;
    struct ballot ballot;
    struct hold h;
    struct hold_out out;
    int64_t now_us;
};

static void rig_init(struct rig *r, int nodes)
{
    memset(r, 0, sizeof *r);
    r->conf.nodes = nodes;
    r->conf.quorum = nodes / 2 + 1;
    r->conf.request_flags = nodes == 1 ? REQ_SERVER_FENCE : 0;
    r->conf.drift_ppm = 10000;
    r->conf.window_us = 2000 * MS;
    r->conf.timeout_us = 2000 * MS;
    r->conf.patience_us = 2000 * MS;
    r->now_us = 1000 * MS;
    hf__hold_init(&r->h, &r->conf, &r->ballot);
}

static void rig_step(struct rig *r, struct hold_event ev)
{
    ev.now_us = r->now_us;
    ev.nodes_now_us = 5000000 + r->now_us;
    hf__hold_step(&r->h, &ev, &r->out);
}

static void rig_acquire(struct rig *r, unsigned flags, int64_t wait_ms,
                        int64_t lease_ms)
{
    struct hold_event ev = {.type = EV_ACQUIRE,
                            .flags = flags,
                            .wait_us = wait_ms < 0 ? -1 : wait_ms * MS,
                            .lease_us = lease_ms * MS};
    rig_step(r, ev);
}

/* Three nodes, quorum 2, lease 9000 ms, sent at 1000 ms. */
static void rig_start(struct rig *r)
{
    rig_init(r, 3);
    rig_acquire(r, HOLD_KEEP | HOLD_MAY_TRY, -1, 9000);
}

static void rig_answer(struct rig *r, enum verb op, int node,
                       struct reply reply)
{
    struct hold_event ev = {.type = EV_REPLY,
                            .verb = op,
                            .round = r->h.round,
                            .node = node,
                            .reply = &reply};
    rig_step(r, ev);
}

static void rig_reply(struct rig *r, int node, enum verdict v)
{
    struct reply reply = {.verdict = v,
                          .status = HF_UNAVAILABLE,
                          .fence = 77,
                          .ttl_us = 500 * MS};
    enum verb op = r->h.state == HOLD_HELD ? VERB_RENEW : VERB_PROPOSE;
    if (r->h.state == HOLD_RELEASING) op = VERB_RELEASE;
    rig_answer(r, op, node, reply);
}

static void rig_event(struct rig *r, enum hold_event_type type)
{
    struct hold_event ev = {.type = type};
    rig_step(r, ev);
}

static void rig_timer(struct rig *r)
{
    r->now_us = hf__hold_due(&r->h);
    rig_event(r, EV_TIMER);
}

/* One server, held since 1000 ms with the given lease. */
static void rig_hold(struct rig *r, unsigned flags, int64_t lease_ms)
{
    rig_init(r, 1);
    rig_acquire(r, flags | HOLD_MAY_TRY, -1, lease_ms);
    rig_reply(r, 0, V_GRANTED);
    CHECK(r->h.state == HOLD_HELD);
}

static int has_send(const struct rig *r, enum verb op)
{
    for (int i = 0; i < r->out.sends; i++)
        if (r->out.send[i].verb == op) return 1;
    return 0;
}

/* ---- getting ------------------------------------------------------------- */

/* A node starts its clock after we sent, so this is the only safe reading. */
TEST(hold, lease_counts_from_the_send_not_from_the_reply)
{
    struct rig r;
    rig_start(&r);
    r.now_us = 1150 * MS; /* a slow network */
    rig_reply(&r, 0, V_GRANTED);
    rig_reply(&r, 2, V_GRANTED);
    CHECK(r.out.finished && r.out.status == HF_OK);
    CHECK_INT(r.h.valid_us, (1000 + 9000 - 92) * MS); /* 1 % + 2 ms */
}

/* Where several can hold at once, one waiter waits at the store for all waiters
 * of its process. */
TEST(hold, waiter_that_queues_again_sleeps_until_its_turn_or_its_deadline)
{
    struct rig r;
    rig_init(&r, 1);
    rig_acquire(&r, HOLD_MAY_TRY | HOLD_MANY, 5000, 1000);
    rig_reply(&r, 0, V_BUSY);
    CHECK(r.h.state == HOLD_WAITING);
    rig_event(&r, EV_BACK);
    CHECK(r.h.state == HOLD_IN_LINE && !r.out.finished && r.out.sends == 0);
    CHECK_INT(hf__hold_due(&r.h), 6000 * MS);
    rig_event(&r, EV_WAKE); /* another's affair */
    CHECK(r.h.state == HOLD_IN_LINE);
    rig_event(&r, EV_TURN);
    CHECK(r.h.state == HOLD_TRYING && has_send(&r, VERB_PROPOSE));
}

TEST(hold, minority_is_not_enough)
{
    struct rig r;
    rig_start(&r);
    rig_reply(&r, 0, V_GRANTED);
    CHECK(r.h.state == HOLD_TRYING && !r.out.finished);
    rig_reply(&r, 0, V_GRANTED); /* the same node twice is one vote */
    CHECK(r.h.state == HOLD_TRYING);
}

TEST(hold, grant_that_comes_too_late_is_given_back)
{
    struct rig r;
    rig_init(&r, 1);
    rig_acquire(&r, HOLD_MAY_TRY, -1, 100);
    r.now_us += 95 * MS;
    rig_reply(&r, 0, V_GRANTED);
    CHECK(r.h.state == HOLD_WAITING);
    CHECK(has_send(&r, VERB_RELEASE));
}

TEST(hold, one_server_assigns_the_fence)
{
    struct rig r;
    rig_hold(&r, 0, 1000);
    CHECK_INT(r.h.fence, 77);
}

TEST(hold, quorum_uses_the_number_as_the_fence)
{
    struct rig r;
    rig_start(&r);
    rig_reply(&r, 0, V_GRANTED);
    rig_reply(&r, 1, V_GRANTED);
    CHECK_INT(r.h.fence, r.h.number);
}

TEST(hold, stale_number_is_followed_by_a_higher_one)
{
    struct rig r;
    rig_init(&r, 1);
    rig_acquire(&r, HOLD_MAY_TRY, -1, 1000);
    int64_t first = r.out.send[0].ballot;
    uint64_t attempt = r.h.attempt;
    hf__ballot_saw(&r.ballot, first + 100);
    rig_reply(&r, 0, V_STALE);
    CHECK(has_send(&r, VERB_PROPOSE));
    CHECK_INT(r.out.send[0].ballot, first + 101);
    CHECK_INT(r.h.attempt, attempt);
}

TEST(hold, every_new_attempt_has_a_fresh_id)
{
    struct rig r;
    rig_init(&r, 1);
    rig_acquire(&r, HOLD_MAY_TRY, -1, 1000);
    uint64_t first = r.h.attempt;
    rig_reply(&r, 0, V_BUSY);
    rig_event(&r, EV_WAKE);
    CHECK(r.h.state == HOLD_TRYING && r.h.attempt > first);
}

TEST(hold, try_on_a_taken_lock_is_taken_and_owes_nothing)
{
    struct rig r;
    rig_init(&r, 1);
    rig_acquire(&r, HOLD_MAY_TRY, 0, 1000);
    rig_reply(&r, 0, V_BUSY);
    CHECK(r.out.finished && r.out.status == HF_TAKEN);
    CHECK_INT(r.out.sends, 0);
    CHECK(r.h.state == HOLD_DONE);
}

TEST(hold, answer_in_doubt_is_released_and_tried_again)
{
    struct rig r;
    rig_init(&r, 1);
    rig_acquire(&r, HOLD_MAY_TRY, 0, 1000);
    uint64_t first = r.h.attempt;
    rig_reply(&r, 0, V_UNKNOWN);
    CHECK(r.h.state == HOLD_WAITING && has_send(&r, VERB_RELEASE));
    CHECK_INT(r.out.send[0].attempt, first);
    rig_timer(&r);
    CHECK(has_send(&r, VERB_PROPOSE) && r.h.attempt > first);
}

TEST(hold, silence_ends_with_patience)
{
    struct rig r;
    rig_init(&r, 1);
    rig_acquire(&r, HOLD_MAY_TRY, -1, 1000);
    CHECK_INT(hf__hold_due(&r.h), r.now_us + 2000 * MS);
    rig_timer(&r);
    CHECK(r.out.finished && r.out.status == HF_UNAVAILABLE);
    CHECK(has_send(&r, VERB_RELEASE)); /* it may have been granted */
}

TEST(hold, deadline_ends_a_wait_with_timeout)
{
    struct rig r;
    rig_init(&r, 1);
    rig_acquire(&r, HOLD_MAY_TRY, 300, 1000);
    rig_reply(&r, 0, V_BUSY);
    CHECK(r.out.watch == 1);
    CHECK_INT(hf__hold_due(&r.h) <= r.now_us + 300 * MS, 1);
    r.now_us += 300 * MS;
    rig_event(&r, EV_TIMER);
    CHECK(r.out.finished && r.out.status == HF_TIMEOUT);
}

TEST(hold, waiter_that_is_watched_sleeps_for_the_holders_time)
{
    struct rig r;
    struct hold_event ev = {.type = EV_WATCHED, .status = HF_OK};
    rig_init(&r, 1);
    rig_acquire(&r, HOLD_MAY_TRY, -1, 1000);
    rig_reply(&r, 0, V_BUSY);
    rig_step(&r, ev); /* wake-ups stand: look again */
    CHECK(has_send(&r, VERB_PROPOSE));
    rig_reply(&r, 0, V_BUSY);
    CHECK_INT(hf__hold_due(&r.h), r.now_us + 501 * MS);
}

/* The message may overtake the refusal, for it comes on another link. */
TEST(hold, wake_up_during_a_try_is_not_forgotten)
{
    struct rig r;
    rig_init(&r, 1);
    rig_acquire(&r, HOLD_MAY_TRY, -1, 1000);
    rig_event(&r, EV_WAKE);
    rig_reply(&r, 0, V_BUSY);
    CHECK(r.h.state == HOLD_TRYING && has_send(&r, VERB_PROPOSE));
}

TEST(hold, refusal_that_only_a_human_can_mend_ends_at_once)
{
    struct rig r;
    struct reply denied = {.verdict = V_ERROR, .status = HF_DENIED};
    rig_init(&r, 1);
    rig_acquire(&r, HOLD_MAY_TRY, -1, 1000);
    rig_answer(&r, VERB_PROPOSE, 0, denied);
    CHECK(r.out.finished && r.out.status == HF_DENIED);
}

TEST(hold, queued_hold_tries_only_at_its_turn)
{
    struct rig r;
    rig_init(&r, 1);
    rig_acquire(&r, 0, -1, 1000);
    CHECK(r.h.state == HOLD_IN_LINE && r.out.sends == 0);
    CHECK_INT(hf__hold_due(&r.h), TIME_NEVER);
    rig_event(&r, EV_TURN);
    CHECK(r.h.state == HOLD_TRYING && has_send(&r, VERB_PROPOSE));
}

TEST(hold, cancelled_try_is_released)
{
    struct rig r;
    struct hold_event ev = {.type = EV_FAIL, .status = HF_CANCELLED};
    rig_init(&r, 1);
    rig_acquire(&r, HOLD_MAY_TRY, -1, 1000);
    rig_step(&r, ev);
    CHECK(r.out.finished && r.out.status == HF_CANCELLED);
    CHECK(has_send(&r, VERB_RELEASE) && r.h.state == HOLD_DONE);
}

/* ---- keeping ------------------------------------------------------------- */

TEST(hold, watchdog_renews_from_a_third_of_the_lease)
{
    struct rig r;
    rig_hold(&r, HOLD_KEEP, 9000);
    CHECK_INT(hf__hold_due(&r.h), (1000 + 3000) * MS);
    rig_timer(&r);
    CHECK(has_send(&r, VERB_RENEW));
    r.now_us += 20 * MS;
    rig_reply(&r, 0, V_GRANTED);
    CHECK_INT(r.h.valid_us, (4000 + 9000 - 92) * MS);
}

TEST(hold, renewal_is_tried_at_least_three_times_before_the_end)
{
    struct rig r;
    int tries = 0;
    rig_hold(&r, HOLD_KEEP, 300);
    while (r.h.state == HOLD_HELD) {
        rig_timer(&r);
        if (!has_send(&r, VERB_RENEW)) continue;
        tries++;
        r.now_us = r.out.send[0].deadline_us; /* the answer never came */
        rig_reply(&r, 0, V_UNKNOWN);
    }
    CHECK(tries >= 3);
    CHECK(r.h.state == HOLD_LOST);
}

TEST(hold, fixed_lease_is_not_renewed)
{
    struct rig r;
    rig_hold(&r, 0, 9000);
    rig_timer(&r);
    CHECK(r.out.notice == HF_STATE_AT_RISK && !has_send(&r, VERB_RENEW));
}

TEST(hold, at_risk_comes_before_lost_and_each_once)
{
    struct rig r;
    int risks = 0, losses = 0;
    rig_hold(&r, 0, 9000);
    for (int i = 0; i < 5 && hf__hold_due(&r.h) != TIME_NEVER; i++) {
        rig_timer(&r);
        risks += r.out.notice == HF_STATE_AT_RISK;
        losses += r.out.notice == HF_STATE_LOST;
        CHECK(!losses || risks);
    }
    CHECK_INT(risks, 1);
    CHECK_INT(losses, 1);
}

TEST(hold, risk_is_told_even_when_the_timer_is_late)
{
    struct rig r;
    rig_hold(&r, 0, 9000);
    r.now_us = r.h.valid_us + 1;
    rig_event(&r, EV_TIMER);
    CHECK(r.out.risk_untold && r.out.notice == HF_STATE_LOST);
}

/* Protocol page 1.5.5: a reply that comes later never revives the hold. */
TEST(hold, renewal_answered_after_the_end_does_not_revive_it)
{
    struct rig r;
    rig_hold(&r, HOLD_KEEP, 9000);
    rig_timer(&r);
    r.now_us = r.h.valid_us + 1;
    rig_reply(&r, 0, V_GRANTED);
    CHECK(hf__hold_view(&r.h, r.now_us) == HF_STATE_LOST);
    rig_event(&r, EV_TIMER);
    CHECK(r.h.state == HOLD_LOST && r.out.notice == HF_STATE_LOST);
}

TEST(hold, renewal_that_finds_another_owner_is_lost_at_once)
{
    struct rig r;
    rig_hold(&r, HOLD_KEEP, 9000);
    rig_timer(&r);
    rig_reply(&r, 0, V_OTHER);
    CHECK(r.out.notice == HF_STATE_LOST);
    CHECK_INT(hf__hold_why(&r.h, HF_STATE_LOST), HF_LOST);
}

TEST(hold, healed_risk_is_told_as_held)
{
    struct rig r;
    rig_hold(&r, HOLD_KEEP, 9000);
    rig_timer(&r);
    r.now_us = hf__hold_risk_us(&r.h);
    rig_event(&r, EV_TIMER);
    CHECK(r.out.notice == HF_STATE_AT_RISK);
    rig_reply(&r, 0, V_GRANTED);
    CHECK(r.out.notice == HF_STATE_HELD);
}

TEST(hold, kernel_hold_has_no_end)
{
    struct rig r;
    rig_hold(&r, HOLD_KEEP | HOLD_ETERNAL, 9000);
    CHECK(hf__hold_view(&r.h, INT64_C(1) << 60) == HF_STATE_HELD);
}

TEST(hold, kernel_hold_is_looked_at_and_lost_with_its_file)
{
    struct rig r;
    rig_hold(&r, HOLD_KEEP | HOLD_ETERNAL, 9000);
    rig_timer(&r);
    CHECK(has_send(&r, VERB_RENEW));
    rig_reply(&r, 0, V_GRANTED);
    CHECK(r.h.valid_us == TIME_NEVER);
    rig_timer(&r);
    rig_reply(&r, 0, V_ABSENT);
    CHECK(r.out.notice == HF_STATE_LOST);
}

TEST(hold, detached_hold_has_an_end_whoever_enters_it)
{
    struct rig r;
    struct hold_event enter = {.type = EV_ENTER,
                               .flags = HOLD_KEEP | HOLD_ETERNAL,
                               .lease_us = 300 * MS};
    rig_hold(&r, HOLD_DETACHED, 300);
    rig_step(&r, enter);
    rig_reply(&r, 0, V_GRANTED);
    CHECK(r.h.valid_us < r.now_us + 300 * MS);
    CHECK(r.h.renew_at_us != TIME_NEVER);
}

/* Only the user extends a fixed lease. */
TEST(hold, fixed_lease_is_not_renewed_after_a_failed_extension)
{
    struct rig r;
    struct hold_event extend = {.type = EV_EXTEND};
    rig_hold(&r, 0, 90000);
    rig_step(&r, extend);
    rig_reply(&r, 0, V_UNKNOWN);
    r.now_us += 3000 * MS;
    rig_event(&r, EV_TIMER);
    CHECK(r.out.finished && r.out.status == HF_UNAVAILABLE);
    CHECK(!has_send(&r, VERB_RENEW));
    CHECK_INT(r.h.renew_at_us, TIME_NEVER);
}

TEST(hold, refusal_of_an_extension_is_told_at_once)
{
    struct rig r;
    struct hold_event extend = {.type = EV_EXTEND};
    struct reply denied = {.verdict = V_ERROR, .status = HF_DENIED};
    rig_hold(&r, 0, 9000);
    rig_step(&r, extend);
    rig_answer(&r, VERB_RENEW, 0, denied);
    CHECK(r.out.finished && r.out.status == HF_DENIED);
    CHECK(r.h.state == HOLD_HELD);
}

TEST(hold, something_else_under_the_name_is_a_loss)
{
    struct rig r;
    struct reply conflict = {.verdict = V_ERROR, .status = HF_CONFLICT};
    rig_hold(&r, HOLD_KEEP, 9000);
    rig_timer(&r);
    rig_answer(&r, VERB_RENEW, 0, conflict);
    CHECK(r.out.notice == HF_STATE_LOST && r.h.lost_status == HF_LOST);
}

/* ---- re-entry and release ------------------------------------------------ */

TEST(hold, counts_are_sent_as_absolute_numbers)
{
    struct rig r;
    struct hold_event enter = {.type = EV_ENTER, .lease_us = 1000 * MS};
    rig_hold(&r, 0, 9000);
    rig_step(&r, enter);
    CHECK_INT(r.out.send[0].count, 2);
    rig_reply(&r, 0, V_GRANTED);
    CHECK(r.out.finished && r.h.fence == 77);
    rig_step(&r, enter);
    CHECK_INT(r.out.send[0].count, 3);
    rig_reply(&r, 0, V_GRANTED);
    rig_event(&r, EV_RELEASE);
    CHECK(has_send(&r, VERB_RENEW));
    CHECK_INT(r.out.send[0].count, 2);
    CHECK_INT(r.h.lease_us, 9000 * MS); /* the longest lease wins */
}

TEST(hold, last_release_gives_it_back)
{
    struct rig r;
    rig_hold(&r, 0, 9000);
    rig_event(&r, EV_RELEASE);
    CHECK(has_send(&r, VERB_RELEASE) && r.h.state == HOLD_RELEASING);
    rig_reply(&r, 0, V_GRANTED);
    CHECK(r.out.finished && r.out.status == HF_OK && r.h.state == HOLD_DONE);
}

TEST(hold, release_says_expired_or_lost_as_the_node_says)
{
    struct rig r;
    rig_hold(&r, 0, 9000);
    rig_event(&r, EV_RELEASE);
    rig_reply(&r, 0, V_ABSENT);
    CHECK_INT(r.out.status, HF_EXPIRED);
    rig_hold(&r, 0, 9000);
    rig_event(&r, EV_RELEASE);
    rig_reply(&r, 0, V_OTHER);
    CHECK_INT(r.out.status, HF_LOST);
}

/* Its answer was lost; the second copy found nothing left to free. */
TEST(hold, release_repeated_in_time_is_still_a_release)
{
    struct rig r;
    struct reply gone = {.verdict = V_ABSENT};
    struct hold_event ev = {
        .type = EV_REPLY, .verb = VERB_RELEASE, .reply = &gone, .repeated = 1};
    rig_hold(&r, 0, 9000);
    rig_event(&r, EV_RELEASE);
    ev.round = r.h.round;
    rig_step(&r, ev);
    CHECK_INT(r.out.status, HF_OK);
    rig_hold(&r, 0, 1000);
    rig_event(&r, EV_RELEASE);
    r.now_us += 1500 * MS;
    ev.round = r.h.round;
    rig_step(&r, ev);
    CHECK_INT(r.out.status, HF_EXPIRED);
}

TEST(hold, refusal_of_a_release_is_told_at_once)
{
    struct rig r;
    struct reply denied = {.verdict = V_ERROR, .status = HF_DENIED};
    rig_hold(&r, 0, 9000);
    rig_event(&r, EV_RELEASE);
    rig_answer(&r, VERB_RELEASE, 0, denied);
    CHECK(r.out.finished && r.out.status == HF_DENIED);
}

TEST(hold, release_of_a_lost_hold_never_says_ok)
{
    struct rig r;
    rig_hold(&r, 0, 300);
    while (r.h.state == HOLD_HELD) rig_timer(&r);
    rig_event(&r, EV_RELEASE);
    rig_reply(&r, 0, V_GRANTED);
    CHECK_INT(r.out.status, HF_EXPIRED);
}

TEST(hold, release_without_an_answer_is_unavailable_in_time)
{
    struct rig r;
    rig_hold(&r, 0, 9000);
    rig_event(&r, EV_RELEASE);
    CHECK(r.out.send[0].until_us >= r.now_us + 9000 * MS);
    rig_timer(&r);
    CHECK(r.out.finished && r.out.status == HF_UNAVAILABLE);
    CHECK(r.h.state == HOLD_DONE);
}

/* ---- tickets ------------------------------------------------------------- */

TEST(hold, attached_ticket_is_checked_by_a_renewal)
{
    struct rig r;
    struct hold_event ev = {.type = EV_ATTACH,
                            .flags = HOLD_DETACHED,
                            .attempt = 9,
                            .fence = 5,
                            .lease_us = 1000 * MS};
    struct reply ok = {.verdict = V_GRANTED};
    rig_init(&r, 1);
    rig_step(&r, ev);
    CHECK(has_send(&r, VERB_RENEW));
    CHECK_INT(r.out.send[0].attempt, 9);
    rig_answer(&r, VERB_RENEW, 0, ok);
    CHECK(r.h.state == HOLD_HELD && r.h.fence == 5);
}

TEST(hold, attached_ticket_that_has_ended_releases_nothing)
{
    struct rig r;
    struct hold_event ev = {.type = EV_ATTACH, .lease_us = 1000 * MS};
    struct reply gone = {.verdict = V_ABSENT};
    rig_init(&r, 1);
    rig_step(&r, ev);
    rig_answer(&r, VERB_RENEW, 0, gone);
    CHECK(r.out.finished && r.out.status == HF_EXPIRED);
    CHECK_INT(r.out.sends, 0);
}
