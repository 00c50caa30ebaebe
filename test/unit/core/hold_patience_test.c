/*
 * hold_patience_test.c: how long the hold machine waits for a store that does
 * not answer, on time that is an argument.  One rule: patience ends an acquire,
 * unless the client waits for its store.
 */
#include <string.h>

#include "base/math.h"
#include "core/hold.h"
#include "test.h"

#define MS US_PER_MS
#define PATIENCE_MS 2000

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

/* One server; asked at 1000 ms, or, blind, not even that. */
static void rig_begin(struct rig *r, int is_patient, unsigned flags,
                      int64_t wait_us)
{
    struct hold_event ev = {.type = EV_ACQUIRE,
                            .flags = flags,
                            .wait_us = wait_us,
                            .lease_us = 30000 * MS};
    memset(r, 0, sizeof *r);
    r->conf.nodes = r->conf.quorum = 1;
    r->conf.request_flags = REQ_SERVER_FENCE;
    r->conf.drift_ppm = 10000;
    r->conf.window_us = 2000 * MS;
    r->conf.timeout_us = 500 * MS;
    r->conf.patience_us = PATIENCE_MS * MS;
    r->conf.is_patient = is_patient;
    r->now_us = 1000 * MS;
    hf__hold_init(&r->h, &r->conf, &r->ballot);
    rig_step(r, ev);
}

static void rig_reply(struct rig *r, enum verdict v, int status)
{
    struct reply reply = {
        .verdict = v, .status = status, .fence = 77, .ttl_us = -1};
    struct hold_event ev = {.type = EV_REPLY,
                            .verb = VERB_PROPOSE,
                            .round = r->h.round,
                            .reply = &reply};
    rig_step(r, ev);
}

/* Let time go to `end_ms`, every request lost, or until it is over. */
static void rig_silence(struct rig *r, int64_t end_ms)
{
    struct hold_event timer = {.type = EV_TIMER};
    int64_t lost_us = r->now_us + r->conf.timeout_us;
    while (!r->out.finished && r->now_us < end_ms * MS) {
        int64_t due_us = hf__hold_due(&r->h);
        int is_lost = r->h.state == HOLD_TRYING && lost_us < due_us;
        r->now_us = is_lost ? lost_us : due_us;
        if (r->now_us > end_ms * MS) r->now_us = end_ms * MS;
        if (is_lost && r->now_us == lost_us)
            rig_reply(r, V_UNKNOWN, HF_UNAVAILABLE);
        else
            rig_step(r, timer);
        if (r->out.sends) lost_us = r->now_us + r->conf.timeout_us;
    }
}

TEST(hold_patience, ends_an_acquire_that_nobody_answers)
{
    struct rig r;
    rig_begin(&r, 0, HOLD_MAY_TRY, -1);
    rig_silence(&r, 600000);
    CHECK(r.out.finished && r.out.status == HF_UNAVAILABLE);
    CHECK_INT(r.now_us, (1000 + PATIENCE_MS) * MS);
}

TEST(hold_patience, without_end_waits_for_the_store)
{
    struct rig r;
    rig_begin(&r, 1, HOLD_MAY_TRY, -1);
    rig_silence(&r, 600000);
    CHECK(!r.out.finished);
    if (r.h.state == HOLD_WAITING) rig_silence(&r, 601000);
    CHECK(r.h.state == HOLD_TRYING);
    rig_reply(&r, V_GRANTED, HF_OK);
    CHECK(r.out.finished && r.out.status == HF_OK);
}

TEST(hold_patience, without_end_waits_for_the_first_clock)
{
    struct rig r;
    struct hold_event turn = {.type = EV_TURN};
    rig_begin(&r, 1, HOLD_BLIND, -1);
    CHECK_INT(hf__hold_due(&r.h), TIME_NEVER);
    r.now_us += 600000 * MS;
    rig_step(&r, turn);
    CHECK(r.h.state == HOLD_TRYING && !r.out.finished);
}

TEST(hold_patience, without_end_ends_with_the_caller_s_wait)
{
    struct rig r;
    rig_begin(&r, 1, HOLD_MAY_TRY, 9000 * MS);
    rig_silence(&r, 600000);
    CHECK(r.out.finished && r.out.status == HF_UNAVAILABLE);
    CHECK_INT(r.now_us, 10000 * MS);
    rig_begin(&r, 1, HOLD_BLIND, 9000 * MS);
    rig_silence(&r, 600000);
    CHECK(r.out.finished && r.out.status == HF_UNAVAILABLE);
    CHECK_INT(r.now_us, 10000 * MS);
}

TEST(hold_patience, of_one_try_has_an_end)
{
    struct rig r;
    rig_begin(&r, 1, HOLD_MAY_TRY, 0);
    rig_silence(&r, 600000);
    CHECK(r.out.finished && r.out.status == HF_UNAVAILABLE);
    CHECK_INT(r.now_us, (1000 + PATIENCE_MS) * MS);
}

/* Asked without a clock; one comes after half of the patience. */
TEST(hold_patience, of_one_try_began_before_the_first_clock)
{
    struct rig r;
    struct hold_event ready = {.type = EV_READY, .flags = HOLD_BLIND};
    struct hold_event turn = {.type = EV_TURN};
    rig_begin(&r, 0, HOLD_BLIND, 0);
    r.now_us += PATIENCE_MS / 2 * MS;
    rig_step(&r, ready);
    rig_step(&r, turn);
    rig_silence(&r, 600000);
    CHECK(r.out.finished && r.out.status == HF_UNAVAILABLE);
    CHECK_INT(r.now_us, (1000 + PATIENCE_MS) * MS);
}

/* A server whose replicas are missing: what it grants is in doubt and given
 * back, and the numbers given back are refused to the next. */
TEST(hold_patience, of_one_try_is_not_prolonged_by_answers)
{
    struct rig r;
    struct hold_event timer = {.type = EV_TIMER};
    rig_begin(&r, 0, HOLD_MAY_TRY, 0);
    for (int i = 0; i < 1000 && !r.out.finished; i++) {
        r.now_us = min64(r.now_us + 100 * MS, hf__hold_due(&r.h));
        if (r.h.state != HOLD_TRYING || r.now_us == hf__hold_due(&r.h))
            rig_step(&r, timer);
        else if (i % 2)
            rig_reply(&r, V_UNKNOWN, HF_UNAVAILABLE);
        else
            rig_reply(&r, V_STALE, HF_OK);
    }
    CHECK(r.out.finished && r.out.status == HF_UNAVAILABLE);
    CHECK_INT(r.now_us, (1000 + PATIENCE_MS) * MS);
}

TEST(hold_patience, of_one_try_with_a_wait_lasts_as_long_as_that)
{
    struct rig r;
    rig_begin(&r, 1, HOLD_MAY_TRY | HOLD_ONE_TRY, 9000 * MS);
    rig_silence(&r, 600000);
    CHECK(r.out.finished && r.out.status == HF_UNAVAILABLE);
    CHECK_INT(r.now_us, 10000 * MS);
}

TEST(hold_patience, of_one_try_with_a_wait_ends_at_who_has_it)
{
    struct rig r;
    rig_begin(&r, 1, HOLD_MAY_TRY | HOLD_ONE_TRY, 9000 * MS);
    rig_reply(&r, V_BUSY, HF_TAKEN);
    CHECK(r.out.finished && r.out.status == HF_TAKEN);
    rig_begin(&r, 1, HOLD_MAY_TRY, 9000 * MS);
    rig_reply(&r, V_BUSY, HF_TAKEN);
    CHECK(!r.out.finished);
}

TEST(hold_patience, without_end_does_not_outlast_a_refusal)
{
    struct rig r;
    rig_begin(&r, 1, HOLD_MAY_TRY, -1);
    rig_reply(&r, V_ERROR, HF_DENIED);
    CHECK(r.out.finished && r.out.status == HF_DENIED);
}

TEST(hold_patience, of_a_ticket_has_an_end)
{
    struct rig r;
    struct hold_event attach = {.type = EV_ATTACH,
                                .flags = HOLD_DETACHED,
                                .attempt = 3,
                                .fence = 5,
                                .lease_us = 30000 * MS};
    rig_begin(&r, 1, HOLD_MAY_TRY, -1);
    hf__hold_init(&r.h, &r.conf, &r.ballot);
    rig_step(&r, attach);
    rig_silence(&r, 600000);
    CHECK(r.out.finished && r.out.status == HF_UNAVAILABLE);
    CHECK(r.now_us <= (1000 + PATIENCE_MS) * MS);
}

/* It waited for another holder of its process for nearly all of its time. */
static void rig_late_turn(struct rig *r, int64_t left_us)
{
    struct hold_event turn = {.type = EV_TURN};
    rig_begin(r, 0, 0, 9000 * MS);
    r->now_us += 9000 * MS - left_us;
    rig_step(r, turn);
}

TEST(hold_patience, is_not_tried_by_a_turn_that_came_too_late_to_ask)
{
    struct rig r;
    rig_late_turn(&r, 0);
    CHECK_INT(r.out.sends, 0);
    rig_silence(&r, 600000);
    CHECK(r.out.finished && r.out.status == HF_TIMEOUT);
}

TEST(hold_patience, is_not_tried_by_a_turn_that_came_too_late_for_an_answer)
{
    struct rig r;
    rig_late_turn(&r, 1 * MS);
    CHECK(r.h.state == HOLD_TRYING);
    rig_silence(&r, 600000);
    CHECK(r.out.finished && r.out.status == HF_TIMEOUT);
    CHECK_INT(r.now_us, 10000 * MS);
}

TEST(hold_patience, is_tried_after_a_late_turn_by_a_node_that_fails)
{
    struct rig r;
    rig_late_turn(&r, 1 * MS);
    rig_reply(&r, V_UNSENT, HF_UNAVAILABLE);
    rig_silence(&r, 600000);
    CHECK(r.out.finished && r.out.status == HF_UNAVAILABLE);
}

TEST(hold_patience, is_tried_by_silence_in_a_short_wait_with_a_turn_at_once)
{
    struct rig r;
    struct hold_event turn = {.type = EV_TURN};
    rig_begin(&r, 0, 0, 50 * MS);
    r.now_us += 1 * MS;
    rig_step(&r, turn);
    rig_silence(&r, 600000);
    CHECK(r.out.finished && r.out.status == HF_UNAVAILABLE);
}

TEST(hold_patience, is_tried_by_silence_after_a_turn_that_came_in_time)
{
    struct rig r;
    rig_late_turn(&r, 400 * MS);
    rig_silence(&r, 600000);
    CHECK(r.out.finished && r.out.status == HF_UNAVAILABLE);
    CHECK_INT(r.now_us, 10000 * MS);
}

/* The clocks came when its wait was nearly over, or over; nobody was before
 * it. */
TEST(hold_patience, is_not_outwaited_by_clocks_that_came_late)
{
    struct rig r;
    struct hold_event ready = {.type = EV_READY};
    struct hold_event turn = {.type = EV_TURN};
    for (int late_ms = -1; late_ms <= 1; late_ms++) {
        rig_begin(&r, 0, HOLD_BLIND, 50 * MS);
        r.now_us += (50 + late_ms) * MS;
        rig_step(&r, ready);
        rig_step(&r, turn);
        CHECK_INT(r.h.outwaited, 0);
        rig_silence(&r, 600000);
        CHECK(r.out.finished);
        CHECK_INT(r.out.status, late_ms < 0 ? HF_UNAVAILABLE : HF_TIMEOUT);
    }
}

TEST(hold_patience, is_outwaited_by_those_before_it_since_the_clocks_came)
{
    struct rig r;
    struct hold_event ready = {.type = EV_READY};
    struct hold_event turn = {.type = EV_TURN};
    rig_begin(&r, 0, HOLD_BLIND, 50 * MS);
    r.now_us += 2 * MS;
    rig_step(&r, ready);
    r.now_us += 47 * MS;
    rig_step(&r, turn);
    CHECK_INT(r.h.outwaited, 1);
    rig_silence(&r, 600000);
    CHECK(r.out.finished && r.out.status == HF_TIMEOUT);
}
