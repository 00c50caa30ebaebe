/*
 * redis_wait_test.c: wait= and wait_renew=.  One rule: a grant is told only
 * when the wanted number of replicas has confirmed it.
 */
#include <string.h>

#include "lib/server.h"
#include "sys/clock.h"
#include "test.h"

#define T INT64_C(1700000000000000)
#define GRANTED ":1700000000000000\r\n"

static struct script s;
static struct fake_env f;
static struct fake_answer a, b;
static struct request req, req2;

/* Greet a primary with `replicas` replicas, whose answer to WAIT is `said`. */
static void greet(int replicas, const char *said)
{
    char text[32];
    script_accept(&s, &f);
    script_expect(&s, &f, "WAIT\r\n$1\r\n0\r\n$1\r\n1\r\n");
    script_expect(&s, &f, "TIME\r\n");
    script_say(&s, "+OK\r\n*3\r\n$6\r\nmaster\r\n:7\r\n");
    snprintf(text, sizeof text, "*%d\r\n", replicas);
    script_say(&s, text);
    for (int i = 0; i < replicas; i++)
        script_say(&s, "*3\r\n$1\r\nh\r\n$1\r\n1\r\n$1\r\n7\r\n");
    for (int i = 1; i < SERVER_SCRIPTS; i++) script_say(&s, "+OK\r\n");
    script_say(&s, said);
    script_say(&s, "*2\r\n$10\r\n1700000000\r\n$1\r\n0\r\n");
}

static void open_with(const char *options)
{
    char url[128];
    script_begin(&s);
    snprintf(url, sizeof url, "%s?%s", s.url, options);
    server_open(&f, url);
}

static void begin_with(const char *options, int replicas)
{
    open_with(options);
    greet(replicas, ":0\r\n");
    server_wait_link(&f, 1);
}

static void send(struct request *r, struct fake_answer *answer, enum verb op,
                 const char *name)
{
    *r = server_request(op, name, 1, T);
    r->flags = REQ_SERVER_FENCE;
    r->deadline_us = hf__clock_us() + 5 * US_PER_S;
    fake_submit(&f, r, answer);
}

static void propose(void)
{
    send(&req, &a, VERB_PROPOSE, "job");
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
    send(&req, &a, VERB_PROPOSE, "job");
    send(&req2, &b, VERB_PROPOSE, "joy");
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
    send(&req, &a, VERB_PROPOSE, "job");
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
    send(&req, &a, VERB_RENEW, "job");
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
    send(&req, &a, VERB_RENEW, "job");
    send(&req2, &b, VERB_RENEW, "joy");
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

#define UNCOUNTED (-1)

/* The commands of one proposal, and the answers; `n` replicas by ROLE, or that
 * is not asked for. */
static void propose_counted(const char *wait, int n, const char *got)
{
    char text[64];
    propose();
    if (n >= 0) script_expect(&s, &f, "ROLE\r\n");
    script_expect(&s, &f, wait);
    script_say(&s, GRANTED);
    snprintf(text, sizeof text, "*3\r\n$6\r\nmaster\r\n:7\r\n*%d\r\n", n);
    if (n >= 0) script_say(&s, text);
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
    check_text(&a, "0 of 1 replicas answered in time; none is connected");
}

TEST(redis_wait, the_primary_is_one_of_the_majority)
{
    begin_with("wait=majority", 4);
    propose_counted("WAIT\r\n$1\r\n2\r\n", 4, ":2\r\n");
    CHECK_INT(a.reply.verdict, V_GRANTED);
}

/* ---- how long ------------------------------------------------------------ */

#define WHOLE "WAIT\r\n$1\r\n1\r\n$4\r\n1500\r\n" /* of timeout= 2 s */
#define SHORT "WAIT\r\n$1\r\n1\r\n$3\r\n250\r\n"

/* Whatever stands behind it on the link waits, too: renewals. */
TEST(redis_wait, is_short_against_the_lease)
{
    begin_with("wait=1", 1);
    send(&req, &a, VERB_PROPOSE, "job");
    req.lease_us = 800 * US_PER_MS;
    f.backend->flush(f.conn);
    script_expect(&s, &f, "WAIT\r\n$1\r\n1\r\n$3\r\n100\r\n");
}

TEST(redis_wait, is_short_once_replicas_were_missing)
{
    begin_with("wait=1", 1);
    propose_counted(WHOLE, UNCOUNTED, ":0\r\n");
    propose_counted(SHORT, 1, ":1\r\n");
    CHECK_INT(a.reply.verdict, V_GRANTED);
    propose();
    script_expect(&s, &f, WHOLE);
}

TEST(redis_wait, gives_replicas_that_are_slow_the_whole_time_now_and_then)
{
    begin_with("wait=1", 1);
    propose_counted(WHOLE, UNCOUNTED, ":0\r\n");
    for (int i = 0; i < 3; i++) propose_counted(SHORT, 1, ":0\r\n");
    propose_counted(WHOLE, 1, ":1\r\n");
    CHECK_INT(a.reply.verdict, V_GRANTED);
}

TEST(redis_wait, is_short_after_a_link_that_was_given_up_meanwhile)
{
    begin_with("wait=1", 1);
    propose();
    script_expect(&s, &f, WHOLE);
    script_say(&s, GRANTED);
    server_pump_ms(&f, 50);
    script_hang_up(&s);
    fake_wait(&f, &a);
    greet(1, ":0\r\n");
    server_wait_link(&f, 1);
    propose();
    script_expect(&s, &f, SHORT);
}

/* ---- what cannot be had -------------------------------------------------- */

TEST(redis_wait, that_there_are_not_so_many_replicas_is_said_soon)
{
    begin_with("wait=2", 1);
    propose();
    script_expect(&s, &f, "WAIT\r\n$1\r\n2\r\n$3\r\n250\r\n");
    script_say(&s, GRANTED ":1\r\n");
    fake_wait(&f, &a);
    CHECK_INT(a.reply.verdict, V_UNKNOWN);
    check_text(&a, "wait: 1 of 2 replicas answered in time; only 1 connected");
}

TEST(redis_wait, a_server_that_does_not_have_it_is_refused)
{
    open_with("wait=1");
    greet(1, "-ERR unknown command 'WAIT', with args beginning with: '0'\r\n");
    while (!f.link_err.text[0]) fake_pump(&f, 10);
    CHECK_INT(f.link_err.status, HF_UNSUPPORTED);
    if (!strstr(f.link_err.text, "wait: the server has no WAIT"))
        TEST_FAIL("%s", f.link_err.text);
    CHECK(!f.is_up);
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
