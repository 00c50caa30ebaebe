/*
 * hold_once_test.c: what is waited for and then not held.  One rule: a waiter
 * that gives up returns what it may have been given, and sends nothing where
 * its requests change nothing.
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

/* One server; asked at 1000 ms. */
static void rig_begin(struct rig *r, unsigned flags, int64_t wait_us)
{
    memset(r, 0, sizeof *r);
    r->conf.nodes = r->conf.quorum = 1;
    r->conf.request_flags = REQ_SERVER_FENCE;
    r->conf.drift_ppm = 10000;
    r->conf.window_us = r->conf.timeout_us = r->conf.patience_us = 2000 * MS;
    r->now_us = 1000 * MS;
    hf__hold_init(&r->h, &r->conf, &r->ballot);
    rig_step(r, (struct hold_event){.type = EV_ACQUIRE,
                                    .flags = flags | HOLD_ONCE | HOLD_MAY_TRY,
                                    .wait_us = wait_us,
                                    .lease_us = 30000 * MS});
}

static void rig_reply(struct rig *r, enum verdict verdict, int status)
{
    const struct reply reply = {
        .verdict = verdict, .status = status, .ttl_us = -1};
    rig_step(r, (struct hold_event){.type = EV_REPLY,
                                    .verb = VERB_PROPOSE,
                                    .round = r->h.round,
                                    .reply = &reply});
}

static void rig_cancel(struct rig *r)
{
    rig_step(r, (struct hold_event){.type = EV_FAIL, .status = HF_CANCELLED});
}

TEST(hold_once, is_over_when_it_is_granted)
{
    struct rig r;
    rig_begin(&r, HOLD_LOOKS, -1);
    rig_reply(&r, V_GRANTED, HF_OK);
    CHECK(r.out.finished && r.out.status == HF_OK);
    CHECK(r.h.state == HOLD_DONE);
    CHECK_INT(r.out.sends, 0);
    CHECK(hf__hold_due(&r.h) == TIME_NEVER);
}

TEST(hold_once, that_only_looks_gives_nothing_back)
{
    struct rig r;
    rig_begin(&r, HOLD_LOOKS, -1);
    rig_cancel(&r);
    CHECK(r.out.finished && r.out.status == HF_CANCELLED);
    CHECK_INT(r.out.sends, 0);
}

TEST(hold_once, that_keeps_a_place_gives_it_up)
{
    struct rig r;
    rig_begin(&r, HOLD_QUEUES, -1);
    rig_reply(&r, V_BUSY, HF_OK);
    CHECK(r.h.state == HOLD_WAITING);
    rig_cancel(&r);
    CHECK_INT(r.out.sends, 1);
    CHECK(r.out.send[0].verb == VERB_RELEASE);
}

TEST(hold_once, ends_when_what_is_waited_for_is_taken_away)
{
    struct rig r;
    rig_begin(&r, HOLD_LOOKS, -1);
    rig_reply(&r, V_BUSY, HF_OK);
    rig_step(&r, (struct hold_event){.type = EV_WAKE});
    rig_reply(&r, V_ERROR, HF_LOST);
    CHECK(r.out.finished);
    CHECK_INT(r.out.status, HF_LOST);
}

TEST(hold_once, without_a_message_looks_again_within_the_bound)
{
    struct rig r;
    rig_begin(&r, HOLD_LOOKS, -1);
    rig_step(&r, (struct hold_event){.type = EV_WATCHED, .status = HF_OK});
    rig_reply(&r, V_BUSY, HF_OK);
    rig_reply(&r, V_BUSY, HF_OK); /* it was woken by the first */
    CHECK(r.h.state == HOLD_WAITING);
    CHECK(hf__hold_due(&r.h) <= r.now_us + SLEEP_US_MAX);
}
