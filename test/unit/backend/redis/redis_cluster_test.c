/*
 * redis_cluster_test.c: the cluster's backend in a fake engine.  One rule:
 * every request is answered once, whatever runs out or comes in between.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/cluster_rig.h"
#include "lib/rig.h"
#include "lib/server.h"
#include "lib/starve.h"
#include "sys/clock.h"

static struct lab_cluster c;
static struct fake_env f;

/* ---- memory ---- */

/* Of one master there is one connection; of three, some of the same. */
TEST(redis_cluster, every_allocation_may_fail)
{
    cluster_rig_begin(&c, 1, 0);
    starve_backend(&hf__backend_redis_cluster, c.url, "a}b");
}

/* ---- requests ---- */

static void backend_end(void *arg)
{
    (void)arg;
    fake_close(&f);
}

static void open_at(const char *url)
{
    struct hf_error err;
    fake_init(&f, &hf__backend_redis_cluster);
    test_cleanup(backend_end, NULL);
    if (fake_open(&f, url, &err) != HF_OK) TEST_FAIL("%s", err.text);
}

TEST(redis_cluster, requests_may_come_before_the_map_is_known)
{
    static struct fake_answer a[8];
    static struct request reqs[8];
    static char names[8][8];
    cluster_rig_begin(&c, 3, 0);
    open_at(c.url);
    for (int i = 0; i < 8; i++) {
        snprintf(names[i], sizeof names[i], "n%d", i);
        reqs[i] = server_request(VERB_PROPOSE, names[i], 1, server_clock(&f));
        fake_submit(&f, &reqs[i], &a[i]);
    }
    f.backend->flush(f.conn);
    for (int i = 0; i < 8; i++) {
        fake_wait(&f, &a[i]);
        CHECK_INT(a[i].reply.verdict, V_GRANTED);
    }
    CHECK_INT(f.is_up, 1);
}

/* It would wait for the same link, and nothing is in doubt. */
TEST(redis_cluster, a_release_of_what_was_not_sent_is_not_sent_either)
{
    static struct fake_answer proposed, released;
    static struct request propose, release;
    char url[64];
    cluster_rig_begin(&c, 3, 0);
    int at = cluster_rig_at(&c, "job");
    snprintf(url, sizeof url, "redis-cluster://127.0.0.1:%d",
             c.nodes[(at + 1) % 3].port);
    open_at(url);
    server_wait_link(&f, 1);
    cluster_rig_stop(&c, at);
    propose = server_request(VERB_PROPOSE, "job", 1, server_clock(&f));
    release = server_request(VERB_RELEASE, "job", 1, propose.ballot);
    fake_submit(&f, &propose, &proposed);
    f.backend->flush(f.conn);
    fake_submit(&f, &release, &released);
    f.backend->flush(f.conn);
    fake_wait(&f, &released);
    cluster_rig_cont(&c, at);
    CHECK_INT(released.reply.verdict, V_ABSENT);
    CHECK_INT(proposed.is_done, 1);
    CHECK_INT(proposed.reply.verdict, V_UNSENT);
}

TEST(redis_cluster, what_waits_when_it_is_closed_is_answered)
{
    static struct fake_answer a, b;
    struct request one = server_request(VERB_PROPOSE, "job", 1, 1);
    struct request two = server_request(VERB_WATCH, "job", 1, 1);
    char url[64];
    rig_begin_at("memory:");
    snprintf(url, sizeof url, "redis-cluster://127.0.0.1:%d",
             redis_dead_port());
    open_at(url);
    fake_submit(&f, &one, &a);
    fake_submit(&f, &two, &b);
    fake_close(&f);
    CHECK_INT(a.reply.verdict, V_UNSENT);
    CHECK_INT(b.reply.verdict, V_UNSENT);
    CHECK_INT(a.reply.status, HF_CLOSED);
    CHECK_INT(f.allocs_open, 0);
}

TEST(redis_cluster, a_watch_that_is_ended_before_it_stands_leaves_nothing)
{
    static struct fake_answer a, b, d;
    struct request one = server_request(VERB_WATCH, "job", 1, 1);
    struct request two = server_request(VERB_UNWATCH, "job", 1, 1);
    struct request again = server_request(VERB_WATCH, "job", 1, 1);
    cluster_rig_begin(&c, 3, 0);
    open_at(c.url);
    server_wait_link(&f, 1);
    fake_submit(&f, &one, &a);
    f.backend->flush(f.conn);
    fake_submit(&f, &two, &b);
    f.backend->flush(f.conn);
    fake_wait(&f, &a);
    fake_wait(&f, &b);
    CHECK_INT(a.reply.verdict, V_UNSENT);
    CHECK_INT(b.reply.verdict, V_GRANTED);
    fake_call(&f, &again, &d);
    CHECK_INT(d.reply.verdict, V_GRANTED);
    int at = cluster_rig_at(&c, "job");
    CHECK(strstr(redis_say(&c.nodes[at], "PUBSUB SHARDNUMSUB "
                                         "redisson_lock__channel:{job}"),
                 "\n1")
          != NULL);
    struct request end = server_request(VERB_UNWATCH, "job", 1, 1);
    fake_call(&f, &end, &d);
    fake_close(&f);
    CHECK_INT(f.allocs_open, 0);
}

/* The server has ended the subscription just before it is told to, and refuses
 * that: it is no answer to anything else on the link. */
TEST(redis_cluster, a_watch_that_is_ended_as_its_slot_goes_disturbs_no_other)
{
    static struct fake_answer a;
    char other[16];
    int i = 0;
    cluster_rig_begin(&c, 3, 0);
    int from = cluster_rig_at(&c, "job");
    do snprintf(other, sizeof other, "other%d", i++);
    while (cluster_rig_at(&c, other) != from);
    open_at(c.url);
    server_do(&f, server_request(VERB_WATCH, "job", 1, 1), &a);
    server_do(&f, server_request(VERB_WATCH, other, 1, 1), &a);
    CHECK_INT(a.reply.verdict, V_GRANTED);
    cluster_rig_move(&c, cluster_rig_slot(&c, "job"), from, (from + 1) % 3);
    server_do(&f, server_request(VERB_UNWATCH, "job", 1, 1), &a);
    server_do(&f, server_request(VERB_WATCH, "job", 1, 1), &a);
    CHECK_INT(a.reply.verdict, V_GRANTED);
    /* If the link had been given up, messages could have been missed. */
    server_pump_ms(&f, 300);
    CHECK_INT(f.wakes, 0);
}

/* The same number of commands as of one server: nothing is asked twice. */
TEST(redis_cluster, a_map_that_is_right_is_asked_for_once)
{
    static struct fake_answer a;
    int64_t asked = 0;
    cluster_rig_begin(&c, 3, 0);
    open_at(c.url);
    server_wait_link(&f, 1);
    for (int i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        struct request req =
            server_request(VERB_PROPOSE, name, 1, server_clock(&f));
        fake_call(&f, &req, &a);
        CHECK_INT(a.reply.verdict, V_GRANTED);
    }
    for (int i = 0; i < 3; i++) {
        const char *at = strstr(redis_say(&c.nodes[i], "INFO commandstats"),
                                "cmdstat_cluster|slots:calls=");
        if (at)
            asked +=
                strtoll(at + strlen("cmdstat_cluster|slots:calls="), NULL, 10);
    }
    CHECK_INT(asked, 1);
}

/* Nothing is lost by it, but that is known afterwards only. */
TEST(redis_cluster, a_master_that_hands_over_is_said_to_be_replaced)
{
    static struct fake_answer a;
    cluster_rig_begin(&c, 3, 1);
    int at = cluster_rig_at(&c, "job");
    open_at(c.url);
    server_do(&f, server_request(VERB_PROPOSE, "job", 1, server_clock(&f)), &a);
    CHECK_INT(a.reply.verdict, V_GRANTED);
    int64_t end_us = hf__clock_us() + FAKE_WAIT_MS * US_PER_MS;
    for (int i = 0; f.warnings == 0; i++) {
        CHECK(hf__clock_us() < end_us);
        /* Redis gives one up that takes five seconds, without a word. */
        if (i % 100 == 0) redis_say(&c.nodes[at + 3], "CLUSTER FAILOVER");
        server_do(&f, server_request(VERB_RENEW, "job", 1, 1), &a);
        server_pump_ms(&f, 50);
    }
    CHECK_INT(a.reply.verdict, V_GRANTED);
}

/* ---- as one server ---- */

TEST(redis_cluster, a_node_of_it_is_refused_as_a_member_of_a_quorum)
{
    static struct fake_answer a;
    struct request req = {.verb = VERB_BOOT,
                          .name = "us",
                          .name_len = 2,
                          .info = "before",
                          .lease_us = 30 * US_PER_S,
                          .window_us = 31 * US_PER_S};
    cluster_rig_begin(&c, 1, 0);
    server_connect(&f, c.nodes[0].url);
    CHECK_INT(server_do(&f, req, &a), V_ERROR);
    CHECK_INT(a.reply.status, HF_INVALID);
    CHECK(strstr(a.text, "cluster mode") != NULL);
}
