/*
 * redis_aof_test.c: waitaof=1.  One rule: a grant is told only when the server
 * said that its disk has it.
 */
#include <string.h>

#include "lib/rig_redis.h"
#include "lib/server.h"
#include "sys/clock.h"
#include "test.h"

#define T INT64_C(1700000000000000)

static struct script s;
static struct fake_env f;
static struct fake_answer a;
static struct request req;

/* A server is greeted, and says this of WAITAOF. */
static void greet(const char *option, const char *said)
{
    char url[128];
    script_begin(&s);
    snprintf(url, sizeof url, "%s?waitaof=%s", s.url, option);
    server_open(&f, url);
    script_accept(&s, &f);
    script_expect(&s, &f, "WAITAOF\r\n$1\r\n1\r\n$1\r\n0\r\n");
    script_expect(&s, &f, "TIME\r\n");
    script_say(&s, "+OK\r\n");
    for (int i = 0; i < SERVER_SCRIPTS; i++) script_say(&s, "+OK\r\n");
    script_say(&s, said);
    script_say(&s, "*2\r\n$10\r\n1700000000\r\n$1\r\n0\r\n");
}

static void begin_with(const char *option)
{
    greet(option, "*2\r\n:0\r\n:0\r\n");
    server_wait_link(&f, 1);
}

static void begin(void)
{
    begin_with("1");
}

/* A proposal on its way; the server has read it and what comes behind. */
static void propose_for(const char *waitaof)
{
    req = server_request(VERB_PROPOSE, "job", 1, T);
    req.flags = REQ_SERVER_FENCE;
    req.deadline_us = hf__clock_us() + 5 * US_PER_S;
    fake_submit(&f, &req, &a);
    f.backend->flush(f.conn);
    script_expect(&s, &f, "EVALSHA");
    script_expect(&s, &f, waitaof);
}

static void propose(void)
{
    propose_for("WAITAOF\r\n$1\r\n1\r\n$1\r\n0\r\n");
}

TEST(redis_aof, a_grant_waits_for_the_disk)
{
    begin();
    propose();
    script_say(&s, ":1700000000000000\r\n");
    server_pump_ms(&f, 50);
    CHECK(!a.is_done);
    script_say(&s, "*2\r\n:1\r\n:0\r\n");
    fake_wait(&f, &a);
    CHECK_INT(a.reply.verdict, V_GRANTED);
    CHECK_INT(a.reply.fence, T);
}

TEST(redis_aof, what_the_disk_does_not_have_in_time_is_in_doubt)
{
    begin();
    propose();
    script_say(&s, ":1700000000000000\r\n*2\r\n:0\r\n:0\r\n");
    fake_wait(&f, &a);
    CHECK_INT(a.reply.verdict, V_UNKNOWN);
    CHECK_INT(a.reply.status, HF_UNAVAILABLE);
    CHECK(strstr(a.text, "waitaof: not on the server's disk") != NULL);
}

TEST(redis_aof, an_error_instead_of_the_disk_is_doubt)
{
    begin();
    propose();
    script_say(&s, ":1700000000000000\r\n-ERR appendonly is disabled\r\n");
    fake_wait(&f, &a);
    CHECK_INT(a.reply.verdict, V_UNKNOWN);
}

TEST(redis_aof, a_link_that_breaks_before_the_disk_answered_is_doubt)
{
    begin();
    propose();
    script_say(&s, ":1700000000000000\r\n");
    server_pump_ms(&f, 50);
    script_hang_up(&s);
    fake_wait(&f, &a);
    CHECK_INT(a.reply.verdict, V_UNKNOWN);
}

TEST(redis_aof, a_refusal_waits_for_nothing)
{
    begin();
    propose();
    script_say(&s, "*4\r\n:0\r\n:5\r\n:1700000000000000\r\n:100\r\n");
    fake_wait(&f, &a);
    CHECK_INT(a.reply.verdict, V_BUSY);
    script_say(&s, "*2\r\n:0\r\n:0\r\n");
    server_pump_ms(&f, 50);
    CHECK(f.is_up);
}

TEST(redis_aof, a_lost_script_is_sent_anew_with_its_own_wait)
{
    begin();
    propose();
    script_say(&s, "-NOSCRIPT no\r\n*2\r\n:1\r\n:0\r\n");
    script_expect(&s, &f, "EVAL\r\n");
    script_expect(&s, &f, "WAITAOF\r\n");
    CHECK(!a.is_done);
    script_say(&s, ":1700000000000000\r\n*2\r\n:1\r\n:0\r\n");
    fake_wait(&f, &a);
    CHECK_INT(a.reply.verdict, V_GRANTED);
}

/* ---- replicas' disks ---- */

#define OF_TWO "WAITAOF\r\n$1\r\n1\r\n$1\r\n2\r\n"

TEST(redis_aof, a_grant_waits_for_the_disks_of_replicas)
{
    begin_with("1,2");
    propose_for(OF_TWO);
    script_say(&s, ":1700000000000000\r\n*2\r\n:1\r\n:2\r\n");
    fake_wait(&f, &a);
    CHECK_INT(a.reply.verdict, V_GRANTED);
    CHECK_INT(a.reply.fence, T);
    CHECK_INT(a.reply.replicas, 2);
}

TEST(redis_aof, too_few_replicas_are_doubt_and_counted)
{
    begin_with("1,2");
    propose_for(OF_TWO);
    script_say(&s, ":1700000000000000\r\n*2\r\n:1\r\n:1\r\n");
    fake_wait(&f, &a);
    CHECK_INT(a.reply.verdict, V_UNKNOWN);
    CHECK_INT(a.reply.status, HF_UNAVAILABLE);
    CHECK(strstr(a.text, "on the disks of 1 of 2 replicas in time") != NULL);
}

/* It must be answered before the link would be given up for it. */
TEST(redis_aof, ends_before_the_deadline_does)
{
    begin();
    propose_for("WAITAOF\r\n$1\r\n1\r\n$1\r\n0\r\n$4\r\n1500\r\n");
}

/* ---- servers that cannot ---- */

TEST(redis_aof, who_may_not_use_it_is_told_so)
{
    greet("1", "-NOPERM this user has no permissions to run the 'waitaof' "
               "command\r\n");
    while (!f.link_err.text[0]) fake_pump(&f, 10);
    CHECK_INT(f.link_err.status, HF_DENIED);
    CHECK(strstr(f.link_err.text, "waitaof: not permitted") != NULL);
}

/* Which of the two it says depends on the server that is installed. */
TEST(redis_aof, a_server_that_cannot_do_it_is_refused)
{
    static struct lab_server r;
    char url[128];
    redis_begin(&r, NULL);
    snprintf(url, sizeof url, "%s?waitaof=1", r.url);
    server_open(&f, url);
    req = server_request(VERB_PROPOSE, "job", 1, T);
    fake_call(&f, &req, &a);
    CHECK_INT(a.reply.verdict, V_UNSENT);
    CHECK_INT(a.reply.status, HF_UNSUPPORTED);
    CHECK(strstr(a.text, "waitaof: the server ") != NULL);
    CHECK_INT(redis_number(&r, "EXISTS job"), 0);
}

/* ---- a real server with a log ---- */

static struct lab_server logged;

static int has_waitaof(void)
{
    const char *said = redis_say(&logged, "WAITAOF 0 0 1");
    return strstr(said, "unknown command") == NULL;
}

/* Ask it for the lock "job", with a number of this moment. */
static void logged_propose(void)
{
    static const char *const args[] = {"--appendonly", "yes", "--appendfsync",
                                       "everysec", NULL};
    char url[128];
    redis_begin(&logged, args);
    snprintf(url, sizeof url, "%s?waitaof=1", logged.url);
    server_open(&f, url);
    req = server_request(VERB_PROPOSE, "job", 1, hf__clock_wall_us());
    req.flags = REQ_SERVER_FENCE;
    fake_call(&f, &req, &a);
}

/* make versions runs this on servers that have it, and on some that do not. */
TEST(redis_aof, a_server_with_a_log_grants_if_it_has_waitaof)
{
    logged_propose();
    int can = has_waitaof();
    CHECK_INT(a.reply.verdict, can ? V_GRANTED : V_UNSENT);
    CHECK_INT(redis_number(&logged, "EXISTS job"), can);
    if (!can) CHECK(strstr(a.text, "Redis 7.2 or later has") != NULL);
}

TEST(redis_aof, what_was_granted_is_there_after_a_kill)
{
    logged_propose();
    if (!has_waitaof()) return; /* the test above is about such a server */
    CHECK_INT(a.reply.verdict, V_GRANTED);
    redis_shutdown(&logged, 0);
    redis_start(&logged);
    CHECK_INT(redis_number(&logged, "EXISTS job"), 1);
    CHECK_INT(redis_number(&logged, "EXISTS redisson_lock_token:{job}"), 1);
}

TEST(redis_aof, anything_else_is_refused)
{
    static const char *const bad[] = {"2", "", "1,", "1,x", "1,-1", "1,1001"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct hf_error err = {0};
        static struct fake_env g;
        char url[64];
        snprintf(url, sizeof url, "redis://127.0.0.1:1?waitaof=%s", bad[i]);
        fake_init(&g, &hf__backend_redis);
        CHECK_INT(fake_open(&g, url, &err), HF_INVALID);
        CHECK(strncmp(err.text, "url: waitaof", 12) == 0);
    }
}
