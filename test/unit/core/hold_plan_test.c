/*
 * hold_plan_test.c: renewals, the longest hold, feeding and pauses as planned,
 * one claim a test, on time that is an argument.
 *
 * The rig is one server and one hold; it keeps what the last step put out.
 */
#include <string.h>

#include "core/hold.h"
#include "test.h"

#define MS US_PER_MS

struct rig {
    struct hold_conf conf;
    struct ballot ballot;
    struct hold h;
    struct hold_plan plan;
    struct hold_out out;
    int64_t now_us;
    uint64_t random;
};

static void rig_step(struct rig *r, struct hold_event ev)
{
    ev.now_us = r->now_us;
    ev.nodes_now_us = 5000000 + r->now_us;
    ev.random = r->random;
    hf__hold_step(&r->h, &ev, &r->out);
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

static void rig_answer(struct rig *r, struct reply reply)
{
    struct hold_event ev = {.type = EV_REPLY,
                            .verb = r->h.state == HOLD_HELD ? VERB_RENEW
                                                            : VERB_PROPOSE,
                            .round = r->h.round,
                            .reply = &reply};
    rig_step(r, ev);
}

static void rig_reply(struct rig *r, enum verdict v)
{
    struct reply reply = {.verdict = v, .fence = 77, .ttl_us = -1};
    rig_answer(r, reply);
}

/* One server; sent at 1000 ms, with what r->plan says. */
static void rig_acquire(struct rig *r, unsigned flags, int64_t lease_ms)
{
    struct hold_event ev = {.type = EV_ACQUIRE,
                            .flags = flags | HOLD_MAY_TRY,
                            .wait_us = -1,
                            .lease_us = lease_ms * MS,
                            .plan = &r->plan};
    r->conf.nodes = r->conf.quorum = 1;
    r->conf.request_flags = REQ_SERVER_FENCE;
    r->conf.drift_ppm = 10000;
    r->conf.timeout_us = r->conf.patience_us = 2000 * MS;
    r->now_us = 1000 * MS;
    hf__hold_init(&r->h, &r->conf, &r->ballot);
    rig_step(r, ev);
}

static void rig_hold(struct rig *r, unsigned flags, int64_t lease_ms)
{
    rig_acquire(r, flags, lease_ms);
    rig_reply(r, V_GRANTED);
    CHECK(r->h.state == HOLD_HELD);
}

static int has_send(const struct rig *r, enum verb op)
{
    for (int i = 0; i < r->out.sends; i++)
        if (r->out.send[i].verb == op) return 1;
    return 0;
}

/* ---- renewals ------------------------------------------------------------ */

TEST(hold_plan, renews_as_often_as_planned)
{
    struct rig r = {.plan = {.renew_us = 200 * MS}};
    rig_hold(&r, HOLD_KEEP, 9000);
    CHECK_INT(hf__hold_due(&r.h), 1200 * MS);
    rig_timer(&r);
    CHECK(has_send(&r, VERB_RENEW));
    rig_reply(&r, V_GRANTED);
    CHECK_INT(hf__hold_due(&r.h), 1400 * MS);
}

TEST(hold_plan, renews_in_time_also_when_the_lease_was_shortened)
{
    struct rig r = {.plan = {.renew_us = 4000 * MS}};
    struct hold_event extend = {.type = EV_EXTEND, .lease_us = 300 * MS};
    rig_hold(&r, HOLD_KEEP, 9000);
    rig_step(&r, extend);
    rig_reply(&r, V_GRANTED);
    CHECK_INT(r.h.renew_at_us, 1150 * MS);
}

/* 100,000 locks that are taken at once must not be renewed at once. */
TEST(hold_plan, first_renewal_is_anywhere_in_the_period_but_its_first_tenth)
{
    int64_t least = INT64_MAX, most = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        struct rig r = {.random = i * UINT64_C(0x9e3779b97f4a7c15)};
        rig_hold(&r, HOLD_KEEP, 30000);
        if (r.h.renew_at_us < least) least = r.h.renew_at_us;
        if (r.h.renew_at_us > most) most = r.h.renew_at_us;
    }
    CHECK(least >= 2000 * MS && least < 2100 * MS);
    CHECK(most > 10900 * MS && most <= 11000 * MS);
}

TEST(hold_plan, later_renewals_come_once_a_period)
{
    struct rig r = {.random = 12345678901};
    rig_hold(&r, HOLD_KEEP, 30000);
    rig_timer(&r);
    rig_reply(&r, V_GRANTED);
    CHECK_INT(r.h.renew_at_us, r.now_us + 10000 * MS);
}

TEST(hold_plan, shorter_period_of_a_re_entry_wins)
{
    struct hold_plan often = {.renew_us = 100 * MS};
    struct hold_event enter = {.type = EV_ENTER,
                               .flags = HOLD_KEEP,
                               .lease_us = 9000 * MS,
                               .plan = &often};
    struct rig r = {.plan = {.renew_us = 200 * MS}};
    rig_hold(&r, HOLD_KEEP, 9000);
    rig_step(&r, enter);
    rig_reply(&r, V_GRANTED);
    CHECK_INT(r.h.renew_at_us, r.now_us + 100 * MS);
}

/* ---- the longest hold ---------------------------------------------------- */

TEST(hold_plan, cap_counts_from_the_send)
{
    struct rig r = {.plan = {.max_hold_us = 500 * MS}};
    rig_acquire(&r, HOLD_KEEP, 9000);
    r.now_us += 100 * MS;
    rig_reply(&r, V_GRANTED);
    CHECK_INT(r.h.valid_us, 1500 * MS);
}

/* Otherwise waiters would wait for a dead holder for the whole lease. */
TEST(hold_plan, nodes_are_asked_for_no_more_than_the_cap_leaves)
{
    struct hold_event extend = {.type = EV_EXTEND, .lease_us = 90000 * MS};
    struct rig r = {.plan = {.max_hold_us = 500 * MS}};
    rig_acquire(&r, HOLD_KEEP, 9000);
    CHECK_INT(r.out.send[0].lease_us, 500 * MS + 10 * MS + 4 * MS);
    rig_reply(&r, V_GRANTED);
    r.now_us += 400 * MS;
    rig_step(&r, extend);
    CHECK_INT(r.out.send[0].lease_us, 100 * MS + 2 * MS + 4 * MS);
}

TEST(hold_plan, grant_that_comes_after_its_cap_is_given_back)
{
    struct rig r = {.plan = {.max_hold_us = 500 * MS}};
    rig_acquire(&r, HOLD_KEEP, 9000);
    r.now_us += 501 * MS;
    rig_reply(&r, V_GRANTED);
    CHECK(r.h.state == HOLD_WAITING && has_send(&r, VERB_RELEASE));
}

TEST(hold_plan, renewals_entries_and_extensions_do_not_pass_the_cap)
{
    struct hold_event enter = {.type = EV_ENTER, .lease_us = 9000 * MS};
    struct hold_event extend = {.type = EV_EXTEND, .lease_us = 90000 * MS};
    struct rig r = {.plan = {.max_hold_us = 5000 * MS}};
    rig_hold(&r, HOLD_KEEP, 9000);
    rig_timer(&r);
    rig_reply(&r, V_GRANTED);
    CHECK_INT(r.h.valid_us, 6000 * MS);
    rig_step(&r, enter);
    rig_reply(&r, V_GRANTED);
    CHECK_INT(r.h.valid_us, 6000 * MS);
    rig_step(&r, extend);
    rig_reply(&r, V_GRANTED);
    CHECK_INT(r.h.valid_us, 6000 * MS);
}

TEST(hold_plan, cap_is_told_as_a_risk_then_as_a_loss_and_released)
{
    struct rig r = {.plan = {.max_hold_us = 5000 * MS}};
    int risks = 0, helds = 0;
    rig_hold(&r, HOLD_KEEP, 9000);
    while (r.h.state == HOLD_HELD) {
        rig_timer(&r);
        risks += r.out.notice == HF_STATE_AT_RISK;
        if (r.h.state == HOLD_HELD && has_send(&r, VERB_RENEW))
            rig_reply(&r, V_GRANTED);
        helds += r.out.notice == HF_STATE_HELD;
    }
    CHECK_INT(r.now_us, 6000 * MS);
    CHECK_INT(risks, 1);
    CHECK_INT(helds, 0); /* no renewal heals it */
    CHECK(r.out.notice == HF_STATE_LOST && has_send(&r, VERB_RELEASE));
    CHECK_INT(hf__hold_why(&r.h, HF_STATE_LOST), HF_EXPIRED);
    CHECK_STR(hf__hold_cause(&r.h, HF_STATE_LOST), "its longest hold is over");
}

/* Its renewals go on, often, until the end. */
TEST(hold_plan, renewal_in_the_time_of_risk_does_not_heal_a_capped_hold)
{
    struct rig r = {.plan = {.max_hold_us = 500 * MS, .renew_us = 10 * MS}};
    rig_hold(&r, HOLD_KEEP, 9000);
    r.now_us = hf__hold_risk_us(&r.h);
    rig_event(&r, EV_TIMER);
    CHECK(r.out.notice == HF_STATE_AT_RISK && has_send(&r, VERB_RENEW));
    CHECK_INT(hf__hold_why(&r.h, HF_STATE_AT_RISK), HF_EXPIRED);
    rig_reply(&r, V_GRANTED);
    CHECK_INT(r.out.notice, 0);
    CHECK_INT(hf__hold_view(&r.h, r.now_us), HF_STATE_AT_RISK);
}

TEST(hold_plan, kernel_hold_is_valid_until_its_cap)
{
    struct rig r = {.plan = {.max_hold_us = 500 * MS}};
    rig_hold(&r, HOLD_KEEP | HOLD_ETERNAL, 90);
    CHECK_INT(r.h.valid_us, 1500 * MS);
    while (r.h.state == HOLD_HELD) {
        rig_timer(&r);
        if (r.h.state == HOLD_HELD && has_send(&r, VERB_RENEW))
            rig_reply(&r, V_GRANTED);
    }
    CHECK_INT(r.now_us, 1500 * MS);
    CHECK(has_send(&r, VERB_RELEASE));
}

TEST(hold_plan, short_cap_is_not_at_risk_from_the_start)
{
    struct rig r = {.plan = {.max_hold_us = 60 * MS}};
    rig_hold(&r, HOLD_KEEP, 30000);
    CHECK_INT(hf__hold_risk_us(&r.h), 1040 * MS);
}

/* A link that is given up because of one lock is given up for all. */
TEST(hold_plan, renewal_that_cannot_put_off_the_end_is_given_its_time)
{
    struct rig r = {.plan = {.max_hold_us = 500 * MS, .renew_us = 400 * MS}};
    rig_hold(&r, HOLD_KEEP, 9000);
    rig_timer(&r);
    CHECK(has_send(&r, VERB_RENEW));
    CHECK_INT(r.out.send[0].deadline_us, r.now_us + 2000 * MS);
}

/* ---- feeding ------------------------------------------------------------- */

TEST(hold_plan, unfed_hold_is_not_renewed)
{
    struct rig r = {.plan = {.feed_us = 1000 * MS}};
    int renewals = 0;
    rig_hold(&r, HOLD_KEEP, 9000);
    while (r.h.state == HOLD_HELD) {
        rig_timer(&r);
        renewals += has_send(&r, VERB_RENEW);
    }
    CHECK_INT(renewals, 0);
    CHECK_INT(r.now_us, (1000 + 9000 - 92) * MS);
    CHECK_INT(hf__hold_why(&r.h, HF_STATE_LOST), HF_EXPIRED);
    CHECK_STR(hf__hold_cause(&r.h, HF_STATE_LOST),
              "not fed in time: it was not renewed");
}

TEST(hold_plan, fed_hold_is_renewed)
{
    struct rig r = {.plan = {.feed_us = 1000 * MS}};
    rig_hold(&r, HOLD_KEEP, 9000);
    r.now_us = 3500 * MS;
    rig_event(&r, EV_FEED);
    CHECK_INT(r.out.sends, 0); /* nothing is due yet */
    rig_timer(&r);
    CHECK_INT(r.now_us, 4000 * MS);
    CHECK(has_send(&r, VERB_RENEW));
}

TEST(hold_plan, acquiring_counts_as_a_feed)
{
    struct rig r = {.plan = {.feed_us = 3000 * MS}};
    rig_hold(&r, HOLD_KEEP, 9000);
    rig_timer(&r);
    CHECK(has_send(&r, VERB_RENEW));
}

TEST(hold_plan, feed_sends_the_renewal_that_was_held_back)
{
    struct rig r = {.plan = {.feed_us = 1000 * MS}};
    rig_hold(&r, HOLD_KEEP, 9000);
    rig_timer(&r);
    rig_timer(&r);
    CHECK(r.out.notice == HF_STATE_AT_RISK);
    CHECK_INT(hf__hold_why(&r.h, HF_STATE_AT_RISK), HF_EXPIRED);
    CHECK_STR(hf__hold_cause(&r.h, HF_STATE_AT_RISK),
              "not fed in time: it was not renewed");
    r.now_us += 1 * MS;
    rig_event(&r, EV_FEED);
    CHECK(has_send(&r, VERB_RENEW));
    rig_reply(&r, V_GRANTED);
    CHECK(r.out.notice == HF_STATE_HELD);
    CHECK_INT(r.h.renew_at_us, r.now_us + 3000 * MS);
}

TEST(hold_plan, feed_that_comes_too_late_saves_nothing)
{
    struct rig r = {.plan = {.feed_us = 1000 * MS}};
    rig_hold(&r, HOLD_KEEP, 9000);
    rig_timer(&r);
    r.now_us = r.h.valid_us;
    rig_event(&r, EV_FEED);
    CHECK_INT(r.out.sends, 0);
    rig_event(&r, EV_TIMER);
    CHECK(r.h.state == HOLD_LOST);
}

/* A renewal that is due takes other renewals along, but not those of unfed
 * holds. */
TEST(hold_plan, unfed_hold_does_not_go_along_with_others)
{
    struct rig r = {.plan = {.feed_us = 1000 * MS}};
    rig_hold(&r, HOLD_KEEP, 9000);
    r.now_us = 3900 * MS;
    rig_event(&r, EV_RENEW);
    CHECK_INT(r.out.sends, 0);
    CHECK(!hf__hold_is_renewable(&r.h));
    CHECK_INT(hf__hold_due(&r.h), hf__hold_risk_us(&r.h));
}

TEST(hold_plan, extension_of_an_unfed_hold_is_sent_all_the_same)
{
    struct hold_event extend = {.type = EV_EXTEND};
    struct rig r = {.plan = {.feed_us = 1000 * MS}};
    rig_hold(&r, HOLD_KEEP, 9000);
    rig_timer(&r);
    rig_step(&r, extend);
    CHECK(has_send(&r, VERB_RENEW));
    rig_reply(&r, V_GRANTED);
    CHECK_INT(r.h.valid_us, r.now_us + (9000 - 92) * MS);
    rig_timer(&r);
    CHECK(!has_send(&r, VERB_RENEW)); /* the watchdog's own is held back */
}

TEST(hold_plan, fed_hold_stays_so_whoever_enters_it)
{
    struct hold_event enter = {.type = EV_ENTER,
                               .flags = HOLD_KEEP | HOLD_ETERNAL,
                               .lease_us = 300 * MS};
    struct rig r = {.plan = {.feed_us = 100 * MS}};
    rig_hold(&r, HOLD_KEEP, 300);
    rig_step(&r, enter);
    rig_reply(&r, V_GRANTED);
    CHECK(r.h.valid_us < r.now_us + 300 * MS);
}

/* ---- waiting ------------------------------------------------------------- */

TEST(hold_plan, spinning_asks_for_no_wake_ups_and_hears_none)
{
    struct rig r = {
        .plan = {.backoff = {HF_BACKOFF_CONSTANT, 2, 30 * MS, 128 * MS}}};
    rig_acquire(&r, 0, 9000);
    rig_reply(&r, V_BUSY);
    CHECK_INT(r.out.watch, 0);
    CHECK_INT(hf__hold_due(&r.h), r.now_us + 30 * MS);
    rig_event(&r, EV_WAKE);
    CHECK(r.h.state == HOLD_WAITING && r.out.sends == 0);
    rig_timer(&r);
    rig_event(&r, EV_WAKE);
    rig_reply(&r, V_BUSY);
    CHECK_INT(r.out.watch, 0);
    CHECK_INT(hf__hold_due(&r.h), r.now_us + 30 * MS);
}

TEST(hold_plan, spinning_pauses_longer_and_longer)
{
    static const int64_t wanted_ms[] = {10, 30, 90, 100, 100};
    struct rig r = {
        .plan = {.backoff = {HF_BACKOFF_EXPONENTIAL, 3, 10 * MS, 100 * MS}}};
    rig_acquire(&r, 0, 9000);
    for (int i = 0; i < 5; i++) {
        rig_reply(&r, V_BUSY);
        CHECK_INT(hf__hold_due(&r.h) - r.now_us, wanted_ms[i] * MS);
        rig_timer(&r);
        CHECK(has_send(&r, VERB_PROPOSE));
    }
}

TEST(hold_plan, spinning_looks_when_the_holders_time_is_over)
{
    struct rig r = {
        .plan = {.backoff = {HF_BACKOFF_CONSTANT, 2, 5000 * MS, 5000 * MS}}};
    struct reply busy = {.verdict = V_BUSY, .ttl_us = 40 * MS};
    rig_acquire(&r, 0, 9000);
    rig_answer(&r, busy);
    CHECK_INT(hf__hold_due(&r.h), r.now_us + 41 * MS);
}

/* Its library publishes nothing when it releases. */
TEST(hold_plan, silent_holder_is_looked_at_again_and_again)
{
    struct hold_event watched = {.type = EV_WATCHED, .status = HF_OK};
    struct reply busy = {.verdict = V_BUSY, .ttl_us = 9000 * MS, .silent = 1};
    struct rig r = {.plan = {.renew_us = 0}};
    int looks = 0;
    rig_acquire(&r, 0, 9000);
    rig_answer(&r, busy);
    CHECK_INT(r.out.watch, 1);
    rig_step(&r, watched);
    for (; looks < 20; looks++) {
        rig_answer(&r, busy);
        CHECK(r.h.state == HOLD_WAITING);
        CHECK(hf__hold_due(&r.h) - r.now_us <= POLL_US_MAX);
        rig_timer(&r);
        CHECK(has_send(&r, VERB_PROPOSE));
    }
}
