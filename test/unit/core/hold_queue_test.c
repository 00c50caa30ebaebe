/*
 * hold_queue_test.c: a hold that queues at the store, one claim a test, on time
 * that is an argument.
 */
#include <string.h>

#include "core/hold.h"
#include "kind/kind.h"
#include "test.h"

#define MS US_PER_MS
#define LEASE_MS 30000
#define HANDOFF_MS 1500

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

static void rig_start_with(struct rig *r, struct hold_event ev)
{
    memset(r, 0, sizeof *r);
    r->conf = (struct hold_conf){.nodes = 1,
                                 .quorum = 1,
                                 .request_flags = REQ_SERVER_FENCE,
                                 .drift_ppm = 10000,
                                 .window_us = 2000 * MS,
                                 .timeout_us = 2000 * MS,
                                 .patience_us = 2000 * MS};
    r->now_us = 1000 * MS;
    hf__hold_init(&r->h, &r->conf, &r->ballot);
    ev.type = EV_ACQUIRE;
    ev.flags |= HOLD_QUEUES | HOLD_MAY_TRY;
    if (!ev.lease_us) ev.lease_us = LEASE_MS * MS;
    if (!ev.wait_us) ev.wait_us = -1;
    rig_step(r, ev);
}

/* Proposed at 1000 ms, with the watchdog. */
static void rig_start(struct rig *r)
{
    rig_start_with(r, (struct hold_event){.flags = HOLD_KEEP});
}

static void rig_answer(struct rig *r, struct reply reply)
{
    struct hold_event ev = {.type = EV_REPLY,
                            .verb = VERB_PROPOSE,
                            .round = r->h.round,
                            .reply = &reply};
    if (r->h.state == HOLD_HELD) ev.verb = VERB_RENEW;
    rig_step(r, ev);
}

/* "Wait": it has a place. */
static void rig_queued(struct rig *r)
{
    rig_answer(r, (struct reply){.verdict = V_BUSY,
                                 .ttl_us = 20000 * MS,
                                 .poll_us = 1000 * MS,
                                 .counter = 10});
}

static void rig_event(struct rig *r, enum hold_event_type type)
{
    rig_step(r, (struct hold_event){.type = type});
}

static void rig_timer(struct rig *r)
{
    r->now_us = hf__hold_due(&r->h);
    rig_event(r, EV_TIMER);
}

/* For its lease. */
static void rig_handed_by(struct rig *r, uint64_t attempt, int64_t number)
{
    rig_step(r, (struct hold_event){.type = EV_HANDED,
                                    .attempt = attempt,
                                    .number = number,
                                    .fence = 77,
                                    .lease_us = r->h.lease_us});
}

static void rig_handed(struct rig *r)
{
    rig_handed_by(r, r->h.attempt, r->h.number);
}

/* For a moment only. */
static void rig_handed_short(struct rig *r)
{
    rig_step(r, (struct hold_event){.type = EV_HANDED,
                                    .attempt = r->h.attempt,
                                    .number = r->h.number,
                                    .fence = 77,
                                    .lease_us = HANDOFF_MS * MS});
}

static const struct hold_send *rig_sent(const struct rig *r, enum verb op)
{
    for (int i = 0; i < r->out.sends; i++)
        if (r->out.send[i].verb == op) return &r->out.send[i];
    return NULL;
}

/* ---- waiting ------------------------------------------------------------- */

TEST(hold_queue, who_waits_asks_again_as_often_as_the_store_wants)
{
    struct rig r;
    rig_start(&r);
    rig_queued(&r);
    rig_event(&r, EV_WATCHED);
    rig_queued(&r);
    CHECK(r.h.state == HOLD_WAITING);
    CHECK_INT(hf__hold_due(&r.h), r.now_us + 1000 * MS);
    rig_timer(&r);
    CHECK(rig_sent(&r, VERB_PROPOSE) != NULL);
}

TEST(hold_queue, asking_again_is_the_same_attempt_under_a_higher_number)
{
    struct rig r;
    rig_start(&r);
    uint64_t attempt = r.h.attempt;
    int64_t number = r.h.number;
    rig_queued(&r);
    rig_timer(&r);
    CHECK_INT(r.h.attempt, attempt);
    CHECK(r.h.number > number);
}

/* A release would give the place up, too. */
TEST(hold_queue, a_try_without_an_answer_is_followed_by_another_not_released)
{
    struct rig r;
    rig_start(&r);
    rig_queued(&r);
    rig_timer(&r);
    rig_answer(&r,
               (struct reply){.verdict = V_UNKNOWN, .status = HF_UNAVAILABLE});
    CHECK(r.h.state == HOLD_WAITING);
    CHECK(rig_sent(&r, VERB_RELEASE) == NULL);
    rig_timer(&r);
    CHECK(rig_sent(&r, VERB_PROPOSE) != NULL);
}

TEST(hold_queue, who_gives_up_leaves_the_queue)
{
    struct rig r;
    rig_start_with(&r, (struct hold_event){.wait_us = 500 * MS});
    rig_queued(&r);
    r.now_us = 1500 * MS;
    rig_event(&r, EV_TIMER);
    CHECK(r.out.finished && r.out.status == HF_TIMEOUT);
    const struct hold_send *release = rig_sent(&r, VERB_RELEASE);
    CHECK(release != NULL);
    CHECK_INT(release->attempt, r.h.attempt);
    CHECK_INT(release->ballot, r.h.number);
}

/* The store's lease has only begun when the answer is of no use any more. */
TEST(hold_queue, who_gives_up_leaves_what_he_was_granted_too_late)
{
    struct rig r;
    rig_start_with(&r, (struct hold_event){.lease_us = 1000 * MS});
    r.now_us += 950 * MS;
    rig_answer(&r, (struct reply){.verdict = V_GRANTED, .fence = 77});
    CHECK(r.h.state == HOLD_WAITING);
    CHECK(rig_sent(&r, VERB_RELEASE) == NULL);
    rig_step(&r, (struct hold_event){.type = EV_FAIL, .status = HF_CANCELLED});
    CHECK(rig_sent(&r, VERB_RELEASE) != NULL);
}

/* Its lease is short, its place is not. */
TEST(hold_queue, leaving_is_repeated_for_as_long_as_a_place_may_be_kept)
{
    struct rig r;
    rig_start_with(&r, (struct hold_event){.lease_us = 50 * MS});
    rig_queued(&r);
    rig_step(&r, (struct hold_event){.type = EV_FAIL, .status = HF_CANCELLED});
    CHECK(rig_sent(&r, VERB_RELEASE)->until_us >= r.now_us + PLACE_US);
}

TEST(hold_queue, who_was_refused_for_good_has_nothing_to_leave)
{
    struct rig r;
    rig_start(&r);
    rig_answer(&r, (struct reply){.verdict = V_ERROR, .status = HF_CONFLICT});
    CHECK(r.out.finished && r.out.status == HF_CONFLICT);
    CHECK_INT(r.out.sends, 0);
}

static unsigned release_flags(struct rig *r)
{
    struct request req = {0};
    rig_step(r, (struct hold_event){.type = EV_FAIL, .status = HF_CANCELLED});
    hf__kind_shape(&req, &r->h, rig_sent(r, VERB_RELEASE));
    return req.flags;
}

TEST(hold_queue, who_leaves_says_whether_a_proposal_may_come_behind_it)
{
    struct rig r;
    rig_start(&r);
    rig_queued(&r);
    CHECK(!(release_flags(&r) & REQ_UNSURE));
    rig_start(&r);
    CHECK(release_flags(&r) & REQ_UNSURE); /* it is on its way */
    rig_start(&r);
    rig_answer(&r,
               (struct reply){.verdict = V_UNKNOWN, .status = HF_UNAVAILABLE});
    rig_timer(&r);
    rig_queued(&r);
    CHECK(release_flags(&r) & REQ_UNSURE); /* the first may be */
}

TEST(hold_queue, requests_say_that_they_are_of_one_who_queues)
{
    struct rig r;
    struct request req = {0};
    rig_start(&r);
    hf__kind_shape(&req, &r.h, rig_sent(&r, VERB_PROPOSE));
    CHECK(req.flags & REQ_QUEUE);
}

/* ---- handed over --------------------------------------------------------- */

TEST(hold_queue, what_is_handed_over_for_its_lease_is_held)
{
    struct rig r;
    rig_start(&r);
    rig_queued(&r);
    r.now_us = 1400 * MS;
    rig_handed(&r);
    CHECK(r.out.finished && r.out.status == HF_OK);
    CHECK(r.h.state == HOLD_HELD);
    CHECK_INT(r.h.fence, 77);
    CHECK_INT(r.out.sends, 0);
}

/* The store gave it later than that was sent; when, nobody can know. */
TEST(hold_queue, a_hand_over_counts_from_the_send_of_its_number)
{
    struct rig r;
    rig_start(&r);
    rig_queued(&r);
    r.now_us = 1400 * MS;
    rig_handed(&r);
    CHECK_INT(r.h.valid_us, (1000 + LEASE_MS - 302) * MS); /* 1 % + 2 ms */
}

TEST(hold_queue, a_message_that_overtakes_the_answer_counts)
{
    struct rig r;
    rig_start(&r);
    r.now_us = 1001 * MS;
    rig_handed(&r);
    CHECK(r.h.state == HOLD_HELD);
    uint32_t round = r.h.round;
    struct reply wait = {.verdict = V_BUSY, .ttl_us = -1, .poll_us = MS};
    rig_step(&r, (struct hold_event){.type = EV_REPLY,
                                     .verb = VERB_PROPOSE,
                                     .round = round,
                                     .reply = &wait});
    CHECK(r.h.state == HOLD_HELD);
    CHECK(!r.out.finished);
}

TEST(hold_queue, what_was_handed_over_is_renewed_as_any_other)
{
    struct rig r;
    rig_start(&r);
    rig_queued(&r);
    rig_handed(&r);
    CHECK_INT(hf__hold_due(&r.h), 1000 * MS + LEASE_MS * MS / 3);
    rig_timer(&r);
    CHECK(rig_sent(&r, VERB_RENEW) != NULL);
}

TEST(hold_queue, a_fixed_lease_is_not_asked_for_after_a_hand_over)
{
    struct rig r;
    rig_start_with(&r, (struct hold_event){0});
    rig_queued(&r);
    rig_handed(&r);
    CHECK(r.h.renew_at_us == TIME_NEVER);
    CHECK(r.h.valid_us > r.now_us + 29000 * MS);
}

/* Nothing is told until the store has it for the whole lease. */
static void short_is_confirmed(unsigned flags)
{
    struct rig r;
    rig_start_with(&r, (struct hold_event){.flags = flags});
    int64_t number = r.h.number;
    uint64_t attempt = r.h.attempt;
    rig_queued(&r);
    r.now_us = 1400 * MS;
    rig_handed_short(&r);
    CHECK(!r.out.finished);
    CHECK(r.h.state == HOLD_TRYING);
    const struct hold_send *poll = rig_sent(&r, VERB_PROPOSE);
    CHECK(poll != NULL);
    CHECK_INT(poll->lease_us, LEASE_MS * MS);
    CHECK_INT(poll->attempt, attempt);
    CHECK(poll->ballot > number);
    r.now_us = 1410 * MS;
    rig_answer(&r, (struct reply){.verdict = V_GRANTED, .fence = 77});
    CHECK(r.out.finished && r.out.status == HF_OK);
    CHECK_INT(r.h.fence, 77);
    CHECK_INT(r.h.valid_us, (1400 + LEASE_MS - 302) * MS);
}

TEST(hold_queue, a_short_hand_over_is_confirmed_for_the_whole_lease_first)
{
    short_is_confirmed(HOLD_KEEP);
    short_is_confirmed(0);
    short_is_confirmed(HOLD_DETACHED);
}

/* It was too late, or was broken: the store says "wait". */
TEST(hold_queue, a_hand_over_that_is_not_confirmed_is_waited_on)
{
    struct rig r;
    rig_start(&r);
    rig_queued(&r);
    rig_handed_short(&r);
    rig_queued(&r);
    CHECK(!r.out.finished);
    CHECK(r.h.state == HOLD_WAITING);
    rig_timer(&r);
    CHECK(rig_sent(&r, VERB_PROPOSE) != NULL);
}

TEST(hold_queue, a_hand_over_whose_confirmation_is_not_answered_is_given_back)
{
    struct rig r;
    rig_start_with(&r, (struct hold_event){.wait_us = 1000 * MS});
    rig_queued(&r);
    r.now_us = 1400 * MS;
    rig_handed_short(&r);
    r.now_us = 2000 * MS;
    rig_event(&r, EV_TIMER);
    CHECK(r.out.finished && r.out.status == HF_TIMEOUT);
    const struct hold_send *release = rig_sent(&r, VERB_RELEASE);
    CHECK(release != NULL);
    CHECK_INT(release->ballot, r.h.number);
    CHECK(r.h.unsure); /* what asked for it may come behind that */
}

/* "Wait" was said before it was handed over. */
TEST(hold_queue, a_short_hand_over_that_overtakes_the_answer_is_asked_for)
{
    struct rig r;
    rig_start(&r);
    r.now_us = 1001 * MS;
    rig_handed_short(&r);
    CHECK_INT(r.out.sends, 0);
    rig_queued(&r);
    CHECK(r.h.state == HOLD_TRYING);
    CHECK(rig_sent(&r, VERB_PROPOSE) != NULL);
}

TEST(hold_queue, who_releases_soon_sends_nothing_but_the_release)
{
    struct rig r;
    rig_start(&r);
    rig_queued(&r);
    rig_handed(&r);
    rig_event(&r, EV_RELEASE);
    CHECK_INT(r.out.sends, 1);
    CHECK(rig_sent(&r, VERB_RELEASE) != NULL);
}

/* A lease that is no longer than the moment is given for as long. */
TEST(hold_queue, a_hand_over_of_which_a_tenth_is_over_is_asked_for)
{
    struct rig r;
    rig_start_with(&r, (struct hold_event){.lease_us = 1000 * MS});
    rig_queued(&r);
    r.now_us = 1101 * MS;
    rig_handed(&r);
    CHECK(r.h.state == HOLD_TRYING);
    CHECK(rig_sent(&r, VERB_PROPOSE) != NULL);
    CHECK(!r.out.finished);
}

TEST(hold_queue, a_hand_over_that_must_be_asked_for_is)
{
    struct rig r;
    rig_start(&r);
    rig_queued(&r);
    rig_step(&r, (struct hold_event){.type = EV_HANDED,
                                     .attempt = r.h.attempt,
                                     .number = r.h.number,
                                     .fence = 77});
    CHECK(r.h.state == HOLD_TRYING);
}

/* What was proposed since may come later than that, and be granted anew with
 * another token. */
TEST(hold_queue, a_hand_over_by_an_earlier_number_is_asked_for)
{
    struct rig r;
    rig_start(&r);
    int64_t number = r.h.number;
    rig_queued(&r);
    rig_timer(&r);
    rig_handed_by(&r, r.h.attempt, number);
    CHECK(r.h.state == HOLD_TRYING); /* and the answer will say */
    CHECK_INT(r.out.sends, 0);
    rig_answer(&r,
               (struct reply){.verdict = V_UNKNOWN, .status = HF_UNAVAILABLE});
    rig_handed_by(&r, r.h.attempt, number);
    CHECK(r.h.state == HOLD_TRYING);
    CHECK(rig_sent(&r, VERB_PROPOSE) != NULL);
}

TEST(hold_queue, a_hand_over_to_another_attempt_is_none)
{
    struct rig r;
    rig_start(&r);
    rig_queued(&r);
    rig_handed_by(&r, r.h.attempt + 1, r.h.number);
    CHECK(r.h.state == HOLD_WAITING);
    CHECK_INT(r.out.sends, 0);
}

TEST(hold_queue, a_hand_over_that_is_told_twice_is_one)
{
    struct rig r;
    rig_start(&r);
    rig_queued(&r);
    rig_handed(&r);
    int64_t valid_us = r.h.valid_us;
    r.now_us += MS;
    rig_handed(&r);
    CHECK(!r.out.finished);
    CHECK_INT(r.h.valid_us, valid_us);
}

/* A grant of which a tenth is left is of no use; nor is such a cap. */
TEST(hold_queue, a_cap_that_is_nearly_over_is_begun_anew)
{
    static const struct hold_plan plan = {.max_hold_us = 300 * MS};
    struct rig r;
    rig_start_with(&r, (struct hold_event){.plan = &plan});
    rig_queued(&r);
    r.now_us = 1400 * MS;
    rig_handed(&r);
    CHECK(r.h.state == HOLD_TRYING);
    rig_answer(&r, (struct reply){.verdict = V_GRANTED, .fence = 78});
    CHECK(r.h.state == HOLD_HELD);
    CHECK(r.h.valid_us > 1600 * MS);
}

/* Nothing of it is handed on in the process: no tokens are reserved. */
TEST(hold_queue, who_queues_reserves_no_tokens)
{
    struct rig r;
    rig_start(&r);
    rig_queued(&r);
    r.conf.handover = 64;
    r.h.crowded = 1;
    rig_timer(&r);
    CHECK_INT(rig_sent(&r, VERB_PROPOSE)->block, 0);
}
