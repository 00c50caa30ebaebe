/*
 * redis_rw_test.c: read/write locks on the server, key by key, and what becomes
 * of late and repeated requests.  One rule: the server is asked with plain
 * commands, never through the code under test.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/rig_redis.h"
#include "lib/server.h"
#include "sys/clock.h"
#include "test.h"

#define UUID "01234567-89ab-4def-8123-456789abcdef"
#define O SERVER_OWNER
#define JAVA "aaaaaaaa-89ab-4def-8123-456789abcdef:41"
#define STRING(owner) "{job}:" owner ":rwlock_timeout:1"

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

static struct request request(enum verb op, enum lock_kind kind,
                              uint64_t attempt, int64_t ballot)
{
    struct request req = server_request(op, "job", attempt, ballot);
    req.kind = kind;
    req.flags = REQ_SERVER_FENCE;
    return req;
}

static enum verdict ask(enum verb op, enum lock_kind kind, uint64_t attempt,
                        int64_t ballot)
{
    return server_do(&f, request(op, kind, attempt, ballot), &a);
}

/* The same of another holder. */
static enum verdict ask_as(int holder, enum verb op, enum lock_kind kind,
                           uint64_t attempt, int64_t ballot)
{
    struct request req = request(op, kind, attempt, ballot);
    snprintf(req.owner, sizeof req.owner, UUID ":%d", holder);
    return server_do(&f, req, &a);
}

static int is_near(int64_t ttl_ms, int64_t lease_ms)
{
    return ttl_ms > lease_ms - 10000 && ttl_ms <= lease_ms;
}

/* ---- the layout --------------------------------------------------------- */

TEST(redis_rw, a_reader_is_what_redisson_makes_of_one)
{
    begin();
    CHECK_INT(ask(VERB_PROPOSE, KIND_READ, 7, clock_us()), V_GRANTED);
    CHECK_INT(redis_number(&r, "HLEN job"), 2);
    CHECK_STR(redis_say(&r, "HGET job mode"), "read");
    CHECK_STR(redis_say(&r, "HGET job " O), "1");
    CHECK(is_near(redis_number(&r, "PTTL job"), 30000));
    CHECK(is_near(redis_number(&r, "PTTL " STRING(O)), 30000));
    CHECK_INT(redis_number(&r, "GET redisson_lock_token:{job}"), a.reply.fence);
    CHECK_INT(redis_number(&r, "DBSIZE"), 3);
}

TEST(redis_rw, a_writer_is_what_redisson_makes_of_one)
{
    begin();
    CHECK_INT(ask(VERB_PROPOSE, KIND_WRITE, 7, clock_us()), V_GRANTED);
    CHECK_INT(redis_number(&r, "HLEN job"), 2);
    CHECK_STR(redis_say(&r, "HGET job mode"), "write");
    CHECK_STR(redis_say(&r, "HGET job " O ":write"), "1");
    CHECK(is_near(redis_number(&r, "PTTL job"), 30000));
    CHECK_INT(redis_number(&r, "DBSIZE"), 3);
}

TEST(redis_rw, our_facts_are_no_number_and_not_in_the_hash)
{
    char expected[256];
    begin();
    int64_t t = clock_us() + US_PER_S; /* ahead of the server, within W */
    struct request req = request(VERB_PROPOSE, KIND_READ, 7, t);
    req.info = "4711 host some label";
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    CHECK_INT(a.reply.fence, t);
    snprintf(expected, sizeof expected, "v1 " O " 7 %lld %lld ", (long long)t,
             (long long)t);
    const char *text = redis_say(&r, "GET " STRING(O));
    CHECK(!strncmp(text, expected, strlen(expected)));
    CHECK(strstr(text, " 4711 host some label") != NULL);
}

TEST(redis_rw, a_release_leaves_the_counter_and_what_ends_soon)
{
    begin();
    enum lock_kind sides[] = {KIND_READ, KIND_WRITE};
    for (int i = 0; i < 2; i++) {
        int64_t t = clock_us() + i * 1000;
        CHECK_INT(ask(VERB_PROPOSE, sides[i], 7, t), V_GRANTED);
        CHECK_INT(ask(VERB_RELEASE, sides[i], 7, t), V_GRANTED);
        CHECK_INT(redis_number(&r, "DBSIZE"), 2);
        CHECK_INT(redis_number(&r, "EXISTS redisson_lock_token:{job}"), 1);
        int64_t ttl = redis_number(&r, "PTTL {job}:hf_rw");
        CHECK(ttl > 0 && ttl <= 5000);
    }
}

TEST(redis_rw, every_key_but_the_counter_has_an_end)
{
    begin();
    int64_t t = clock_us();
    struct request req = request(VERB_PROPOSE, KIND_WRITE, 8, t + 1);
    CHECK_INT(ask(VERB_PROPOSE, KIND_READ, 7, t), V_GRANTED);
    snprintf(req.owner, sizeof req.owner, UUID ":2");
    req.flags |= REQ_QUEUE;
    CHECK_INT(server_do(&f, req, &a), V_BUSY);
    CHECK_INT(a.reply.poll_us, PLACE_POLL_US);
    CHECK(redis_number(&r, "PTTL {job}:hf_rw:q") > 0);
    CHECK(redis_number(&r, "PTTL {job}:hf_rw:w") > 0);
    CHECK(redis_number(&r, "PTTL {job}:hf_rw") > 0);
    CHECK_INT(redis_number(&r, "DBSIZE"), 6);
}

TEST(redis_rw, the_lock_lasts_as_long_as_its_longest_reader)
{
    begin();
    int64_t t = clock_us();
    CHECK_INT(ask_as(1, VERB_PROPOSE, KIND_READ, 7, t), V_GRANTED);
    struct request req = request(VERB_PROPOSE, KIND_READ, 8, t + 1);
    req.lease_us = 90 * US_PER_S;
    snprintf(req.owner, sizeof req.owner, UUID ":2");
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    CHECK(is_near(redis_number(&r, "PTTL job"), 91000));
    CHECK(is_near(redis_number(&r, "PTTL " STRING(O)), 30000));
    CHECK_INT(ask_as(1, VERB_RENEW, KIND_READ, 7, t), V_GRANTED);
    CHECK(is_near(redis_number(&r, "PTTL job"), 91000));
    CHECK_INT(ask_as(2, VERB_RELEASE, KIND_READ, 8, t + 1), V_GRANTED);
    CHECK(is_near(redis_number(&r, "PTTL job"), 30000));
}

/* Redisson adds the leases up: 10 s and 10 s are 20 s there. */
TEST(redis_rw, entering_a_write_lock_again_adds_no_time)
{
    begin();
    int64_t t = clock_us();
    CHECK_INT(ask(VERB_PROPOSE, KIND_WRITE, 7, t), V_GRANTED);
    struct request req = request(VERB_RENEW, KIND_WRITE, 7, t);
    req.count = 2;
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    CHECK_STR(redis_say(&r, "HGET job " O ":write"), "2");
    CHECK(is_near(redis_number(&r, "PTTL job"), 30000));
}

/* Redisson would look at every one of them, inside the server. */
TEST(redis_rw, a_huge_count_is_not_told)
{
    begin();
    int64_t t = clock_us();
    CHECK_INT(ask(VERB_PROPOSE, KIND_READ, 7, t), V_GRANTED);
    struct request req = request(VERB_RENEW, KIND_READ, 7, t);
    req.count = HOLD_COUNT_MAX;
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    CHECK_STR(redis_say(&r, "HGET job " O), "1000");
    CHECK_INT(ask_as(2, VERB_PROPOSE, KIND_WRITE, 8, t + 1), V_BUSY);
}

/* A client that looks may not know that it is a read/write lock. */
TEST(redis_rw, a_plain_look_and_a_list_tell_who_reads_and_writes)
{
    enum lock_kind sides[] = {KIND_READ, KIND_WRITE};
    begin();
    for (int i = 0; i < 2; i++) {
        int64_t t = clock_us() + i * 1000;
        struct request req = request(VERB_PROPOSE, sides[i], 7, t);
        req.info = "4711 host some label";
        CHECK_INT(server_do(&f, req, &a), V_GRANTED);
        req = server_request(VERB_INSPECT, "job", 0, 0);
        CHECK_INT(server_do(&f, req, &a), V_GRANTED);
        req = server_request(VERB_LIST, "*", 0, 0);
        f.rows_len = 0;
        do {
            static struct fake_answer page;
            CHECK_INT(server_do(&f, req, &page), V_GRANTED);
            req.cursor = page.reply.cursor;
        } while (req.cursor != 0);
        CHECK_INT(f.rows_len, 1);
        CHECK_STR(f.rows[0].name, "job");
        struct hf_info *told[] = {&a.info, &f.rows[0].info};
        for (int k = 0; k < 2; k++) {
            CHECK_STR(told[k]->owner, O);
            CHECK_STR(told[k]->layout, "holdfast");
            CHECK_STR(told[k]->label, "some label");
            CHECK_INT(told[k]->pid, 4711);
            CHECK_INT(told[k]->shared, i == 0);
        }
        CHECK_INT(ask(VERB_RELEASE, sides[i], 7, t), V_GRANTED);
    }
}

/* ---- repeated and late -------------------------------------------------- */

/* Or a reader would be told of another one's hold after a failover. */
TEST(redis_rw, a_look_for_one_attempt_tells_of_that)
{
    begin();
    struct request req = request(VERB_PROPOSE, KIND_READ, 7, clock_us());
    req.lease_us = 600 * US_PER_S;
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    CHECK_INT(ask_as(5, VERB_PROPOSE, KIND_READ, 8, clock_us()), V_GRANTED);
    CHECK_INT(ask_as(5, VERB_INSPECT, KIND_READ, 8, 0), V_GRANTED);
    CHECK_INT(a.info.mine, 1);
    CHECK(is_near(a.info.ttl_ms, 30000));
    CHECK_INT(ask(VERB_INSPECT, KIND_READ, 7, 0), V_GRANTED);
    CHECK_INT(a.info.mine, 1);
    CHECK(a.info.ttl_ms > 100000);
    CHECK_INT(ask(VERB_INSPECT, KIND_READ, 6, 0), V_GRANTED);
    CHECK_INT(a.info.mine, 0);
}

TEST(redis_rw, a_repeated_proposal_is_granted_again_and_moves_nothing)
{
    begin();
    enum lock_kind sides[] = {KIND_READ, KIND_WRITE};
    for (int i = 0; i < 2; i++) {
        int64_t t = clock_us() + i * 1000;
        CHECK_INT(ask(VERB_PROPOSE, sides[i], 7, t), V_GRANTED);
        int64_t fence = a.reply.fence;
        redis_say(&r, "PEXPIRE job 5000");
        CHECK_INT(ask(VERB_PROPOSE, sides[i], 7, t), V_GRANTED);
        CHECK_INT(a.reply.fence, fence);
        CHECK(redis_number(&r, "PTTL job") <= 5000);
        CHECK_INT(ask(VERB_RELEASE, sides[i], 7, t), V_GRANTED);
    }
}

TEST(redis_rw, a_proposal_that_comes_after_its_release_makes_no_orphan)
{
    begin();
    enum lock_kind sides[] = {KIND_READ, KIND_WRITE};
    for (int i = 0; i < 2; i++) {
        int64_t t = clock_us() + i * 1000;
        CHECK_INT(ask(VERB_RELEASE, sides[i], 7, t), V_ABSENT);
        CHECK_INT(ask(VERB_PROPOSE, sides[i], 7, t), V_STALE);
        CHECK_INT(redis_number(&r, "EXISTS job"), 0);
        CHECK_INT(ask(VERB_PROPOSE, sides[i], 8, t + 1), V_GRANTED);
        CHECK_INT(ask(VERB_RELEASE, sides[i], 8, t + 1), V_GRANTED);
        CHECK_INT(ask(VERB_PROPOSE, sides[i], 8, t + 1), V_STALE);
        CHECK_INT(redis_number(&r, "EXISTS job"), 0);
    }
}

TEST(redis_rw, a_place_of_who_has_left_is_not_made_by_a_late_proposal)
{
    begin();
    int64_t t = clock_us();
    struct request req = request(VERB_PROPOSE, KIND_WRITE, 7, t);
    req.flags |= REQ_QUEUE;
    CHECK_INT(ask_as(2, VERB_PROPOSE, KIND_READ, 5, t - 5), V_GRANTED);
    CHECK_INT(server_do(&f, req, &a), V_BUSY);
    req.verb = VERB_RELEASE;
    CHECK_INT(server_do(&f, req, &a), V_OTHER);
    CHECK_INT(redis_number(&r, "EXISTS {job}:hf_rw:q"), 0);
    req.verb = VERB_PROPOSE;
    CHECK_INT(server_do(&f, req, &a), V_STALE);
    CHECK_INT(redis_number(&r, "EXISTS {job}:hf_rw:q"), 0);
}

/* The reader was let in and did not hear of it: the writer waits for it, so it
 * must not wait for the writer. */
TEST(redis_rw, a_reader_who_asks_again_is_not_sent_behind_a_writer)
{
    unsigned orders[] = {REQ_QUEUE, REQ_QUEUE | REQ_WRITERS};
    begin();
    for (uint64_t i = 0; i < 2; i++) {
        int64_t t = clock_us();
        struct request reads = request(VERB_PROPOSE, KIND_READ, 7 + i, t);
        struct request writes =
            request(VERB_PROPOSE, KIND_WRITE, 17 + i, t + 1);
        reads.flags |= orders[i];
        writes.flags |= orders[i];
        snprintf(writes.owner, sizeof writes.owner, UUID ":2");
        CHECK_INT(server_do(&f, reads, &a), V_GRANTED);
        CHECK_INT(server_do(&f, writes, &a), V_BUSY);
        reads.ballot = t + 2;
        CHECK_INT(server_do(&f, reads, &a), V_GRANTED);
        reads.verb = VERB_RELEASE;
        CHECK_INT(server_do(&f, reads, &a), V_GRANTED);
        writes.ballot = t + 3;
        CHECK_INT(server_do(&f, writes, &a), V_GRANTED);
        writes.verb = VERB_RELEASE;
        CHECK_INT(server_do(&f, writes, &a), V_GRANTED);
    }
}

TEST(redis_rw, a_late_release_takes_away_neither_hold_nor_place)
{
    begin();
    int64_t t = clock_us();
    struct request req = request(VERB_PROPOSE, KIND_WRITE, 9, t + 2);
    CHECK_INT(ask(VERB_PROPOSE, KIND_READ, 8, t), V_GRANTED);
    CHECK_INT(ask(VERB_RELEASE, KIND_READ, 7, t - 1), V_OTHER);
    CHECK_STR(redis_say(&r, "HGET job " O), "1");
    snprintf(req.owner, sizeof req.owner, UUID ":2");
    req.flags |= REQ_QUEUE;
    CHECK_INT(server_do(&f, req, &a), V_BUSY);
    req.verb = VERB_RELEASE;
    req.attempt = 8;
    req.ballot = t - 1;
    CHECK_INT(server_do(&f, req, &a), V_OTHER);
    CHECK_INT(redis_number(&r, "ZCARD {job}:hf_rw:w"), 1);
}

/* Redisson says nil, and 1 when it is asked again. */
TEST(redis_rw, releasing_what_is_not_there_is_told_rightly_every_time)
{
    begin();
    int64_t t = clock_us();
    for (int i = 0; i < 3; i++) {
        CHECK_INT(ask(VERB_RELEASE, KIND_READ, 7, t), V_ABSENT);
        CHECK_INT(ask(VERB_RELEASE, KIND_WRITE, 7, t), V_ABSENT);
    }
    CHECK_INT(ask_as(2, VERB_PROPOSE, KIND_READ, 7, t + 1), V_GRANTED);
    CHECK_INT(ask(VERB_RELEASE, KIND_READ, 7, t), V_OTHER);
    CHECK_INT(ask(VERB_RELEASE, KIND_WRITE, 7, t), V_OTHER);
}

TEST(redis_rw, a_renewal_finds_out_that_it_is_over)
{
    begin();
    int64_t t = clock_us();
    CHECK_INT(ask(VERB_RENEW, KIND_READ, 7, t), V_ABSENT);
    CHECK_INT(ask(VERB_PROPOSE, KIND_READ, 7, t), V_GRANTED);
    CHECK_INT(ask(VERB_RENEW, KIND_READ, 6, t), V_OTHER);
    redis_say(&r, "DEL " STRING(O));
    CHECK_INT(ask(VERB_RENEW, KIND_READ, 7, t), V_OTHER);
    redis_say(&r, "DEL job");
    CHECK_INT(ask(VERB_RENEW, KIND_READ, 7, t), V_ABSENT);
    CHECK_INT(redis_number(&r, "EXISTS " STRING(O)), 0);
}

/* ---- the dead ----------------------------------------------------------- */

TEST(redis_rw, a_dead_reader_does_not_keep_a_writer_out)
{
    begin();
    redis_say(&r, "HSET job mode read " JAVA " 2");
    redis_say(&r, "PEXPIRE job 60000");
    redis_say(&r, "SET {job}:" JAVA ":rwlock_timeout:2 1 PX 60000");
    CHECK_INT(ask(VERB_PROPOSE, KIND_WRITE, 7, clock_us()), V_BUSY);
    CHECK(is_near(a.reply.ttl_us / US_PER_MS, 60000));
    redis_say(&r, "DEL {job}:" JAVA ":rwlock_timeout:2");
    CHECK_INT(ask(VERB_PROPOSE, KIND_WRITE, 7, clock_us()), V_GRANTED);
    CHECK_STR(redis_say(&r, "HGET job mode"), "write");
    CHECK_INT(redis_number(&r, "HLEN job"), 2);
}

TEST(redis_rw, a_writer_whose_lease_is_over_goes_on_as_the_reader_he_is)
{
    begin();
    int64_t t = clock_us();
    CHECK_INT(ask(VERB_PROPOSE, KIND_WRITE, 7, t), V_GRANTED);
    CHECK_INT(ask(VERB_PROPOSE, KIND_READ, 8, t + 1), V_GRANTED);
    redis_say(&r, "DEL " STRING(O ":write"));
    CHECK_INT(ask_as(2, VERB_PROPOSE, KIND_READ, 9, t + 2), V_GRANTED);
    CHECK_STR(redis_say(&r, "HGET job mode"), "read");
    CHECK_INT(redis_number(&r, "HLEN job"), 3);
    CHECK_INT(ask_as(3, VERB_PROPOSE, KIND_WRITE, 10, t + 3), V_BUSY);
}

TEST(redis_rw, a_place_that_nobody_asks_for_bars_nobody)
{
    begin();
    int64_t t = clock_us();
    redis_say(&r, "SET {job}:hf_rw 'q0 ' PX 60000");
    redis_say(&r, "ZADD {job}:hf_rw:w 1 " UUID ":5");
    redis_say(&r, "HSET {job}:hf_rw:q w" UUID ":5 '1000 3'");
    CHECK_INT(ask(VERB_PROPOSE, KIND_READ, 7, t), V_GRANTED);
    CHECK_INT(redis_number(&r, "EXISTS {job}:hf_rw:q {job}:hf_rw:w"), 0);
}

/* ---- what else may be there --------------------------------------------- */

static void conflicts(const char *word)
{
    enum lock_kind sides[] = {KIND_READ, KIND_WRITE};
    for (int i = 0; i < 2; i++) {
        CHECK_INT(ask(VERB_PROPOSE, sides[i], 7, clock_us()), V_ERROR);
        CHECK_INT(a.reply.status, HF_CONFLICT);
        if (!strstr(a.text, word))
            TEST_FAIL("\"%s\" lacks \"%s\"", a.text, word);
    }
    CHECK_INT(redis_number(&r, "DBSIZE"), 1);
    redis_say(&r, "FLUSHALL");
}

TEST(redis_rw, what_is_no_read_write_lock_is_a_conflict_and_stays)
{
    begin();
    redis_say(&r, "SET job x");
    conflicts("");
    redis_say(&r, "HSET job colour blue");
    conflicts("no lock");
    redis_say(&r, "HSET job mode dark");
    conflicts("no lock");
    redis_say(&r, "HSET job " JAVA " 1");
    conflicts("in use as a plain lock");
    redis_say(&r, "SET redisson_lock_token:{job} many");
    conflicts("no number");
    redis_say(&r, "LPUSH redisson_lock_token:{job} 1");
    conflicts("");
}

TEST(redis_rw, a_counter_that_runs_ahead_is_gone_on_from)
{
    begin();
    redis_say(&r, "SET redisson_lock_token:{job} 8000000000000000");
    CHECK_INT(ask(VERB_PROPOSE, KIND_READ, 7, clock_us()), V_GRANTED);
    CHECK_INT(a.reply.fence, INT64_C(8000000000000001));
    CHECK(a.reply.node_us > 0 && a.reply.node_us < INT64_C(8000000000000000));
    CHECK_INT(ask_as(2, VERB_PROPOSE, KIND_READ, 7, clock_us()), V_GRANTED);
    CHECK_INT(a.reply.fence, INT64_C(8000000000000002));
}

TEST(redis_rw, a_full_server_refuses_new_holds_and_takes_back_old_ones)
{
    begin();
    int64_t t = clock_us();
    CHECK_INT(ask(VERB_PROPOSE, KIND_WRITE, 7, t), V_GRANTED);
    CHECK_INT(ask(VERB_PROPOSE, KIND_READ, 8, t + 1), V_GRANTED);
    CHECK_STR(redis_say(&r, "CONFIG SET maxmemory 1"), "OK");
    CHECK_INT(ask(VERB_RENEW, KIND_WRITE, 7, t), V_GRANTED);
    CHECK_INT(ask(VERB_RELEASE, KIND_WRITE, 7, t), V_GRANTED);
    CHECK_STR(redis_say(&r, "HGET job mode"), "read");
    CHECK_INT(ask_as(2, VERB_PROPOSE, KIND_READ, 9, t + 2), V_ERROR);
    CHECK_INT(redis_number(&r, "HLEN job"), 2);
    CHECK_INT(ask(VERB_RENEW, KIND_READ, 8, t), V_GRANTED);
    CHECK_INT(ask(VERB_RELEASE, KIND_READ, 8, t + 1), V_GRANTED);
    CHECK_INT(redis_number(&r, "EXISTS job"), 0);
}

TEST(redis_rw, who_may_not_write_a_key_leaves_everything_as_it_was)
{
    static const char *const keys[] = {
        "~job", "~job ~redisson_lock_token:*", "~job ~{job}:*",
        "~job ~redisson_lock_token:* ~{job}:hf_rw",
        "~{job}:* ~redisson_lock_token:*"};
    static struct fake_env eve;
    char url[96];
    begin();
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        CHECK_STR(redis_say(&r, "ACL SETUSER eve%zu reset on >pw +@all &* %s",
                            i, keys[i]),
                  "OK");
        snprintf(url, sizeof url, "redis://eve%zu:pw@127.0.0.1:%d", i, r.port);
        server_connect(&eve, url);
        struct request req = request(VERB_PROPOSE, KIND_READ, 7, clock_us());
        CHECK_INT(server_do(&eve, req, &a), V_ERROR);
        CHECK_INT(a.reply.status, HF_DENIED);
        CHECK_INT(redis_number(&r, "DBSIZE"), 0);
        fake_close(&eve);
    }
}

/* A lock without an expiry would be worse than no lock. */
TEST(redis_rw, who_may_not_say_when_it_ends_leaves_no_lock)
{
    static struct fake_env eve;
    char url[96];
    begin();
    CHECK_STR(
        redis_say(&r, "ACL SETUSER eve reset on >pw +@all -pexpire &* ~*"),
        "OK");
    snprintf(url, sizeof url, "redis://eve:pw@127.0.0.1:%d", r.port);
    server_connect(&eve, url);
    struct request req = request(VERB_PROPOSE, KIND_WRITE, 7, clock_us());
    CHECK_INT(server_do(&eve, req, &a), V_ERROR);
    CHECK_INT(a.reply.status, HF_DENIED);
    CHECK_INT(redis_number(&r, "DBSIZE"), 0);
    fake_close(&eve);
}

/* ---- many --------------------------------------------------------------- */

static int64_t scripts_run(void)
{
    static const char *const words[] = {"cmdstat_eval:", "cmdstat_evalsha:"};
    int64_t calls = 0;
    for (int i = 0; i < 2; i++) {
        const char *at = strstr(redis_say(&r, "INFO commandstats"), words[i]);
        if (at) calls += strtoll(strstr(at, "calls=") + 6, NULL, 10);
    }
    return calls;
}

TEST(redis_rw, many_long_names_of_all_kinds_are_renewed_together)
{
    enum { MANY = 120 };
    static char names[MANY][NAME_LEN_MAX + 1];
    static struct request reqs[MANY];
    static struct fake_answer answers[MANY];
    begin();
    for (int i = 0; i < MANY; i++) {
        memset(names[i], 'x', NAME_LEN_MAX);
        snprintf(names[i], 8, "%d", 1000000 + i);
        names[i][7] = '-';
        reqs[i] = server_request(VERB_PROPOSE, names[i], 7, clock_us());
        reqs[i].kind = (enum lock_kind)(i % 3);
        CHECK_INT(server_do(&f, reqs[i], &a), V_GRANTED);
    }
    int64_t before = scripts_run();
    for (int i = 0; i < MANY; i++) {
        reqs[i].verb = VERB_RENEW;
        reqs[i].count = 2;
        fake_submit(&f, &reqs[i], &answers[i]);
    }
    f.backend->flush(f.conn);
    for (int i = 0; i < MANY; i++) {
        fake_wait(&f, &answers[i]);
        CHECK_INT(answers[i].reply.verdict, V_GRANTED);
    }
    CHECK(scripts_run() - before <= 8);
    for (int i = 0; i < MANY; i++) {
        struct request look = server_request(VERB_INSPECT, names[i], 0, 0);
        look.kind = reqs[i].kind;
        CHECK_INT(server_do(&f, look, &a), V_GRANTED);
        CHECK_INT(a.info.count, 2);
    }
}

/* ---- a break ------------------------------------------------------------ */

/* A release under a number ahead of the clock is not forgotten. */
TEST(redis_rw, a_break_does_not_lower_the_floor)
{
    begin();
    int64_t t = clock_us(), ahead = t + 60 * US_PER_S;
    CHECK_INT(ask(VERB_PROPOSE, KIND_READ, 7, t), V_GRANTED);
    CHECK_INT(ask_as(2, VERB_RELEASE, KIND_WRITE, 8, ahead), V_OTHER);
    CHECK_INT(ask(VERB_BREAK, KIND_READ, 0, 0), V_GRANTED);
    CHECK_INT(ask_as(2, VERB_PROPOSE, KIND_WRITE, 8, ahead), V_STALE);
    CHECK_INT(ask_as(2, VERB_PROPOSE, KIND_WRITE, 9, ahead + 1), V_GRANTED);
}
