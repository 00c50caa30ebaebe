/*
 * redis_wait_test.c: wait= and wait_renew=.  One rule: a grant is told only
 * when so many replicas have said that they have it.
 */
#include <string.h>

#include "lib/rig.h"
#include "lib/rig_redis.h"
#include "lib/server.h"
#include "sys/clock.h"

#define T INT64_C(1700000000000000)
#define GRANTED ":1700000000000000\r\n"

static struct script s;
static struct fake_env f;
static struct fake_answer a, b;
static struct request req, req2;

/* A primary with so many replicas that answers the greeting. */
static void begin_with(const char *options, int replicas)
{
    char url[128];
    script_begin(&s);
    snprintf(url, sizeof url, "%s?%s", s.url, options);
    server_open(&f, url);
    script_accept(&s, &f);
    script_expect(&s, &f, "WAIT\r\n$1\r\n0\r\n$1\r\n1\r\n");
    script_expect(&s, &f, "TIME\r\n");
    script_say(&s, "+OK\r\n*3\r\n$6\r\nmaster\r\n:7\r\n");
    snprintf(url, sizeof url, "*%d\r\n", replicas);
    script_say(&s, url);
    for (int i = 0; i < replicas; i++)
        script_say(&s, "*3\r\n$1\r\nh\r\n$1\r\n1\r\n$1\r\n7\r\n");
    for (int i = 1; i < SERVER_SCRIPTS; i++) script_say(&s, "+OK\r\n");
    script_say(&s, ":0\r\n*2\r\n$10\r\n1700000000\r\n$1\r\n0\r\n");
    server_wait_link(&f, 1);
}

static void send(struct request *r, struct fake_answer *answer,
                 enum request_op op, const char *name)
{
    *r = server_request(op, name, 1, T);
    r->flags = REQ_SERVER_FENCE;
    r->deadline_us = hf__clock_us() + 5 * US_PER_S;
    fake_submit(&f, r, answer);
}

static void propose(void)
{
    send(&req, &a, OP_PROPOSE, "job");
    f.backend->flush(f.conn);
    script_expect(&s, &f, "EVALSHA");
}

static void check_text(const struct fake_answer *answer, const char *words)
{
    if (!strstr(answer->text, words))
        TEST_FAIL("\"%s\" lacks \"%s\"", answer->text, words);
}

/* ---- grants -------------------------------------------------------------- */

TEST(redis_wait, a_grant_waits_for_the_replicas)
{
    begin_with("wait=2", 2);
    propose();
    script_expect(&s, &f, "WAIT\r\n$1\r\n2\r\n");
    script_say(&s, GRANTED);
    server_pump_ms(&f, 50);
    CHECK(!a.is_done);
    script_say(&s, ":2\r\n");
    fake_wait(&f, &a);
    CHECK_INT(a.reply.verdict, V_GRANTED);
    CHECK_INT(a.reply.fence, T);
    CHECK_INT(a.reply.replicas, 2);
}

TEST(redis_wait, a_shortfall_is_doubt_and_says_how_many_answered)
{
    begin_with("wait=2", 2);
    propose();
    script_say(&s, GRANTED ":1\r\n");
    fake_wait(&f, &a);
    CHECK_INT(a.reply.verdict, V_UNKNOWN);
    CHECK_INT(a.reply.status, HF_UNAVAILABLE);
    check_text(&a, "wait: 1 of 2 replicas answered");
    CHECK(f.is_up);
}

TEST(redis_wait, one_wait_is_for_all_of_a_flush)
{
    begin_with("wait=1", 1);
    send(&req, &a, OP_PROPOSE, "job");
    send(&req2, &b, OP_PROPOSE, "joy");
    f.backend->flush(f.conn);
    script_expect(&s, &f, "EVALSHA");
    script_expect(&s, &f, "EVALSHA");
    script_expect(&s, &f, "WAIT\r\n");
    CHECK(memmem(s.got, s.got_len, "WAIT", 4) == NULL);
    script_say(&s, GRANTED GRANTED);
    server_pump_ms(&f, 50);
    CHECK(!a.is_done && !b.is_done);
    script_say(&s, ":1\r\n");
    fake_wait(&f, &a);
    fake_wait(&f, &b);
    CHECK_INT(a.reply.verdict, V_GRANTED);
    CHECK_INT(b.reply.verdict, V_GRANTED);
}

TEST(redis_wait, a_refusal_waits_for_nothing)
{
    begin_with("wait=1", 1);
    propose();
    script_say(&s, "*4\r\n:0\r\n:5\r\n:1700000000000000\r\n:100\r\n");
    fake_wait(&f, &a);
    CHECK_INT(a.reply.verdict, V_BUSY);
    script_say(&s, ":0\r\n");
    server_pump_ms(&f, 50);
    CHECK(f.is_up);
}

TEST(redis_wait, a_lost_script_is_sent_anew_with_its_own_wait)
{
    begin_with("wait=1", 1);
    propose();
    script_expect(&s, &f, "WAIT\r\n");
    script_say(&s, "-NOSCRIPT no\r\n:1\r\n");
    script_expect(&s, &f, "EVAL\r\n");
    script_expect(&s, &f, "WAIT\r\n");
    CHECK(!a.is_done);
    script_say(&s, GRANTED ":1\r\n");
    fake_wait(&f, &a);
    CHECK_INT(a.reply.verdict, V_GRANTED);
}

TEST(redis_wait, a_link_that_breaks_before_the_replicas_answered_is_doubt)
{
    begin_with("wait=1", 1);
    propose();
    script_say(&s, GRANTED);
    server_pump_ms(&f, 50);
    script_hang_up(&s);
    fake_wait(&f, &a);
    CHECK_INT(a.reply.verdict, V_UNKNOWN);
}

TEST(redis_wait, a_server_that_is_demoted_meanwhile_is_left)
{
    begin_with("wait=1", 1);
    propose();
    script_say(&s, GRANTED "-UNBLOCKED force unblock from blocking operation, "
                           "instance state changed\r\n");
    fake_wait(&f, &a);
    CHECK_INT(a.reply.verdict, V_UNKNOWN);
    CHECK(!f.is_up);
}

TEST(redis_wait, a_grant_that_is_parked_ends_by_its_deadline)
{
    begin_with("wait=1", 1);
    send(&req, &a, OP_PROPOSE, "job");
    req.deadline_us = hf__clock_us() + 200 * US_PER_MS;
    f.backend->flush(f.conn);
    script_expect(&s, &f, "EVALSHA");
    script_say(&s, GRANTED);
    fake_wait(&f, &a);
    CHECK_INT(a.reply.verdict, V_UNKNOWN);
    CHECK(!f.is_up);
}

TEST(redis_wait, closing_answers_what_is_parked)
{
    begin_with("wait=1", 1);
    propose();
    script_say(&s, GRANTED);
    server_pump_ms(&f, 50);
    CHECK(!a.is_done);
    fake_close(&f);
    CHECK(a.is_done);
    CHECK_INT(a.reply.verdict, V_UNKNOWN);
}

/* ---- renewals ------------------------------------------------------------ */

TEST(redis_wait, a_renewal_waits_only_if_asked_to)
{
    begin_with("wait=1", 1);
    send(&req, &a, OP_RENEW, "job");
    f.backend->flush(f.conn);
    script_expect(&s, &f, "EVALSHA");
    script_say(&s, "*2\r\n:1700000000000000\r\n:500\r\n");
    fake_wait(&f, &a);
    CHECK_INT(a.reply.verdict, V_GRANTED);
    CHECK_INT(a.reply.replicas, 0);
    CHECK_INT(a.reply.ttl_us, 500 * US_PER_MS);
}

TEST(redis_wait, with_wait_renew_a_renewal_waits_too)
{
    begin_with("wait=1&wait_renew=on", 1);
    send(&req, &a, OP_RENEW, "job");
    send(&req2, &b, OP_RENEW, "joy");
    f.backend->flush(f.conn);
    script_expect(&s, &f, "WAIT\r\n");
    script_say(&s, "*3\r\n:1700000000000000\r\n:500\r\n:-2\r\n");
    fake_wait(&f, &b);
    CHECK_INT(b.reply.verdict, V_ABSENT);
    CHECK(!a.is_done);
    script_say(&s, ":1\r\n");
    fake_wait(&f, &a);
    CHECK_INT(a.reply.verdict, V_GRANTED);
    CHECK_INT(a.reply.replicas, 1);
    CHECK_INT(a.reply.ttl_us, 500 * US_PER_MS);
    CHECK_INT(a.reply.node_us, T);
}

/* ---- majority and all ---------------------------------------------------- */

/* The commands of one proposal, and the answers; `n` replicas by ROLE. */
static void propose_counted(const char *wait, int n, const char *got)
{
    char text[64];
    propose();
    script_expect(&s, &f, "ROLE\r\n");
    script_expect(&s, &f, wait);
    script_say(&s, GRANTED);
    snprintf(text, sizeof text, "*3\r\n$6\r\nmaster\r\n:7\r\n*%d\r\n", n);
    script_say(&s, text);
    for (int i = 0; i < n; i++) script_say(&s, "*1\r\n:1\r\n");
    script_say(&s, got);
    fake_wait(&f, &a);
}

TEST(redis_wait, all_are_those_that_the_primary_knows)
{
    begin_with("wait=all", 3);
    propose_counted("WAIT\r\n$1\r\n3\r\n", 3, ":3\r\n");
    CHECK_INT(a.reply.verdict, V_GRANTED);
    CHECK_INT(a.reply.replicas, 3);
}

TEST(redis_wait, a_replica_that_came_meanwhile_counts_among_all)
{
    begin_with("wait=all", 1);
    propose_counted("WAIT\r\n$1\r\n1\r\n", 2, ":1\r\n");
    CHECK_INT(a.reply.verdict, V_UNKNOWN);
    check_text(&a, "1 of 2 replicas");
    propose_counted("WAIT\r\n$1\r\n2\r\n", 2, ":2\r\n");
    CHECK_INT(a.reply.verdict, V_GRANTED);
}

TEST(redis_wait, a_replica_that_has_just_gone_still_counts_among_all)
{
    begin_with("wait=all", 2);
    propose_counted("WAIT\r\n$1\r\n2\r\n", 1, ":1\r\n");
    CHECK_INT(a.reply.verdict, V_UNKNOWN);
    check_text(&a, "1 of 2 replicas");
}

TEST(redis_wait, none_is_not_all)
{
    begin_with("wait=all", 0);
    propose_counted("WAIT\r\n$1\r\n1\r\n", 0, ":0\r\n");
    CHECK_INT(a.reply.verdict, V_UNKNOWN);
}

TEST(redis_wait, the_primary_is_one_of_the_majority)
{
    begin_with("wait=majority", 4);
    propose_counted("WAIT\r\n$1\r\n2\r\n", 4, ":2\r\n");
    CHECK_INT(a.reply.verdict, V_GRANTED);
}

/* ---- real servers -------------------------------------------------------- */

static struct redis r, copy;

static void begin_real(const char *user, const char *options)
{
    char url[160];
    snprintf(url, sizeof url, "redis://%s127.0.0.1:%d?%s", user, r.port,
             options);
    server_open(&f, url);
    req = server_request(OP_PROPOSE, "job", 1, server_clock(&f));
}

TEST(redis_wait, a_real_replica_has_what_was_granted)
{
    redis_begin(&r, NULL);
    redis_begin(&copy, NULL);
    CHECK_STR(redis_say(&copy, "REPLICAOF 127.0.0.1 %d", r.port), "OK");
    begin_real("", "wait=1");
    int64_t end_us = hf__clock_us() + 20 * US_PER_S;
    do {
        CHECK(hf__clock_us() < end_us);
        req.attempt++;
        req.ballot = server_clock(&f);
        fake_call(&f, &req, &a);
    } while (a.reply.verdict != V_GRANTED);
    CHECK_INT(a.reply.replicas, 1);
    CHECK_INT(redis_number(&copy, "EXISTS job"), 1);
}

TEST(redis_wait, a_server_that_forbids_it_is_refused)
{
    redis_begin(&r, NULL);
    CHECK_STR(redis_say(&r, "ACL SETUSER eve on >pw ~* &* +@all -wait"), "OK");
    begin_real("eve:pw@", "wait=1");
    fake_call(&f, &req, &a);
    CHECK_INT(a.reply.verdict, V_UNSENT);
    CHECK_INT(a.reply.status, HF_DENIED);
    check_text(&a, "wait: not permitted");
    CHECK_INT(redis_number(&r, "EXISTS job"), 0);
}

TEST(redis_wait, who_may_not_count_the_replicas_must_say_how_many)
{
    redis_begin(&r, NULL);
    CHECK_STR(redis_say(&r, "ACL SETUSER eve on >pw ~* &* +@all -role -info"),
              "OK");
    begin_real("eve:pw@", "wait=majority");
    fake_call(&f, &req, &a);
    CHECK_INT(a.reply.verdict, V_UNSENT);
    CHECK_INT(a.reply.status, HF_DENIED);
    check_text(&a, "say wait=k");
}

TEST(redis_wait, bad_options_are_refused)
{
    static const char *const bad[] = {"wait=some", "wait=-1", "wait=1001",
                                      "wait_renew=on", "wait=1&wait_renew=2"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct hf_error err = {0};
        char url[64];
        static struct fake_env g;
        snprintf(url, sizeof url, "redis://127.0.0.1:1?%s", bad[i]);
        fake_init(&g, &hf__backend_redis);
        CHECK_INT(fake_open(&g, url, &err), HF_INVALID);
        CHECK(strncmp(err.text, "url: wait", 9) == 0);
    }
}
