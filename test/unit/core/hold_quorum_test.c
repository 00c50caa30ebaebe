/*
 * hold_quorum_test.c: the hold machine over several nodes: which nodes are
 * asked, whose vote counts, and which are healed.
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
    r->conf.request_flags = REQ_QUORUM;
    r->conf.drift_ppm = 10000;
    r->conf.timeout_us = r->conf.patience_us = 2000 * MS;
    r->conf.window_us = BALLOT_WINDOW_US;
    r->now_us = 1000 * MS;
    hf__hold_init(&r->h, &r->conf, &r->ballot);
}

static void rig_step(struct rig *r, struct hold_event ev)
{
    ev.now_us = r->now_us;
    ev.nodes_now_us = 5000000 + r->now_us;
    hf__hold_step(&r->h, &ev, &r->out);
}

static void rig_acquire(struct rig *r, int64_t wait_us, int64_t lease_ms)
{
    struct hold_event ev = {.type = EV_ACQUIRE,
                            .flags = HOLD_KEEP | HOLD_MAY_TRY,
                            .wait_us = wait_us,
                            .lease_us = lease_ms * MS};
    rig_step(r, ev);
}

static void rig_reply_to(struct rig *r, uint32_t round, enum verb op, int node,
                         enum verdict v)
{
    struct reply reply = {.verdict = v, .status = HF_UNAVAILABLE};
    struct hold_event ev = {.type = EV_REPLY,
                            .verb = op,
                            .round = round,
                            .node = node,
                            .reply = &reply};
    rig_step(r, ev);
}

static void rig_reply(struct rig *r, enum verb op, int node, enum verdict v)
{
    rig_reply_to(r, r->h.round, op, node, v);
}

/* Held by the first two of three since 1000 ms, lease 9000 ms. */
static void rig_hold(struct rig *r)
{
    rig_init(r, 3);
    rig_acquire(r, -1, 9000);
    rig_reply(r, VERB_PROPOSE, 0, V_GRANTED);
    rig_reply(r, VERB_PROPOSE, 1, V_GRANTED);
    CHECK(r->h.state == HOLD_HELD);
}

static void rig_renew(struct rig *r)
{
    struct hold_event ev = {.type = EV_TIMER};
    r->now_us = r->h.renew_at_us;
    rig_step(r, ev);
    CHECK(r->out.sends == 1 && r->out.send[0].verb == VERB_RENEW);
}

static void rig_set_clock(struct rig *r, int node, int64_t since_us)
{
    struct hold_event ev = {
        .type = EV_STEP, .node = node, .since_us = since_us};
    rig_step(r, ev);
}

TEST(hold_quorum, asks_only_nodes_that_may_vote)
{
    struct rig r;
    rig_init(&r, 5);
    r.conf.unsettled = 0x12;
    rig_acquire(&r, -1, 9000);
    CHECK_INT(r.out.sends, 1);
    CHECK_INT(r.out.send[0].nodes, 0x0d);
}

TEST(hold_quorum, asks_nobody_when_too_few_may_vote)
{
    struct rig r;
    rig_init(&r, 5);
    r.conf.unsettled = 0x07;
    rig_acquire(&r, -1, 9000);
    CHECK_INT(r.out.sends, 0);
    CHECK(r.h.state == HOLD_WAITING);
    CHECK_INT(r.ballot.proposed, 0);
}

TEST(hold_quorum, who_waits_waits_for_nodes_to_be_settled)
{
    struct rig r;
    rig_init(&r, 3);
    r.conf.unsettled = 0x7;
    r.conf.settle_us = 31000 * MS;
    rig_acquire(&r, -1, 9000);
    CHECK_INT(r.h.answer_by_us, 33000 * MS);
}

TEST(hold_quorum, who_does_not_wait_is_told_at_once)
{
    struct rig r;
    rig_init(&r, 3);
    r.conf.unsettled = 0x7;
    r.conf.settle_us = 31000 * MS;
    rig_acquire(&r, 0, 9000);
    CHECK(r.out.finished);
    CHECK_INT(r.out.status, HF_UNAVAILABLE);
}

TEST(hold_quorum, lease_beyond_the_longest_is_invalid)
{
    struct rig r;
    rig_init(&r, 3);
    r.conf.lease_max_us = 8999 * MS;
    rig_acquire(&r, -1, 9000);
    CHECK(r.out.finished);
    CHECK_INT(r.out.status, HF_INVALID);
    CHECK_INT(r.out.sends, 0);
}

TEST(hold_quorum, lease_that_nobody_asked_for_is_as_long_as_it_may_be)
{
    struct rig r;
    struct hold_event ev = {.type = EV_ACQUIRE,
                            .flags = HOLD_MAY_TRY | HOLD_LEASE_ANY,
                            .wait_us = -1,
                            .lease_us = 9000 * MS};
    rig_init(&r, 3);
    r.conf.lease_max_us = 5000 * MS;
    rig_step(&r, ev);
    CHECK_INT(r.out.sends, 1);
    CHECK_INT(r.out.send[0].lease_us, 5000 * MS);
}

static void rig_attach(struct rig *r, int64_t lease_ms)
{
    struct hold_event ev = {.type = EV_ATTACH,
                            .flags = HOLD_DETACHED,
                            .attempt = 7,
                            .lease_us = lease_ms * MS};
    rig_step(r, ev);
}

/* It would be renewed beyond the quarantine of a node that forgot it. */
TEST(hold_quorum, ticket_is_not_renewed_beyond_the_longest_lease)
{
    struct rig r;
    rig_init(&r, 3);
    r.conf.lease_max_us = 5000 * MS;
    rig_attach(&r, 9000);
    CHECK(r.out.finished);
    CHECK_INT(r.out.status, HF_INVALID);
    CHECK_INT(r.out.sends, 0);
}

TEST(hold_quorum, ticket_is_renewed_once_the_longest_lease_is_known)
{
    struct rig r;
    struct hold_event ev = {.type = EV_TIMER};
    rig_init(&r, 3);
    rig_attach(&r, 9000);
    CHECK_INT(r.out.sends, 0);
    r.conf.lease_max_us = 9000 * MS;
    r.now_us = r.h.pause_until_us;
    rig_step(&r, ev);
    CHECK(r.out.sends == 1 && r.out.send[0].verb == VERB_RENEW);
}

/* One member has it, one does not, and the third is away for long: each round
 * is answered, and none decides. */
TEST(hold_quorum, ticket_that_stays_undecided_is_given_up)
{
    struct rig r;
    struct hold_event ev = {.type = EV_TIMER};
    rig_init(&r, 3);
    r.conf.lease_max_us = 9000 * MS;
    rig_attach(&r, 9000);
    for (int i = 0; i < 20 && !r.out.finished; i++) {
        r.now_us += 200 * MS;
        rig_reply(&r, VERB_RENEW, 0, V_GRANTED);
        rig_reply(&r, VERB_RENEW, 1, V_ABSENT);
        rig_reply(&r, VERB_RENEW, 2, V_UNKNOWN);
        if (!r.out.finished) r.now_us = r.h.pause_until_us;
        if (!r.out.finished) rig_step(&r, ev);
    }
    CHECK(r.out.finished);
    CHECK_INT(r.out.status, HF_UNAVAILABLE);
}

TEST(hold_quorum, node_has_a_tenth_of_the_lease_for_its_answer)
{
    struct rig r;
    rig_init(&r, 3);
    rig_acquire(&r, -1, 900);
    CHECK_INT(r.out.send[0].deadline_us, r.now_us + 90 * MS);
}

TEST(hold_quorum, node_has_a_quarter_of_a_second_at_most)
{
    struct rig r;
    rig_init(&r, 3);
    rig_acquire(&r, -1, 9000);
    CHECK_INT(r.out.send[0].deadline_us, r.now_us + 250 * MS);
}

TEST(hold_quorum, one_nodes_refusal_for_good_is_no_reason_to_give_up)
{
    struct rig r;
    struct reply denied = {.verdict = V_ERROR, .status = HF_DENIED};
    struct hold_event ev = {
        .type = EV_REPLY, .verb = VERB_PROPOSE, .node = 0, .reply = &denied};
    rig_init(&r, 3);
    rig_acquire(&r, -1, 9000);
    ev.round = r.h.round;
    rig_step(&r, ev);
    rig_reply(&r, VERB_PROPOSE, 1, V_UNKNOWN);
    CHECK(!r.out.finished);
    CHECK(r.h.state == HOLD_WAITING);
}

TEST(hold_quorum, lower_number_in_doubt_is_released_though_a_higher_was_refused)
{
    struct rig r;
    rig_init(&r, 3);
    rig_acquire(&r, -1, 9000);
    rig_reply(&r, VERB_PROPOSE, 0, V_UNKNOWN);
    rig_reply(&r, VERB_PROPOSE, 1, V_STALE);
    CHECK(r.out.sends == 1 && r.out.send[0].verb == VERB_PROPOSE);
    rig_reply(&r, VERB_PROPOSE, 0, V_BUSY);
    rig_reply(&r, VERB_PROPOSE, 1, V_BUSY);
    CHECK(r.out.sends == 1 && r.out.send[0].verb == VERB_RELEASE);
    CHECK_INT(r.out.send[0].nodes, 0x05);
}

TEST(hold_quorum, clock_ahead_of_the_others_is_no_reason_for_a_higher_number)
{
    struct rig r;
    rig_init(&r, 3);
    struct reply ahead = {.verdict = V_STALE,
                          .node_us = 5000000 + r.now_us + 60000 * MS};
    struct hold_event ev = {
        .type = EV_REPLY, .verb = VERB_PROPOSE, .node = 0, .reply = &ahead};
    rig_acquire(&r, -1, 9000);
    ev.round = r.h.round;
    rig_step(&r, ev);
    rig_reply(&r, VERB_PROPOSE, 1, V_BUSY);
    CHECK(r.h.state == HOLD_WAITING);
    CHECK(r.out.sends == 1 && r.out.send[0].verb == VERB_RELEASE);
}

TEST(hold_quorum, vote_that_comes_late_is_confirmed)
{
    struct rig r;
    rig_hold(&r);
    CHECK_INT(r.h.confirmed, 3);
    rig_reply(&r, VERB_PROPOSE, 2, V_GRANTED);
    CHECK_INT(r.h.confirmed, 7);
}

/* Its vote was under way when the renewal began. */
TEST(hold_quorum, vote_that_comes_during_a_renewal_counts_from_the_next_on)
{
    struct rig r;
    rig_hold(&r);
    uint32_t first = r.h.round;
    rig_renew(&r);
    rig_reply_to(&r, first, VERB_PROPOSE, 2, V_GRANTED);
    rig_reply(&r, VERB_RENEW, 2, V_GRANTED);
    rig_reply(&r, VERB_RENEW, 0, V_GRANTED);
    CHECK(r.h.round_open);
    rig_reply(&r, VERB_RENEW, 1, V_UNKNOWN);
    CHECK(!r.h.round_won);
    rig_renew(&r);
    rig_reply(&r, VERB_RENEW, 2, V_GRANTED);
    rig_reply(&r, VERB_RENEW, 0, V_GRANTED);
    CHECK(r.h.round_won);
}

TEST(hold_quorum, node_that_is_not_confirmed_does_not_vote)
{
    struct rig r;
    rig_hold(&r);
    rig_renew(&r);
    rig_reply(&r, VERB_RENEW, 2, V_GRANTED);
    rig_reply(&r, VERB_RENEW, 0, V_GRANTED);
    CHECK(r.h.round_open);
    CHECK_INT(r.h.confirmed, 3);
    rig_reply(&r, VERB_RENEW, 1, V_GRANTED);
    CHECK(!r.h.round_open);
    CHECK_INT(r.h.confirmed, 7);
}

TEST(hold_quorum, heals_after_a_round_that_was_won_and_not_before)
{
    struct rig r;
    rig_hold(&r);
    int64_t fence = r.h.fence;
    rig_renew(&r);
    rig_reply(&r, VERB_RENEW, 2, V_ABSENT);
    CHECK_INT(r.out.sends, 0);
    rig_reply(&r, VERB_RENEW, 0, V_GRANTED);
    rig_reply(&r, VERB_RENEW, 1, V_GRANTED);
    CHECK_INT(r.out.sends, 1);
    CHECK(r.out.send[0].verb == VERB_PROPOSE);
    CHECK_INT(r.out.send[0].nodes, 4);
    CHECK(r.out.send[0].ballot > fence);
    CHECK_INT(r.h.fence, fence);
}

TEST(hold_quorum, node_that_is_not_settled_is_not_healed)
{
    struct rig r;
    rig_hold(&r);
    r.conf.unsettled = 4;
    rig_renew(&r);
    rig_reply(&r, VERB_RENEW, 2, V_ABSENT);
    rig_reply(&r, VERB_RENEW, 0, V_GRANTED);
    rig_reply(&r, VERB_RENEW, 1, V_GRANTED);
    CHECK_INT(r.out.sends, 0);
}

TEST(hold_quorum, node_that_cannot_be_reached_is_not_asked_to_renew)
{
    struct rig r;
    rig_hold(&r);
    r.conf.down = 4;
    rig_renew(&r);
    CHECK_INT(r.out.send[0].nodes, 3);
}

static void rig_release(struct rig *r)
{
    struct hold_event ev = {.type = EV_RELEASE};
    rig_step(r, ev);
}

/* The third never had it, and the second cannot be reached. */
TEST(hold_quorum, is_released_once_no_majority_can_have_it)
{
    struct rig r;
    rig_hold(&r);
    r.conf.down = 0x02;
    rig_release(&r);
    rig_reply(&r, VERB_RELEASE, 2, V_ABSENT);
    CHECK(!r.out.finished);
    rig_reply(&r, VERB_RELEASE, 0, V_GRANTED);
    CHECK(r.out.finished);
    CHECK_INT(r.out.status, HF_OK);
}

/* Whatever the order of the answers. */
TEST(hold_quorum, release_tells_of_a_node_that_had_lost_it)
{
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        struct rig r;
        rig_hold(&r);
        rig_release(&r);
        for (int k = 0; k < 3 && !r.out.finished; k++)
            rig_reply(&r, VERB_RELEASE, orders[i][k],
                      orders[i][k] == 0 ? V_GRANTED : V_ABSENT);
        CHECK(r.out.finished);
        CHECK_INT(r.out.status, HF_EXPIRED);
    }
}

TEST(hold_quorum, is_at_risk_when_clocks_jump_and_too_few_are_sure)
{
    struct rig r;
    rig_hold(&r);
    rig_set_clock(&r, 0, r.now_us);
    CHECK_INT(r.out.notice, HF_STATE_AT_RISK);
    CHECK_INT(hf__hold_view(&r.h, r.now_us), HF_STATE_AT_RISK);
}

TEST(hold_quorum, is_not_at_risk_when_a_quorum_is_still_sure)
{
    struct rig r;
    rig_hold(&r);
    rig_reply(&r, VERB_PROPOSE, 2, V_GRANTED);
    rig_set_clock(&r, 0, r.now_us);
    CHECK_INT(r.out.notice, 0);
    CHECK_INT(r.h.confirmed, 6);
}

/* They had it once, and may have it no longer: their leases there were not
 * renewed with ours. */
TEST(hold_quorum, is_at_risk_when_only_who_missed_a_round_could_be_sure)
{
    struct rig r;
    rig_hold(&r);
    rig_reply(&r, VERB_PROPOSE, 2, V_GRANTED);
    rig_renew(&r);
    rig_reply(&r, VERB_RENEW, 0, V_GRANTED);
    rig_reply(&r, VERB_RENEW, 1, V_GRANTED);
    CHECK(!r.h.round_open);
    rig_set_clock(&r, 0, r.now_us);
    CHECK_INT(r.out.notice, HF_STATE_AT_RISK);
}

TEST(hold_quorum, answer_after_the_jump_still_counts)
{
    struct rig r;
    rig_hold(&r);
    rig_set_clock(&r, 0, r.now_us - 1);
    CHECK_INT(r.h.confirmed, 3);
}

/* Its clock was found to be set by this very reply: the engine has taken its
 * vote away before the machine hears of the grant. */
TEST(hold_quorum, grant_of_a_node_that_may_not_vote_any_more_is_no_vote)
{
    struct rig r;
    rig_init(&r, 3);
    rig_acquire(&r, 0, 9000);
    rig_reply(&r, VERB_PROPOSE, 1, V_BUSY);
    rig_reply(&r, VERB_PROPOSE, 2, V_GRANTED);
    r.conf.unsettled = 0x1;
    rig_reply(&r, VERB_PROPOSE, 0, V_GRANTED);
    CHECK(r.out.finished);
    CHECK_INT(r.out.status, HF_TAKEN);
    CHECK_INT(r.out.sends, 1);
    CHECK_INT(r.out.send[0].verb, VERB_RELEASE);
    CHECK_INT(r.out.send[0].nodes, 0x5);
}

/* It found our own hold there, and gave it the whole lease from then on. */
TEST(hold_quorum, renewal_by_a_node_that_may_not_vote_any_more_counts)
{
    struct rig r;
    rig_hold(&r);
    rig_renew(&r);
    r.conf.unsettled = 0x1;
    rig_reply(&r, VERB_RENEW, 0, V_GRANTED);
    rig_reply(&r, VERB_RENEW, 1, V_GRANTED);
    CHECK(!r.h.round_open);
    CHECK(r.h.round_won);
}

/* With one server, no other node can contradict it. */
TEST(hold_quorum, one_node_alone_always_votes)
{
    struct rig r;
    rig_init(&r, 1);
    rig_acquire(&r, 0, 9000);
    r.conf.unsettled = 0x1;
    rig_reply(&r, VERB_PROPOSE, 0, V_GRANTED);
    CHECK(r.h.state == HOLD_HELD);
}
