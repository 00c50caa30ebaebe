/*
 * rules_mark_test.c: what a store remembers of requests about permits, so that
 * a copy of one finds it.  One rule: times are the test's own; only what grows
 * with the number of requests is measured.
 */
#include <stdio.h>
#include <string.h>

#include "rules/store.h"
#include "sys/clock.h"
#include "test.h"

#define T0 (INT64_C(1700000000) * US_PER_S)

static struct store *store;

static void store_end(void *arg)
{
    (void)arg;
    hf__rules_store_close(store);
}

static enum verdict ask(int64_t now_us, enum verb op, uint64_t attempt,
                        enum tally_do tally, int64_t number)
{
    struct request req = {.verb = op,
                          .kind = KIND_COUNT,
                          .name = "a",
                          .name_len = 1,
                          .permits = 1,
                          .attempt = attempt,
                          .ballot = now_us,
                          .lease_us = 10 * US_PER_S,
                          .window_us = BALLOT_WINDOW_US};
    struct reply rep;
    snprintf(req.owner, sizeof req.owner, "me:1");
    if (op == VERB_TALLY) {
        req.tally = tally;
        req.number = number;
    }
    hf__rules_store_apply(store, now_us, &req, &rep);
    return rep.verdict;
}

static enum verdict take(int64_t now_us, uint64_t attempt)
{
    return ask(now_us, VERB_PROPOSE, attempt, 0, 0);
}

static void begin(int64_t number)
{
    store = hf__rules_store_open(&hf__alloc_default);
    CHECK(store != NULL);
    test_cleanup(store_end, NULL);
    CHECK_INT(ask(T0, VERB_TALLY, 1, TALLY_OPEN, number), V_GRANTED);
}

TEST(memory_mark, a_copy_is_known_until_its_time_is_over)
{
    begin(2);
    CHECK_INT(take(T0, 2), V_GRANTED);
    CHECK_INT(take(T0 + 9 * US_PER_S, 2), V_GRANTED);
    CHECK_INT(take(T0 + 11 * US_PER_S, 2), V_GRANTED); /* another one */
    CHECK_INT(take(T0 + 11 * US_PER_S, 3), V_BUSY);
}

TEST(memory_mark, one_of_very_many_is_known)
{
    enum { MANY = 10000 };
    begin(MANY);
    for (uint64_t i = 0; i < MANY; i++) CHECK_INT(take(T0, 2 + i), V_GRANTED);
    CHECK_INT(take(T0, MANY / 2), V_GRANTED);
    CHECK_INT(ask(T0, VERB_RELEASE, MANY / 2, 0, 0), V_GRANTED);
    CHECK_INT(ask(T0, VERB_RELEASE, MANY / 2, 0, 0), V_ABSENT);
}

/* If each were compared with all before it, this would take an hour. */
TEST(memory_mark, a_request_costs_the_same_after_very_many)
{
    enum { MANY = 200000 };
    int64_t began = hf__clock_us();
    begin(1);
    for (uint64_t i = 0; i < MANY; i++) {
        CHECK_INT(take(T0, 2 + 2 * i), V_GRANTED);
        CHECK_INT(ask(T0, VERB_TALLY, 3 + 2 * i, TALLY_ADD, 1), V_GRANTED);
    }
    CHECK(hf__clock_us() - began < 60 * US_PER_S);
}
