/*
 * rules_gate_test.c: latches and barriers of a store, at times of the test's
 * choosing.  One rule: a repeated request is one request, and a dead party is
 * not counted.
 */
#include <stdio.h>
#include <string.h>

#include "rules/store.h"
#include "test.h"

#define T0 (INT64_C(1700000000) * US_PER_S)
#define MS US_PER_MS

static struct store *store;

static void store_end(void *arg)
{
    (void)arg;
    hf__rules_store_close(store);
}

static void store_begin(void)
{
    store = hf__rules_store_open(&hf__alloc_default);
    CHECK(store != NULL);
    test_cleanup(store_end, NULL);
}

static struct request request_make(enum verb op, enum lock_kind kind,
                                   const char *owner)
{
    struct request req = {.verb = op,
                          .kind = kind,
                          .flags = REQ_QUEUE,
                          .name = "a",
                          .name_len = 1,
                          .permits = 2,
                          .count = 1,
                          .attempt = 1,
                          .round = 1,
                          .lease_us = 10 * US_PER_S,
                          .window_us = BALLOT_WINDOW_US};
    snprintf(req.owner, sizeof req.owner, "%s", owner);
    return req;
}

static enum verdict apply(int64_t now_us, struct request req, struct reply *out)
{
    struct reply rep;
    hf__rules_store_apply(store, now_us, &req, &rep);
    if (out) *out = rep;
    return rep.verdict;
}

/* ---- latches ------------------------------------------------------------ */

static enum verdict tally(int64_t now_us, enum tally_do what, int64_t number,
                          uint64_t attempt, unsigned flags, int64_t *left)
{
    struct request req = request_make(VERB_TALLY, KIND_LATCH, "me:1");
    struct reply rep;
    req.tally = what;
    req.number = number;
    req.attempt = attempt;
    req.flags = flags;
    enum verdict v = apply(now_us, req, &rep);
    if (left) *left = rep.tally->value;
    return v;
}

TEST(memory_gate, a_repeated_change_is_made_once)
{
    int64_t left;
    store_begin();
    CHECK(tally(T0, TALLY_OPEN, 5, 1, 0, &left) == V_GRANTED);
    CHECK(tally(T0, TALLY_OPEN, 5, 1, REQ_REPEATED, &left) == V_GRANTED);
    CHECK_INT(left, 5);
    CHECK(tally(T0 + 1, TALLY_DOWN, 0, 2, 0, &left) == V_GRANTED);
    CHECK_INT(left, 4);
    CHECK(tally(T0 + 2, TALLY_DOWN, 0, 3, 0, &left) == V_GRANTED);
    CHECK(tally(T0 + 9 * US_PER_S, TALLY_DOWN, 0, 2, REQ_REPEATED, &left)
          == V_GRANTED);
    CHECK_INT(left, 4); /* what it was then */
    CHECK(tally(T0 + 9 * US_PER_S, TALLY_READ, 0, 9, 0, &left) == V_GRANTED);
    CHECK_INT(left, 3);
}

TEST(memory_gate, a_repeated_last_count_is_not_refused)
{
    int64_t left;
    store_begin();
    CHECK(tally(T0, TALLY_OPEN, 1, 1, 0, NULL) == V_GRANTED);
    CHECK(tally(T0, TALLY_DOWN, 0, 2, 0, &left) == V_GRANTED);
    CHECK(tally(T0, TALLY_DOWN, 0, 2, REQ_REPEATED, &left) == V_GRANTED);
    CHECK_INT(left, 0);
    CHECK(tally(T0, TALLY_DOWN, 0, 3, 0, &left) == V_ABSENT);
}

TEST(memory_gate, what_was_not_done_is_tried_again)
{
    store_begin();
    CHECK(tally(T0, TALLY_DOWN, 0, 1, 0, NULL) == V_ABSENT);
    CHECK(tally(T0, TALLY_OPEN, 2, 2, 0, NULL) == V_GRANTED);
    CHECK(tally(T0, TALLY_OPEN, 2, 3, 0, NULL) == V_OTHER);
    CHECK(tally(T0, TALLY_DOWN, 0, 1, REQ_REPEATED, NULL) == V_GRANTED);
}

TEST(memory_gate, only_a_wait_from_before_a_deletion_is_told_of_it)
{
    struct request req = request_make(VERB_PROPOSE, KIND_LATCH, "me:1");
    struct reply rep;
    store_begin();
    req.ballot = T0;
    CHECK(tally(T0, TALLY_OPEN, 1, 1, 0, NULL) == V_GRANTED);
    CHECK(apply(T0 + 1, req, &rep) == V_BUSY);
    CHECK_STR(rep.text, "latch: 1 left to count");
    CHECK(tally(T0 + 2, TALLY_DELETE, 0, 2, 0, NULL) == V_GRANTED);
    CHECK(tally(T0 + 3, TALLY_OPEN, 1, 3, 0, NULL) == V_GRANTED);
    CHECK(apply(T0 + 4, req, NULL) == V_BUSY);
    req.seen = rep.seen;
    CHECK(apply(T0 + 5, req, &rep) == V_ERROR);
    CHECK_INT(rep.status, HF_LOST);
    req.seen = 0;
    CHECK(apply(T0 + 6, req, &rep) == V_BUSY);
    req.seen = rep.seen;
    CHECK(apply(T0 + 7, req, NULL) == V_BUSY);
}

/* A server's clock may be set back. */
TEST(memory_gate, a_deletion_is_told_whatever_the_clock_does)
{
    struct request req = request_make(VERB_PROPOSE, KIND_LATCH, "me:1");
    struct reply rep;
    store_begin();
    req.ballot = T0;
    CHECK(tally(T0, TALLY_OPEN, 1, 1, 0, NULL) == V_GRANTED);
    CHECK(tally(T0, TALLY_DELETE, 0, 2, 0, NULL) == V_GRANTED);
    CHECK(tally(T0 - MS, TALLY_OPEN, 1, 3, 0, NULL) == V_GRANTED);
    CHECK(apply(T0 - MS, req, &rep) == V_BUSY);
    req.seen = rep.seen; /* a wait that began after that deletion */
    CHECK(apply(T0 - MS, req, &rep) == V_BUSY);
    CHECK(tally(T0 - 2 * MS, TALLY_DELETE, 0, 4, 0, NULL) == V_GRANTED);
    CHECK(apply(T0 - 2 * MS, req, &rep) == V_ERROR);
    CHECK_INT(rep.status, HF_LOST);
}

TEST(memory_gate, latches_go_with_the_data)
{
    int64_t left;
    store_begin();
    CHECK(tally(T0, TALLY_OPEN, 7, 1, 0, NULL) == V_GRANTED);
    hf__rules_store_wipe(store, 1);
    CHECK(tally(T0, TALLY_READ, 0, 2, 0, &left) == V_GRANTED);
    CHECK_INT(left, 0);
}

/* ---- barriers ----------------------------------------------------------- */

static enum verdict come(int64_t now_us, const char *owner, struct reply *out)
{
    struct request req = request_make(VERB_PROPOSE, KIND_BARRIER, owner);
    req.ballot = now_us;
    return apply(now_us, req, out);
}

/* Once more, having been told at `seen` to wait. */
static enum verdict again(int64_t now_us, const char *owner, int64_t seen,
                          struct reply *out)
{
    struct request req = request_make(VERB_PROPOSE, KIND_BARRIER, owner);
    req.ballot = now_us;
    req.seen = seen;
    req.round = 2;
    return apply(now_us, req, out);
}

static enum verdict leave(int64_t now_us, const char *owner, int64_t ballot)
{
    struct request req = request_make(VERB_RELEASE, KIND_BARRIER, owner);
    req.ballot = ballot;
    return apply(now_us, req, NULL);
}

TEST(memory_gate, who_went_on_is_told_so_as_often_as_it_asks)
{
    struct reply first, second, third;
    store_begin();
    CHECK(come(T0, "a:1", NULL) == V_BUSY);
    CHECK(come(T0 + 1, "b:1", &first) == V_GRANTED);
    CHECK(again(T0 + 2, "a:1", T0, &second) == V_GRANTED);
    CHECK(again(T0 + 20 * US_PER_S, "a:1", T0, &third) == V_GRANTED);
    CHECK_INT(first.fence, T0 / 2 * 2 + 1);
    CHECK_INT(second.fence, T0 / 2 * 2);
    CHECK_INT(third.fence, second.fence);
    CHECK(come(T0 + 3, "c:1", NULL) == V_BUSY); /* the next generation */
}

TEST(memory_gate, generations_rise_within_one_microsecond)
{
    struct reply first, second;
    store_begin();
    CHECK(come(T0, "a:1", NULL) == V_BUSY);
    CHECK(come(T0, "b:1", &first) == V_GRANTED);
    CHECK(come(T0, "a:2", NULL) == V_BUSY);
    CHECK(come(T0, "b:2", &second) == V_GRANTED);
    CHECK_INT(second.fence, first.fence + 2);
}

/* A store that has lost them begins at its clock again. */
TEST(memory_gate, generations_are_not_ahead_of_the_clock)
{
    char owner[2][16];
    struct reply last;
    store_begin();
    int64_t now_us = T0;
    for (int i = 0; i < 2000; i++, now_us += 20) {
        snprintf(owner[0], sizeof owner[0], "a:%d", i);
        snprintf(owner[1], sizeof owner[1], "b:%d", i);
        CHECK(come(now_us, owner[0], NULL) == V_BUSY);
        CHECK(come(now_us, owner[1], &last) == V_GRANTED);
    }
    CHECK(last.fence < now_us);
}

TEST(memory_gate, who_is_not_heard_of_is_taken_off)
{
    store_begin();
    CHECK(come(T0, "a:1", NULL) == V_BUSY);
    int64_t late_us = T0 + PLACE_US + MS;
    CHECK(come(late_us, "b:1", NULL) == V_BUSY);
    CHECK(again(late_us + 1, "a:1", T0, NULL) == V_GRANTED); /* it lives */
}

TEST(memory_gate, who_says_that_it_lives_stays)
{
    store_begin();
    CHECK(come(T0, "a:1", NULL) == V_BUSY);
    int64_t half_us = PLACE_US / 2;
    for (int i = 1; i < 10; i++)
        CHECK(again(T0 + i * half_us, "a:1", T0 + (i - 1) * half_us, NULL)
              == V_BUSY);
    CHECK(come(T0 + 10 * half_us, "b:1", NULL) == V_GRANTED);
}

TEST(memory_gate, a_late_arrival_of_one_that_left_does_not_count)
{
    struct request late = request_make(VERB_PROPOSE, KIND_BARRIER, "a:1");
    store_begin();
    late.ballot = T0 + 1;
    CHECK(come(T0, "a:1", NULL) == V_BUSY);
    CHECK(leave(T0 + 2, "a:1", T0 + 1) == V_GRANTED);
    CHECK(apply(T0 + 3, late, NULL) == V_STALE);
    CHECK(come(T0 + 4, "b:1", NULL) == V_BUSY);
    CHECK(leave(T0 + 5, "a:1", T0 + 1) == V_ABSENT);
    CHECK(come(T0 + 6, "a:1", NULL) == V_GRANTED); /* with a higher number */
}

TEST(memory_gate, an_arrival_that_is_too_old_does_not_count)
{
    struct request old = request_make(VERB_PROPOSE, KIND_BARRIER, "a:1");
    store_begin();
    old.ballot = T0 - BALLOT_WINDOW_US - 1;
    CHECK(apply(T0, old, NULL) == V_STALE);
    CHECK(come(T0, "b:1", NULL) == V_BUSY);
}

TEST(memory_gate, who_went_on_cannot_be_taken_off)
{
    store_begin();
    CHECK(come(T0, "a:1", NULL) == V_BUSY);
    CHECK(come(T0 + 1, "b:1", NULL) == V_GRANTED);
    CHECK(leave(T0 + 2, "a:1", T0 + 2) == V_ABSENT);
    CHECK(again(T0 + 3, "a:1", T0, NULL) == V_GRANTED);
}

TEST(memory_gate, who_was_away_too_long_is_told_so)
{
    struct reply rep;
    store_begin();
    CHECK(come(T0, "a:1", NULL) == V_BUSY);
    CHECK(come(T0 + MS, "b:1", NULL) == V_GRANTED);
    int64_t late_us = T0 + (BARRIER_KEPT_MS + 5000) * MS;
    CHECK(come(late_us - MS, "c:1", NULL) == V_BUSY);
    CHECK(leave(late_us - MS, "c:1", late_us) == V_GRANTED);
    hf__rules_store_flush_locks(store);
    CHECK(come(late_us, "d:1", NULL) == V_BUSY);
    CHECK(come(late_us, "e:1", NULL) == V_GRANTED); /* the old ones are swept */
    CHECK(again(late_us, "a:1", T0, &rep) == V_ERROR);
    CHECK_INT(rep.status, HF_LOST);
    /* While nobody went on, there is nothing that it could have missed. */
    CHECK(again(late_us + MS, "f:1", late_us + MS / 2, NULL) == V_BUSY);
}

TEST(memory_gate, a_barrier_that_was_forgotten_is_told_to_who_waits)
{
    struct reply rep;
    store_begin();
    CHECK(come(T0, "a:1", NULL) == V_BUSY);
    hf__rules_store_wipe(store, 1);
    CHECK(again(T0 + 1, "a:1", T0, &rep) == V_ERROR);
    CHECK_INT(rep.status, HF_LOST);
    CHECK(come(T0 + 2, "b:1", NULL) == V_BUSY);
}

TEST(memory_gate, a_barrier_that_nobody_uses_ends)
{
    struct request lock = request_make(VERB_PROPOSE, KIND_PLAIN, "me:1");
    store_begin();
    lock.flags = REQ_SERVER_FENCE;
    lock.ballot = T0;
    CHECK(come(T0, "a:1", NULL) == V_BUSY);
    CHECK(apply(T0 + 1, lock, NULL) == V_ERROR);
    int64_t end_us = T0 + (BARRIER_IDLE_MS + 1) * MS;
    lock.ballot = end_us;
    CHECK(apply(end_us, lock, NULL) == V_GRANTED);
}

TEST(memory_gate, an_idle_barrier_takes_another_number_of_parties)
{
    struct request three = request_make(VERB_PROPOSE, KIND_BARRIER, "c:1");
    struct reply rep;
    store_begin();
    three.permits = 3;
    three.ballot = T0;
    CHECK(come(T0, "a:1", NULL) == V_BUSY);
    CHECK(apply(T0, three, &rep) == V_ERROR);
    CHECK_STR(rep.text, "barrier: others wait there for 2 parties");
    CHECK(leave(T0 + 1, "a:1", T0 + 1) == V_GRANTED);
    CHECK(apply(T0 + 2, three, NULL) == V_BUSY);
}
