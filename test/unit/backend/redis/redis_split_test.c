/*
 * redis_split_test.c: a scripted server whose words arrive in pieces, or not
 * at all.  One rule: however the bytes are cut, the answer is the same; and
 * if it is cut off, the request ends with what can be known about it.
 */
#include <poll.h>
#include <string.h>

#include "lib/server.h"
#include "sys/clock.h"
#include "test.h"

static struct script s;
static struct fake_env f;
static struct fake_answer a, b;

static const char granted[] = "*4\r\n:1\r\n:1700000000000017\r\n"
                              ":1700000000000016\r\n:-2\r\n";

static struct request propose(void)
{
    return server_request(VERB_PROPOSE, "job", 1, 42);
}

static void begin(void)
{
    script_begin(&s);
    server_open(&f, s.url);
    script_greet(&s, &f);
}

static void check_text(const char *words)
{
    CHECK(strstr(a.text, s.url) == a.text);
    if (!strstr(a.text, words)) TEST_FAIL("\"%s\" lacks %s", a.text, words);
}

TEST(redis_split, a_reply_cut_at_any_byte_is_the_same_reply)
{
    begin();
    for (size_t i = 1; i < sizeof granted - 1; i++) {
        struct request req = propose();
        fake_submit(&f, &req, &a);
        script_expect(&s, &f, "some label\r\n");
        script_send(&s, granted, i);
        fake_pump(&f, 0);
        CHECK(!a.is_done);
        script_send(&s, granted + i, sizeof granted - 1 - i);
        fake_wait(&f, &a);
        CHECK_INT(a.reply.verdict, V_GRANTED);
        CHECK_INT(a.reply.fence, 1700000000000017);
        CHECK_INT(a.reply.node_us, 1700000000000016);
    }
}

TEST(redis_split, a_greeting_byte_by_byte_is_a_greeting)
{
    static const char words[] =
        "+OK\r\n*3\r\n+master\r\n:7\r\n*0\r\n$13\r\nrole:master\r\n\r\n"
        "$-1\r\n+a\r\n+b\r\n+c\r\n+d\r\n+e\r\n+f\r\n+g\r\n+h\r\n+i\r\n"
        "*2\r\n$10\r\n1700000000\r\n$2\r\n17\r\n";
    script_begin(&s);
    server_open(&f, s.url);
    script_accept(&s, &f);
    script_expect(&s, &f, "TIME\r\n");
    for (size_t i = 0; i < sizeof words - 1; i++) {
        CHECK_INT(f.is_up, 0);
        script_send(&s, words + i, 1);
        fake_pump(&f, 10);
    }
    server_wait_link(&f, 1);
    CHECK_INT(f.link_node_us, 1700000000 * US_PER_S + 17);
}

TEST(redis_split, a_reply_cut_off_at_any_byte_is_unknown_and_the_link_recovers)
{
    begin();
    for (size_t i = 0; i < sizeof granted - 1; i++) {
        struct request req = propose();
        fake_submit(&f, &req, &a);
        script_expect(&s, &f, "some label\r\n");
        script_send(&s, granted, i);
        fake_pump(&f, 0);
        script_hang_up(&s);
        fake_wait(&f, &a);
        CHECK_INT(a.reply.verdict, V_UNKNOWN);
        CHECK_INT(a.reply.status, HF_UNAVAILABLE);
        check_text(": ");
        script_greet(&s, &f);
    }
}

TEST(redis_split, a_greeting_cut_off_at_any_byte_leaves_requests_unsent)
{
    static const char words[] =
        "+OK\r\n*3\r\n+master\r\n:7\r\n*0\r\n$13\r\nrole:master\r\n\r\n"
        "+a\r\n+b\r\n+c\r\n+d\r\n+e\r\n+f\r\n+g\r\n+h\r\n+i\r\n"
        "*2\r\n$10\r\n1700000000\r\n$2\r\n17\r\n";
    script_begin(&s);
    server_open(&f, s.url);
    for (size_t i = 0; i < sizeof words - 1; i++) {
        struct request req = propose();
        fake_submit(&f, &req, &a);
        script_accept(&s, &f);
        script_expect(&s, &f, "TIME\r\n");
        script_send(&s, words, i);
        fake_pump(&f, 0);
        script_hang_up(&s);
        fake_wait(&f, &a);
        CHECK_INT(a.reply.verdict, V_UNSENT);
        /* Patience: the pauses between tries have grown by now. */
        fake_close(&f);
        server_open(&f, s.url);
    }
}

TEST(redis_split, of_two_the_answered_one_is_known_and_the_other_is_not)
{
    begin();
    struct request one = propose(), two = propose();
    fake_submit(&f, &one, &a);
    fake_submit(&f, &two, &b);
    script_expect(&s, &f, "some label\r\n");
    script_expect(&s, &f, "some label\r\n");
    script_send(&s, granted, sizeof granted - 1);
    script_hang_up(&s);
    fake_wait(&f, &b);
    CHECK_INT(a.reply.verdict, V_GRANTED);
    CHECK_INT(b.reply.verdict, V_UNKNOWN);
}

TEST(redis_split, what_the_kernel_never_took_is_unsent)
{
    enum { MANY = 20000 };
    static struct request reqs[MANY];
    static struct fake_answer answers[MANY];
    begin();
    for (int i = 0; i < MANY; i++) {
        reqs[i] = propose();
        fake_submit(&f, &reqs[i], &answers[i]);
    }
    f.backend->flush(f.conn);
    script_hang_up(&s);
    int unknown = 0, unsent = 0;
    for (int i = 0; i < MANY; i++) {
        fake_wait(&f, &answers[i]);
        unknown += answers[i].reply.verdict == V_UNKNOWN;
        unsent += answers[i].reply.verdict == V_UNSENT;
        /* In order: once one is unsent, all behind it are. */
        if (unsent) CHECK_INT(answers[i].reply.verdict, V_UNSENT);
    }
    CHECK_INT(unknown + unsent, MANY);
    CHECK(unknown > 0);
    CHECK(unsent > 0);
}

TEST(redis_split, a_web_server_is_not_a_redis_server)
{
    script_begin(&s);
    server_open(&f, s.url);
    struct request req = propose();
    fake_submit(&f, &req, &a);
    script_accept(&s, &f);
    script_expect(&s, &f, "TIME\r\n");
    script_say(&s, "HTTP/1.1 400 Bad Request\r\n\r\n");
    fake_wait(&f, &a);
    CHECK_INT(a.reply.verdict, V_UNSENT);
    CHECK_INT(a.reply.status, HF_UNAVAILABLE);
    check_text("not a Redis server: it answers \"HTTP/1.1 400 Bad Request\"");
}

TEST(redis_split, a_server_with_too_many_clients_says_so)
{
    script_begin(&s);
    server_open(&f, s.url);
    struct request req = propose();
    fake_submit(&f, &req, &a);
    script_accept(&s, &f);
    script_say(&s, "-ERR max number of clients reached\r\n");
    fake_wait(&f, &a);
    CHECK_INT(a.reply.verdict, V_UNSENT);
    CHECK_INT(a.reply.status, HF_UNAVAILABLE);
    check_text("the server has too many clients");
}

TEST(redis_split, errors_of_the_server_have_statuses)
{
    static const struct {
        const char *line;
        int status;
        const char *words;
    } rows[] = {
        {"-LOADING Redis is loading the dataset in memory", HF_UNAVAILABLE,
         "acquire: the server is loading its data: LOADING"},
        {"-MISCONF Redis is configured to save", HF_UNAVAILABLE, "cannot save"},
        {"-BUSY Redis is busy running a script", HF_UNAVAILABLE,
         "busy with a script"},
        {"-CLUSTERDOWN The cluster is down", HF_UNAVAILABLE,
         "the cluster is down"},
        {"-MOVED 1 127.0.0.1:1", HF_UNSUPPORTED, "a cluster's node"},
        {"-WRONGTYPE Operation against a key", HF_CONFLICT, "no lock"},
        {"-ERR Error running script (call to f_abc): @user_script:1: "
         "WRONGTYPE Operation against a key",
         HF_CONFLICT, "no lock"},
        {"-ERR Error running script (call to f_abc): @user_script:24: "
         "@user_script: 24: -OOM command not allowed",
         HF_UNAVAILABLE, "memory is full"},
        {"-ERR Error running script (call to f_abc): @user_script:30: "
         "@user_script: 30: ERR syntax error",
         HF_UNSUPPORTED, "Redis 6.2 or later is needed"},
        {"-ERR user_script:1: attempt to index a nil value", HF_INTERNAL,
         "the script failed"},
        {"-SOMETHING new", HF_UNAVAILABLE, "the server refused: SOMETHING"},
    };
    begin();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct request req = propose();
        fake_submit(&f, &req, &a);
        script_expect(&s, &f, "some label\r\n");
        script_say(&s, rows[i].line);
        script_say(&s, "\r\n");
        fake_wait(&f, &a);
        CHECK_INT(a.reply.verdict, V_ERROR);
        CHECK_INT(a.reply.status, rows[i].status);
        check_text(rows[i].words);
    }
    CHECK_INT(f.is_up, 1);
}

TEST(redis_split, what_only_a_replica_says_ends_the_link)
{
    static const struct {
        const char *line, *words;
    } rows[] = {
        {"-MASTERDOWN Link with MASTER is down",
         "the replica has lost its primary"},
        {"-READONLY You can't write against a read only replica.",
         "the server is a read-only replica"},
        {"-ERR Error running script (call to f_abc): @user_script:30: "
         "@user_script: 30: -READONLY You can't write against a replica",
         "the server is a read-only replica"},
    };
    begin();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct request req = propose();
        fake_submit(&f, &req, &a);
        script_expect(&s, &f, "some label\r\n");
        script_say(&s, rows[i].line);
        script_say(&s, "\r\n");
        fake_wait(&f, &a);
        CHECK_INT(a.reply.verdict, V_ERROR);
        CHECK_INT(a.reply.status, HF_UNAVAILABLE);
        check_text(rows[i].words);
        CHECK_INT(f.is_up, 0);
        script_greet(&s, &f);
    }
}

TEST(redis_split, an_answer_of_the_wrong_shape_ends_the_link)
{
    static const char *const shapes[] = {
        ":1\r\n",       "+OK\r\n",
        "$-1\r\n",      "*0\r\n",
        "*-1\r\n",      "*4\r\n:7\r\n:1\r\n:1\r\n:1\r\n",
        "*1\r\n:1\r\n", "*3\r\n:1\r\n:1\r\n:1\r\n"};
    begin();
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct request req = propose();
        fake_submit(&f, &req, &a);
        script_expect(&s, &f, "some label\r\n");
        script_say(&s, shapes[i]);
        fake_wait(&f, &a);
        CHECK_INT(a.reply.verdict, V_UNKNOWN);
        check_text("unexpected answer");
        script_greet(&s, &f);
    }
}

TEST(redis_split, an_answer_nobody_asked_for_ends_the_link)
{
    begin();
    script_say(&s, ":1\r\n");
    server_wait_link(&f, 0);
    script_greet(&s, &f);
}

TEST(redis_split, an_endless_answer_ends_the_link)
{
    static char zeros[65536];
    memset(zeros, '0', sizeof zeros);
    begin();
    struct request req = propose();
    req.deadline_us = hf__clock_us() + 60 * US_PER_S;
    fake_submit(&f, &req, &a);
    script_expect(&s, &f, "some label\r\n");
    script_say(&s, "$2000000000\r\n");
    for (int i = 0; i < 300 && !a.is_done; i++) {
        script_send(&s, zeros, sizeof zeros);
        fake_pump(&f, 10);
    }
    fake_wait(&f, &a);
    CHECK_INT(a.reply.verdict, V_UNKNOWN);
}

TEST(redis_split, a_renewal_batch_that_is_too_short_is_unknown)
{
    begin();
    struct request one = server_request(VERB_RENEW, "a", 1, 42);
    struct request two = server_request(VERB_RENEW, "b", 1, 42);
    fake_submit(&f, &one, &a);
    fake_submit(&f, &two, &b);
    script_expect(&s, &f, " 1 \r\n");
    script_say(&s, "*2\r\n:1\r\n:5\r\n");
    fake_wait(&f, &a);
    fake_wait(&f, &b);
    CHECK_INT(a.reply.verdict, V_UNKNOWN);
    CHECK_INT(b.reply.verdict, V_UNKNOWN);
}

/* ---- nobody looked for a while ---- */

static void nap_ms(int64_t ms)
{
    poll(NULL, 0, (int)ms);
}

static void timer_run(void)
{
    f.timer_us = TIME_NEVER;
    f.backend->process(f.conn, -1, 0);
}

TEST(redis_split, a_greeting_that_lay_unread_still_counts)
{
    script_begin(&s);
    server_open(&f, s.url);
    f.conf.timeout_us = 200 * US_PER_MS;
    script_accept(&s, &f);
    script_expect(&s, &f, "TIME\r\n");
    script_say(&s, "+OK\r\n+a\r\n+b\r\n$-1\r\n"
                   "+1\r\n+2\r\n+3\r\n+4\r\n+5\r\n+6\r\n+7\r\n+8\r\n+9\r\n"
                   "*2\r\n$10\r\n1700000000\r\n$2\r\n17\r\n");
    nap_ms(2500); /* longer than the limit that open() began with */
    timer_run();
    CHECK_STR(f.link_err.text, "");
    /* The time it told is old by now, and asked for again. */
    CHECK_INT(f.is_up, 0);
    script_expect(&s, &f, "TIME\r\n");
    script_say(&s, "*2\r\n$10\r\n1700000002\r\n$2\r\n17\r\n");
    server_wait_link(&f, 1);
    CHECK_INT(f.link_node_us, 1700000002 * US_PER_S + 17);
}

TEST(redis_split, an_answer_that_lay_unread_still_counts)
{
    begin();
    struct request req = propose();
    req.deadline_us = hf__clock_us() + 50 * US_PER_MS;
    fake_submit(&f, &req, &a);
    f.backend->flush(f.conn);
    script_send(&s, granted, sizeof granted - 1);
    nap_ms(100);
    timer_run();
    CHECK(a.is_done);
    CHECK_INT(a.reply.verdict, V_GRANTED);
    CHECK_INT(f.is_up, 1);
}

TEST(redis_split, an_idle_link_that_was_closed_unseen_costs_no_request)
{
    begin();
    nap_ms(600);
    script_hang_up(&s);
    nap_ms(20);
    struct request req = propose();
    fake_submit(&f, &req, &a);
    f.backend->flush(f.conn);
    CHECK(!a.is_done);
    script_greet(&s, &f);
    script_expect(&s, &f, "some label\r\n");
    script_send(&s, granted, sizeof granted - 1);
    fake_wait(&f, &a);
    CHECK_INT(a.reply.verdict, V_GRANTED);
}

TEST(redis_split, a_server_that_never_greets_is_given_up)
{
    script_begin(&s);
    server_open(&f, s.url);
    f.conf.timeout_us = 2 * US_PER_S;
    struct request req = propose();
    req.deadline_us = hf__clock_us() + 60 * US_PER_S;
    fake_submit(&f, &req, &a);
    script_accept(&s, &f);
    script_expect(&s, &f, "TIME\r\n");
    fake_wait(&f, &a);
    CHECK_INT(a.reply.verdict, V_UNSENT);
    check_text("connect: no answer within 2000 ms");
}

/* The greeting said 1700000000. */
TEST(redis_split, an_answer_about_a_value_tells_the_server_s_clock_anew)
{
    static const char none[] = "*4\r\n:0\r\n:1800000000000000\r\n:-1\r\n"
                               "$0\r\n\r\n";
    begin();
    struct request look = server_request(VERB_VALUE_READ, "v", 1, 42);
    fake_submit(&f, &look, &a);
    script_expect(&s, &f, "\r\nv\r\n");
    script_send(&s, none, sizeof none - 1);
    fake_wait(&f, &a);
    CHECK_INT(a.reply.verdict, V_GRANTED);
    struct request put = server_request(VERB_VALUE_WRITE, "v", 2, 42);
    put.data = "x";
    put.data_len = 1;
    fake_submit(&f, &put, &a);
    script_expect(&s, &f, "\r\n$16\r\n18000000");
    script_say(&s, "*3\r\n:1\r\n:5\r\n:1800000000000001\r\n");
    fake_wait(&f, &a);
    CHECK_INT(a.reply.verdict, V_GRANTED);
}
