/*
 * redis_session_test.c: real servers that refuse, vanish, come back or cannot.
 * One rule: every fault has a status of its own and an error text that begins
 * with the endpoint.
 */
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/rig_redis.h"
#include "lib/server.h"
#include "sys/clock.h"
#include "test.h"

static struct lab_server r, r2;
static struct fake_env f;
static struct fake_answer a, b;

static enum verdict run(enum verb op, const char *name, uint64_t attempt,
                        int64_t ballot)
{
    return server_do(&f, server_request(op, name, attempt, ballot), &a);
}

static void check_text(const char *words)
{
    CHECK(strstr(a.text, "redis") == a.text);
    if (!strstr(a.text, words)) TEST_FAIL("\"%s\" lacks %s", a.text, words);
}

/* "redis://[user:password@]127.0.0.1:port[tail]" */
static const char *url_with(const char *user, const char *tail)
{
    static char url[256];
    snprintf(url, sizeof url, "redis://%s127.0.0.1:%d%s", user, r.port, tail);
    return url;
}

TEST(redis_session, the_link_comes_up_with_the_servers_clock)
{
    redis_begin(&r, NULL);
    server_connect(&f, r.url);
    int64_t off = f.link_node_us - hf__clock_wall_us();
    CHECK(off > -10 * US_PER_S && off < 10 * US_PER_S);
    CHECK(strstr(redis_say(&r, "CLIENT LIST"), "name=holdfast") != NULL);
}

TEST(redis_session, a_request_may_be_submitted_before_the_link_is_up)
{
    redis_begin(&r, NULL);
    server_open(&f, r.url);
    CHECK_INT(run(VERB_PROPOSE, "job", 1, server_clock(&f)), V_GRANTED);
}

TEST(redis_session, a_host_name_is_resolved)
{
    char url[64];
    redis_begin(&r, NULL);
    struct addrinfo *found = NULL;
    snprintf(url, sizeof url, "redis://localhost:%d", r.port);
    server_open(&f, url);
    int known = getaddrinfo("localhost", "1", NULL, &found) == 0;
    if (found) freeaddrinfo(found);
    CHECK_INT(run(VERB_PROPOSE, "job", 1, server_clock(&f)),
              known ? V_GRANTED : V_UNSENT);
}

TEST(redis_session, an_unknown_host_is_told_as_such)
{
    server_open(&f, "redis://no-such-host.invalid:6379");
    f.conf.timeout_us = 8 * US_PER_S;
    CHECK_INT(run(VERB_PROPOSE, "job", 1, server_clock(&f)), V_UNSENT);
    CHECK_INT(a.reply.status, HF_UNAVAILABLE);
    check_text("redis://no-such-host.invalid:6379: ");
}

TEST(redis_session, nobody_listening_is_unsent_at_once)
{
    char url[64];
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", redis_dead_port());
    server_open(&f, url);
    CHECK_INT(run(VERB_PROPOSE, "job", 1, server_clock(&f)), V_UNSENT);
    CHECK_INT(a.reply.status, HF_UNAVAILABLE);
    check_text("connect: Connection refused");
    CHECK_INT(f.is_up, 0);
}

TEST(redis_session, a_unix_socket_works_and_selects_a_database)
{
    static const char *const args[] = {"--unixsocket", "s.sock", NULL};
    char url[256];
    redis_begin(&r, args);
    snprintf(url, sizeof url, "redis+unix://%s/s.sock?db=3", r.dir);
    server_connect(&f, url);
    CHECK_INT(run(VERB_PROPOSE, "job", 1, server_clock(&f)), V_GRANTED);
    CHECK_INT(redis_number(&r, "DBSIZE"), 0);
    CHECK(strstr(redis_say(&r, "INFO keyspace"), "db3:keys=2") != NULL);
}

TEST(redis_session, the_path_selects_a_database)
{
    redis_begin(&r, NULL);
    server_connect(&f, url_with("", "/5"));
    CHECK_INT(run(VERB_PROPOSE, "job", 1, server_clock(&f)), V_GRANTED);
    CHECK(strstr(redis_say(&r, "INFO keyspace"), "db5:keys=2") != NULL);
}

TEST(redis_session, a_database_that_is_not_there_is_invalid)
{
    redis_begin(&r, NULL);
    server_open(&f, url_with("", "/99"));
    CHECK_INT(run(VERB_PROPOSE, "job", 1, server_clock(&f)), V_UNSENT);
    CHECK_INT(a.reply.status, HF_INVALID);
    check_text("SELECT: no such database");
}

TEST(redis_session, a_database_that_is_no_number_is_refused_at_open)
{
    struct hf_error err;
    const char *const bad[] = {"redis://h/x", "redis://h/-1", "redis://h/1x",
                               "redis://h/?db=x", "redis://h/1?db=2"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        fake_init(&f, &hf__backend_redis);
        CHECK_INT(fake_open(&f, bad[i], &err), HF_INVALID);
        CHECK(strstr(err.text, "url: database: ") == err.text);
        CHECK_INT(f.allocs_open, 0);
    }
}

TEST(redis_session, a_password_is_needed_wrong_or_right)
{
    static const char *const args[] = {"--requirepass", "secret", NULL};
    redis_begin(&r, args);
    server_open(&f, r.url);
    CHECK_INT(run(VERB_PROPOSE, "job", 1, server_clock(&f)), V_UNSENT);
    CHECK_INT(a.reply.status, HF_DENIED);
    check_text("a password is needed");
    fake_close(&f);
    server_open(&f, url_with(":wrong@", ""));
    CHECK_INT(run(VERB_PROPOSE, "job", 1, server_clock(&f)), V_UNSENT);
    CHECK_INT(a.reply.status, HF_DENIED);
    check_text("AUTH: wrong user or password");
    CHECK(!strstr(a.text, ":wrong@"));
    fake_close(&f);
    server_open(&f, url_with(":secret@", ""));
    CHECK_INT(run(VERB_PROPOSE, "job", 1, server_clock(&f)), V_GRANTED);
}

TEST(redis_session, the_clients_password_wins_over_the_urls)
{
    struct hf_error err;
    static const char *const args[] = {"--requirepass", "secret", NULL};
    redis_begin(&r, args);
    server_open(&f, r.url);
    fake_close(&f);
    fake_init(&f, &hf__backend_redis);
    f.conf.user = "default";
    f.conf.password = "secret";
    CHECK_INT(fake_open(&f, url_with("x:wrong@", ""), &err), HF_OK);
    CHECK_INT(run(VERB_PROPOSE, "job", 1, server_clock(&f)), V_GRANTED);
}

TEST(redis_session, a_user_who_may_not_run_scripts_is_denied)
{
    redis_begin(&r, NULL);
    redis_say(&r, "ACL SETUSER bob on >pw ~* &* +@all -evalsha -eval");
    server_open(&f, url_with("bob:pw@", ""));
    CHECK_INT(run(VERB_PROPOSE, "job", 1, server_clock(&f)), V_ERROR);
    CHECK_INT(a.reply.status, HF_DENIED);
    check_text("acquire: not permitted: the user lacks the command: NOPERM");
    check_text("evalsha");
}

TEST(redis_session, a_user_who_may_not_load_scripts_or_set_a_name_still_locks)
{
    redis_begin(&r, NULL);
    redis_say(&r, "ACL SETUSER bob on >pw ~* &* +@all -script -client");
    server_open(&f, url_with("bob:pw@", ""));
    CHECK_INT(run(VERB_PROPOSE, "job", 1, server_clock(&f)), V_GRANTED);
}

TEST(redis_session, a_user_who_may_not_ask_the_time_is_denied)
{
    redis_begin(&r, NULL);
    redis_say(&r, "ACL SETUSER bob on >pw ~* &* +@all -time");
    server_open(&f, url_with("bob:pw@", ""));
    CHECK_INT(run(VERB_PROPOSE, "job", 1, server_clock(&f)), V_UNSENT);
    CHECK_INT(a.reply.status, HF_DENIED);
    check_text("TIME: not permitted: the user lacks the command: NOPERM");
}

TEST(redis_session, a_server_that_comes_up_later_is_found_unasked)
{
    redis_begin(&r, NULL);
    redis_shutdown(&r, 0);
    server_open(&f, r.url);
    server_pump_ms(&f, 100);
    CHECK(strstr(f.link_err.text, "connect: Connection refused") != NULL);
    redis_start(&r);
    server_wait_link(&f, 1);
}

TEST(redis_session, a_command_denied_inside_the_script_is_denied_too)
{
    redis_begin(&r, NULL);
    redis_say(&r, "ACL SETUSER bob on >pw ~* &* +@all -hset");
    server_open(&f, url_with("bob:pw@", ""));
    CHECK_INT(run(VERB_PROPOSE, "job", 1, server_clock(&f)), V_ERROR);
    CHECK_INT(a.reply.status, HF_DENIED);
    CHECK_INT(redis_number(&r, "EXISTS job"), 0);
}

TEST(redis_session, no_lock_without_an_end_is_left_if_pexpire_is_denied)
{
    redis_begin(&r, NULL);
    redis_say(&r, "ACL SETUSER bob on >pw ~* &* +@all -pexpire");
    server_open(&f, url_with("bob:pw@", ""));
    CHECK_INT(run(VERB_PROPOSE, "job", 1, server_clock(&f)), V_ERROR);
    CHECK_INT(a.reply.status, HF_DENIED);
    CHECK_INT(redis_number(&r, "EXISTS job"), 0);
}

TEST(redis_session, a_release_works_although_publish_is_denied)
{
    redis_begin(&r, NULL);
    redis_say(&r, "ACL SETUSER bob on >pw ~* +@all -publish");
    server_open(&f, url_with("bob:pw@", ""));
    int64_t t = server_clock(&f);
    CHECK_INT(run(VERB_PROPOSE, "job", 1, t), V_GRANTED);
    CHECK_INT(run(VERB_RELEASE, "job", 1, t), V_GRANTED);
    CHECK_INT(a.reply.waiters, -1);
    CHECK_INT(redis_number(&r, "EXISTS job"), 0);
}

TEST(redis_session, a_full_server_refuses_locks_and_takes_releases_and_renewals)
{
    redis_begin(&r, NULL);
    server_connect(&f, r.url);
    int64_t t = server_clock(&f);
    CHECK_INT(run(VERB_PROPOSE, "job", 1, t), V_GRANTED);
    redis_say(&r, "CONFIG SET maxmemory 1");
    CHECK_INT(run(VERB_PROPOSE, "other", 2, t), V_ERROR);
    CHECK_INT(a.reply.status, HF_UNAVAILABLE);
    check_text("acquire: the server's memory is full: ");
    struct request req = server_request(VERB_RENEW, "job", 1, t);
    req.count = 2;
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    CHECK_INT(run(VERB_RELEASE, "job", 1, t + 1), V_GRANTED);
    CHECK_INT(redis_number(&r, "EXISTS job"), 0);
    CHECK_INT(run(VERB_RELEASE, "job", 1, t + 2), V_ABSENT);
}

TEST(redis_session, a_read_only_replica_is_unavailable)
{
    redis_begin(&r, NULL);
    redis_begin(&r2, NULL);
    server_connect(&f, r2.url);
    redis_say(&r2, "REPLICAOF 127.0.0.1 %d", r.port);
    int64_t t = server_clock(&f);
    int64_t end_us = hf__clock_us() + FAKE_WAIT_MS * US_PER_MS;
    do {
        CHECK(hf__clock_us() < end_us);
        CHECK_INT(run(VERB_PROPOSE, "job", 1, t), V_ERROR);
        CHECK_INT(a.reply.status, HF_UNAVAILABLE);
    } while (!strstr(a.text, "the server is a read-only replica"));
}

TEST(redis_session, a_flushed_script_cache_goes_unnoticed)
{
    redis_begin(&r, NULL);
    server_connect(&f, r.url);
    int64_t t = server_clock(&f);
    redis_say(&r, "SCRIPT FLUSH");
    struct request acquire = server_request(VERB_PROPOSE, "job", 1, t);
    struct request release = server_request(VERB_RELEASE, "job", 1, t);
    fake_submit(&f, &acquire, &a);
    fake_submit(&f, &release, &b);
    f.backend->flush(f.conn);
    fake_wait(&f, &b);
    CHECK(a.is_done);
    CHECK_INT(a.reply.verdict, V_GRANTED);
    CHECK_INT(b.reply.verdict, V_GRANTED);
    CHECK_INT(redis_number(&r, "EXISTS job"), 0);
}

TEST(redis_session, every_script_survives_a_flushed_cache)
{
    redis_begin(&r, NULL);
    server_connect(&f, r.url);
    int64_t t = server_clock(&f);
    CHECK_INT(run(VERB_PROPOSE, "job", 1, t), V_GRANTED);
    enum verb ops[] = {VERB_RENEW, VERB_INSPECT, VERB_LIST, VERB_RELEASE,
                       VERB_BREAK};
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        redis_say(&r, "SCRIPT FLUSH");
        CHECK_INT(run(ops[i], "job", 1, t), V_GRANTED);
    }
}

TEST(redis_session, a_killed_connection_comes_back)
{
    redis_begin(&r, NULL);
    server_connect(&f, r.url);
    redis_say(&r, "CLIENT KILL TYPE normal SKIPME yes");
    server_wait_link(&f, 0);
    CHECK(strstr(f.link_err.text, "the server closed the connection"));
    server_wait_link(&f, 1);
    CHECK_INT(run(VERB_PROPOSE, "job", 1, server_clock(&f)), V_GRANTED);
}

TEST(redis_session, a_restarted_server_is_found_again)
{
    redis_begin(&r, NULL);
    server_connect(&f, r.url);
    redis_shutdown(&r, 0);
    server_wait_link(&f, 0);
    redis_start(&r);
    server_wait_link(&f, 1);
    CHECK_INT(run(VERB_PROPOSE, "job", 1, server_clock(&f)), V_GRANTED);
}

TEST(redis_session, a_server_that_does_not_answer_leaves_it_unknown)
{
    redis_begin(&r, NULL);
    server_connect(&f, r.url);
    redis_pause(&r);
    struct request req =
        server_request(VERB_PROPOSE, "job", 1, server_clock(&f));
    req.deadline_us = hf__clock_us() + 100 * US_PER_MS;
    CHECK_INT(server_do(&f, req, &a), V_UNKNOWN);
    CHECK_INT(a.reply.status, HF_UNAVAILABLE);
    check_text("no answer in time");
    redis_resume(&r);
    server_wait_link(&f, 1);
    CHECK_INT(run(VERB_PROPOSE, "other", 1, server_clock(&f)), V_GRANTED);
}

TEST(redis_session, a_paused_server_that_was_never_reached_leaves_it_unsent)
{
    redis_begin(&r, NULL);
    redis_pause(&r);
    server_open(&f, r.url);
    struct request req =
        server_request(VERB_PROPOSE, "job", 1, server_clock(&f));
    req.deadline_us = hf__clock_us() + 100 * US_PER_MS;
    enum verdict v = server_do(&f, req, &a);
    redis_resume(&r);
    CHECK_INT(v, V_UNSENT);
    CHECK_INT(a.reply.status, HF_UNAVAILABLE);
}

TEST(redis_session, many_requests_are_pipelined_and_answered_in_order)
{
    static struct request reqs[500];
    static struct fake_answer answers[500];
    static char names[500][16];
    redis_begin(&r, NULL);
    server_connect(&f, r.url);
    int64_t t = server_clock(&f);
    for (int i = 0; i < 500; i++) {
        snprintf(names[i], sizeof names[i], "job%d", i);
        reqs[i] = server_request(VERB_PROPOSE, names[i], 1, t + i);
        fake_submit(&f, &reqs[i], &answers[i]);
    }
    f.backend->flush(f.conn);
    for (int i = 0; i < 500; i++) {
        fake_wait(&f, &answers[i]);
        CHECK_INT(answers[i].reply.verdict, V_GRANTED);
        CHECK_INT(answers[i].reply.fence, t + i);
    }
}

static int64_t calls_of(const char *command)
{
    char key[64];
    const char *stats = redis_say(&r, "INFO commandstats");
    snprintf(key, sizeof key, "cmdstat_%s:calls=", command);
    const char *at = strstr(stats, key);
    return at ? strtoll(at + strlen(key), NULL, 10) : 0;
}

TEST(redis_session, two_hundred_and_fifty_renewals_are_three_commands)
{
    static struct request reqs[250];
    static struct fake_answer answers[250];
    static char names[250][16];
    redis_begin(&r, NULL);
    server_connect(&f, r.url);
    for (int i = 0; i < 250; i++) {
        /* One number for all would be too old for the last of them. */
        int64_t t = server_clock(&f);
        snprintf(names[i], sizeof names[i], "job%d", i);
        if (i != 77) CHECK_INT(run(VERB_PROPOSE, names[i], 1, t), V_GRANTED);
    }
    int64_t t = server_clock(&f);
    int64_t before = calls_of("evalsha");
    for (int i = 0; i < 250; i++) {
        reqs[i] = server_request(VERB_RENEW, names[i], i == 78 ? 2 : 1, t);
        fake_submit(&f, &reqs[i], &answers[i]);
    }
    f.backend->flush(f.conn);
    for (int i = 0; i < 250; i++) {
        enum verdict v = i == 77 ? V_ABSENT : i == 78 ? V_OTHER : V_GRANTED;
        fake_wait(&f, &answers[i]);
        CHECK_INT(answers[i].reply.verdict, v);
    }
    CHECK_INT(calls_of("evalsha") - before, 3);
}

TEST(redis_session, close_answers_everything_and_frees_everything)
{
    redis_begin(&r, NULL);
    server_connect(&f, r.url);
    redis_pause(&r);
    struct request sent = server_request(VERB_PROPOSE, "a", 1, 5);
    struct request unsent = server_request(VERB_PROPOSE, "b", 1, 5);
    struct request watch = server_request(VERB_WATCH, "b", 1, 5);
    static struct fake_answer c;
    fake_submit(&f, &sent, &a);
    f.backend->flush(f.conn);
    fake_submit(&f, &unsent, &b);
    fake_submit(&f, &watch, &c);
    fake_close(&f);
    redis_resume(&r);
    CHECK_INT(a.reply.verdict, V_UNKNOWN);
    CHECK_INT(b.reply.verdict, V_UNSENT);
    CHECK(c.is_done);
    CHECK_INT(f.allocs_open, 0);
}

TEST(redis_session, an_early_look_at_the_socket_is_a_false_alarm)
{
    redis_begin(&r, NULL);
    server_connect(&f, r.url);
    int fd = -1;
    for (int i = 0; i < FAKE_FDS_MAX; i++)
        if (f.fds[i].events) fd = f.fds[i].fd;
    CHECK_INT(f.backend->process(f.conn, fd, AWAIT_READ), 0);
    CHECK_INT(f.backend->process(f.conn, 9999, AWAIT_READ), 0);
    CHECK_INT(f.is_up, 1);
}

TEST(redis_session, without_memory_requests_are_refused_and_nothing_breaks)
{
    redis_begin(&r, NULL);
    server_connect(&f, r.url);
    static char name[NAME_LEN_MAX + 1];
    static struct request reqs[40];
    static struct fake_answer answers[40];
    memset(name, 'n', NAME_LEN_MAX);
    f.fail_allocs = 1;
    int refused = 0;
    for (int i = 0; i < 40; i++) {
        reqs[i] = server_request(VERB_PROPOSE, name, 1, server_clock(&f) + i);
        fake_submit(&f, &reqs[i], &answers[i]);
    }
    f.backend->flush(f.conn);
    for (int i = 0; i < 40; i++) {
        fake_wait(&f, &answers[i]);
        if (answers[i].reply.verdict != V_ERROR) continue;
        CHECK_INT(answers[i].reply.status, HF_NOMEM);
        refused++;
    }
    CHECK(refused > 0);
    f.fail_allocs = 0;
    CHECK_INT(run(VERB_PROPOSE, "job", 1, server_clock(&f)), V_GRANTED);
}

TEST(redis_session, a_forked_childs_copy_sends_nothing)
{
    redis_begin(&r, NULL);
    server_connect(&f, r.url);
    f.backend->forked(f.conn);
    for (int i = 0; i < FAKE_FDS_MAX; i++) f.fds[i].events = 0;
    int64_t before = redis_info(&r, "total_commands_processed");
    fake_close(&f);
    CHECK_INT(f.allocs_open, 0);
    CHECK_INT(redis_info(&r, "total_commands_processed") - before, 1);
}
