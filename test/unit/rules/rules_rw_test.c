/*
 * rules_rw_test.c: read/write locks in the store: leases, places and numbers
 * that end, and memory that does.  One rule: time is an argument.
 */
#include <stdio.h>
#include <string.h>

#include "rules/store.h"
#include "lib/starve.h"
#include "test.h"

#define T0 (1000 * US_PER_S)
#define LEASE (10 * US_PER_S)

static struct store *s;
static struct reply rep;
static void store_stop(void *arg)
{
    (void)arg;
    hf__rules_store_close(s);
}

static void begin(void)
{
    s = hf__rules_store_open(&hf__alloc_default);
    CHECK(s != NULL);
    test_cleanup(store_stop, NULL);
}

static enum verdict ask(int64_t now_us, enum verb op, int holder,
                        enum lock_kind kind, uint64_t attempt, unsigned flags)
{
    struct request req = {.verb = op,
                          .kind = kind,
                          .flags = REQ_SERVER_FENCE | flags,
                          .name = "a",
                          .name_len = 1,
                          .attempt = attempt,
                          .ballot = T0 + (int64_t)attempt,
                          .count = 1,
                          .lease_us = LEASE,
                          .window_us = 2 * US_PER_S};
    snprintf(req.owner, sizeof req.owner, "uuid:%d", holder);
    hf__rules_store_apply(s, now_us, &req, &rep);
    return rep.verdict;
}

TEST(memory_rw, a_lease_ends_one_reader_and_not_the_others)
{
    begin();
    CHECK_INT(ask(T0, VERB_PROPOSE, 1, KIND_READ, 1, 0), V_GRANTED);
    CHECK_INT(ask(T0, VERB_PROPOSE, 2, KIND_READ, 2, 0), V_GRANTED);
    int64_t later = T0 + LEASE - US_PER_S;
    CHECK_INT(ask(later, VERB_RENEW, 2, KIND_READ, 2, 0), V_GRANTED);
    CHECK_INT(rep.ttl_us, US_PER_S);
    later = T0 + LEASE + US_PER_S;
    CHECK_INT(ask(later, VERB_RENEW, 1, KIND_READ, 1, 0), V_OTHER);
    CHECK_INT(ask(later, VERB_RENEW, 2, KIND_READ, 2, 0), V_GRANTED);
    later += LEASE + US_PER_S;
    CHECK_INT(ask(later, VERB_RENEW, 2, KIND_READ, 2, 0), V_ABSENT);
}

TEST(memory_rw, a_busy_writer_is_told_the_longest_lease)
{
    begin();
    CHECK_INT(ask(T0, VERB_PROPOSE, 1, KIND_READ, 1, 0), V_GRANTED);
    CHECK_INT(ask(T0 + US_PER_S, VERB_PROPOSE, 2, KIND_READ, 2, 0), V_GRANTED);
    CHECK_INT(ask(T0 + US_PER_S, VERB_PROPOSE, 3, KIND_WRITE, 3, 0), V_BUSY);
    CHECK_INT(rep.ttl_us, LEASE);
    CHECK_INT(rep.poll_us, 0);
}

/* The reader was let in and did not hear of it: the writer waits for it. */
TEST(memory_rw, a_reader_who_asks_again_is_not_sent_behind_a_writer)
{
    struct request again = {.verb = VERB_PROPOSE,
                            .kind = KIND_READ,
                            .flags = REQ_SERVER_FENCE | REQ_QUEUE,
                            .name = "a",
                            .name_len = 1,
                            .owner = "uuid:1",
                            .attempt = 1,
                            .ballot = T0 + 9,
                            .count = 1,
                            .lease_us = LEASE,
                            .window_us = 2 * US_PER_S};
    begin();
    CHECK_INT(ask(T0, VERB_PROPOSE, 1, KIND_READ, 1, REQ_QUEUE), V_GRANTED);
    CHECK_INT(ask(T0, VERB_PROPOSE, 2, KIND_WRITE, 2, REQ_QUEUE), V_BUSY);
    hf__rules_store_apply(s, T0 + 10, &again, &rep);
    CHECK_INT(rep.verdict, V_GRANTED);
}

TEST(memory_rw, a_place_ends_unless_it_is_asked_for)
{
    begin();
    CHECK_INT(ask(T0, VERB_PROPOSE, 1, KIND_READ, 1, 0), V_GRANTED);
    CHECK_INT(ask(T0, VERB_PROPOSE, 2, KIND_WRITE, 2, REQ_QUEUE), V_BUSY);
    CHECK_INT(rep.poll_us, PLACE_POLL_US);
    CHECK_INT(ask(T0, VERB_PROPOSE, 3, KIND_READ, 3, 0), V_BUSY);
    CHECK_INT(rep.ttl_us, PLACE_US);
    int64_t later = T0 + US_PER_S;
    CHECK_INT(ask(later, VERB_PROPOSE, 2, KIND_WRITE, 4, REQ_QUEUE), V_BUSY);
    later = T0 + PLACE_US;
    CHECK_INT(ask(later - 2 * US_PER_S, VERB_PROPOSE, 3, KIND_READ, 5, 0),
              V_BUSY);
    struct request look = {
        .verb = VERB_INSPECT, .kind = KIND_WRITE, .name = "a", .name_len = 1};
    snprintf(look.owner, sizeof look.owner, "uuid:2");
    hf__rules_store_apply(s, later, &look, &rep);
    CHECK_INT(rep.info->queued, 1);
    CHECK_INT(rep.info->position, 1);
    later += 2 * US_PER_S;
    hf__rules_store_apply(s, later, &look, &rep);
    CHECK_INT(rep.info->queued, 0);
    CHECK_INT(rep.info->position, 0);
}

TEST(memory_rw, a_number_that_was_given_back_is_stale_while_it_is_young)
{
    begin();
    CHECK_INT(ask(T0, VERB_RELEASE, 1, KIND_READ, 7, 0), V_ABSENT);
    CHECK_INT(ask(T0 + 1000, VERB_PROPOSE, 1, KIND_READ, 7, 0), V_STALE);
    CHECK_INT(rep.counter, T0 + 7);
    /* Stale because the number is too old now, not because of the release. */
    CHECK_INT(ask(T0 + 3 * US_PER_S, VERB_PROPOSE, 1, KIND_READ, 7, 0),
              V_STALE);
    CHECK_INT(ask(T0 + 1000, VERB_PROPOSE, 2, KIND_READ, 8, 0), V_GRANTED);
}

TEST(memory_rw, readers_numbers_may_come_in_any_order)
{
    begin();
    CHECK_INT(ask(T0 + 1000, VERB_PROPOSE, 1, KIND_READ, 9, 0), V_GRANTED);
    CHECK_INT(ask(T0 + 1000, VERB_PROPOSE, 2, KIND_READ, 3, 0), V_GRANTED);
    CHECK_INT(ask(T0 + 1000, VERB_PROPOSE, 3, KIND_READ, 5, 0), V_GRANTED);
}

TEST(memory_rw, a_later_attempt_of_the_owner_takes_his_own_over)
{
    begin();
    CHECK_INT(ask(T0, VERB_PROPOSE, 1, KIND_WRITE, 1, 0), V_GRANTED);
    CHECK_INT(ask(T0, VERB_PROPOSE, 1, KIND_WRITE, 2, 0), V_GRANTED);
    CHECK_INT(ask(T0, VERB_PROPOSE, 1, KIND_WRITE, 1, 0), V_STALE);
    CHECK_INT(ask(T0, VERB_RELEASE, 1, KIND_WRITE, 1, 0), V_OTHER);
    CHECK_INT(ask(T0, VERB_RENEW, 1, KIND_WRITE, 2, 0), V_GRANTED);
}

TEST(memory_rw, a_wiped_store_has_neither_holds_nor_places)
{
    begin();
    CHECK_INT(ask(T0, VERB_PROPOSE, 1, KIND_READ, 1, 0), V_GRANTED);
    CHECK_INT(ask(T0, VERB_PROPOSE, 2, KIND_WRITE, 2, REQ_QUEUE), V_BUSY);
    hf__rules_store_wipe(s, 0);
    CHECK_INT(ask(T0, VERB_PROPOSE, 3, KIND_WRITE, 3, 0), V_GRANTED);
    CHECK_INT(hf__rules_store_expire(s, "a", 1), 1);
    CHECK_INT(ask(T0, VERB_PROPOSE, 4, KIND_WRITE, 4, 0), V_GRANTED);
}

/* ---- memory ------------------------------------------------------------- */

/* A hold and a place; 1 if nothing was refused. */
static int scarce_run(const struct allocator *alloc)
{
    s = hf__rules_store_open(alloc);
    if (!s) return 0;
    int is_held = ask(T0, VERB_PROPOSE, 1, KIND_READ, 1, 0) == V_GRANTED;
    if (!is_held) CHECK_INT(rep.status, HF_NOMEM);
    int is_queued =
        is_held && ask(T0, VERB_PROPOSE, 2, KIND_WRITE, 2, REQ_QUEUE) == V_BUSY;
    if (is_held && !is_queued) CHECK_INT(rep.status, HF_NOMEM);
    hf__rules_store_close(s);
    return is_queued;
}

TEST(memory_rw, every_failing_allocation_is_an_answer)
{
    int allocations = 0, done = 0;
    while (!done) {
        CHECK(allocations < 100);
        struct allocator alloc = {starve_begin(allocations++)};
        done = scarce_run(&alloc);
        CHECK_INT(starve_open_count(), 0);
    }
    CHECK(allocations > 5);
}
