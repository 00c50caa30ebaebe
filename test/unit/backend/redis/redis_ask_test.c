/*
 * redis_ask_test.c: what Sentinels say, and which is believed.  One rule: an
 * answer of another shape than a Sentinel's is an error with a text, and of two
 * answers the one of the higher epoch counts.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/redis/sentinel/ask.h"
#include "lib/rig_redis.h"
#include "lib/server.h"
#include "sys/clock.h"
#include "test.h"

static struct script s, s2;
static struct fake_env f;
static struct fake_answer a;
static struct request req;
static struct backend asker, led;
static struct master told;

static void backend_end(void *arg)
{
    fake_close(arg);
}

static void env_open(const struct backend *b, const char *url)
{
    struct hf_error err = {0};
    fake_init(&f, b);
    test_cleanup(backend_end, &f);
    if (fake_open(&f, url, &err) != HF_OK) TEST_FAIL("%s", err.text);
}

static void greet(struct script *to)
{
    script_accept(to, &f);
    script_expect(to, &f, "PING\r\n");
    script_say(to, "+OK\r\n+PONG\r\n");
}

/* The master as it is told is only lent: keep it. */
static void reply_keep(struct backend_env *env, struct request *r,
                       const struct reply *reply)
{
    struct fake_answer *answer = r->user;
    (void)env;
    answer->reply = *reply;
    answer->is_done = 1;
    if (reply->data) told = *(const struct master *)reply->data;
    snprintf(answer->text, sizeof answer->text, "%s",
             reply->text ? reply->text : "");
}

/* Ask, with these answers. */
static void ask(unsigned flags, const char *said)
{
    hf__redis_sentinel_backends(&asker, &led);
    script_begin(&s);
    env_open(&asker, s.url);
    f.env.reply = reply_keep;
    greet(&s);
    server_wait_link(&f, 1);
    req = server_request(VERB_PRIMARY, "m", 1, 1);
    req.flags = flags;
    fake_submit(&f, &req, &a);
    f.backend->flush(f.conn);
    script_expect(&s, &f, "MASTER\r\n$1\r\nm\r\n");
    script_say(&s, said);
    fake_wait(&f, &a);
}

#define MASTER(epoch)                                                          \
    "*4\r\n$4\r\nname\r\n$1\r\nm\r\n$12\r\nconfig-epoch\r\n$1\r\n" epoch "\r\n"
#define ADDRESS "*2\r\n$9\r\n127.0.0.1\r\n$4\r\n7001\r\n"

TEST(redis_ask, a_sentinel_tells_address_and_epoch)
{
    ask(0, ADDRESS MASTER("7"));
    CHECK_INT(a.reply.verdict, V_GRANTED);
    CHECK_STR(told.host, "127.0.0.1");
    CHECK_INT(told.port, 7001);
    CHECK_INT(told.epoch, 7);
}

TEST(redis_ask, the_epoch_may_be_denied)
{
    ask(0, ADDRESS "-NOPERM this user has no permissions\r\n");
    CHECK_INT(a.reply.verdict, V_GRANTED);
    CHECK_INT(told.port, 7001);
    CHECK_INT(told.epoch, 0);
}

TEST(redis_ask, a_replica_that_is_being_promoted_counts_already)
{
    ask(REQ_PROMOTED,
        ADDRESS "*2\r\n"
                "*6\r\n$2\r\nip\r\n$1\r\nx\r\n$4\r\nport\r\n$4\r\n7002\r\n"
                "$5\r\nflags\r\n$5\r\nslave\r\n"
                "*6\r\n$2\r\nip\r\n$1\r\ny\r\n$4\r\nport\r\n$4\r\n7003\r\n"
                "$5\r\nflags\r\n$14\r\nslave,promoted\r\n" MASTER("7"));
    CHECK_INT(a.reply.verdict, V_GRANTED);
    CHECK_STR(told.host, "y");
    CHECK_INT(told.port, 7003);
    CHECK_INT(told.epoch, 8);
}

TEST(redis_ask, what_is_no_answer_of_a_sentinel_is_an_error)
{
    static const struct {
        const char *said, *words;
        int status;
    } rows[] = {
        {"*-1\r\n-ERR No such master\r\n", "no such master", MASTER_UNKNOWN},
        {"-ERR unknown command 'SENTINEL'\r\n-ERR unknown command\r\n",
         "it is no Sentinel", HF_INVALID},
        {"-NOAUTH Authentication required.\r\n-NOAUTH no\r\n",
         "a password is needed", HF_DENIED},
        {":1\r\n" MASTER("7"), "unexpected answer", HF_UNAVAILABLE},
        {"*1\r\n$1\r\nh\r\n" MASTER("7"), "unexpected answer", HF_UNAVAILABLE},
        {"*2\r\n$1\r\nh\r\n$5\r\n70000\r\n" MASTER("7"), "unexpected answer",
         HF_UNAVAILABLE},
        {"*2\r\n$0\r\n\r\n$4\r\n7001\r\n" MASTER("7"), "unexpected answer",
         HF_UNAVAILABLE},
        {"*2\r\n:1\r\n:2\r\n" MASTER("7"), "unexpected answer", HF_UNAVAILABLE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ask(0, rows[i].said);
        CHECK_INT(a.reply.verdict, V_ERROR);
        CHECK_INT(a.reply.status, rows[i].status);
        if (!strstr(a.text, rows[i].words)) TEST_FAIL("%s", a.text);
        fake_close(&f);
    }
}

/* ---- two that disagree --------------------------------------------------- */

static struct lab_server one, two;

/* Answer one question of the client. */
static void sentinel_says(struct script *to, const struct lab_server *primary,
                          char epoch)
{
    char text[256];
    script_expect(to, &f, "\r\nMASTER\r\n$1\r\nm\r\n");
    snprintf(text, sizeof text,
             "*2\r\n$9\r\n127.0.0.1\r\n$%zu\r\n%d\r\n*0\r\n"
             "*2\r\n$12\r\nconfig-epoch\r\n:%c\r\n",
             (size_t)snprintf(NULL, 0, "%d", primary->port), primary->port,
             epoch);
    script_say(to, text);
}

static void begin_two(void)
{
    char url[96];
    redis_begin(&one, NULL);
    redis_begin(&two, NULL);
    script_begin(&s);
    script_begin(&s2);
    snprintf(url, sizeof url, "redis-sentinel://127.0.0.1:%d,127.0.0.1:%d/m",
             s.port, s2.port);
    env_open(&hf__backend_sentinel, url);
    greet(&s);
    sentinel_says(&s, &one, '5');
    server_wait_link(&f, 1);
    greet(&s2);
}

static void propose(const char *name)
{
    req = server_request(VERB_PROPOSE, name, 1, server_clock(&f));
    req.deadline_us = hf__clock_us() + 2 * US_PER_S;
    fake_call(&f, &req, &a);
}

TEST(redis_ask, a_sentinel_that_was_cut_off_is_not_believed)
{
    begin_two();
    sentinel_says(&s2, &two, '4');
    server_pump_ms(&f, 300);
    propose("job");
    CHECK_INT(a.reply.verdict, V_GRANTED);
    CHECK_INT(redis_number(&one, "EXISTS job"), 1);
    CHECK_INT(redis_number(&two, "EXISTS job"), 0);
}

TEST(redis_ask, a_later_epoch_leads_elsewhere_and_the_locks_are_checked)
{
    begin_two();
    sentinel_says(&s2, &two, '6');
    int64_t end_us = hf__clock_us() + FAKE_WAIT_MS * US_PER_MS;
    while (!f.is_other) {
        CHECK(hf__clock_us() < end_us);
        fake_pump(&f, 10);
    }
    propose("job");
    CHECK_INT(a.reply.verdict, V_GRANTED);
    CHECK_INT(redis_number(&two, "EXISTS job"), 1);
}

/* ---- passwords ----------------------------------------------------------- */

static char dir[64], path[80];

static void dir_remove(void *arg)
{
    (void)arg;
    unlink(path);
    rmdir(dir);
}

static void password_write(const char *password, mode_t mode)
{
    FILE *out = fopen(path, "we");
    CHECK(out != NULL);
    CHECK(fputs(password, out) >= 0);
    CHECK_INT(fclose(out), 0);
    CHECK_INT(chmod(path, mode), 0);
}

/* One Sentinel, which is told what is in the file; and then another time. */
static void ask_twice(const char *second, mode_t mode)
{
    char url[200];
    snprintf(dir, sizeof dir, "/tmp/holdfast-ask-XXXXXX");
    CHECK(mkdtemp(dir) != NULL);
    snprintf(path, sizeof path, "%s/password", dir);
    test_cleanup(dir_remove, NULL);
    password_write("first\n", mode);
    script_begin(&s);
    snprintf(url, sizeof url,
             "redis-sentinel://127.0.0.1:%d/m?sentinel_password_file=%s",
             s.port, path);
    env_open(&hf__backend_sentinel, url);
    script_accept(&s, &f);
    script_expect(&s, &f, "AUTH\r\n$5\r\nfirst\r\n");
    password_write(second, mode);
    script_hang_up(&s);
    script_accept(&s, &f);
}

TEST(redis_ask, a_password_that_was_changed_is_read_at_the_next_connect)
{
    ask_twice("second\n", 0600);
    script_expect(&s, &f, "AUTH\r\n$6\r\nsecond\r\n");
    CHECK_INT(f.warnings, 0);
}

TEST(redis_ask, a_password_that_everybody_may_read_is_warned_of_once)
{
    ask_twice("first\n", 0644);
    script_expect(&s, &f, "AUTH\r\n$5\r\nfirst\r\n");
    CHECK_INT(f.warnings, 1);
}
