/*
 * redis_guard_test.c: guards on a real server: against the model store, with
 * foreign things in their place, and in front of a user's own script.  One
 * rule: after every request server and model have said the same.
 */
#include <signal.h>
#include <string.h>

#include "rules/store.h"
#include "lib/holder.h"
#include "lib/rig.h"
#include "lib/rig_redis.h"
#include "lib/server.h"
#include "redis_scripts.h"
#include "sys/random.h"

#define STEPS 1500
/* Between a TTL and the TIME beside it the machine may be busy. */
#define SLACK_US (2 * US_PER_S)

static struct {
    struct lab_server server;
    struct fake_env real;
    struct store *model;
    uint64_t random;
} at;

static void at_end(void *arg)
{
    (void)arg;
    hf__rules_store_close(at.model);
}

static uint64_t draw(uint64_t n)
{
    return hf__random_next(&at.random) % n;
}

static uint64_t token_draw(void)
{
    static const uint64_t bases[] = {1, 8, 9007199254740990,
                                     (uint64_t)INT64_MAX - 4};
    /* High tokens are rare, or all others would be refused. */
    uint64_t n = draw(200);
    return bases[n < 150 ? 0 : n < 190 ? 1 : n < 198 ? 2 : 3] + draw(5);
}

static struct request request_draw(void)
{
    static const unsigned flags[] = {0,
                                     REQ_GUARD_VALUE,
                                     REQ_DELETE,
                                     REQ_GUARD_LOOK,
                                     REQ_GUARD_LOOK | REQ_GUARD_VALUE,
                                     REQ_GUARD_CLAIM,
                                     REQ_GUARD_CLAIM | REQ_GUARD_VALUE};
    static const char *const names[] = {"a", "b", "{c}", "x{", "d", "e", "f"};
    static const char *const texts[] = {"", "x", "some bytes"};
    struct request req = {.verb = VERB_GUARD,
                          .name = names[draw(7)],
                          .flags = flags[draw(7)],
                          .version = token_draw()};
    req.name_len = strlen(req.name);
    if (!(req.flags & REQ_GUARD_VALUE) || req.flags & REQ_GUARD_LOOK)
        return req;
    req.data = texts[draw(3)];
    req.data_len = strlen(req.data);
    if (draw(3) == 0) req.lease_us = (int64_t)(500 + draw(100)) * US_PER_S;
    return req;
}

static enum verdict step(int number, const struct request *req)
{
    struct fake_answer real;
    struct reply model;
    enum verdict verdict = server_do(&at.real, *req, &real);
    hf__rules_store_apply(at.model, real.reply.node_us, req, &model);
    if (verdict != model.verdict || real.reply.version != model.version
        || real.reply.data_len != model.data_len)
        TEST_FAIL("step %d: the server says %d, token %llu, %zu bytes; the "
                  "model %d, %llu, %zu",
                  number, verdict, (unsigned long long)real.reply.version,
                  real.reply.data_len, model.verdict,
                  (unsigned long long)model.version, model.data_len);
    int64_t apart_us = real.reply.ttl_us - model.ttl_us;
    CHECK(apart_us >= -SLACK_US && apart_us <= SLACK_US);
    return verdict;
}

TEST(redis_guard, server_and_model_agree_on_every_request)
{
    int seen[V_UNKNOWN + 1] = {0};
    memset(&at, 0, sizeof at);
    redis_begin(&at.server, NULL);
    at.model = hf__rules_store_open(&hf__alloc_default);
    CHECK(at.model != NULL);
    test_cleanup(at_end, NULL);
    server_connect(&at.real, at.server.url);
    at.random = 1;
    for (int i = 0; i < STEPS; i++) {
        struct request req = request_draw();
        seen[step(i, &req)]++;
        req.flags = REQ_GUARD_LOOK | REQ_GUARD_VALUE;
        step(i, &req);
    }
    CHECK(seen[V_GRANTED] > STEPS / 10 && seen[V_OTHER] > STEPS / 10);
}

/* ---- through a client ---- */

static struct lab_server r;

static hf_client *begin(void)
{
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    return rig_client(NULL);
}

static int set(hf_client *c, uint64_t token, const char *text)
{
    return hf_guard_set(c, "res", token, text, strlen(text), 0, NULL);
}

TEST(redis_guard, is_a_plain_string_beside_its_token)
{
    hf_client *c = begin();
    CHECK_INT(set(c, 7, "seven"), HF_OK);
    CHECK_STR(redis_say(&r, "GET res"), "seven");
    CHECK_STR(redis_say(&r, "GET holdfast_guard:{res}"), "7");
    CHECK_INT(redis_number(&r, "PTTL holdfast_guard:{res}"), -1);
    CHECK_INT(hf_guard_touch(c, "a{b}", 3, NULL), HF_OK);
    CHECK_STR(redis_say(&r, "GET holdfast_guard:a{b}"), "3");
}

TEST(redis_guard, costs_one_command)
{
    hf_client *c = begin();
    CHECK_INT(set(c, 1, "x"), HF_OK);
    redis_say(&r, "CONFIG RESETSTAT");
    for (int i = 0; i < 10; i++) CHECK_INT(set(c, 2, "y"), HF_OK);
    CHECK(
        strstr(redis_say(&r, "INFO commandstats"), "cmdstat_evalsha:calls=10,")
        != NULL);
}

TEST(redis_guard, leaves_what_is_no_token_or_no_string_alone)
{
    static const char *const bad[] = {"abc", "007", "-1",
                                      "''",  "1.5", "9223372036854775808"};
    hf_client *c = begin();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        redis_say(&r, "SET holdfast_guard:{res} %s", bad[i]);
        CHECK_INT(set(c, 9, "x"), HF_CONFLICT);
    }
    redis_say(&r, "DEL holdfast_guard:{res}");
    redis_say(&r, "RPUSH holdfast_guard:{res} 1");
    CHECK_INT(hf_guard_touch(c, "res", 9, NULL), HF_CONFLICT);
    CHECK_INT(redis_number(&r, "EXISTS res"), 0);
    redis_say(&r, "DEL holdfast_guard:{res}");
    redis_say(&r, "RPUSH res 1");
    CHECK_INT(set(c, 9, "x"), HF_CONFLICT);
    CHECK_INT(hf_guard_delete(c, "res", 9, NULL), HF_CONFLICT);
    CHECK_INT(redis_number(&r, "LLEN res"), 1);
    CHECK_INT(redis_number(&r, "EXISTS holdfast_guard:{res}"), 0);
}

TEST(redis_guard, refuses_a_holder_that_was_paused_past_its_lease)
{
    static struct lab_proc p;
    static struct holder h;
    hf_hold *g;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    h = (struct holder){r.url, "a", 500, 0};
    uint64_t first = holder_start(&p, &h);
    proc_signal(&p, SIGSTOP);
    hf_client *c = rig_client(NULL);
    CHECK_INT(rig_acquire(rig_lock(c, "a"), 0, RIG_WAIT_MS, &g), HF_OK);
    CHECK_INT(hf_guard_touch(c, "res", hf_hold_fence(g), NULL), HF_OK);
    proc_signal(&p, SIGCONT);
    CHECK_INT(set(c, first, "first"), HF_STALE);
    CHECK_STR(redis_say(&r, "GET res"), "(nil)");
    CHECK_INT(set(c, hf_hold_fence(g), "second"), HF_OK);
    CHECK_INT(set(c, first, "first"), HF_STALE);
    CHECK_STR(redis_say(&r, "GET res"), "second");
}

TEST(redis_guard, goes_on_after_the_scripts_were_flushed)
{
    hf_client *c = begin();
    CHECK_INT(set(c, 1, "x"), HF_OK);
    redis_say(&r, "SCRIPT FLUSH");
    CHECK_INT(set(c, 2, "y"), HF_OK);
    CHECK_STR(redis_say(&r, "GET res"), "y");
}

TEST(redis_guard, that_gets_no_answer_is_unavailable)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.timeout_ms = o.patience_ms = 200;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    hf_client *c = rig_client(&o);
    CHECK_INT(set(c, 1, "x"), HF_OK);
    redis_pause(&r);
    int status = set(c, 2, "y");
    redis_resume(&r);
    CHECK_INT(status, HF_UNAVAILABLE);
}

/* A copy of a write that was delayed in a buffer must not come after another
 * write. */
TEST(redis_guard, is_left_alone_by_what_was_sent_long_ago)
{
    hf_client *c = begin();
    CHECK_INT(set(c, 5, "five"), HF_OK);
    const char *answer =
        redis_say(&r,
                  "EVALSHA %s 2 holdfast_guard:{res} res set 5 1000000 "
                  "2000000 0 late",
                  hf__redis_script_guard.sha1);
    CHECK(!strncmp(answer, "-3\n", 3));
    CHECK_STR(redis_say(&r, "GET res"), "five");
}

/* ---- a script of the user's ---- */

static const char *script_run(const char *token)
{
    static char text[8192];
    size_t len = 0;
    for (const char *p = hf_guard_lua(); *p && len < sizeof text - 8; p++) {
        if (*p == '\n') text[len++] = '\\';
        text[len++] = *p == '\n' ? 'n' : *p;
    }
    text[len] = '\0';
    return redis_say(&r,
                     "EVAL \"%sreturn {redis.call('INCRBY', KEYS[1], ARGV[1]), "
                     "#KEYS, #ARGV}\" 2 n holdfast_guard:{n} 10 %s",
                     text, token);
}

TEST(redis_guard, prelude_guards_any_script)
{
    begin();
    CHECK_STR(script_run("5"), "10\n1\n1\n");
    CHECK_STR(script_run("5"), "20\n1\n1\n");
    CHECK_STR(script_run("4"), "-STALE 4 5");
    CHECK_STR(script_run("9007199254740993"), "30\n1\n1\n");
    CHECK_STR(script_run("9007199254740992"),
              "-STALE 9007199254740992 9007199254740993");
    CHECK_STR(redis_say(&r, "GET n"), "30");
}

TEST(redis_guard, prelude_refuses_what_is_no_token)
{
    static const char *const bad[] = {"0", "-1", "x", "9223372036854775808"};
    begin();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK(!strncmp(script_run(bad[i]), "-ERR holdfast guard: ", 21));
    CHECK_STR(redis_say(&r, "GET n"), "(nil)");
    redis_say(&r, "SET holdfast_guard:{n} wibble");
    CHECK_STR(script_run("5"), "-ERR holdfast guard: its key holds no token");
}
