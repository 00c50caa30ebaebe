/*
 * redis_info_test.c: what inspect and list tell, of our locks and of others'.
 * One rule: neither changes anything.
 */
#include <string.h>

#include "lib/rig_redis.h"
#include "lib/server.h"
#include "test.h"

#define JAVA "99999999-89ab-4def-8123-456789abcdef:31"

static struct lab_server r;
static struct fake_env f;
static struct fake_answer a;

static void begin(void)
{
    redis_begin(&r, NULL);
    server_connect(&f, r.url);
}

static enum verdict inspect(const char *name)
{
    return server_do(&f, server_request(VERB_INSPECT, name, 0, 0), &a);
}

static int list(const char *pattern)
{
    struct request req = server_request(VERB_LIST, pattern, 0, 0);
    f.rows_len = 0;
    do {
        CHECK_INT(server_do(&f, req, &a), V_GRANTED);
        req.cursor = a.reply.cursor;
    } while (a.reply.cursor != 0);
    return f.rows_len;
}

TEST(redis_info, a_free_lock_is_free)
{
    begin();
    CHECK_INT(inspect("job"), V_GRANTED);
    CHECK_INT(a.info.locked, 0);
    CHECK_INT(a.info.ttl_ms, -2);
    CHECK_INT(a.info.fence, 0);
    CHECK_INT(a.info.waiters, 0);
    CHECK(a.info.now_ms > INT64_C(1700000000000));
}

TEST(redis_info, our_lock_tells_who_has_it_and_since_when)
{
    begin();
    int64_t t = server_clock(&f);
    struct request req = server_request(VERB_PROPOSE, "job", 1, t);
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    req.verb = VERB_RENEW;
    req.count = 3;
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    int64_t granted_ms = a.reply.node_us / US_PER_MS;
    CHECK_INT(inspect("job"), V_GRANTED);
    CHECK_INT(a.info.locked, 1);
    CHECK_INT(a.info.foreign, 0);
    CHECK_INT(a.info.mine, 1);
    CHECK_INT(a.info.count, 3);
    CHECK_INT(a.info.owner_count, 3);
    CHECK_INT(a.info.detached, 0);
    CHECK_INT(a.info.pid, 4711);
    CHECK_INT((int64_t)a.info.fence, t);
    CHECK_INT(a.reply.fence, t);
    CHECK(a.info.since_ms <= granted_ms);
    CHECK(a.info.since_ms > granted_ms - 10000);
    CHECK(a.info.ttl_ms > 20000 && a.info.ttl_ms <= 30000);
    CHECK_STR(a.info.owner, SERVER_OWNER);
    CHECK_STR(a.info.host, "host");
    CHECK_STR(a.info.label, "some label");
}

TEST(redis_info, a_detached_hold_is_shown_as_one)
{
    begin();
    struct request req =
        server_request(VERB_PROPOSE, "job", 1, server_clock(&f));
    req.flags = REQ_DETACHED;
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    CHECK_INT(inspect("job"), V_GRANTED);
    CHECK_INT(a.info.detached, 1);
    CHECK_INT(a.info.pid, 4711);
    CHECK_STR(a.info.host, "host");
}

TEST(redis_info, somebody_elses_lock_is_not_mine)
{
    begin();
    struct request req =
        server_request(VERB_PROPOSE, "job", 1, server_clock(&f));
    snprintf(req.owner, sizeof req.owner, "%s", JAVA);
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    CHECK_INT(inspect("job"), V_GRANTED);
    CHECK_INT(a.info.mine, 0);
    CHECK_INT(a.info.count, 0);
    CHECK_INT(a.info.owner_count, 1);
    CHECK_STR(a.info.owner, JAVA);
}

TEST(redis_info, a_redisson_lock_is_foreign)
{
    begin();
    redis_say(&r, "HSET job %s 2", JAVA);
    redis_say(&r, "PEXPIRE job 5000");
    redis_say(&r, "SET redisson_lock_token:{job} 12");
    CHECK_INT(inspect("job"), V_GRANTED);
    CHECK_INT(a.info.locked, 1);
    CHECK_INT(a.info.foreign, 1);
    CHECK_INT(a.info.owner_count, 2);
    CHECK_INT((int64_t)a.info.fence, 12);
    CHECK_STR(a.info.owner, JAVA);
    CHECK_STR(a.info.layout, "redisson");
}

TEST(redis_info, a_redisson_read_lock_is_shared_and_a_write_lock_is_not)
{
    begin();
    redis_say(&r, "HSET job mode read %s 1", JAVA);
    redis_say(&r, "SET {job}:%s:rwlock_timeout:1 1 PX 60000", JAVA);
    CHECK_INT(inspect("job"), V_GRANTED);
    CHECK_INT(a.info.shared, 1);
    CHECK_INT(a.info.foreign, 1);
    CHECK_INT(a.info.readers, 1);
    CHECK_STR(a.info.owner, JAVA);
    redis_say(&r, "DEL job");
    redis_say(&r, "HSET job mode write %s:write 1", JAVA);
    CHECK_INT(inspect("job"), V_GRANTED);
    CHECK_INT(a.info.shared, 0);
    CHECK_STR(a.info.owner, JAVA);
}

/* As Redisson has it: the strings end with the holds, the field stays. */
TEST(redis_info, a_redisson_reader_whose_lease_is_over_has_it_no_longer)
{
    begin();
    redis_say(&r, "HSET job mode read %s 1", JAVA);
    CHECK_INT(inspect("job"), V_GRANTED);
    CHECK_INT(a.info.locked, 0);
}

TEST(redis_info, a_string_with_an_expiry_is_taken_for_a_foreign_lock)
{
    begin();
    redis_say(&r, "SET job somebody PX 5000");
    CHECK_INT(inspect("job"), V_GRANTED);
    CHECK_INT(a.info.locked, 1);
    CHECK_INT(a.info.foreign, 1);
    CHECK_STR(a.info.owner, "somebody");
    CHECK_STR(a.info.layout, "string");
    redis_say(&r, "SET job somebody");
    CHECK_INT(inspect("job"), V_ERROR);
    CHECK_INT(a.reply.status, HF_CONFLICT);
}

TEST(redis_info, a_hash_that_is_no_lock_is_a_conflict)
{
    begin();
    redis_say(&r, "HSET job name Ann age 7");
    CHECK_INT(inspect("job"), V_ERROR);
    CHECK_INT(a.reply.status, HF_CONFLICT);
    CHECK(strstr(a.text, "inspect: a hash that is no lock") != NULL);
}

TEST(redis_info, waiters_are_those_who_subscribed)
{
    static struct fake_env g;
    begin();
    server_connect(&g, r.url);
    CHECK_INT(server_do(&g, server_request(VERB_WATCH, "job", 0, 0), &a),
              V_GRANTED);
    CHECK_INT(inspect("job"), V_GRANTED);
    CHECK_INT(a.info.waiters, 1);
}

/* Which of the rows has the name, or -1. */
static int row_of(const char *name)
{
    for (int i = 0; i < f.rows_len; i++)
        if (!strcmp(f.rows[i].name, name)) return i;
    return -1;
}

TEST(redis_info, list_tells_the_waiters_of_each_lock)
{
    static struct fake_env g, h;
    static const char *const names[] = {"a", "b{x}", "c"};
    begin();
    server_connect(&g, r.url);
    server_connect(&h, r.url);
    for (int i = 0; i < 3; i++) {
        struct request req =
            server_request(VERB_PROPOSE, names[i], 1, server_clock(&f));
        CHECK_INT(server_do(&f, req, &a), V_GRANTED);
        req.verb = VERB_WATCH;
        if (i > 0) CHECK_INT(server_do(&g, req, &a), V_GRANTED);
        if (i > 1) CHECK_INT(server_do(&h, req, &a), V_GRANTED);
    }
    CHECK_INT(list(NULL), 3);
    for (int i = 0; i < 3; i++) {
        int at = row_of(names[i]);
        CHECK(at >= 0);
        CHECK_INT(f.rows[at].info.waiters, i);
    }
}

TEST(redis_info, list_finds_all_locks_and_nothing_else)
{
    int64_t seventh = 0;
    begin();
    for (int i = 0; i < 150; i++) {
        char name[32];
        /* Anew each time: on a busy machine a number is too old soon. */
        int64_t t = server_clock(&f);
        snprintf(name, sizeof name, "job:%d", i);
        struct request req = server_request(VERB_PROPOSE, name, 1, t);
        if (i == 7) seventh = t;
        CHECK_INT(server_do(&f, req, &a), V_GRANTED);
        redis_say(&r, "HSET user:%d name Ann age 7", i);
        redis_say(&r, "SET text:%d x", i);
    }
    redis_say(&r, "HSET java %s 1", JAVA);
    CHECK_INT(list(NULL), 151);
    CHECK_INT(list("job:14*"), 11);
    CHECK_INT(list("java"), 1);
    CHECK_STR(f.rows[0].name, "java");
    CHECK_INT(f.rows[0].info.foreign, 1);
    CHECK_INT(f.rows[0].info.ttl_ms, -1);
    CHECK_STR(f.rows[0].info.layout, "redisson");
    CHECK_INT(list("job:7"), 1);
    CHECK_STR(f.rows[0].info.layout, "holdfast");
    CHECK_INT(f.rows[0].info.mine, 1);
    CHECK_INT(f.rows[0].info.pid, 4711);
    CHECK_INT((int64_t)f.rows[0].info.fence, seventh);
    CHECK_INT(list("no*"), 0);
}

TEST(redis_info, huge_hashes_do_not_make_huge_answers)
{
    begin();
    redis_say(&r, "EVAL \"for i=1,50 do redis.call('HSET', 'big'..i, "
                  "'99999999-89ab:1', string.rep('x', 1000000)) end\" 0");
    redis_say(&r, "HSET job %s 1", JAVA);
    CHECK_INT(list(NULL), 1);
    CHECK_INT(inspect("big1"), V_ERROR);
    CHECK_INT(a.reply.status, HF_CONFLICT);
}
