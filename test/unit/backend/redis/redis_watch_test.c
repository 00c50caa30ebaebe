/*
 * redis_watch_test.c: wake-ups.  One rule: no release may be missed without
 * the watcher being woken once the subscription is back.
 */
#include <string.h>
#include <sys/socket.h>

#include "lib/rig_redis.h"
#include "lib/server.h"
#include "sys/clock.h"
#include "test.h"

static struct lab_server r;
static struct fake_env f, g;
static struct fake_answer a, b;

static void begin(void)
{
    redis_begin(&r, NULL);
    server_connect(&f, r.url);
    server_connect(&g, r.url);
}

static enum verdict run(struct fake_env *on, enum verb op, const char *name,
                        int64_t ballot)
{
    return server_do(on, server_request(op, name, 1, ballot), &a);
}

static int64_t subscribers(const char *channel)
{
    const char *lines = redis_say(&r, "PUBSUB NUMSUB %s", channel);
    const char *at = strchr(lines, '\n');
    return at ? at[1] - '0' : -1;
}

TEST(redis_watch, a_release_wakes_the_watcher)
{
    begin();
    int64_t t = server_clock(&f);
    CHECK_INT(run(&g, VERB_PROPOSE, "job", t), V_GRANTED);
    CHECK_INT(run(&f, VERB_WATCH, "job", 0), V_GRANTED);
    CHECK_INT(subscribers("redisson_lock__channel:{job}"), 1);
    CHECK_INT(run(&g, VERB_RELEASE, "job", t), V_GRANTED);
    CHECK_INT(a.reply.waiters, 1);
    fake_wait_wakes(&f, 1);
    CHECK_STR(f.woken, "job");
}

TEST(redis_watch, the_message_is_the_one_redisson_sends)
{
    begin();
    CHECK_INT(run(&f, VERB_WATCH, "job", 0), V_GRANTED);
    redis_say(&r, "PUBLISH redisson_lock__channel:{job} 0");
    fake_wait_wakes(&f, 1);
    CHECK_STR(f.woken, "job");
}

TEST(redis_watch, a_break_wakes_the_watcher_too)
{
    begin();
    CHECK_INT(run(&g, VERB_PROPOSE, "job", server_clock(&f)), V_GRANTED);
    CHECK_INT(run(&f, VERB_WATCH, "job", 0), V_GRANTED);
    CHECK_INT(run(&g, VERB_BREAK, "job", 0), V_GRANTED);
    fake_wait_wakes(&f, 1);
}

TEST(redis_watch, an_unwatched_name_is_not_woken)
{
    begin();
    CHECK_INT(run(&f, VERB_WATCH, "job", 0), V_GRANTED);
    CHECK_INT(run(&f, VERB_WATCH, "other", 0), V_GRANTED);
    CHECK_INT(run(&f, VERB_UNWATCH, "job", 0), V_GRANTED);
    int64_t left = 1;
    for (int i = 0; i < 200 && left > 0; i++) {
        server_pump_ms(&f, 5);
        left = subscribers("redisson_lock__channel:{job}");
    }
    CHECK_INT(left, 0);
    redis_say(&r, "PUBLISH redisson_lock__channel:{job} 0");
    redis_say(&r, "PUBLISH redisson_lock__channel:{other} 0");
    fake_wait_wakes(&f, 1);
    CHECK_INT(f.wakes, 1);
    CHECK_STR(f.woken, "other");
}

TEST(redis_watch, unwatching_what_was_never_watched_is_done)
{
    begin();
    CHECK_INT(run(&f, VERB_UNWATCH, "job", 0), V_GRANTED);
}

TEST(redis_watch, two_names_on_one_channel_are_both_woken)
{
    begin();
    CHECK_INT(run(&f, VERB_WATCH, "a", 0), V_GRANTED);
    CHECK_INT(run(&f, VERB_WATCH, "{a}", 0), V_GRANTED);
    redis_say(&r, "PUBLISH redisson_lock__channel:{a} 0");
    fake_wait_wakes(&f, 2);
    CHECK_INT(run(&f, VERB_UNWATCH, "a", 0), V_GRANTED);
    redis_say(&r, "PUBLISH redisson_lock__channel:{a} 0");
    fake_wait_wakes(&f, 3);
    CHECK_STR(f.woken, "{a}");
}

TEST(redis_watch, a_thousand_names_share_one_connection)
{
    static struct request reqs[1000];
    static struct fake_answer answers[1000];
    static char names[1000][16];
    begin();
    for (int i = 0; i < 1000; i++) {
        snprintf(names[i], sizeof names[i], "job%d", i);
        reqs[i] = server_request(VERB_WATCH, names[i], 1, 0);
        fake_submit(&f, &reqs[i], &answers[i]);
    }
    for (int i = 0; i < 1000; i++) {
        fake_wait(&f, &answers[i]);
        CHECK_INT(answers[i].reply.verdict, V_GRANTED);
    }
    CHECK_INT(redis_info(&r, "connected_clients"), 4);
    redis_say(&r, "PUBLISH redisson_lock__channel:{job777} 0");
    fake_wait_wakes(&f, 1);
    CHECK_STR(f.woken, "job777");
}

TEST(redis_watch, a_cut_subscription_comes_back_and_wakes_everybody)
{
    begin();
    CHECK_INT(run(&f, VERB_WATCH, "one", 0), V_GRANTED);
    CHECK_INT(run(&f, VERB_WATCH, "two", 0), V_GRANTED);
    redis_say(&r, "CLIENT KILL TYPE pubsub");
    fake_wait_wakes(&f, 2);
    CHECK_INT(subscribers("redisson_lock__channel:{one}"), 1);
    redis_say(&r, "PUBLISH redisson_lock__channel:{one} 0");
    fake_wait_wakes(&f, 3);
    CHECK_STR(f.woken, "one");
}

TEST(redis_watch, a_restarted_server_wakes_the_watchers)
{
    begin();
    CHECK_INT(run(&f, VERB_WATCH, "one", 0), V_GRANTED);
    redis_shutdown(&r, 0);
    server_wait_link(&f, 0);
    redis_start(&r);
    fake_wait_wakes(&f, 1);
    CHECK_STR(f.woken, "one");
}

TEST(redis_watch, a_user_who_may_not_subscribe_is_denied)
{
    char url[128];
    redis_begin(&r, NULL);
    redis_say(&r, "ACL SETUSER bob on >pw ~* +@all resetchannels &allowed");
    redis_say(&r, "ACL SETUSER eve on >pw ~* &* +@all -subscribe");
    for (int i = 0; i < 2; i++) {
        snprintf(url, sizeof url, "redis://%s:pw@127.0.0.1:%d",
                 i ? "bob" : "eve", r.port);
        server_connect(&f, url);
        CHECK_INT(run(&f, VERB_WATCH, "job", 0), V_ERROR);
        CHECK_INT(a.reply.status, HF_DENIED);
        CHECK(strstr(a.text, "SUBSCRIBE: not permitted: the user lacks the ")
              != NULL);
        CHECK(strstr(a.text, i ? "lacks the channel" : "lacks the command")
              != NULL);
        /* The locks themselves are another matter. */
        CHECK_INT(run(&f, VERB_PROPOSE, i ? "y" : "x", server_clock(&f)),
                  V_GRANTED);
        fake_close(&f);
    }
}

TEST(redis_watch, a_watch_without_a_server_is_unsent)
{
    char url[64];
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", redis_dead_port());
    server_open(&f, url);
    CHECK_INT(run(&f, VERB_WATCH, "job", 0), V_UNSENT);
    CHECK_INT(a.reply.status, HF_UNAVAILABLE);
}

TEST(redis_watch, a_watch_that_is_not_confirmed_in_time_is_unknown)
{
    begin();
    CHECK_INT(run(&f, VERB_WATCH, "one", 0), V_GRANTED);
    redis_pause(&r);
    struct request req = server_request(VERB_WATCH, "two", 1, 0);
    struct request again = req;
    f.conf.timeout_us = 200 * US_PER_MS;
    fake_submit(&f, &req, &a);
    f.backend->flush(f.conn);
    fake_wait(&f, &a);
    redis_resume(&r);
    f.conf.timeout_us = 5 * US_PER_S;
    CHECK_INT(a.reply.verdict, V_UNKNOWN);
    /* The first is back by itself, the second when it is asked for again. */
    fake_wait_wakes(&f, 1);
    CHECK_STR(f.woken, "one");
    fake_call(&f, &again, &b);
    CHECK_INT(b.reply.verdict, V_GRANTED);
}

static int64_t skew_us;

static int64_t skewed_now(struct backend_env *env)
{
    (void)env;
    return hf__clock_us() + skew_us;
}

/* Let the backend believe that `us` have passed. */
static void pass(int64_t us)
{
    skew_us += us;
    f.backend->process(f.conn, -1, 0);
}

static void subscribe_by_script(struct script *sub)
{
    struct request req = server_request(VERB_WATCH, "job", 1, 0);
    req.deadline_us = TIME_NEVER;
    fake_submit(&f, &req, &a);
    f.backend->flush(f.conn);
    script_accept(sub, &f);
    script_expect(sub, &f, "PING\r\n");
    script_say(sub, "+OK\r\n+PONG\r\n");
    script_expect(sub, &f, "redisson_lock__channel:{job}\r\n");
    script_say(sub, "*3\r\n$9\r\nsubscribe\r\n"
                    "$28\r\nredisson_lock__channel:{job}\r\n:1\r\n");
    fake_wait(&f, &a);
    CHECK_INT(a.reply.verdict, V_GRANTED);
}

TEST(redis_watch, a_silent_subscription_is_pinged_and_given_up)
{
    static struct script s, sub;
    script_begin(&s);
    server_open(&f, s.url);
    skew_us = 0;
    f.env.now = skewed_now;
    script_greet(&s, &f);
    sub = s; /* the same port, another connection */
    sub.fd = -1;
    subscribe_by_script(&sub);
    pass(11 * US_PER_S);
    script_expect(&sub, &f, "PING\r\n");
    script_say(&sub, "*2\r\n$4\r\npong\r\n$0\r\n\r\n");
    server_pump_ms(&f, 20);
    pass(6 * US_PER_S); /* it has answered: no harm */
    pass(5 * US_PER_S);
    script_expect(&sub, &f, "PING\r\n");
    pass(6 * US_PER_S); /* it has not */
    char byte;
    CHECK_INT(recv(sub.fd, &byte, 1, 0), 0);
    script_hang_up(&sub);
}
