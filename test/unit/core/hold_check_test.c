/*
 * hold_check_test.c: a hold whose store is another one than before.  One rule:
 * a check is a renewal like any other, and what is gone is lost at once.
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

static void rig_step(struct rig *r, struct hold_event ev)
{
    ev.now_us = r->now_us;
    ev.nodes_now_us = 5000000 + r->now_us;
    hf__hold_step(&r->h, &ev, &r->out);
}

static void rig_answer(struct rig *r, enum verb op, enum verdict v)
{
    struct reply reply = {.verdict = v, .fence = 77, .ttl_us = 500 * MS};
    struct hold_event ev = {
        .type = EV_REPLY, .verb = op, .round = r->h.round, .reply = &reply};
    rig_step(r, ev);
}

/* Held since 1000 ms, by one node, for 9000 ms; now it is 2000 ms. */
static void rig_hold(struct rig *r, unsigned flags)
{
    struct hold_event ev = {.type = EV_ACQUIRE,
                            .flags = flags | HOLD_MAY_TRY,
                            .wait_us = -1,
                            .lease_us = 9000 * MS};
    memset(r, 0, sizeof *r);
    r->conf.nodes = r->conf.quorum = 1;
    r->conf.request_flags = REQ_SERVER_FENCE;
    r->conf.drift_ppm = 10000;
    r->conf.window_us = 2000 * MS;
    r->conf.timeout_us = 2000 * MS;
    r->conf.patience_us = 2000 * MS;
    r->now_us = 1000 * MS;
    hf__hold_init(&r->h, &r->conf, &r->ballot);
    rig_step(r, ev);
    rig_answer(r, VERB_PROPOSE, V_GRANTED);
    CHECK_INT(r->h.state, HOLD_HELD);
    r->now_us = 2000 * MS;
}

static void rig_check(struct rig *r)
{
    struct hold_event ev = {.type = EV_CHECK};
    rig_step(r, ev);
}

TEST(hold_check, what_is_kept_is_renewed_before_its_time)
{
    struct rig r;
    rig_hold(&r, HOLD_KEEP);
    int64_t valid_us = r.h.valid_us;
    rig_check(&r);
    CHECK_INT(r.out.sends, 1);
    CHECK_INT(r.out.send[0].verb, VERB_RENEW);
    rig_answer(&r, VERB_RENEW, V_GRANTED);
    CHECK_INT(r.h.state, HOLD_HELD);
    CHECK(r.h.valid_us > valid_us);
}

TEST(hold_check, what_is_gone_is_lost)
{
    struct rig r;
    rig_hold(&r, HOLD_KEEP);
    rig_check(&r);
    rig_answer(&r, VERB_RENEW, V_ABSENT);
    CHECK_INT(r.h.state, HOLD_LOST);
    CHECK_INT(r.out.notice, HF_STATE_LOST);
    CHECK_INT(r.h.lost_status, HF_EXPIRED);
}

TEST(hold_check, a_renewal_under_way_is_check_enough)
{
    struct rig r;
    rig_hold(&r, HOLD_KEEP);
    rig_check(&r);
    rig_check(&r);
    CHECK_INT(r.out.sends, 0);
}

TEST(hold_check, a_fixed_lease_is_not_renewed)
{
    struct rig r;
    rig_hold(&r, 0);
    rig_check(&r);
    CHECK_INT(r.out.sends, 0);
    CHECK_INT(r.h.state, HOLD_HELD);
}

TEST(hold_check, a_hold_whose_time_is_over_is_not_revived)
{
    struct rig r;
    rig_hold(&r, HOLD_KEEP);
    r.now_us = r.h.valid_us;
    rig_check(&r);
    CHECK_INT(r.out.sends, 0);
}

/* The hold is found now, and ends in `left_us`. */
static void rig_found(struct rig *r, int64_t left_us)
{
    struct hold_event ev = {
        .type = EV_FOUND, .since_us = r->now_us, .lease_us = left_us};
    rig_step(r, ev);
}

TEST(hold_check, what_ends_sooner_than_believed_is_believed_for_no_longer)
{
    struct rig r;
    rig_hold(&r, 0);
    rig_found(&r, 1000 * MS);
    CHECK_INT(r.h.valid_us, r.now_us + 1000 * MS - 12 * MS); /* 1 % + 2 ms */
    CHECK(hf__hold_due(&r.h) <= r.h.valid_us);
}

TEST(hold_check, what_ends_later_is_believed_for_no_longer_than_before)
{
    struct rig r;
    rig_hold(&r, 0);
    int64_t valid_us = r.h.valid_us;
    rig_found(&r, 20000 * MS);
    CHECK_INT(r.h.valid_us, valid_us);
}

TEST(hold_check, what_was_looked_for_in_vain_is_lost_and_given_back)
{
    struct rig r;
    struct hold_event gone = {.type = EV_GONE, .status = HF_LOST};
    rig_hold(&r, 0);
    rig_step(&r, gone);
    CHECK_INT(r.h.state, HOLD_LOST);
    CHECK_INT(r.out.notice, HF_STATE_LOST);
    CHECK_INT(r.h.lost_status, HF_LOST);
    CHECK_INT(r.out.sends, 1);
    CHECK_INT(r.out.send[0].verb, VERB_RELEASE);
}

TEST(hold_check, a_proposal_says_how_long_anybody_waits_for_it)
{
    struct rig r;
    struct hold_event ev = {.type = EV_ACQUIRE,
                            .flags = HOLD_MAY_TRY,
                            .wait_us = 300 * MS,
                            .lease_us = 9000 * MS};
    rig_hold(&r, 0);
    hf__hold_init(&r.h, &r.conf, &r.ballot);
    rig_step(&r, ev);
    CHECK_INT(r.out.send[0].wanted_us, r.now_us + 300 * MS);
    CHECK(r.out.send[0].deadline_us > r.out.send[0].wanted_us);
}
