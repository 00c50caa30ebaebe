/*
 * redis_layout_test.c: what is on the server after each request, key by key.
 * One rule: the server is asked with plain commands, never through the code
 * under test.
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

static int64_t clock_us(void)
{
    return server_clock(&f);
}

static enum verdict propose(const char *name, uint64_t attempt, int64_t ballot)
{
    struct request req = server_request(VERB_PROPOSE, name, attempt, ballot);
    return server_do(&f, req, &a);
}

static enum verdict release(const char *name, uint64_t attempt, int64_t ballot)
{
    struct request req = server_request(VERB_RELEASE, name, attempt, ballot);
    return server_do(&f, req, &a);
}

TEST(redis_layout, a_lock_is_a_hash_as_redisson_makes_it)
{
    begin();
    int64_t t = clock_us();
    CHECK_INT(propose("job", 7, t), V_GRANTED);
    CHECK_STR(redis_say(&r, "TYPE job"), "hash");
    CHECK_INT(redis_number(&r, "HLEN job"), 2);
    CHECK_STR(redis_say(&r, "HGET job " O), "1");
    int64_t ttl = redis_number(&r, "PTTL job");
    CHECK(ttl > 20000 && ttl <= 30000);
}

TEST(redis_layout, the_field_hf_holds_our_facts)
{
    begin();
    int64_t t = clock_us();
    CHECK_INT(propose("job", 7, t), V_GRANTED);
    char expected[256];
    snprintf(expected, sizeof expected, "v1 %s 7 %lld %lld %lld %s",
             SERVER_OWNER, (long long)t, (long long)t,
             (long long)a.reply.node_us, "4711 host some label");
    CHECK_STR(redis_say(&r, "HGET job hf"), expected);
}

TEST(redis_layout, without_the_flag_the_fence_is_the_proposed_number)
{
    begin();
    int64_t t = clock_us() + 50;
    CHECK_INT(propose("job", 7, t), V_GRANTED);
    CHECK_INT(a.reply.fence, t);
    CHECK_INT(redis_number(&r, "GET redisson_lock_token:{job}"), t);
    CHECK_INT(redis_number(&r, "PTTL redisson_lock_token:{job}"), -1);
}

TEST(redis_layout, with_the_flag_the_fence_is_at_least_the_servers_clock)
{
    begin();
    struct request req =
        server_request(VERB_PROPOSE, "job", 7, clock_us() - US_PER_S);
    req.flags = REQ_SERVER_FENCE;
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    CHECK_INT(a.reply.fence, a.reply.node_us);
    CHECK_INT(redis_number(&r, "GET redisson_lock_token:{job}"), a.reply.fence);
    req = server_request(VERB_PROPOSE, "jab", 7, clock_us() + US_PER_S);
    req.flags = REQ_SERVER_FENCE;
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    CHECK_INT(a.reply.fence, req.ballot);
}

TEST(redis_layout, a_name_with_a_brace_gets_no_tag)
{
    begin();
    int64_t t = clock_us();
    CHECK_INT(propose("a{b}c", 7, t), V_GRANTED);
    CHECK_INT(redis_number(&r, "GET redisson_lock_token:a{b}c"), t);
    CHECK_INT(redis_number(&r, "DBSIZE"), 2);
}

TEST(redis_layout, a_release_leaves_the_counter_and_nothing_else)
{
    begin();
    int64_t t = clock_us();
    CHECK_INT(propose("job", 7, t), V_GRANTED);
    CHECK_INT(release("job", 7, t), V_GRANTED);
    CHECK_INT(a.reply.waiters, 0);
    CHECK_STR(redis_say(&r, "KEYS *"), "redisson_lock_token:{job}\n");
    CHECK_INT(redis_number(&r, "GET redisson_lock_token:{job}"), t);
}

TEST(redis_layout, a_repeated_proposal_gets_the_same_answer_and_moves_nothing)
{
    begin();
    int64_t t = clock_us();
    struct request req = server_request(VERB_PROPOSE, "job", 7, t);
    req.flags = REQ_SERVER_FENCE;
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    int64_t fence = a.reply.fence;
    redis_say(&r, "PEXPIRE job 9000");
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    CHECK_INT(a.reply.fence, fence);
    CHECK(redis_number(&r, "PTTL job") <= 9000);
    CHECK_INT(redis_number(&r, "GET redisson_lock_token:{job}"), fence);
}

TEST(redis_layout, a_new_number_of_the_same_attempt_is_accepted)
{
    begin();
    int64_t t = clock_us();
    CHECK_INT(propose("job", 7, t), V_GRANTED);
    CHECK_INT(propose("job", 7, t + 5), V_GRANTED);
    CHECK_INT(a.reply.fence, t + 5);
    CHECK_INT(propose("job", 7, t + 3), V_STALE);
    CHECK_INT(a.reply.counter, t + 5);
    CHECK_INT(redis_number(&r, "GET redisson_lock_token:{job}"), t + 5);
}

TEST(redis_layout, another_attempt_finds_it_busy_even_of_the_same_owner)
{
    begin();
    int64_t t = clock_us();
    CHECK_INT(propose("job", 7, t), V_GRANTED);
    CHECK_INT(propose("job", 8, t + 9), V_BUSY);
    CHECK(a.reply.ttl_us > 20 * US_PER_S && a.reply.ttl_us <= 30 * US_PER_S);
    CHECK_INT(a.reply.counter, t);
    CHECK_STR(redis_say(&r, "HGET job " O), "1");
}

TEST(redis_layout, a_redisson_lock_is_busy_and_stays_as_it_is)
{
    begin();
    redis_say(&r, "HSET job 99999999-89ab-4def-8123-456789abcdef:31 1");
    redis_say(&r, "PEXPIRE job 5000");
    CHECK_INT(propose("job", 7, clock_us()), V_BUSY);
    CHECK(a.reply.ttl_us > 0 && a.reply.ttl_us <= 5 * US_PER_S);
    CHECK_INT(redis_number(&r, "HLEN job"), 1);
    CHECK_INT(redis_number(&r, "EXISTS redisson_lock_token:{job}"), 0);
}

TEST(redis_layout, a_lock_without_an_end_is_busy_for_an_unknown_time)
{
    begin();
    redis_say(&r, "HSET job 99999999-89ab-4def-8123-456789abcdef:31 1");
    CHECK_INT(propose("job", 7, clock_us()), V_BUSY);
    CHECK_INT(a.reply.ttl_us, -1);
}

TEST(redis_layout, a_number_not_above_the_counter_is_stale)
{
    begin();
    int64_t t = clock_us();
    redis_say(&r, "SET redisson_lock_token:{job} %lld", (long long)t);
    CHECK_INT(propose("job", 7, t), V_STALE);
    CHECK_INT(a.reply.counter, t);
    CHECK_INT(redis_number(&r, "EXISTS job"), 0);
    CHECK_INT(redis_number(&r, "GET redisson_lock_token:{job}"), t);
    CHECK_INT(propose("job", 7, t + 1), V_GRANTED);
}

TEST(redis_layout, a_number_older_than_the_window_is_stale)
{
    begin();
    CHECK_INT(propose("job", 7, clock_us() - 5 * US_PER_S), V_STALE);
    CHECK_INT(redis_number(&r, "DBSIZE"), 0);
}

TEST(redis_layout, a_late_release_frees_nothing_of_a_later_attempt)
{
    begin();
    int64_t t = clock_us();
    CHECK_INT(propose("job", 7, t), V_GRANTED);
    CHECK_INT(release("job", 7, t), V_GRANTED);
    CHECK_INT(propose("job", 8, t + 1), V_GRANTED);
    CHECK_INT(release("job", 7, t), V_OTHER);
    CHECK_STR(redis_say(&r, "HGET job " O), "1");
    CHECK_INT(release("job", 8, t + 1), V_GRANTED);
    CHECK_INT(release("job", 8, t + 1), V_ABSENT);
}

TEST(redis_layout, a_release_of_nothing_bars_the_late_proposal)
{
    begin();
    int64_t t = clock_us();
    CHECK_INT(release("job", 7, t), V_ABSENT);
    CHECK_INT(redis_number(&r, "GET redisson_lock_token:{job}"), t);
    CHECK_INT(propose("job", 7, t), V_STALE);
    CHECK_INT(redis_number(&r, "EXISTS job"), 0);
}

TEST(redis_layout, a_release_with_a_higher_number_raises_the_counter)
{
    begin();
    int64_t t = clock_us();
    CHECK_INT(propose("job", 7, t), V_GRANTED);
    CHECK_INT(release("job", 7, t + 40), V_GRANTED);
    CHECK_INT(redis_number(&r, "GET redisson_lock_token:{job}"), t + 40);
    CHECK_INT(release("job", 7, t + 20), V_ABSENT);
    CHECK_INT(redis_number(&r, "GET redisson_lock_token:{job}"), t + 40);
}

TEST(redis_layout, a_block_of_tokens_is_kept_in_the_counter)
{
    begin();
    int64_t t = clock_us() + US_PER_S;
    struct request req = server_request(VERB_PROPOSE, "job", 7, t);
    req.flags |= REQ_SERVER_FENCE;
    req.block = 64;
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    CHECK_INT(a.reply.fence, t);
    CHECK_INT(redis_number(&r, "GET redisson_lock_token:{job}"), t + 64);
    CHECK_INT(release("job", 7, t), V_GRANTED);
    CHECK_INT(propose("job", 8, t + 64), V_STALE);
    CHECK_INT(propose("job", 8, t + 65), V_GRANTED);
}

TEST(redis_layout, a_hushed_release_frees_it_and_counts_who_listens)
{
    begin();
    int64_t t = clock_us();
    CHECK_INT(propose("job", 7, t), V_GRANTED);
    struct request req = server_request(VERB_RELEASE, "job", 7, t);
    req.flags |= REQ_HUSHED;
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    CHECK_INT(a.reply.waiters, 0);
    CHECK_INT(redis_number(&r, "EXISTS job"), 0);
}

TEST(redis_layout, renew_sets_the_lease_and_the_count_and_tells_what_was_left)
{
    begin();
    int64_t t = clock_us();
    CHECK_INT(propose("job", 7, t), V_GRANTED);
    redis_say(&r, "PEXPIRE job 4000");
    struct request req = server_request(VERB_RENEW, "job", 7, t);
    req.count = 3;
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    CHECK(a.reply.ttl_us > 0 && a.reply.ttl_us <= 4 * US_PER_S);
    CHECK(a.reply.node_us > 0);
    CHECK(redis_number(&r, "PTTL job") > 20000);
    CHECK_STR(redis_say(&r, "HGET job " O), "3");
}

TEST(redis_layout, renew_compares_owner_and_attempt)
{
    begin();
    int64_t t = clock_us();
    struct request req = server_request(VERB_RENEW, "job", 7, t);
    CHECK_INT(server_do(&f, req, &a), V_ABSENT);
    CHECK_INT(propose("job", 8, t), V_GRANTED);
    redis_say(&r, "PEXPIRE job 4000");
    CHECK_INT(server_do(&f, req, &a), V_OTHER);
    req = server_request(VERB_RENEW, "job", 8, t);
    snprintf(req.owner, sizeof req.owner, "other:1");
    CHECK_INT(server_do(&f, req, &a), V_OTHER);
    CHECK(redis_number(&r, "PTTL job") <= 4000);
}

TEST(redis_layout, a_foreign_type_is_a_conflict_and_stays)
{
    begin();
    redis_say(&r, "RPUSH job x");
    int64_t t = clock_us();
    enum verb ops[] = {VERB_PROPOSE, VERB_RENEW, VERB_RELEASE, VERB_BREAK,
                       VERB_INSPECT};
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        CHECK_INT(server_do(&f, server_request(ops[i], "job", 7, t), &a),
                  V_ERROR);
        CHECK_INT(a.reply.status, HF_CONFLICT);
        CHECK(strstr(a.text, "redis://127.0.0.1:") == a.text);
    }
    CHECK_STR(redis_say(&r, "KEYS *"), "job\n");
}

TEST(redis_layout, a_counter_that_is_no_number_is_a_conflict_and_stays)
{
    begin();
    const char *const values[] = {"abc", "nan", "inf", "99999999999999999999"};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        redis_say(&r, "SET redisson_lock_token:{job} %s", values[i]);
        CHECK_INT(propose("job", 7, clock_us()), V_ERROR);
        CHECK_INT(a.reply.status, HF_CONFLICT);
        CHECK_STR(redis_say(&r, "GET redisson_lock_token:{job}"), values[i]);
        CHECK_INT(redis_number(&r, "EXISTS job"), 0);
    }
    redis_say(&r, "DEL redisson_lock_token:{job}");
    redis_say(&r, "RPUSH redisson_lock_token:{job} x");
    CHECK_INT(propose("job", 7, clock_us()), V_ERROR);
    CHECK_INT(a.reply.status, HF_CONFLICT);
    CHECK_INT(redis_number(&r, "EXISTS job"), 0);
}

TEST(redis_layout, numbers_out_of_range_are_refused_unsent)
{
    begin();
    int64_t bad[] = {0, -1, BALLOT_MAX + 1};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_INT(propose("job", 7, bad[i]), V_ERROR);
        CHECK_INT(a.reply.status, HF_INVALID);
    }
    CHECK_INT(redis_number(&r, "DBSIZE"), 0);
}

TEST(redis_layout, break_frees_it_and_raises_the_counter)
{
    begin();
    int64_t t = clock_us() + US_PER_S;
    CHECK_INT(propose("job", 7, t), V_GRANTED);
    struct request req = server_request(VERB_BREAK, "job", 0, 0);
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    CHECK_INT(a.info.locked, 1);
    CHECK_INT(redis_number(&r, "EXISTS job"), 0);
    CHECK_INT(redis_number(&r, "GET redisson_lock_token:{job}"), t + 1);
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    CHECK_INT(a.info.locked, 0);
}

TEST(redis_layout, break_leaves_a_hash_that_is_no_lock_alone)
{
    begin();
    redis_say(&r, "HSET job name Ann age 7");
    struct request req = server_request(VERB_BREAK, "job", 0, 0);
    CHECK_INT(server_do(&f, req, &a), V_ERROR);
    CHECK_INT(a.reply.status, HF_CONFLICT);
    CHECK_INT(redis_number(&r, "HLEN job"), 2);
}
