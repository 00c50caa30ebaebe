/*
 * hold_pass_test.c: handing a hold to the next holder of the process, one claim
 * a test, on time that is an argument.
 *
 * The rig drives two holds of one lock; `a` is held since 1000 ms, given by one
 * server with the token 5000, and `b` queues for it.
 */
#include <string.h>

#include "core/hold.h"
#include "kind/kind.h"
#include "test.h"

#define MS US_PER_MS
#define FENCE 5000
#define LEASE_MS 9000

struct rig {
    struct hold_conf conf;
    struct ballot ballot;
    struct hold a, b;
    struct hold_out out;
    int64_t now_us;
    int alone; /* nobody else of this process wants it */
};

static void rig_step(struct rig *r, struct hold *h, struct hold_event ev)
{
    ev.now_us = r->now_us;
    ev.nodes_now_us = 100 + r->now_us / 1000;
    hf__hold_step(h, &ev, &r->out);
}

static void rig_acquire(struct rig *r, struct hold *h, unsigned flags,
                        int64_t lease_ms, const struct hold_plan *plan)
{
    struct hold_event ev = {.type = EV_ACQUIRE,
                            .flags = flags,
                            .wait_us = -1,
                            .lease_us = lease_ms * MS,
                            .plan = plan};
    hf__hold_init(h, &r->conf, &r->ballot);
    h->crowded = !r->alone;
    rig_step(r, h, ev);
}

static void rig_reply(struct rig *r, struct hold *h, enum verb op,
                      enum verdict v)
{
    struct reply reply = {
        .verdict = v, .status = HF_UNAVAILABLE, .fence = FENCE};
    struct hold_event ev = {
        .type = EV_REPLY, .verb = op, .round = h->round, .reply = &reply};
    rig_step(r, h, ev);
}

static void rig_init(struct rig *r, int64_t handover)
{
    memset(r, 0, sizeof *r);
    r->conf.nodes = r->conf.quorum = 1;
    r->conf.request_flags = REQ_SERVER_FENCE;
    r->conf.drift_ppm = 10000;
    r->conf.window_us = 2000 * MS;
    r->conf.timeout_us = r->conf.patience_us = 2000 * MS;
    r->conf.handover = handover;
    r->conf.handover_us = 50 * MS;
    r->now_us = 1000 * MS;
}

static void rig_hold(struct rig *r, int64_t handover)
{
    rig_init(r, handover);
    rig_acquire(r, &r->a, HOLD_KEEP | HOLD_MAY_TRY, LEASE_MS, NULL);
    rig_reply(r, &r->a, VERB_PROPOSE, V_GRANTED);
    CHECK(r->a.state == HOLD_HELD);
    rig_acquire(r, &r->b, HOLD_KEEP, LEASE_MS, NULL);
    CHECK(r->b.state == HOLD_IN_LINE);
}

static int may(const struct rig *r)
{
    return hf__hold_may_pass(&r->a, &r->b, r->now_us);
}

static void rig_pass(struct rig *r, struct hold *from, struct hold *to)
{
    struct hold_event inherit = {
        .type = EV_INHERIT, .from = from, .fence = from->fence + 1};
    struct hold_event yield = {.type = EV_YIELD};
    rig_step(r, to, inherit);
    CHECK(r->out.finished && r->out.status == HF_OK && r->out.sends == 0);
    rig_step(r, from, yield);
    CHECK(r->out.finished && r->out.status == HF_OK && r->out.sends == 0);
}

TEST(pass, asks_for_as_many_tokens_as_hand_overs_are_allowed)
{
    struct rig r;
    struct request req = {0};
    rig_init(&r, 64);
    rig_acquire(&r, &r.a, HOLD_KEEP | HOLD_MAY_TRY, LEASE_MS, NULL);
    hf__kind_shape(&req, &r.a, &r.out.send[0]);
    CHECK(req.verb == VERB_PROPOSE);
    CHECK_INT(req.block, 64);
}

TEST(pass, reserves_nothing_for_a_hold_that_cannot_be_handed_over)
{
    struct rig r;
    struct request req = {0};
    rig_init(&r, 64);
    rig_acquire(&r, &r.a, HOLD_DETACHED | HOLD_MAY_TRY, LEASE_MS, NULL);
    hf__kind_shape(&req, &r.a, &r.out.send[0]);
    CHECK_INT(req.block, 0);
}

TEST(pass, reserves_nothing_where_nobody_queues)
{
    struct rig r;
    rig_init(&r, 64);
    r.alone = 1;
    rig_acquire(&r, &r.a, HOLD_KEEP | HOLD_MAY_TRY, LEASE_MS, NULL);
    CHECK_INT(r.a.block, 0);
}

/* Otherwise tokens would run ahead of the clock, and fall back after a loss of
 * data. */
TEST(pass, reserves_nothing_ahead_of_the_clock)
{
    struct rig r;
    rig_init(&r, 64);
    r.ballot.seen = 100 + r.now_us / 1000;
    rig_acquire(&r, &r.a, HOLD_KEEP | HOLD_MAY_TRY, LEASE_MS, NULL);
    CHECK(r.a.number > r.ballot.seen);
    CHECK_INT(r.a.block, 0);
}

TEST(pass, gives_the_next_token_and_the_same_validity)
{
    struct rig r;
    rig_hold(&r, 3);
    struct hold was = r.a;
    r.now_us += 10 * MS;
    CHECK(may(&r));
    rig_pass(&r, &r.a, &r.b);
    CHECK(r.a.state == HOLD_DONE && r.b.state == HOLD_HELD);
    CHECK_INT(r.b.fence, FENCE + 1);
    CHECK_INT(r.b.valid_us, was.valid_us);
    CHECK_INT(r.b.renew_at_us, was.renew_at_us);
    CHECK(r.b.attempt == was.attempt && r.b.number == was.number);
    CHECK_INT(r.b.count, 1);
}

TEST(pass, is_renewed_by_who_has_it_now)
{
    struct rig r;
    rig_hold(&r, 3);
    rig_pass(&r, &r.a, &r.b);
    struct hold_event timer = {.type = EV_TIMER};
    r.now_us = hf__hold_due(&r.b);
    rig_step(&r, &r.b, timer);
    CHECK(r.out.sends == 1 && r.out.send[0].verb == VERB_RENEW);
    int64_t was_us = r.b.valid_us;
    rig_reply(&r, &r.b, VERB_RENEW, V_GRANTED);
    CHECK(r.b.valid_us > was_us);
}

TEST(pass, goes_on_until_the_reserved_tokens_are_used)
{
    struct rig r;
    rig_hold(&r, 2);
    for (int i = 1; i <= 2; i++) {
        CHECK(may(&r));
        rig_pass(&r, &r.a, &r.b);
        CHECK_INT(r.b.fence, FENCE + i);
        CHECK_INT(hf__hold_passes(&r.b), i);
        r.a = r.b;
        rig_acquire(&r, &r.b, HOLD_KEEP, LEASE_MS, NULL);
    }
    CHECK(!may(&r));
}

TEST(pass, ends_when_its_time_is_over)
{
    struct rig r;
    rig_hold(&r, 64);
    r.now_us += 50 * MS - 1;
    CHECK(may(&r));
    r.now_us += 1;
    CHECK(!may(&r));
}

TEST(pass, needs_half_of_the_lease)
{
    struct rig r;
    rig_hold(&r, 64);
    r.conf.handover_us = 3600 * US_PER_S;
    r.now_us = r.a.valid_us - LEASE_MS * MS / 2;
    CHECK(may(&r));
    r.now_us += 1;
    CHECK(!may(&r));
}

TEST(pass, is_not_for_what_is_lost)
{
    struct rig r;
    rig_hold(&r, 64);
    struct hold_event timer = {.type = EV_TIMER};
    r.now_us = hf__hold_due(&r.a);
    rig_step(&r, &r.a, timer);
    rig_reply(&r, &r.a, VERB_RENEW, V_OTHER);
    CHECK(r.a.state == HOLD_LOST);
    r.conf.handover_us = 3600 * US_PER_S;
    CHECK(!may(&r));
}

TEST(pass, waits_for_a_renewal_that_is_under_way)
{
    struct rig r;
    rig_hold(&r, 64);
    struct hold_event renew = {.type = EV_RENEW};
    rig_step(&r, &r.a, renew);
    CHECK(!may(&r));
    rig_reply(&r, &r.a, VERB_RENEW, V_GRANTED);
    CHECK(may(&r));
}

TEST(pass, is_not_for_a_hold_that_is_entered_twice)
{
    struct rig r;
    rig_hold(&r, 64);
    struct hold_event enter = {
        .type = EV_ENTER, .flags = HOLD_KEEP, .lease_us = LEASE_MS * MS};
    rig_step(&r, &r.a, enter);
    rig_reply(&r, &r.a, VERB_RENEW, V_GRANTED);
    CHECK(r.a.count == 2 && !may(&r));
}

TEST(pass, is_for_holders_who_want_the_same)
{
    static const struct hold_plan capped = {.max_hold_us = 500 * MS};
    static const struct hold_plan fed = {.feed_us = 500 * MS};
    static const struct hold_plan often = {.renew_us = 500 * MS};
    struct rig r;
    rig_hold(&r, 64);
    rig_acquire(&r, &r.b, HOLD_KEEP, LEASE_MS + 1, NULL);
    CHECK(!may(&r));
    rig_acquire(&r, &r.b, 0, LEASE_MS, NULL);
    CHECK(!may(&r));
    rig_acquire(&r, &r.b, HOLD_KEEP, LEASE_MS, &capped);
    CHECK(!may(&r));
    rig_acquire(&r, &r.b, HOLD_KEEP, LEASE_MS, &fed);
    CHECK(!may(&r));
    rig_acquire(&r, &r.b, HOLD_KEEP, LEASE_MS, &often);
    CHECK(!may(&r));
    rig_acquire(&r, &r.b, HOLD_KEEP, LEASE_MS, NULL);
    CHECK(may(&r));
}

TEST(pass, ends_when_a_higher_number_was_seen)
{
    struct rig r;
    rig_hold(&r, 64);
    hf__ballot_saw(&r.ballot, FENCE + 64);
    CHECK(may(&r));
    hf__ballot_saw(&r.ballot, FENCE + 65);
    CHECK(!may(&r));
}

TEST(pass, release_carries_the_last_reserved_token)
{
    struct rig r;
    rig_hold(&r, 64);
    rig_pass(&r, &r.a, &r.b);
    struct hold_event release = {.type = EV_RELEASE};
    rig_step(&r, &r.b, release);
    CHECK(r.out.sends == 1 && r.out.send[0].verb == VERB_RELEASE);
    CHECK_INT(r.out.send[0].ballot, FENCE + 64);
}

TEST(pass, next_proposal_is_above_the_reserved_tokens)
{
    struct rig r;
    rig_hold(&r, 64);
    struct hold_event turn = {.type = EV_TURN};
    rig_step(&r, &r.b, turn);
    CHECK(r.out.sends == 1 && r.out.send[0].verb == VERB_PROPOSE);
    CHECK(r.out.send[0].ballot > FENCE + 64);
}

TEST(pass, without_the_option_a_release_carries_its_number)
{
    struct rig r;
    rig_hold(&r, 0);
    CHECK(!may(&r));
    int64_t number = r.a.number;
    struct hold_event release = {.type = EV_RELEASE};
    rig_step(&r, &r.a, release);
    CHECK_INT(r.out.send[0].ballot, number);
}

TEST(turn, that_is_left_to_others_begins_with_a_pause)
{
    struct rig r;
    rig_hold(&r, 0);
    struct hold_event turn = {.type = EV_TURN, .wait_us = 3 * MS};
    struct hold_event timer = {.type = EV_TIMER};
    rig_step(&r, &r.b, turn);
    CHECK(r.b.state == HOLD_WAITING && r.out.sends == 0);
    CHECK_INT(hf__hold_due(&r.b), r.now_us + 3 * MS);
    r.now_us += 3 * MS;
    rig_step(&r, &r.b, timer);
    CHECK(r.b.state == HOLD_TRYING && r.out.sends == 1);
}
