/*
 * redis_permit_test.c: what is on the server after each request about permits,
 * key by key, and what copies of a request find there.  One rule: the server is
 * asked with plain commands, never through the code under test.
 */
#include <string.h>

#include "lib/rig_redis.h"
#include "lib/server.h"
#include "sys/clock.h"
#include "test.h"

#define O SERVER_OWNER

static struct lab_server r;
static struct fake_env f;
static struct fake_answer a;

static void begin(void)
{
    redis_begin(&r, NULL);
    server_connect(&f, r.url);
}

static struct request of(enum verb op, enum lock_kind kind, uint64_t attempt)
{
    struct request req = server_request(op, "s", attempt, server_clock(&f));
    req.kind = kind;
    req.flags = REQ_SERVER_FENCE;
    req.permits = 1;
    return req;
}

static enum verdict ask(enum verb op, enum lock_kind kind, uint64_t attempt,
                        int64_t permits)
{
    struct request req = of(op, kind, attempt);
    req.permits = (int32_t)permits;
    return server_do(&f, req, &a);
}

static enum verdict take(uint64_t attempt, int64_t permits)
{
    return ask(VERB_PROPOSE, KIND_PERMIT, attempt, permits);
}

static enum verdict give(uint64_t attempt, int64_t permits)
{
    return ask(VERB_RELEASE, KIND_PERMIT, attempt, permits);
}

static enum verdict change(enum lock_kind kind, uint64_t attempt,
                           enum tally_do what, int64_t number)
{
    struct request req = of(VERB_TALLY, kind, attempt);
    req.ballot = 0;
    req.tally = what;
    req.number = number;
    return server_do(&f, req, &a);
}

/* ---- the layout --------------------------------------------------------- */

TEST(redis_permit, a_semaphore_is_a_number_and_a_sorted_set)
{
    begin();
    CHECK_INT(change(KIND_PERMIT, 1, TALLY_OPEN, 5), V_GRANTED);
    CHECK_STR(redis_say(&r, "GET s"), "5");
    CHECK_INT(redis_number(&r, "PTTL s"), -1);
    CHECK_INT(take(2, 3), V_GRANTED);
    CHECK_STR(redis_say(&r, "GET s"), "2");
    CHECK_STR(redis_say(&r, "TYPE {s}:timeout"), "zset");
    CHECK_INT(redis_number(&r, "ZCARD {s}:timeout"), 3);
    CHECK_INT(redis_number(&r,
                           "EVAL \"return #redis.call('ZRANGE', KEYS[1], 0, "
                           "0)[1]\" 1 {s}:timeout"),
              16);
    CHECK_INT(a.reply.fence, redis_number(&r, "GET redisson_lock_token:{s}"));
}

/* A proposal that knows how many there are. */
static enum verdict take_of(enum lock_kind kind, uint64_t attempt,
                            int64_t permits, int64_t capacity)
{
    struct request req = of(VERB_PROPOSE, kind, attempt);
    req.permits = (int32_t)permits;
    req.capacity = capacity;
    return server_do(&f, req, &a);
}

TEST(redis_permit, a_number_that_nobody_has_set_is_set_by_a_proposal)
{
    begin();
    for (int i = 0; i < 2; i++)
        CHECK_INT(take_of(KIND_PERMIT, 1, 2, 5), V_GRANTED);
    CHECK_STR(redis_say(&r, "GET s"), "3");
    CHECK_INT(redis_number(&r, "PTTL s"), -1);
    CHECK_STR(redis_say(&r, "HGET {s}:hf kind"), "permit");
    CHECK(redis_number(&r, "PTTL {s}:hf") > INT64_C(29) * 86400000);
    CHECK_INT(take_of(KIND_PERMIT, 2, 1, 9), V_GRANTED);
    CHECK_STR(redis_say(&r, "GET s"), "2");
}

/* Another program removed the number alone. */
TEST(redis_permit, a_number_that_is_set_by_a_proposal_counts_what_is_out)
{
    begin();
    CHECK_INT(take_of(KIND_PERMIT, 1, 2, 3), V_GRANTED);
    redis_say(&r, "DEL s");
    CHECK_INT(take_of(KIND_PERMIT, 2, 2, 3), V_BUSY);
    CHECK_STR(redis_say(&r, "GET s"), "1");
    CHECK_INT(take_of(KIND_PERMIT, 3, 1, 3), V_GRANTED);
    CHECK_STR(redis_say(&r, "GET s"), "0");
}

TEST(redis_permit, a_number_is_not_set_by_a_proposal_that_is_stale)
{
    begin();
    CHECK_INT(give(1, 1), V_ABSENT);
    CHECK_INT(take_of(KIND_PERMIT, 1, 1, 5), V_STALE);
    ask(VERB_RELEASE, KIND_COUNT, 2, 1);
    CHECK_INT(take_of(KIND_COUNT, 2, 1, 5), V_STALE);
    CHECK_INT(redis_number(&r, "EXISTS s"), 0);
}

TEST(redis_permit, a_counter_that_nobody_has_set_is_set_by_a_proposal)
{
    begin();
    for (int i = 0; i < 2; i++)
        CHECK_INT(take_of(KIND_COUNT, 1, 2, 5), V_GRANTED);
    CHECK_STR(redis_say(&r, "GET s"), "3");
    CHECK_STR(redis_say(&r, "HGET {s}:hf kind"), "count");
    CHECK(redis_number(&r, "PTTL {s}:hf") > INT64_C(29) * 86400000);
    CHECK_INT(take_of(KIND_COUNT, 2, 1, 9), V_GRANTED);
    CHECK_STR(redis_say(&r, "GET s"), "2");
}

TEST(redis_permit, a_lease_ends_by_the_servers_clock_and_never_too_early)
{
    begin();
    CHECK_INT(change(KIND_PERMIT, 1, TALLY_OPEN, 1), V_GRANTED);
    CHECK_INT(take(2, 1), V_GRANTED);
    int64_t ends_ms = redis_number(
        &r, "EVAL \"return redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')"
            "[2]\" 1 {s}:timeout");
    CHECK(ends_ms * US_PER_MS >= a.reply.fence + 30 * US_PER_S);
    CHECK(ends_ms * US_PER_MS <= a.reply.fence + 31 * US_PER_S);
}

/* A queued waiter asks again under the same attempt, and counts its lease from
 * the last time. */
TEST(redis_permit, who_asks_again_for_what_he_has_gets_the_whole_lease)
{
    begin();
    CHECK_INT(change(KIND_PERMIT, 1, TALLY_OPEN, 2), V_GRANTED);
    struct request req = of(VERB_PROPOSE, KIND_PERMIT, 2);
    req.flags |= REQ_QUEUE;
    req.permits = 2;
    req.lease_us = 5 * US_PER_S;
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    int64_t fence = a.reply.fence;
    req.ballot = server_clock(&f);
    req.lease_us = 60 * US_PER_S;
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    CHECK_INT(a.reply.fence, fence);
    int64_t ends_ms = redis_number(
        &r, "EVAL \"return redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')"
            "[2]\" 1 {s}:timeout");
    CHECK(ends_ms * US_PER_MS >= req.ballot + req.lease_us);
    CHECK(redis_number(&r, "PTTL {s}:hf") >= 60000);
    CHECK_STR(redis_say(&r, "GET s"), "0");
}

TEST(redis_permit, all_that_is_ours_ends_by_itself)
{
    begin();
    CHECK_INT(change(KIND_PERMIT, 1, TALLY_OPEN, 1), V_GRANTED);
    CHECK_INT(take(2, 1), V_GRANTED);
    struct request req = of(VERB_PROPOSE, KIND_PERMIT, 3);
    req.flags |= REQ_QUEUE;
    CHECK_INT(server_do(&f, req, &a), V_BUSY);
    CHECK(a.reply.poll_us > 0);
    CHECK_INT(give(9, 1), V_ABSENT);
    CHECK(redis_number(&r, "PTTL {s}:hf") > 0);
    CHECK(redis_number(&r, "PTTL {s}:hf_queue") > 0);
    CHECK(redis_number(&r, "PTTL {s}:hf_waiters") > 0);
    CHECK_INT(redis_number(
                  &r, "EVAL \"local n = 0 for _, k in ipairs(redis.call('KEYS',"
                      " '{s}:hf*')) do if redis.call('PTTL', k) < 0 then n = n "
                      "+ 1 end end return n\" 0"),
              0);
}

TEST(redis_permit, a_semaphore_with_an_end_takes_its_permits_along)
{
    begin();
    redis_say(&r, "SET s 2 PX 60000");
    CHECK_INT(take(2, 1), V_GRANTED);
    CHECK(redis_number(&r, "PTTL s") > 0);
    CHECK(redis_number(&r, "PTTL {s}:timeout") > 0);
}

TEST(redis_permit, what_redisson_holds_for_good_is_out)
{
    begin();
    redis_say(&r, "SET s 0");
    redis_say(&r, "ZADD {s}:timeout 922337203685477 0123456789abcdef");
    CHECK_INT(take(2, 1), V_BUSY);
    CHECK_INT(a.reply.ttl_us, -1);
    CHECK_INT(change(KIND_PERMIT, 3, TALLY_READ, 0), V_GRANTED);
    CHECK_INT(a.tally.taken, 1);
    CHECK_INT(a.tally.capacity, 1);
}

TEST(redis_permit, what_has_ended_comes_back_before_anybody_is_refused)
{
    begin();
    redis_say(&r, "SET s 0");
    redis_say(&r, "ZADD {s}:timeout 1 0123456789abcdef 2 0123456789abcdeg");
    CHECK_INT(take(2, 2), V_GRANTED);
    CHECK_STR(redis_say(&r, "GET s"), "0");
    CHECK_INT(redis_number(&r, "ZCARD {s}:timeout"), 2);
}

/* ---- copies ------------------------------------------------------------- */

TEST(redis_permit, a_repeated_proposal_is_granted_again_with_its_fence)
{
    begin();
    CHECK_INT(change(KIND_PERMIT, 1, TALLY_OPEN, 5), V_GRANTED);
    CHECK_INT(take(2, 2), V_GRANTED);
    int64_t fence = a.reply.fence;
    CHECK_INT(take(2, 2), V_GRANTED);
    CHECK_INT(a.reply.fence, fence);
    CHECK_STR(redis_say(&r, "GET s"), "3");
    CHECK_INT(redis_number(&r, "ZCARD {s}:timeout"), 2);
}

TEST(redis_permit, a_proposal_behind_its_own_release_takes_nothing)
{
    begin();
    CHECK_INT(change(KIND_PERMIT, 1, TALLY_OPEN, 5), V_GRANTED);
    CHECK_INT(give(2, 2), V_ABSENT);
    CHECK_INT(take(2, 2), V_STALE);
    CHECK_STR(redis_say(&r, "GET s"), "5");
    CHECK_INT(redis_number(&r, "EXISTS {s}:timeout"), 0);
}

/* A queued waiter asks again and again under one attempt; the answer to one
 * request was lost, a later one was granted, and the lost request comes
 * last. */
TEST(redis_permit, a_proposal_behind_what_it_was_followed_by_takes_nothing)
{
    begin();
    CHECK_INT(change(KIND_PERMIT, 1, TALLY_OPEN, 5), V_GRANTED);
    CHECK_INT(take(2, 2), V_GRANTED);
    struct request req = of(VERB_RELEASE, KIND_PERMIT, 2);
    req.flags |= REQ_QUEUE | REQ_UNSURE;
    req.permits = 2;
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    CHECK_INT(take(2, 2), V_STALE);
    CHECK_STR(redis_say(&r, "GET s"), "5");
}

TEST(redis_permit, an_old_proposal_takes_nothing)
{
    begin();
    CHECK_INT(change(KIND_PERMIT, 1, TALLY_OPEN, 5), V_GRANTED);
    struct request req = of(VERB_PROPOSE, KIND_PERMIT, 2);
    req.ballot -= 3 * US_PER_S;
    CHECK_INT(server_do(&f, req, &a), V_STALE);
    CHECK_STR(redis_say(&r, "GET s"), "5");
}

TEST(redis_permit, a_second_release_gives_nothing_back)
{
    begin();
    CHECK_INT(change(KIND_PERMIT, 1, TALLY_OPEN, 5), V_GRANTED);
    CHECK_INT(take(2, 2), V_GRANTED);
    CHECK_INT(give(2, 2), V_GRANTED);
    CHECK_INT(give(2, 2), V_ABSENT);
    CHECK_STR(redis_say(&r, "GET s"), "5");
}

TEST(redis_permit, a_release_after_the_end_gives_back_and_says_so)
{
    begin();
    CHECK_INT(change(KIND_PERMIT, 1, TALLY_OPEN, 1), V_GRANTED);
    struct request req = of(VERB_PROPOSE, KIND_PERMIT, 2);
    req.lease_us = 1000;
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    server_pump_ms(&f, 20);
    CHECK_INT(ask(VERB_RENEW, KIND_PERMIT, 2, 1), V_ABSENT);
    CHECK_INT(give(2, 1), V_ABSENT);
    CHECK_STR(redis_say(&r, "GET s"), "1");
}

TEST(redis_permit, a_permit_that_somebody_took_away_is_not_renewed)
{
    begin();
    CHECK_INT(change(KIND_PERMIT, 1, TALLY_OPEN, 3), V_GRANTED);
    CHECK_INT(take(2, 2), V_GRANTED);
    CHECK_INT(ask(VERB_RENEW, KIND_PERMIT, 2, 2), V_GRANTED);
    CHECK(a.reply.ttl_us > 0);
    redis_say(&r, "ZREMRANGEBYRANK {s}:timeout 0 0");
    CHECK_INT(ask(VERB_RENEW, KIND_PERMIT, 2, 2), V_ABSENT);
    CHECK_INT(give(2, 2), V_ABSENT);
    CHECK_INT(redis_number(&r, "ZCARD {s}:timeout"), 0);
    CHECK_STR(redis_say(&r, "GET s"), "2"); /* what was there came back */
}

TEST(redis_permit, a_repeated_change_is_made_once)
{
    begin();
    for (int i = 0; i < 2; i++) {
        CHECK_INT(change(KIND_COUNT, 1, TALLY_ADD, 7), V_GRANTED);
        CHECK_INT(a.tally.value, 7);
    }
    for (int i = 0; i < 2; i++) {
        CHECK_INT(change(KIND_COUNT, 2, TALLY_DRAIN, 0), V_GRANTED);
        CHECK_INT(a.tally.taken, 7);
    }
    CHECK_STR(redis_say(&r, "GET s"), "0");
    redis_say(&r, "DEL s");
    for (int i = 0; i < 2; i++)
        CHECK_INT(change(KIND_COUNT, 3, TALLY_OPEN, 4), V_GRANTED);
    CHECK_INT(change(KIND_COUNT, 4, TALLY_OPEN, 4), V_OTHER);
}

TEST(redis_permit, a_counter_is_taken_from_once)
{
    begin();
    CHECK_INT(change(KIND_COUNT, 1, TALLY_OPEN, 5), V_GRANTED);
    for (int i = 0; i < 2; i++)
        CHECK_INT(ask(VERB_PROPOSE, KIND_COUNT, 2, 3), V_GRANTED);
    CHECK_STR(redis_say(&r, "GET s"), "2");
    CHECK(redis_number(&r, "PTTL {s}:hf_took") > 0);
}

/* Only for an answer that was lost: a client that has its answer never sends
 * this. */
TEST(redis_permit, what_an_attempt_took_from_a_counter_can_be_put_back)
{
    begin();
    CHECK_INT(change(KIND_COUNT, 1, TALLY_OPEN, 5), V_GRANTED);
    CHECK_INT(ask(VERB_PROPOSE, KIND_COUNT, 2, 3), V_GRANTED);
    for (int i = 0; i < 2; i++) ask(VERB_RELEASE, KIND_COUNT, 2, 3);
    CHECK_STR(redis_say(&r, "GET s"), "5");
    CHECK_INT(ask(VERB_PROPOSE, KIND_COUNT, 2, 3), V_STALE);
    CHECK_INT(ask(VERB_RELEASE, KIND_COUNT, 3, 1), V_ABSENT);
    CHECK_INT(ask(VERB_PROPOSE, KIND_COUNT, 3, 1), V_STALE);
    CHECK_STR(redis_say(&r, "GET s"), "5");
}

/* ---- what is told ------------------------------------------------------- */

/* Defect 17 of docs/conformance.md: Redisson's listeners fail on a negative
 * number. */
TEST(redis_permit, no_number_below_one_is_published)
{
    struct request watch = {.verb = VERB_WATCH,
                            .kind = KIND_PERMIT,
                            .name = "s",
                            .name_len = 1,
                            .deadline_us = hf__clock_us() + 5 * US_PER_S};
    begin();
    CHECK_INT(server_do(&f, watch, &a), V_GRANTED);
    int wakes = f.wakes;
    CHECK_INT(change(KIND_PERMIT, 1, TALLY_OPEN, 0), V_GRANTED);
    CHECK_INT(change(KIND_PERMIT, 2, TALLY_ADD, 2), V_GRANTED);
    fake_wait_wakes(&f, ++wakes);
    CHECK_INT(take(3, 2), V_GRANTED);
    struct request req = of(VERB_TALLY, KIND_PERMIT, 4);
    req.tally = TALLY_ADD;
    req.number = -3;
    req.flags = REQ_ANYWAY;
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    CHECK_INT(a.tally.value, -3);
    CHECK_INT(give(3, 2), V_GRANTED); /* -1 now: for nobody */
    server_pump_ms(&f, 50);
    CHECK_INT(f.wakes, wakes);
}

/* Otherwise the holder of another permit would be told that it is over. */
TEST(redis_permit, a_look_for_one_acquire_tells_how_long_that_lasts)
{
    begin();
    CHECK_INT(change(KIND_PERMIT, 1, TALLY_OPEN, 2), V_GRANTED);
    struct request req = of(VERB_PROPOSE, KIND_PERMIT, 2);
    req.lease_us = 600 * US_PER_S;
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    CHECK_INT(take(3, 1), V_GRANTED);
    req = of(VERB_INSPECT, KIND_PERMIT, 2);
    req.ballot = 0;
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    CHECK_INT(a.info.mine, 1);
    CHECK(a.info.ttl_ms > 100000);
}

TEST(redis_permit, that_is_used_says_what_it_is)
{
    begin();
    redis_say(&r, "SET s 2"); /* as Redisson does */
    CHECK_INT(take(1, 1), V_GRANTED);
    CHECK_INT(give(1, 1), V_GRANTED);
    CHECK_STR(redis_say(&r, "HGET {s}:hf kind"), "permit");
    CHECK(redis_number(&r, "PTTL {s}:hf") > 60000);
    CHECK_INT(ask(VERB_PROPOSE, KIND_COUNT, 2, 1), V_ERROR);
    CHECK_INT(a.reply.status, HF_CONFLICT);
}

/* ---- tickets ------------------------------------------------------------ */

/* The attempt of a ticket is its secret's hash, of which an id has 48 bits; and
 * of an owner it has the client alone. */
TEST(redis_permit, of_a_ticket_is_known_by_all_of_its_owner_and_attempt)
{
    static const uint64_t secret = UINT64_C(0x7123456789abcdef);
    static const struct {
        const char *owner;
        uint64_t attempt;
    } others[] = {{SERVER_OWNER, secret ^ UINT64_C(1) << 48},
                  {SERVER_OWNER "7", secret}};
    begin();
    CHECK_INT(change(KIND_PERMIT, 1, TALLY_OPEN, 2), V_GRANTED);
    struct request req = of(VERB_PROPOSE, KIND_PERMIT, secret);
    req.flags |= REQ_DETACHED;
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    int64_t fence = a.reply.fence;
    for (size_t i = 0; i < 2; i++) {
        struct request other = req;
        snprintf(other.owner, sizeof other.owner, "%s", others[i].owner);
        other.attempt = others[i].attempt;
        other.verb = VERB_RENEW;
        CHECK_INT(server_do(&f, other, &a), V_ABSENT);
        other.fence = fence;
        CHECK_INT(server_do(&f, other, &a), V_ABSENT);
        other.verb = VERB_RELEASE;
        CHECK_INT(server_do(&f, other, &a), V_ABSENT);
        CHECK_INT(redis_number(&r, "ZCARD {s}:timeout"), 1);
    }
    req.verb = VERB_RENEW;
    req.fence = fence;
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    req.verb = VERB_RELEASE;
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    CHECK_INT(redis_number(&r, "ZCARD {s}:timeout"), 0);
}

/* ---- what is no semaphore ----------------------------------------------- */

static void conflicts(const char *command)
{
    static struct request req;
    redis_say(&r, "FLUSHALL");
    redis_say(&r, "%s", command);
    CHECK_INT(take(1, 1), V_ERROR);
    CHECK_INT(a.reply.status, HF_CONFLICT);
    CHECK_INT(change(KIND_PERMIT, 2, TALLY_SET, 3), V_ERROR);
    CHECK_INT(a.reply.status, HF_CONFLICT);
    CHECK_INT(ask(VERB_PROPOSE, KIND_COUNT, 3, 1), V_ERROR);
    CHECK_INT(a.reply.status, HF_CONFLICT);
    req = of(VERB_INSPECT, KIND_PERMIT, 0);
    req.ballot = 0;
    CHECK_INT(server_do(&f, req, &a), V_ERROR);
    CHECK_INT(a.reply.status, HF_CONFLICT);
    CHECK_INT(redis_number(&r, "DBSIZE"), 1);
}

static void conflict_names(const char *kind, const char *word)
{
    redis_say(&r, "FLUSHALL");
    redis_say(&r, "SET s 3");
    redis_say(&r, "HSET {s}:hf kind %s", kind);
    CHECK_INT(take(1, 1), V_ERROR);
    CHECK_INT(a.reply.status, HF_CONFLICT);
    if (!strstr(a.text, word)) TEST_FAIL("%s", a.text);
    CHECK_STR(redis_say(&r, "GET s"), "3");
}

TEST(redis_permit, a_conflict_names_the_kind_in_use)
{
    begin();
    conflict_names("latch", "it is in use as a latch");
    conflict_names("count", "it is in use as a plain counter");
    conflict_names("thing", "it is in use as another kind");
}

TEST(redis_permit, a_conflict_names_the_kind_that_was_asked_for)
{
    begin();
    redis_say(&r, "RPUSH s 1");
    CHECK_INT(take(1, 1), V_ERROR);
    CHECK(strstr(a.text, "semaphore: something that is no semaphore"));
    CHECK_INT(ask(VERB_PROPOSE, KIND_COUNT, 2, 1), V_ERROR);
    CHECK(strstr(a.text, "counter: something that is no counter"));
}

TEST(redis_permit, what_is_no_semaphore_is_refused_and_left_alone)
{
    begin();
    conflicts("HSET s " O " 1");
    conflicts("SET s text");
    conflicts("SET s 1.5");
    conflicts("RPUSH s 1");
    conflicts("SET {s}:hf text");
    redis_say(&r, "FLUSHALL");
    redis_say(&r, "SET s 3");
    redis_say(&r, "SET redisson_lock_token:{s} nonsense");
    CHECK_INT(take(1, 1), V_ERROR);
    CHECK_INT(a.reply.status, HF_CONFLICT);
    CHECK_STR(redis_say(&r, "GET s"), "3");
    CHECK_INT(redis_number(&r, "EXISTS {s}:timeout"), 0);
}
