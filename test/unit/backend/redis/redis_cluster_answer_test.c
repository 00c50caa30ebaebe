/*
 * redis_cluster_answer_test.c: a cluster of scripted servers, for what real
 * ones say at rare moments only.  One rule: the first master is nobody, so that
 * the second one is known from it.
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/rig_redis.h"
#include "lib/server.h"
#include "test.h"

#define SECOND (UINT64_C(1) << 54) /* in a cursor: the second master */

static struct script s, t;
static struct fake_env f;
static struct fake_answer a, b;

static void backend_end(void *arg)
{
    (void)arg;
    fake_close(&f);
}

static void greeting_say(struct script *to)
{
    script_expect(to, &f, "TIME\r\n");
    script_say(to, "+OK\r\n");
    /* It is not asked for a marker: it cannot be a member of a quorum. */
    for (int i = 1; i < SERVER_SCRIPTS; i++) script_say(to, "$1\r\nx\r\n");
    script_say(to, "*2\r\n$10\r\n1700000000\r\n$2\r\n17\r\n");
}

static void map_say(void)
{
    char text[256];
    script_expect(&s, &f, "SLOTS\r\n");
    snprintf(text, sizeof text,
             "*2\r\n*3\r\n:0\r\n:9\r\n*2\r\n$9\r\n127.0.0.1\r\n:%d\r\n"
             "*3\r\n:10\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:%d\r\n",
             redis_dead_port(), s.port);
    script_say(&s, text);
}

static void begin(void)
{
    struct hf_error err;
    char url[80];
    script_begin(&s);
    snprintf(url, sizeof url, "redis-cluster://127.0.0.1:%d?pubsub=classic",
             s.port);
    fake_init(&f, &hf__backend_redis_cluster);
    test_cleanup(backend_end, NULL);
    CHECK_INT(fake_open(&f, url, &err), HF_OK);
    script_accept(&s, &f);
    greeting_say(&s);
    map_say();
    server_wait_link(&f, 1);
}

/* The request is refused, and the map asked for. */
static void refuse(struct request *req, struct fake_answer *answer,
                   const char *error)
{
    fake_submit(&f, req, answer);
    f.backend->flush(f.conn);
    script_expect(&s, &f, "EVALSHA\r\n");
    script_say(&s, error);
    fake_wait(&f, answer);
    CHECK_INT(answer->reply.verdict, V_UNSENT);
}

TEST(redis_cluster_answer, a_list_that_is_put_off_may_go_on_where_it_was)
{
    struct request req = {.verb = VERB_LIST, .cursor = SECOND | 5, .owner = ""};
    begin();
    req.deadline_us = f.env.now(&f.env) + 10 * US_PER_S;
    refuse(&req, &a, "-LOADING the data\r\n");
    CHECK(req.cursor == (SECOND | 5));
}

TEST(redis_cluster_answer, a_map_that_was_refused_once_is_good_afterwards)
{
    struct request req = server_request(VERB_PROPOSE, "job", 1, 42);
    begin();
    refuse(&req, &a, "-CLUSTERDOWN for a moment\r\n");
    script_expect(&s, &f, "SLOTS\r\n");
    script_say(&s, "-ERR not now\r\n");
    map_say();
    server_pump_ms(&f, 700);
    CHECK_INT(recv(s.fd, s.got, sizeof s.got, 0), -1); /* nothing was asked */
}

/* A new master serves nothing yet by the map while slots are moved to it. */
TEST(redis_cluster_answer, a_map_leaves_alone_who_was_asked_and_is_not_up_yet)
{
    struct request asked = server_request(VERB_RENEW, "job", 1, 42);
    struct request other = server_request(VERB_PROPOSE, "job", 1, 42);
    char text[64];
    begin();
    script_begin(&t);
    fake_submit(&f, &asked, &a);
    f.backend->flush(f.conn);
    script_expect(&s, &f, "EVALSHA\r\n");
    snprintf(text, sizeof text, "-ASK 12182 127.0.0.1:%d\r\n", t.port);
    script_say(&s, text);
    script_accept(&t, &f);
    refuse(&other, &b, "-CLUSTERDOWN for a moment\r\n");
    map_say();
    server_pump_ms(&f, 100);
    greeting_say(&t);
    script_expect(&t, &f, "ASKING\r\n");
    script_expect(&t, &f, "EVALSHA\r\n");
    script_say(&t, "+OK\r\n*2\r\n:1700000000000017\r\n:9000\r\n");
    fake_wait(&f, &a);
    CHECK_INT(a.reply.verdict, V_GRANTED);
}
