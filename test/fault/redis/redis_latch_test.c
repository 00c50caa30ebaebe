/*
 * redis_latch_test.c: latches on a real server: what is stored, and what goes
 * wrong.  One rule: a count that was told is right, and what was refused has
 * changed nothing.
 */
#include <string.h>

#include "lib/proxy.h"
#include "lib/rig_gate.h"
#include "lib/rig_redis.h"

static struct lab_server r;
static struct gate_wait w;

static void begin(void)
{
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
}

static hf_client *hasty_client(const char *url, int64_t patience_ms)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.timeout_ms = 300;
    o.patience_ms = patience_ms;
    return rig_client_at(url, &o);
}

/* Every key but this one ends by itself; how many those are. */
static int keys_that_end(const char *but)
{
    char keys[4096], *at = keys;
    int n = 0;
    snprintf(keys, sizeof keys, "%s", redis_say(&r, "KEYS *"));
    while (*at) {
        size_t len = strcspn(at, "\n");
        char *next = at + len + (at[len] == '\n');
        at[len] = '\0';
        if (strcmp(at, but) != 0) {
            CHECK(redis_number(&r, "PTTL '%s'", at) > 0);
            n++;
        }
        at = next;
    }
    return n;
}

TEST(redis_latch, is_redissons_number_and_the_rest_ends)
{
    begin();
    hf_latch *l = rig_latch(rig_client(NULL), "a");
    CHECK_INT(hf_latch_set(l, 2, NULL), HF_OK);
    CHECK_STR(redis_say(&r, "GET a"), "2");
    CHECK_INT(redis_number(&r, "PTTL a"), -1);
    CHECK(keys_that_end("a") > 0);
    CHECK_INT(hf_latch_down(l, NULL, NULL), HF_OK);
    CHECK_STR(redis_say(&r, "GET a"), "1");
    CHECK_INT(hf_latch_down(l, NULL, NULL), HF_OK);
    CHECK_INT(redis_number(&r, "EXISTS a"), 0);
    CHECK(keys_that_end("a") > 0);
    CHECK_INT(hf_latch_set(l, 2, NULL), HF_OK);
    CHECK_INT(hf_latch_delete(l, NULL, NULL), HF_OK);
    CHECK_INT(redis_number(&r, "EXISTS a"), 0);
    CHECK(keys_that_end("a") > 0);
}

TEST(redis_latch, of_redisson_is_understood)
{
    begin();
    hf_latch *l = rig_latch(rig_client(NULL), "a");
    redis_say(&r, "SET a 1");
    CHECK_INT(rig_latch_left(l), 1);
    CHECK_INT(rig_latch_wait(l, RIG_TRY, NULL), HF_TAKEN);
    CHECK_INT(hf_latch_set(l, 5, NULL), HF_TAKEN);
    CHECK_INT(hf_latch_down(l, NULL, NULL), HF_OK);
    CHECK_INT(redis_number(&r, "EXISTS a"), 0);
}

/* Nothing of it is told, or changed. */
static void conflicts(const char *make, const char *word)
{
    struct hf_error err = {0};
    int64_t left = 77;
    redis_say(&r, "FLUSHALL");
    redis_say(&r, "%s", make);
    hf_client *c = rig_client(NULL);
    hf_latch *l = rig_latch(c, "a");
    CHECK_INT(hf_latch_set(l, 2, &err), HF_CONFLICT);
    if (!strstr(err.text, word)) TEST_FAIL("%s: %s", make, err.text);
    CHECK_INT(hf_latch_down(l, &left, NULL), HF_CONFLICT);
    CHECK_INT(hf_latch_count(l, &left, NULL), HF_CONFLICT);
    CHECK_INT(hf_latch_delete(l, NULL, NULL), HF_CONFLICT);
    CHECK_INT(rig_latch_wait(l, RIG_NO_LIMIT, NULL), HF_CONFLICT);
    CHECK_INT(left, 77);
    CHECK_INT(redis_number(&r, "DBSIZE"), 1);
    rig_close(c);
}

TEST(redis_latch, something_else_under_the_name_is_a_conflict_and_stays)
{
    begin();
    conflicts("SET a precious", "something that is no latch is stored there");
    conflicts("SET a 1.5", "something that is no latch is stored there");
    conflicts("RPUSH a x", "something that is no latch is stored there");
    conflicts("HSET a name Ann", "something that is no latch is stored there");
    conflicts("ZADD {a}:timeout 1 x", "it is in use as a semaphore");
}

TEST(redis_latch, of_the_number_of_a_semaphore_is_none_made)
{
    int64_t left = 0;
    struct hf_error err;
    begin();
    hf_latch *l = rig_latch(rig_client(NULL), "a");
    redis_say(&r, "HSET {a}:hf kind permit");
    redis_say(&r, "SET a 3");
    CHECK_INT(hf_latch_down(l, &left, NULL), HF_CONFLICT);
    CHECK_STR(redis_say(&r, "GET a"), "3");
    redis_say(&r, "HSET {a}:hf kind count");
    CHECK_INT(hf_latch_down(l, &left, &err), HF_CONFLICT);
    CHECK(strstr(err.text, "it is in use as a plain counter"));
    redis_say(&r, "DEL a"); /* by a program that does not know our other keys */
    CHECK_INT(hf_latch_set(l, 2, NULL), HF_OK);
    CHECK_INT(hf_latch_down(l, &left, NULL), HF_OK);
    CHECK_INT(left, 1);
}

/* There, a waiter sleeps for ever when a message is lost. */
TEST(redis_latch, that_goes_without_a_message_is_noticed)
{
    begin();
    hf_latch *l = rig_latch(rig_client(NULL), "a");
    CHECK_INT(hf_latch_set(l, 1, NULL), HF_OK);
    gate_wait_latch(&w, l, RIG_WAIT_MS, NULL);
    rig_pause_ms(300);
    redis_say(&r, "DEL a");
    CHECK_INT(gate_ended(&w), HF_OK);
}

TEST(redis_latch, wait_outlives_the_loss_of_its_connections)
{
    begin();
    hf_latch *l = rig_latch(rig_client(NULL), "a");
    CHECK_INT(hf_latch_set(l, 1, NULL), HF_OK);
    gate_wait_latch(&w, rig_latch(rig_client(NULL), "a"), RIG_WAIT_MS, NULL);
    rig_pause_ms(200);
    redis_say(&r, "CLIENT KILL TYPE pubsub");
    redis_say(&r, "CLIENT KILL TYPE normal SKIPME yes");
    rig_pause_ms(200);
    CHECK_INT(hf_latch_down(l, NULL, NULL), HF_OK);
    CHECK_INT(gate_ended(&w), HF_OK);
}

#define DOWNS 12

/* The request arrives and its answer does not, at every byte of it. */
TEST(redis_latch, is_counted_once_when_answers_are_lost)
{
    static struct lab_proxy p;
    char url[64];
    begin();
    proxy_begin(&p, r.port);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", p.port);
    hf_latch *l = rig_latch(hasty_client(url, 15000), "a");
    CHECK_INT(hf_latch_set(l, DOWNS, NULL), HF_OK);
    for (int i = 0; i < DOWNS; i++) {
        int64_t left = -1;
        proxy_arm(&p, PROXY_DOWN, i * 2, i % 2);
        CHECK_INT(hf_latch_down(l, &left, NULL), HF_OK);
        CHECK_INT(left, DOWNS - 1 - i);
    }
    CHECK(atomic_load(&p.cuts) > 0);
    CHECK_INT(redis_number(&r, "EXISTS a"), 0);
}

/* Nobody waits for its answer any more. */
TEST(redis_latch, is_not_counted_by_a_request_that_comes_too_late)
{
    begin();
    hf_latch *l = rig_latch(rig_client(NULL), "a");
    hf_latch *late = rig_latch(hasty_client(r.url, 1500), "a");
    CHECK_INT(hf_latch_set(l, 5, NULL), HF_OK);
    CHECK_INT(rig_latch_left(late), 5);
    redis_pause(&r);
    CHECK_INT(hf_latch_down(late, NULL, NULL), HF_UNAVAILABLE);
    rig_pause_ms(800);
    redis_resume(&r);
    rig_pause_ms(300);
    CHECK_INT(rig_latch_left(l), 5);
}

TEST(redis_latch, of_a_full_server_can_still_be_counted_to_zero)
{
    struct hf_error err = {0};
    begin();
    hf_client *c = hasty_client(r.url, 1500);
    hf_latch *l = rig_latch(c, "a"), *other = rig_latch(c, "b");
    CHECK_INT(hf_latch_set(l, 1, NULL), HF_OK);
    CHECK_STR(redis_say(&r, "CONFIG SET maxmemory 1"), "OK");
    CHECK_INT(hf_latch_set(other, 1, &err), HF_UNAVAILABLE);
    CHECK(strstr(err.text, "the server's memory is full"));
    CHECK_INT(redis_number(&r, "EXISTS b"), 0);
    CHECK_INT(hf_latch_down(l, NULL, NULL), HF_OK);
    CHECK_INT(rig_latch_wait(l, RIG_TRY, NULL), HF_OK);
}

TEST(redis_latch, who_lacks_its_key_is_told_so)
{
    struct hf_error err = {0};
    char url[96];
    begin();
    CHECK_STR(redis_say(&r, "ACL SETUSER eve reset on >pw ~b* &* +@all"), "OK");
    snprintf(url, sizeof url, "redis://eve:pw@127.0.0.1:%d", r.port);
    hf_latch *l = rig_latch(rig_client_at(url, NULL), "a");
    CHECK_INT(hf_latch_set(l, 1, &err), HF_DENIED);
    CHECK(strstr(err.text, "the user lacks the key a"));
    CHECK_INT(rig_latch_wait(l, RIG_NO_LIMIT, NULL), HF_DENIED);
    CHECK_INT(redis_number(&r, "DBSIZE"), 0);
}
