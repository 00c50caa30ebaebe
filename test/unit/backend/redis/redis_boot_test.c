/*
 * redis_boot_test.c: a real server as a member of a quorum.  One rule: the
 * marker is read with plain commands, never through the code under test.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/rig_redis.h"
#include "lib/server.h"
#include "sys/clock.h"
#include "test.h"

#define LEASE (30 * US_PER_S)
#define QUARANTINE (LEASE + 310 * US_PER_MS)

static struct lab_server r;
static struct fake_env f;
static struct fake_answer a;

static void begin_with(const char *const *args)
{
    redis_begin(&r, args);
    server_connect(&f, r.url);
}

static void begin(void)
{
    begin_with(NULL);
}

static enum verdict boot(unsigned flags, const char *group)
{
    struct request req = {.verb = VERB_BOOT,
                          .flags = flags,
                          .name = group,
                          .name_len = strlen(group),
                          .info = "before",
                          .lease_us = LEASE,
                          .window_us = QUARANTINE};
    return server_do(&f, req, &a);
}

static enum verdict propose(const char *name, unsigned flags)
{
    struct request req =
        server_request(VERB_PROPOSE, name, 1, server_clock(&f) + US_PER_S);
    req.flags = flags;
    return server_do(&f, req, &a);
}

/* The next life of the server, with its data. */
static void restart(void)
{
    fake_close(&f);
    redis_shutdown(&r, 1);
    redis_start(&r);
    server_connect(&f, r.url);
}

static const char *info_of(const char *field)
{
    static char text[64];
    const char *at = strstr(redis_say(&r, "INFO server"), field);
    CHECK(at != NULL);
    at += strlen(field) + 1;
    snprintf(text, sizeof text, "%.*s", (int)strcspn(at, "\r\n"), at);
    return text;
}

TEST(redis_boot, a_new_server_gets_a_marker_and_a_quarantine)
{
    char expected[256];
    begin();
    CHECK_INT(boot(0, "us"), V_GRANTED);
    CHECK_INT(a.boot.left_us, QUARANTINE);
    CHECK(a.boot.is_new);
    CHECK_STR(a.boot.identity, info_of("run_id"));
    snprintf(expected, sizeof expected, "v1 us %s %lld 30000",
             info_of("run_id"), (long long)(a.reply.node_us + QUARANTINE));
    CHECK_STR(redis_say(&r, "GET holdfast:boot"), expected);
    CHECK_INT(redis_number(&r, "PTTL holdfast:boot"), -1);
}

TEST(redis_boot, the_version_is_told)
{
    int major = 0, minor = 0, patch = 0;
    begin();
    CHECK_INT(boot(0, "us"), V_GRANTED);
    CHECK_INT(
        sscanf(info_of("redis_version"), "%d.%d.%d", &major, &minor, &patch),
        3);
    CHECK_INT(a.boot.version, major * 10000 + minor * 100 + patch);
}

TEST(redis_boot, without_a_marker_no_proposal_of_a_quorum_is_accepted)
{
    begin();
    CHECK_INT(propose("job", REQ_QUORUM), V_UNSETTLED);
    CHECK_INT(redis_number(&r, "EXISTS job"), 0);
    CHECK_INT(redis_number(&r, "EXISTS redisson_lock_token:{job}"), 0);
}

TEST(redis_boot, with_a_marker_a_proposal_of_a_quorum_is_accepted)
{
    begin();
    CHECK_INT(boot(REQ_BOOT_NEW, "us"), V_GRANTED);
    CHECK_INT(propose("job", REQ_QUORUM), V_GRANTED);
}

static struct request vote(int64_t ahead_us)
{
    struct request req =
        server_request(VERB_PROPOSE, "job", 1, server_clock(&f) + ahead_us);
    req.flags = REQ_QUORUM;
    return req;
}

static void check_counter(int64_t expected)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)expected);
    CHECK_STR(redis_say(&r, "GET redisson_lock_token:{job}"), text);
}

TEST(redis_boot, a_vote_is_for_our_own_number_and_tells_the_node_s_clock)
{
    begin();
    CHECK_INT(boot(REQ_BOOT_NEW, "us"), V_GRANTED);
    struct request req = vote(60 * US_PER_S);
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    CHECK_INT(a.reply.fence, req.ballot);
    CHECK(a.reply.node_us < req.ballot);
    CHECK(a.reply.node_us > req.ballot - 120 * US_PER_S);
    check_counter(req.ballot);
}

TEST(redis_boot, a_vote_reserves_what_it_is_asked_to)
{
    begin();
    CHECK_INT(boot(REQ_BOOT_NEW, "us"), V_GRANTED);
    struct request req = vote(US_PER_S);
    req.block = 8;
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    CHECK_INT(a.reply.fence, req.ballot);
    check_counter(req.ballot + 8);
}

TEST(redis_boot, a_number_older_than_the_window_it_came_with_is_stale)
{
    begin();
    CHECK_INT(boot(REQ_BOOT_NEW, "us"), V_GRANTED);
    struct request req = vote(-US_PER_S);
    req.window_us = US_PER_S / 2;
    CHECK_INT(server_do(&f, req, &a), V_STALE);
}

TEST(redis_boot, a_flushed_server_is_found_out_by_the_next_proposal)
{
    begin();
    CHECK_INT(boot(REQ_BOOT_NEW, "us"), V_GRANTED);
    CHECK_STR(redis_say(&r, "FLUSHALL"), "OK");
    CHECK_INT(propose("job", REQ_QUORUM), V_UNSETTLED);
    CHECK(a.reply.node_us > 0);
}

TEST(redis_boot, strings_need_the_marker_as_well)
{
    char url[128];
    redis_begin(&r, NULL);
    snprintf(url, sizeof url, "%s?format=string", r.url);
    server_connect(&f, url);
    CHECK_INT(propose("job", REQ_QUORUM), V_UNSETTLED);
    CHECK_INT(redis_number(&r, "EXISTS job"), 0);
    CHECK_INT(boot(REQ_BOOT_NEW, "us"), V_GRANTED);
    CHECK_INT(propose("job", REQ_QUORUM), V_GRANTED);
}

/* Some servers have asked themselves by the time they answer. */
static long config_calls(void)
{
    const char *stats = redis_say(&r, "INFO commandstats");
    const char *line = strstr(stats, "cmdstat_config|get:calls=");
    return line ? strtol(strchr(line, '=') + 1, NULL, 10) : 0;
}

TEST(redis_boot, one_server_alone_has_no_marker_and_needs_none)
{
    redis_begin(&r, NULL);
    long calls = config_calls();
    server_connect(&f, r.url);
    CHECK_INT(propose("job", REQ_SERVER_FENCE), V_GRANTED);
    CHECK_INT(redis_number(&r, "EXISTS holdfast:boot"), 0);
    CHECK_INT(config_calls(), calls);
}

TEST(redis_boot, the_operators_word_settles_a_new_server_at_once)
{
    begin();
    CHECK_INT(boot(REQ_BOOT_NEW, "us"), V_GRANTED);
    CHECK_INT(a.boot.left_us, 0);
}

TEST(redis_boot, a_restart_begins_a_quarantine)
{
    begin();
    CHECK_INT(boot(REQ_BOOT_NEW, "us"), V_GRANTED);
    restart();
    CHECK_INT(boot(0, "us"), V_GRANTED);
    CHECK_INT(a.boot.left_us, QUARANTINE);
    CHECK(!a.boot.is_new);
}

TEST(redis_boot, a_reconnect_begins_none)
{
    begin();
    CHECK_INT(boot(REQ_BOOT_NEW, "us"), V_GRANTED);
    fake_close(&f);
    server_connect(&f, r.url);
    CHECK_INT(boot(0, "us"), V_GRANTED);
    CHECK_INT(a.boot.left_us, 0);
}

TEST(redis_boot, the_operators_word_that_nothing_is_lost_outlives_restarts)
{
    begin();
    CHECK_INT(boot(REQ_BOOT_NEW | REQ_BOOT_DURABLE, "us"), V_GRANTED);
    restart();
    CHECK_INT(boot(0, "us"), V_GRANTED);
    CHECK_INT(a.boot.left_us, 0);
    CHECK(a.boot.is_durable);
}

TEST(redis_boot, a_server_that_syncs_every_write_votes_after_a_restart)
{
    static const char *const args[] = {"--appendonly", "yes", "--appendfsync",
                                       "always", NULL};
    begin_with(args);
    CHECK_INT(boot(REQ_BOOT_NEW, "us"), V_GRANTED);
    CHECK(a.boot.is_durable);
    restart();
    CHECK_INT(boot(0, "us"), V_GRANTED);
    CHECK_INT(a.boot.left_us, 0);
}

/* Restarted to make it so: what was not synced before is gone. */
TEST(redis_boot, a_server_that_did_not_sync_before_may_have_forgotten)
{
    static const char *const before[] = {"--appendonly", "yes", NULL};
    static const char *const after[] = {"--appendonly", "yes", "--appendfsync",
                                        "always", NULL};
    begin_with(before);
    CHECK_INT(boot(REQ_BOOT_NEW, "us"), V_GRANTED);
    r.args = after;
    restart();
    CHECK_INT(boot(0, "us"), V_GRANTED);
    CHECK(a.boot.is_durable);
    CHECK(a.boot.left_us > LEASE);
}

/* Nobody knows whether the next life syncs, if it may not be asked. */
TEST(redis_boot, that_a_life_syncs_is_not_said_of_the_next_which_is_not_asked)
{
    static const char *const before[] = {"--appendonly", "yes", "--appendfsync",
                                         "always", NULL};
    static const char *const after[] = {
        "--appendonly", "yes", "--rename-command", "CONFIG", "hidden", NULL};
    begin_with(before);
    CHECK_INT(boot(REQ_BOOT_NEW, "us"), V_GRANTED);
    CHECK(strstr(redis_say(&r, "GET holdfast:boot"), " synced") != NULL);
    r.args = after;
    restart();
    CHECK_INT(boot(0, "us"), V_GRANTED);
    CHECK(a.boot.left_us > LEASE);
    CHECK(strstr(redis_say(&r, "GET holdfast:boot"), " synced") == NULL);
}

TEST(redis_boot, syncing_but_for_rewrites_is_not_enough)
{
    static const char *const args[] = {"--appendonly",
                                       "yes",
                                       "--appendfsync",
                                       "always",
                                       "--no-appendfsync-on-rewrite",
                                       "yes",
                                       NULL};
    begin_with(args);
    CHECK_INT(boot(REQ_BOOT_NEW, "us"), V_GRANTED);
    CHECK(!a.boot.is_durable);
}

TEST(redis_boot, the_word_always_without_a_log_is_not_enough)
{
    static const char *const args[] = {"--appendfsync", "always", NULL};
    begin_with(args);
    CHECK_INT(boot(REQ_BOOT_NEW, "us"), V_GRANTED);
    CHECK(!a.boot.is_durable);
}

TEST(redis_boot, a_member_of_another_quorum_is_refused)
{
    begin();
    CHECK_INT(boot(REQ_BOOT_NEW, "them"), V_GRANTED);
    CHECK_INT(boot(0, "us"), V_ERROR);
    CHECK_INT(a.reply.status, HF_CONFLICT);
    CHECK(strstr(a.text, "boot: it is a member of another quorum") != NULL);
}

TEST(redis_boot, a_member_is_not_new)
{
    begin();
    CHECK_INT(boot(REQ_BOOT_NEW, "us"), V_GRANTED);
    CHECK_INT(boot(REQ_BOOT_NEW, "us"), V_ERROR);
    CHECK_INT(a.reply.status, HF_CONFLICT);
}

TEST(redis_boot, a_server_with_a_lock_among_many_keys_is_not_new)
{
    begin();
    CHECK_STR(redis_say(&r, "EVAL 'for i = 1, 5000 do redis.call(\"SET\", "
                            "\"k\" .. i, \"v\") end return \"OK\"' 0"),
              "OK");
    CHECK_INT(boot(REQ_BOOT_LOOK, "us"), V_GRANTED);
    CHECK(!a.boot.has_locks);
    CHECK_INT(propose("job", REQ_SERVER_FENCE), V_GRANTED);
    CHECK_INT(boot(REQ_BOOT_LOOK, "us"), V_GRANTED);
    CHECK(a.boot.has_locks);
    CHECK_INT(boot(REQ_BOOT_NEW, "us"), V_ERROR);
    CHECK_INT(a.reply.status, HF_CONFLICT);
    CHECK_INT(redis_number(&r, "EXISTS holdfast:boot"), 0);
}

TEST(redis_boot, a_look_writes_nothing)
{
    begin();
    CHECK_INT(boot(REQ_BOOT_LOOK, "us"), V_GRANTED);
    CHECK(a.boot.is_new);
    CHECK_INT(redis_number(&r, "EXISTS holdfast:boot"), 0);
}

TEST(redis_boot, a_replica_is_refused)
{
    static struct lab_server primary;
    redis_begin(&primary, NULL);
    begin();
    CHECK_STR(redis_say(&r, "REPLICAOF 127.0.0.1 %d", primary.port), "OK");
    CHECK_INT(boot(0, "us"), V_ERROR);
    CHECK_INT(a.reply.status, HF_INVALID);
    CHECK(strstr(a.text, "replica") != NULL);
}

TEST(redis_boot, a_primary_with_replicas_shows_its_promotions)
{
    static struct lab_server copy;
    redis_begin(&copy, NULL);
    begin();
    CHECK_STR(redis_say(&copy, "REPLICAOF 127.0.0.1 %d", r.port), "OK");
    int64_t end_us = hf__clock_us() + FAKE_WAIT_MS * US_PER_MS;
    while (redis_info(&r, "connected_slaves") < 1) {
        CHECK(hf__clock_us() < end_us);
        server_pump_ms(&f, 20);
    }
    CHECK_INT(boot(0, "us"), V_GRANTED);
    CHECK_INT(strlen(a.boot.identity), 81);
}

TEST(redis_boot, what_is_no_marker_is_left_alone)
{
    begin();
    CHECK_STR(redis_say(&r, "SET holdfast:boot mine"), "OK");
    CHECK_INT(boot(0, "us"), V_ERROR);
    CHECK_INT(a.reply.status, HF_CONFLICT);
    CHECK_STR(redis_say(&r, "GET holdfast:boot"), "mine");
    CHECK_STR(redis_say(&r, "DEL holdfast:boot"), "1");
    CHECK_STR(redis_say(&r, "LPUSH holdfast:boot mine"), "1");
    CHECK_INT(boot(0, "us"), V_ERROR);
    CHECK_INT(a.reply.status, HF_CONFLICT);
}

/* A user who may lock, but may not ask INFO and CONFIG. */
static void begin_blind(void)
{
    char url[128];
    redis_begin(&r, NULL);
    CHECK_STR(redis_say(&r, "ACL SETUSER eve on >pw ~* &* +@all -info -config"),
              "OK");
    snprintf(url, sizeof url, "redis://eve:pw@127.0.0.1:%d", r.port);
    server_connect(&f, url);
}

TEST(redis_boot, where_info_is_denied_every_connect_is_a_restart)
{
    begin_blind();
    CHECK_INT(boot(REQ_BOOT_NEW, "us"), V_GRANTED);
    CHECK(!a.boot.is_known);
    CHECK_INT(boot(0, "us"), V_GRANTED);
    CHECK_INT(a.boot.left_us, QUARANTINE);
    CHECK(f.warnings > 0);
}

TEST(redis_boot, who_is_denied_info_makes_nobody_else_wait)
{
    static struct fake_env other;
    begin_blind();
    server_connect(&other, r.url);
    struct request req = {.verb = VERB_BOOT,
                          .flags = REQ_BOOT_NEW,
                          .name = "us",
                          .name_len = 2,
                          .lease_us = LEASE,
                          .window_us = QUARANTINE};
    CHECK_INT(server_do(&other, req, &a), V_GRANTED);
    CHECK_INT(boot(0, "us"), V_GRANTED);
    CHECK_INT(a.boot.left_us, QUARANTINE);
    req.flags = 0;
    CHECK_INT(server_do(&other, req, &a), V_GRANTED);
    CHECK_INT(a.boot.left_us, 0);
}

TEST(redis_boot, a_server_that_may_evict_locks_is_warned_of)
{
    static const char *const args[] = {
        "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru", NULL};
    begin_with(args);
    CHECK_INT(boot(0, "us"), V_GRANTED);
    CHECK_INT(f.warnings, 1);
}

TEST(redis_boot, without_a_group_nothing_is_sent)
{
    begin();
    CHECK_INT(boot(0, ""), V_ERROR);
    CHECK_INT(a.reply.status, HF_INVALID);
    CHECK_INT(redis_number(&r, "EXISTS holdfast:boot"), 0);
}

/* ---- a scripted server --------------------------------------------------- */

static struct script s;

static const char answers[] =
    "*2\r\n$11\r\nappendfsync\r\n$6\r\nalways\r\n"
    "*2\r\n$25\r\nno-appendfsync-on-rewrite\r\n$2\r\nno\r\n";
static const char decided[] =
    "*10\r\n:1\r\n:1700000000000000\r\n:30310000\r\n:30000\r\n"
    "$4\r\nlife\r\n$5\r\n7.2.4\r\n$2\r\nus\r\n:1\r\n:0\r\n:0\r\n";

static struct request boot_start(void)
{
    return (struct request){.verb = VERB_BOOT,
                            .name = "us",
                            .name_len = 2,
                            .lease_us = LEASE,
                            .window_us = QUARANTINE};
}

static void say_in_two(const char *text, size_t len, size_t at)
{
    if (at > len) at = len;
    script_send(&s, text, at);
    fake_pump(&f, 0);
    CHECK(!a.is_done);
    script_send(&s, text + at, len - at);
}

TEST(redis_boot, answers_cut_at_any_byte_are_the_same_answers)
{
    script_begin(&s);
    server_open(&f, s.url);
    script_greet(&s, &f);
    for (size_t i = 1; i < sizeof decided - 1; i++) {
        struct request req = boot_start();
        fake_submit(&f, &req, &a);
        script_expect(&s, &f, "no-appendfsync-on-rewrite\r\n");
        say_in_two(answers, sizeof answers - 1, i);
        script_expect(&s, &f, "holdfast:boot\r\n");
        say_in_two(decided, sizeof decided - 1, i);
        fake_wait(&f, &a);
        CHECK_INT(a.reply.verdict, V_GRANTED);
        CHECK_INT(a.boot.left_us, QUARANTINE);
        CHECK_INT(a.boot.version, 70204);
        CHECK_STR(a.boot.identity, "life");
    }
}

TEST(redis_boot, an_answer_of_another_shape_ends_the_link)
{
    static const char *const wrong[] = {":1\r\n", "*1\r\n:1\r\n", "$-1\r\n"};
    script_begin(&s);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct request req = boot_start();
        server_open(&f, s.url);
        script_greet(&s, &f);
        fake_submit(&f, &req, &a);
        script_expect(&s, &f, "no-appendfsync-on-rewrite\r\n");
        script_say(&s, answers);
        script_expect(&s, &f, "holdfast:boot\r\n");
        script_say(&s, wrong[i]);
        fake_wait(&f, &a);
        CHECK_INT(a.reply.verdict, V_UNKNOWN);
        CHECK(!f.is_up);
        fake_close(&f);
    }
}

TEST(redis_boot, a_link_that_breaks_between_two_questions_is_doubt)
{
    struct request req = boot_start();
    script_begin(&s);
    server_open(&f, s.url);
    script_greet(&s, &f);
    fake_submit(&f, &req, &a);
    script_expect(&s, &f, "no-appendfsync-on-rewrite\r\n");
    script_say(&s, answers);
    script_expect(&s, &f, "holdfast:boot\r\n");
    script_hang_up(&s);
    fake_wait(&f, &a);
    CHECK_INT(a.reply.verdict, V_UNKNOWN);
}
