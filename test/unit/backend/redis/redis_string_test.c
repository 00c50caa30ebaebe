/*
 * redis_string_test.c: format=string, key by key: what is on the server after
 * each request.  One rule: the server is asked with plain commands, never
 * through the code under test.
 */
#include <string.h>

#include "lib/rig_redis.h"
#include "lib/server.h"
#include "test.h"

#define O SERVER_OWNER
#define JAVA "99999999-89ab-4def-8123-456789abcdef:31"
#define REDSYNC "Zm9yZWlnbi10b2tlbi1vZi1nbw=="
#define COUNTER "redisson_lock_token:{job}"

static struct lab_server r;
static struct fake_env f;
static struct fake_answer a;

static void begin(void)
{
    char url[128];
    redis_begin(&r, NULL);
    snprintf(url, sizeof url, "%s?format=string", r.url);
    server_connect(&f, url);
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

static enum verdict renew(uint64_t attempt, int64_t count)
{
    struct request req = server_request(VERB_RENEW, "job", attempt, 0);
    req.count = (int32_t)count;
    return server_do(&f, req, &a);
}

static enum verdict inspect(const char *name)
{
    return server_do(&f, server_request(VERB_INSPECT, name, 0, 0), &a);
}

/* ---- taking it ---------------------------------------------------------- */

TEST(redis_string, a_lock_is_a_string_with_an_expiry)
{
    char expected[256];
    begin();
    int64_t t = server_clock(&f);
    CHECK_INT(propose("job", 7, t), V_GRANTED);
    snprintf(expected, sizeof expected, "hf1:" O ":7:%lld:%lld:%lld:1:%s",
             (long long)t, (long long)t, (long long)a.reply.node_us,
             "4711 host some label");
    CHECK_STR(redis_say(&r, "GET job"), expected);
    int64_t ttl = redis_number(&r, "PTTL job");
    CHECK(ttl > 20000 && ttl <= 30000);
    CHECK_INT(redis_number(&r, "GET " COUNTER), t);
    CHECK_INT(redis_number(&r, "PTTL " COUNTER), -1);
    CHECK_INT(redis_number(&r, "DBSIZE"), 2);
}

TEST(redis_string, with_the_flag_the_fence_is_at_least_the_servers_clock)
{
    begin();
    struct request req =
        server_request(VERB_PROPOSE, "job", 7, server_clock(&f) - US_PER_S);
    req.flags = REQ_SERVER_FENCE;
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    CHECK(a.reply.fence > req.ballot);
    CHECK_INT(a.reply.fence, a.reply.node_us);
    CHECK_INT(redis_number(&r, "GET " COUNTER), a.reply.fence);
}

TEST(redis_string, tokens_are_reserved_beyond_the_fence)
{
    begin();
    struct request req =
        server_request(VERB_PROPOSE, "job", 7, server_clock(&f) + US_PER_S);
    req.flags = REQ_SERVER_FENCE;
    req.block = 5;
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    CHECK_INT(a.reply.fence, req.ballot);
    CHECK_INT(redis_number(&r, "GET " COUNTER), req.ballot + 5);
}

TEST(redis_string, a_repeated_proposal_gets_the_same_answer_and_moves_nothing)
{
    begin();
    struct request req =
        server_request(VERB_PROPOSE, "job", 7, server_clock(&f));
    req.flags = REQ_SERVER_FENCE;
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    int64_t fence = a.reply.fence;
    redis_say(&r, "PEXPIRE job 9000");
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    CHECK_INT(a.reply.fence, fence);
    CHECK(redis_number(&r, "PTTL job") <= 9000);
    CHECK_INT(redis_number(&r, "GET " COUNTER), fence);
}

TEST(redis_string, a_new_number_of_the_same_attempt_is_accepted)
{
    begin();
    int64_t t = server_clock(&f);
    CHECK_INT(propose("job", 7, t), V_GRANTED);
    CHECK_INT(propose("job", 7, t + 5), V_GRANTED);
    CHECK_INT(a.reply.fence, t + 5);
    CHECK_INT(propose("job", 7, t + 3), V_STALE);
    CHECK_INT(redis_number(&r, "GET " COUNTER), t + 5);
}

TEST(redis_string, an_attempt_whose_number_begins_alike_is_another_one)
{
    begin();
    int64_t t = server_clock(&f);
    CHECK_INT(propose("job", 71, t), V_GRANTED);
    CHECK_INT(propose("job", 7, t + 1), V_BUSY);
    CHECK_INT(release("job", 7, t + 1), V_OTHER);
    CHECK_INT(renew(7, 1), V_OTHER);
    CHECK_INT(renew(71, 1), V_GRANTED);
}

TEST(redis_string, a_number_that_is_not_new_is_stale_and_takes_nothing)
{
    begin();
    int64_t t = server_clock(&f);
    redis_say(&r, "SET " COUNTER " %lld", (long long)t);
    CHECK_INT(propose("job", 7, t), V_STALE);
    CHECK_INT(a.reply.counter, t);
    CHECK_INT(redis_number(&r, "EXISTS job"), 0);
    CHECK_INT(redis_number(&r, "GET " COUNTER), t);
    CHECK_INT(propose("job", 7, t - 5 * US_PER_S), V_STALE);
    CHECK_INT(redis_number(&r, "EXISTS job"), 0);
}

TEST(redis_string, a_counter_that_is_no_number_is_a_conflict_and_stays)
{
    static const char *const values[] = {"abc", "nan", "99999999999999999999"};
    begin();
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        redis_say(&r, "SET " COUNTER " %s", values[i]);
        CHECK_INT(propose("job", 7, server_clock(&f)), V_ERROR);
        CHECK_INT(a.reply.status, HF_CONFLICT);
        CHECK_STR(redis_say(&r, "GET " COUNTER), values[i]);
        CHECK_INT(redis_number(&r, "EXISTS job"), 0);
    }
}

/* ---- keeping it and giving it back -------------------------------------- */

TEST(redis_string, renew_sets_lease_and_count_and_keeps_the_rest)
{
    begin();
    int64_t t = server_clock(&f);
    CHECK_INT(propose("job", 7, t), V_GRANTED);
    long long since = (long long)a.reply.node_us;
    redis_say(&r, "PEXPIRE job 4000");
    CHECK_INT(renew(7, 3), V_GRANTED);
    CHECK(a.reply.ttl_us > 0 && a.reply.ttl_us <= 4 * US_PER_S);
    CHECK(redis_number(&r, "PTTL job") > 20000);
    char expected[256];
    snprintf(expected, sizeof expected, "hf1:" O ":7:%lld:%lld:%lld:3:%s",
             (long long)t, (long long)t, since, "4711 host some label");
    CHECK_STR(redis_say(&r, "GET job"), expected);
    redis_say(&r, "DEL job");
    CHECK_INT(renew(7, 3), V_ABSENT);
}

TEST(redis_string, renewals_are_batched_and_each_has_its_own_answer)
{
    static struct request reqs[3];
    static struct fake_answer answers[3];
    static const char *const names[] = {"job", "free", "list"};
    begin();
    CHECK_INT(propose("job", 7, server_clock(&f)), V_GRANTED);
    redis_say(&r, "RPUSH list x");
    int64_t before = redis_info(&r, "total_commands_processed");
    for (int i = 0; i < 3; i++) {
        reqs[i] = server_request(VERB_RENEW, names[i], 7, 0);
        fake_submit(&f, &reqs[i], &answers[i]);
    }
    f.backend->flush(f.conn);
    for (int i = 0; i < 3; i++) fake_wait(&f, &answers[i]);
    CHECK_INT(answers[0].reply.verdict, V_GRANTED);
    CHECK_INT(answers[1].reply.verdict, V_ABSENT);
    CHECK_INT(answers[2].reply.verdict, V_ERROR);
    CHECK_INT(answers[2].reply.status, HF_CONFLICT);
    /* One script with TIME, three GET, PTTL, PEXPIRE; and the first INFO. */
    CHECK_INT(redis_info(&r, "total_commands_processed") - before, 8);
}

TEST(redis_string, a_release_leaves_the_counter_and_nothing_else)
{
    begin();
    int64_t t = server_clock(&f);
    CHECK_INT(propose("job", 7, t), V_GRANTED);
    CHECK_INT(release("job", 7, t), V_GRANTED);
    CHECK_INT(a.reply.waiters, 0);
    CHECK_STR(redis_say(&r, "KEYS *"), COUNTER "\n");
    CHECK_INT(release("job", 7, t), V_ABSENT);
}

TEST(redis_string, a_release_of_nothing_bars_the_late_proposal)
{
    begin();
    int64_t t = server_clock(&f);
    CHECK_INT(release("job", 7, t), V_ABSENT);
    CHECK_INT(redis_number(&r, "GET " COUNTER), t);
    CHECK_INT(propose("job", 7, t), V_STALE);
    CHECK_INT(redis_number(&r, "EXISTS job"), 0);
}

TEST(redis_string, a_late_release_frees_nothing_of_a_later_attempt)
{
    begin();
    int64_t t = server_clock(&f);
    CHECK_INT(propose("job", 8, t), V_GRANTED);
    CHECK_INT(release("job", 7, t + 40), V_OTHER);
    CHECK_INT(redis_number(&r, "EXISTS job"), 1);
    CHECK_INT(redis_number(&r, "GET " COUNTER), t + 40);
    CHECK_INT(release("job", 8, t + 60), V_GRANTED);
    CHECK_INT(redis_number(&r, "GET " COUNTER), t + 60);
}

TEST(redis_string, a_release_wakes_who_waits_on_the_same_channel)
{
    static struct fake_env g;
    begin();
    server_connect(&g, r.url); /* of the other format */
    int64_t t = server_clock(&f);
    CHECK_INT(propose("job", 7, t), V_GRANTED);
    CHECK_INT(server_do(&g, server_request(VERB_WATCH, "job", 0, 0), &a),
              V_GRANTED);
    int wakes = g.wakes;
    CHECK_INT(release("job", 7, t), V_GRANTED);
    CHECK_INT(a.reply.waiters, 1);
    fake_wait_wakes(&g, wakes + 1);
    CHECK_STR(g.woken, "job");
}

/* ---- other people's ----------------------------------------------------- */

TEST(redis_string, a_foreign_string_with_an_expiry_is_busy_and_silent)
{
    begin();
    redis_say(&r, "SET job " REDSYNC " PX 5000");
    int64_t t = server_clock(&f);
    CHECK_INT(propose("job", 7, t), V_BUSY);
    CHECK_INT(a.reply.silent, 1);
    CHECK(a.reply.ttl_us > 0 && a.reply.ttl_us <= 5 * US_PER_S);
    CHECK_INT(renew(7, 1), V_OTHER);
    CHECK_INT(release("job", 7, t), V_OTHER);
    CHECK_STR(redis_say(&r, "GET job"), REDSYNC);
    CHECK(redis_number(&r, "PTTL job") <= 5000);
}

TEST(redis_string, ours_is_busy_and_not_silent)
{
    begin();
    int64_t t = server_clock(&f);
    CHECK_INT(propose("job", 7, t), V_GRANTED);
    CHECK_INT(propose("job", 8, t + 1), V_BUSY);
    CHECK_INT(a.reply.silent, 0);
    CHECK_INT(a.reply.counter, t);
    CHECK_STR(a.text, "");
}

TEST(redis_string, a_foreign_string_without_an_expiry_is_a_conflict)
{
    begin();
    redis_say(&r, "SET job precious");
    CHECK_INT(propose("job", 7, server_clock(&f)), V_ERROR);
    CHECK_INT(a.reply.status, HF_CONFLICT);
    CHECK(strstr(a.text, "a string without an expiry is stored there"));
    CHECK_INT(server_do(&f, server_request(VERB_BREAK, "job", 0, 0), &a),
              V_ERROR);
    CHECK_INT(inspect("job"), V_ERROR);
    CHECK_STR(redis_say(&r, "GET job"), "precious");
    CHECK_STR(redis_say(&r, "KEYS *"), "job\n");
}

TEST(redis_string, a_lock_of_the_other_format_is_busy_and_stays_as_it_is)
{
    begin();
    redis_say(&r, "HSET job " JAVA " 1");
    redis_say(&r, "PEXPIRE job 5000");
    CHECK_INT(propose("job", 7, server_clock(&f)), V_BUSY);
    CHECK_INT(a.reply.silent, 0);
    CHECK(a.reply.ttl_us > 0 && a.reply.ttl_us <= 5 * US_PER_S);
    CHECK_INT(redis_number(&r, "HLEN job"), 1);
    redis_say(&r, "HSET job name Ann");
    CHECK_INT(propose("job", 7, server_clock(&f)), V_ERROR);
    CHECK_INT(a.reply.status, HF_CONFLICT);
    CHECK_INT(redis_number(&r, "EXISTS " COUNTER), 0);
}

TEST(redis_string, a_foreign_type_is_a_conflict_and_stays)
{
    static const enum verb ops[] = {VERB_PROPOSE, VERB_RENEW, VERB_RELEASE,
                                    VERB_BREAK, VERB_INSPECT};
    begin();
    redis_say(&r, "RPUSH job x");
    int64_t t = server_clock(&f);
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        CHECK_INT(server_do(&f, server_request(ops[i], "job", 7, t), &a),
                  V_ERROR);
        CHECK_INT(a.reply.status, HF_CONFLICT);
    }
    CHECK_STR(redis_say(&r, "KEYS *"), "job\n");
}

TEST(redis_string, the_hash_format_refuses_a_string_and_leaves_it)
{
    static struct fake_env g;
    begin();
    server_connect(&g, r.url);
    int64_t t = server_clock(&f);
    CHECK_INT(propose("job", 7, t), V_GRANTED);
    CHECK_INT(server_do(&g, server_request(VERB_PROPOSE, "job", 9, t + 1), &a),
              V_ERROR);
    CHECK_INT(a.reply.status, HF_CONFLICT);
    CHECK_INT(renew(7, 1), V_GRANTED);
}

/* ---- telling and breaking ----------------------------------------------- */

TEST(redis_string, inspect_tells_who_has_it)
{
    begin();
    int64_t t = server_clock(&f);
    struct request req = server_request(VERB_PROPOSE, "job", 7, t);
    req.flags = REQ_DETACHED;
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    int64_t since_ms = a.reply.node_us / US_PER_MS;
    CHECK_INT(renew(7, 4), V_GRANTED);
    CHECK_INT(inspect("job"), V_GRANTED);
    CHECK_STR(a.info.layout, "holdfast");
    CHECK_STR(a.info.owner, O);
    CHECK_STR(a.info.host, "host");
    CHECK_STR(a.info.label, "some label");
    CHECK_INT(a.info.pid, 4711);
    CHECK_INT(a.info.detached, 1);
    CHECK_INT(a.info.foreign, 0);
    CHECK_INT(a.info.mine, 1);
    CHECK_INT(a.info.count, 4);
    CHECK_INT(a.info.since_ms, since_ms);
    CHECK_INT((int64_t)a.info.fence, t);
    CHECK(a.info.ttl_ms > 20000 && a.info.ttl_ms <= 30000);
}

TEST(redis_string, the_other_format_can_tell_about_it_and_break_it)
{
    static struct fake_env g;
    begin();
    server_connect(&g, r.url);
    CHECK_INT(propose("job", 7, server_clock(&f)), V_GRANTED);
    CHECK_INT(server_do(&g, server_request(VERB_INSPECT, "job", 0, 0), &a),
              V_GRANTED);
    CHECK_STR(a.info.layout, "holdfast");
    CHECK_INT(a.info.locked, 1);
    CHECK_INT(server_do(&g, server_request(VERB_BREAK, "job", 0, 0), &a),
              V_GRANTED);
    CHECK_INT(a.info.locked, 1);
    CHECK_INT(redis_number(&r, "EXISTS job"), 0);
}

TEST(redis_string, break_takes_a_foreign_string_only_in_its_own_format)
{
    static struct fake_env g;
    struct request req = server_request(VERB_BREAK, "job", 0, 0);
    begin();
    server_connect(&g, r.url);
    redis_say(&r, "SET job " REDSYNC " PX 60000");
    CHECK_INT(server_do(&g, req, &a), V_ERROR);
    CHECK_INT(a.reply.status, HF_CONFLICT);
    CHECK_INT(redis_number(&r, "EXISTS job"), 1);
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    CHECK_INT(redis_number(&r, "EXISTS job"), 0);
    CHECK(redis_number(&r, "GET " COUNTER) > 0);
}

static int list(struct fake_env *e, const char *pattern)
{
    struct request req = server_request(VERB_LIST, pattern, 0, 0);
    e->rows_len = 0;
    do {
        CHECK_INT(server_do(e, req, &a), V_GRANTED);
        req.cursor = a.reply.cursor;
    } while (a.reply.cursor != 0);
    return e->rows_len;
}

TEST(redis_string, list_shows_ours_always_and_foreign_ones_in_its_format)
{
    static struct fake_env g;
    begin();
    server_connect(&g, r.url);
    CHECK_INT(propose("job", 7, server_clock(&f)), V_GRANTED);
    redis_say(&r, "SET go " REDSYNC " PX 60000");
    redis_say(&r, "SET short abc PX 60000");
    redis_say(&r, "SET blanks 'sixteen bytes and blanks' PX 60000");
    redis_say(&r, "SET forever " REDSYNC);
    redis_say(&r, "SET session " REDSYNC " PX 86500000");
    CHECK_INT(list(&f, NULL), 2);
    CHECK_INT(list(&f, "go"), 1);
    CHECK_STR(f.rows[0].info.layout, "string");
    CHECK_INT(f.rows[0].info.foreign, 1);
    CHECK_STR(f.rows[0].info.owner, REDSYNC);
    CHECK_INT(list(&g, NULL), 1);
    CHECK_STR(g.rows[0].name, "job");
    CHECK_STR(g.rows[0].info.layout, "holdfast");
    CHECK_INT(g.rows[0].info.mine, 1);
    CHECK_STR(g.rows[0].info.label, "some label");
}

/* ---- without a fence ---------------------------------------------------- */

static void begin_without_fence(void)
{
    char url[128];
    redis_begin(&r, NULL);
    snprintf(url, sizeof url, "%s?format=string&fence=off", r.url);
    server_connect(&f, url);
}

TEST(redis_string, without_a_fence_there_is_no_counter_and_no_script_to_take_it)
{
    char expected[256];
    begin_without_fence();
    int64_t t = server_clock(&f);
    int64_t before = redis_info(&r, "total_commands_processed");
    CHECK_INT(propose("job", 7, t), V_GRANTED);
    CHECK_INT(a.reply.fence, 0);
    /* The SET, and the first INFO. */
    CHECK_INT(redis_info(&r, "total_commands_processed") - before, 2);
    snprintf(expected, sizeof expected, "hf1:" O ":7:%lld:0:%lld:1:%s",
             (long long)t, (long long)t, "4711 host some label");
    CHECK_STR(redis_say(&r, "GET job"), expected);
    CHECK_INT(renew(7, 2), V_GRANTED);
    CHECK_INT(release("job", 7, t), V_GRANTED);
    CHECK_INT(release("job", 7, t), V_ABSENT);
    CHECK_INT(server_do(&f, server_request(VERB_BREAK, "job", 0, 0), &a),
              V_GRANTED);
    CHECK_INT(redis_number(&r, "DBSIZE"), 0);
}

TEST(redis_string, without_a_fence_what_is_there_has_its_own_answer)
{
    begin_without_fence();
    int64_t t = server_clock(&f);
    CHECK_INT(propose("job", 7, t), V_GRANTED);
    CHECK_INT(propose("job", 7, t), V_GRANTED); /* the same one, repeated */
    CHECK_INT(propose("job", 8, t + 1), V_BUSY);
    CHECK_INT(a.reply.silent, 0);
    CHECK(a.reply.ttl_us > 20 * US_PER_S);
    redis_say(&r, "SET job " REDSYNC " PX 5000");
    CHECK_INT(propose("job", 8, t + 2), V_BUSY);
    CHECK_INT(a.reply.silent, 1);
    redis_say(&r, "SET job precious");
    CHECK_INT(propose("job", 8, t + 3), V_ERROR);
    CHECK_INT(a.reply.status, HF_CONFLICT);
    redis_say(&r, "DEL job");
    redis_say(&r, "RPUSH job x");
    CHECK_INT(propose("job", 8, t + 4), V_ERROR);
    CHECK_INT(a.reply.status, HF_CONFLICT);
}

/* The look behind a SET that failed must not take the lock: the release of the
 * attempt may have overtaken it. */
TEST(redis_string, without_a_fence_a_release_behind_the_try_leaves_no_orphan)
{
    static struct request reqs[2];
    static struct fake_answer answers[2];
    begin_without_fence();
    int64_t t = server_clock(&f);
    CHECK_INT(propose("job", 7, t), V_GRANTED);
    reqs[0] = server_request(VERB_PROPOSE, "job", 8, t + 1);
    reqs[1] = server_request(VERB_RELEASE, "job", 7, t);
    for (int i = 0; i < 2; i++) fake_submit(&f, &reqs[i], &answers[i]);
    f.backend->flush(f.conn);
    for (int i = 0; i < 2; i++) fake_wait(&f, &answers[i]);
    CHECK_INT(answers[0].reply.verdict, V_BUSY);
    CHECK_INT(answers[0].reply.ttl_us, 0);
    CHECK_INT(answers[1].reply.verdict, V_GRANTED);
    CHECK_INT(redis_number(&r, "EXISTS job"), 0);
}

TEST(redis_string, without_a_fence_none_is_shown_even_if_there_is_one)
{
    begin_without_fence();
    redis_say(&r, "SET " COUNTER " 12");
    CHECK_INT(propose("job", 7, server_clock(&f)), V_GRANTED);
    CHECK_INT(inspect("job"), V_GRANTED);
    CHECK_INT((int64_t)a.info.fence, 0);
    CHECK_INT(list(&f, "job"), 1);
    CHECK_INT((int64_t)f.rows[0].info.fence, 0);
    CHECK_INT(redis_number(&r, "GET " COUNTER), 12);
}

/* ---- the URL ------------------------------------------------------------ */

static void refused(const char *options, const char *word)
{
    static struct fake_env e;
    char url[128];
    struct hf_error err = {0};
    snprintf(url, sizeof url, "redis://127.0.0.1:1?%s", options);
    fake_init(&e, &hf__backend_redis);
    CHECK_INT(fake_open(&e, url, &err), HF_INVALID);
    if (!strstr(err.text, word)) TEST_FAIL("%s: %s", options, err.text);
    CHECK_INT(e.allocs_open, 0);
}

TEST(redis_string, options_that_make_no_sense_are_invalid)
{
    refused("format=json", "neither hash nor string");
    refused("fence=maybe&format=string", "neither on nor off");
    refused("fence=off", "needs format=string");
    refused("fence=off&format=hash", "needs format=string");
}

TEST(redis_string, only_without_a_fence_the_capability_is_missing)
{
    /* What needs more keys than a string, no string has. */
    const unsigned fenced = HF_CAP_FENCE | HF_CAP_BALLOT | HF_CAP_RW
                            | HF_CAP_PERMIT | HF_CAP_TALLY | HF_CAP_QUEUE;
    static struct fake_env g;
    begin_without_fence();
    server_connect(&g, r.url);
    CHECK_INT(g.backend->conn_caps(g.conn), hf__backend_redis.caps);
    CHECK_INT(f.backend->conn_caps(f.conn), hf__backend_redis.caps & ~fenced);
}
