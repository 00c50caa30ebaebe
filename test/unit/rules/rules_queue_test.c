/*
 * rules_queue_test.c: the queue of one node, by hand-made times.
 */
#include <string.h>

#include "rules/store.h"
#include "test.h"

#define NOW INT64_C(1700000000000000)
#define MS US_PER_MS
#define S US_PER_S

struct rig {
    struct store *s;
    int64_t now_us;
    struct reply rep;
};

static void rig_stop(void *arg)
{
    struct rig *r = arg;
    hf__rules_store_close(r->s);
}

static void rig_start(struct rig *r)
{
    *r = (struct rig){.s = hf__rules_store_open(&hf__alloc_default),
                      .now_us = NOW};
    CHECK(r->s != NULL);
    test_cleanup(rig_stop, r);
}

/* By `owner`, whose attempts are numbered from its letter. */
static enum verdict rig_do(struct rig *r, enum verb op, unsigned flags,
                           const char *owner, uint64_t attempt, int64_t ballot)
{
    struct request req = {.verb = op,
                          .flags = flags | REQ_SERVER_FENCE,
                          .name = "job",
                          .name_len = 3,
                          .attempt = attempt,
                          .ballot = ballot,
                          .count = 1,
                          .lease_us = 10 * S,
                          .window_us = BALLOT_WINDOW_US,
                          .info = "42 host a label"};
    snprintf(req.owner, sizeof req.owner, "%s", owner);
    r->now_us += 10;
    hf__rules_store_apply(r->s, r->now_us, &req, &r->rep);
    return r->rep.verdict;
}

static enum verdict rig_wait(struct rig *r, const char *owner, uint64_t attempt)
{
    return rig_do(r, VERB_PROPOSE, REQ_QUEUE, owner, attempt, r->now_us);
}

static enum verdict rig_try(struct rig *r, const char *owner, uint64_t attempt)
{
    return rig_do(r, VERB_PROPOSE, 0, owner, attempt, r->now_us);
}

static enum verdict rig_leave(struct rig *r, const char *owner,
                              uint64_t attempt, unsigned flags)
{
    return rig_do(r, VERB_RELEASE, REQ_QUEUE | flags, owner, attempt,
                  r->now_us);
}

static const char *rig_holder(struct rig *r)
{
    static struct store_view view;
    hf__rules_store_look(r->s, r->now_us, "job", 3, &view);
    return view.owner;
}

static const char *rig_place(struct rig *r, size_t place)
{
    static struct store_waiter w;
    return hf__rules_store_waiter(r->s, "job", 3, place, &w) ? w.owner : "";
}

/* "a:1" has it, "b:1" and "c:1" have asked for it just now. */
static void rig_queue_fresh(struct rig *r)
{
    rig_start(r);
    CHECK(rig_try(r, "a:1", 1) == V_GRANTED);
    CHECK(rig_wait(r, "b:1", 1) == V_BUSY);
    CHECK(rig_wait(r, "c:1", 1) == V_BUSY);
}

/* "a:1" has it, "b:1" and "c:1" wait. */
static void rig_queue(struct rig *r)
{
    rig_queue_fresh(r);
    r->now_us += QUEUE_FRESH_US;
}

TEST(queue, who_cannot_have_it_is_told_to_ask_again)
{
    static struct rig r;
    rig_queue(&r);
    CHECK_INT(r.rep.poll_us, PLACE_POLL_US);
    CHECK_INT(r.rep.ttl_us, -1);
    CHECK_STR(rig_place(&r, 0), "b:1");
    CHECK_STR(rig_place(&r, 1), "c:1");
    CHECK(rig_do(&r, VERB_INSPECT, 0, "c:1", 0, 0) == V_GRANTED);
    CHECK_INT(r.rep.info->queued, 2);
    CHECK_INT(r.rep.info->position, 2);
}

TEST(queue, a_release_gives_it_to_the_first_for_a_moment)
{
    static struct rig r;
    struct handoff h;
    rig_queue(&r);
    CHECK(rig_do(&r, VERB_RELEASE, 0, "a:1", 1, 0) == V_GRANTED);
    CHECK_STR(rig_holder(&r), "b:1");
    CHECK(hf__rules_store_handed(r.s, &h));
    CHECK_STR(h.owner, "b:1");
    CHECK_INT(h.attempt, 1);
    CHECK_INT(h.lease_us, QUEUE_HANDOFF_US);
    CHECK_INT(h.fence, r.now_us);
    CHECK(rig_try(&r, "d:1", 1) == V_BUSY);
    CHECK(!hf__rules_store_handed(r.s, &h));
    CHECK(r.rep.ttl_us <= QUEUE_HANDOFF_US);
    CHECK_STR(rig_place(&r, 0), "c:1");
}

/* The hand-over is as good as an answer to the waiter's last request. */
TEST(queue, who_has_asked_just_now_is_given_it_for_its_lease)
{
    static struct rig r;
    struct handoff h;
    rig_queue_fresh(&r);
    CHECK(rig_do(&r, VERB_RELEASE, 0, "a:1", 1, 0) == V_GRANTED);
    CHECK(hf__rules_store_handed(r.s, &h));
    CHECK_STR(h.owner, "b:1");
    CHECK_INT(h.lease_us, 10 * S);
    r.now_us += 9 * S;
    CHECK_STR(rig_holder(&r), "b:1");
}

/* The lock is free, but no holder has released it: a client has died. */
TEST(queue, what_is_found_free_is_given_for_a_moment)
{
    static struct rig r;
    struct handoff h;
    rig_queue(&r);
    r.now_us = NOW + 10 * S - QUEUE_FRESH_US / 2;
    CHECK(rig_wait(&r, "b:1", 1) == V_BUSY);
    r.now_us = NOW + 10 * S + QUEUE_FRESH_US / 4;
    CHECK(rig_try(&r, "d:1", 1) == V_BUSY);
    CHECK(hf__rules_store_handed(r.s, &h));
    CHECK_STR(h.owner, "b:1");
    CHECK_INT(h.lease_us, QUEUE_HANDOFF_US);
}

TEST(queue, a_token_given_is_above_all_that_came_before)
{
    static struct rig r;
    struct handoff h;
    rig_queue(&r);
    int64_t ahead = r.now_us + 5 * S;
    CHECK(rig_do(&r, VERB_RELEASE, 0, "a:1", 1, ahead) == V_GRANTED);
    CHECK(hf__rules_store_handed(r.s, &h));
    CHECK_INT(h.fence, ahead + 1);
}

TEST(queue, who_was_given_it_and_asks_has_it_for_its_lease)
{
    static struct rig r;
    struct handoff h;
    rig_queue(&r);
    CHECK(rig_do(&r, VERB_RELEASE, 0, "a:1", 1, 0) == V_GRANTED);
    CHECK(hf__rules_store_handed(r.s, &h));
    int64_t fence = h.fence;
    r.now_us += S;
    CHECK(rig_wait(&r, "b:1", 1) == V_GRANTED);
    CHECK_INT(r.rep.fence, fence);
    r.now_us += 5 * S;
    CHECK_STR(rig_holder(&r), "b:1");
}

TEST(queue, what_was_not_taken_goes_to_the_next_who_is_helped_by_anybody)
{
    static struct rig r;
    rig_queue(&r);
    CHECK(rig_do(&r, VERB_RELEASE, 0, "a:1", 1, 0) == V_GRANTED);
    r.now_us += S;
    CHECK(rig_wait(&r, "c:1", 1) == V_BUSY); /* it keeps its place */
    r.now_us += QUEUE_HANDOFF_US;
    CHECK(rig_try(&r, "d:1", 1) == V_BUSY);
    CHECK_STR(rig_holder(&r), "c:1");
}

TEST(queue, who_is_silent_for_too_long_is_skipped)
{
    static struct rig r;
    rig_queue(&r);
    r.now_us += 2 * S;
    CHECK(rig_wait(&r, "c:1", 1) == V_BUSY);
    r.now_us += 2 * S;
    CHECK(rig_do(&r, VERB_RELEASE, 0, "a:1", 1, 0) == V_GRANTED);
    CHECK_STR(rig_holder(&r), "c:1");
}

TEST(queue, asking_again_keeps_the_place)
{
    static struct rig r;
    rig_queue(&r);
    CHECK(rig_wait(&r, "b:1", 1) == V_BUSY);
    CHECK_STR(rig_place(&r, 0), "b:1");
    CHECK(r.rep.ttl_us > 0); /* when the holder's time is over, look again */
}

TEST(queue, another_attempt_of_the_same_owner_begins_at_the_end)
{
    static struct rig r;
    rig_queue(&r);
    CHECK(rig_wait(&r, "b:1", 2) == V_BUSY);
    CHECK_STR(rig_place(&r, 0), "c:1");
    CHECK_STR(rig_place(&r, 1), "b:1");
    CHECK_STR(rig_place(&r, 2), "");
}

TEST(queue, who_leaves_is_not_given_it)
{
    static struct rig r;
    rig_queue(&r);
    CHECK(rig_leave(&r, "b:1", 1, 0) == V_OTHER);
    CHECK(rig_do(&r, VERB_RELEASE, 0, "a:1", 1, 0) == V_GRANTED);
    CHECK_STR(rig_holder(&r), "c:1");
}

TEST(queue, who_leaves_when_it_was_given_passes_it_on)
{
    static struct rig r;
    rig_queue(&r);
    CHECK(rig_do(&r, VERB_RELEASE, 0, "a:1", 1, 0) == V_GRANTED);
    CHECK(rig_leave(&r, "b:1", 1, 0) == V_GRANTED);
    CHECK_STR(rig_holder(&r), "c:1");
}

TEST(queue, the_first_takes_a_lock_that_was_lost)
{
    static struct rig r;
    rig_queue(&r);
    hf__rules_store_flush_locks(r.s);
    CHECK(rig_wait(&r, "b:1", 1) == V_GRANTED);
    CHECK_STR(rig_place(&r, 0), "c:1");
}

TEST(queue, who_leaves_a_free_lock_gives_it_to_the_next)
{
    static struct rig r;
    rig_queue(&r);
    hf__rules_store_flush_locks(r.s);
    CHECK(rig_leave(&r, "b:1", 1, 0) == V_ABSENT);
    CHECK_STR(rig_holder(&r), "c:1");
}

/* ---- what comes late ----------------------------------------------------- */

TEST(queue, a_proposal_that_its_owner_gave_up_gets_no_place)
{
    static struct rig r;
    rig_queue(&r);
    int64_t late = r.now_us;
    CHECK(rig_leave(&r, "d:1", 1, REQ_UNSURE) == V_OTHER);
    CHECK(rig_do(&r, VERB_PROPOSE, REQ_QUEUE, "d:1", 1, late) == V_STALE);
    CHECK_STR(rig_place(&r, 2), "");
}

TEST(queue, a_proposal_that_was_followed_by_another_moves_nothing)
{
    static struct rig r;
    struct store_waiter w;
    rig_queue(&r);
    int64_t late = r.now_us;
    CHECK(rig_wait(&r, "b:1", 1) == V_BUSY);
    CHECK(rig_do(&r, VERB_PROPOSE, REQ_QUEUE, "b:1", 1, late - 50) == V_STALE);
    CHECK(hf__rules_store_waiter(r.s, "job", 3, 0, &w));
    CHECK_INT(w.ballot, late);
}

TEST(queue, a_proposal_that_comes_again_is_answered_again)
{
    static struct rig r;
    rig_start(&r);
    CHECK(rig_try(&r, "a:1", 1) == V_GRANTED);
    int64_t ballot = r.now_us;
    CHECK(rig_do(&r, VERB_PROPOSE, REQ_QUEUE, "b:1", 1, ballot) == V_BUSY);
    CHECK(rig_do(&r, VERB_PROPOSE, REQ_QUEUE, "b:1", 1, ballot) == V_BUSY);
    CHECK_STR(rig_place(&r, 1), "");
    CHECK(rig_do(&r, VERB_RELEASE, 0, "a:1", 1, 0) == V_GRANTED);
    CHECK(rig_do(&r, VERB_PROPOSE, REQ_QUEUE, "b:1", 1, ballot) == V_GRANTED);
}

TEST(queue, a_proposal_that_is_too_old_gets_no_place)
{
    static struct rig r;
    rig_queue(&r);
    int64_t old = r.now_us - BALLOT_WINDOW_US - S;
    CHECK(rig_do(&r, VERB_PROPOSE, REQ_QUEUE, "d:1", 1, old) == V_STALE);
}

TEST(queue, a_release_that_comes_late_leaves_the_next_attempt_its_place)
{
    static struct rig r;
    rig_queue(&r);
    int64_t then = r.now_us;
    CHECK(rig_wait(&r, "b:1", 2) == V_BUSY);
    CHECK(rig_do(&r, VERB_RELEASE, REQ_QUEUE, "b:1", 1, then - 15) == V_OTHER);
    CHECK_STR(rig_place(&r, 1), "b:1");
}

TEST(queue, a_wiped_node_has_no_queue)
{
    static struct rig r;
    rig_queue(&r);
    hf__rules_store_wipe(r.s, 1);
    CHECK_STR(rig_place(&r, 0), "");
    CHECK(rig_try(&r, "d:1", 1) == V_GRANTED);
}
