/*
 * redis_queue_test.c: the queue of a lock on the server, request by request.
 * One rule: the server is asked with plain commands, never through the code
 * under test.
 */
#include <stdio.h>
#include <string.h>

#include "lib/rig_redis.h"
#include "lib/server.h"
#include "test.h"

#define UUID "01234567-89ab-4def-8123-456789abcdef"

static struct lab_server r;
static struct fake_env f;
static struct fake_answer a;

static void begin(void)
{
    redis_begin(&r, NULL);
    server_connect(&f, r.url);
}

static enum verdict propose(int holder, uint64_t attempt, int64_t ballot,
                            unsigned flags)
{
    struct request req = server_request(VERB_PROPOSE, "job", attempt, ballot);
    req.flags = REQ_SERVER_FENCE | flags;
    snprintf(req.owner, sizeof req.owner, UUID ":%d", holder);
    return server_do(&f, req, &a);
}

/* Does the holder's release see that somebody waits? */
static int is_noted(void)
{
    return strchr(redis_say(&r, "HGET job hf"), '+') != NULL;
}

TEST(redis_queue, a_holder_who_asks_again_does_not_forget_who_waits)
{
    begin();
    int64_t t = server_clock(&f);
    CHECK_INT(propose(1, 7, t, 0), V_GRANTED);
    CHECK(!is_noted());
    CHECK_INT(propose(2, 8, t + 1, REQ_QUEUE), V_BUSY);
    CHECK(is_noted());
    CHECK_INT(propose(1, 7, t + 10 * US_PER_S, 0), V_GRANTED);
    CHECK(is_noted());
}

/* The attempt of a hold with a ticket is far above every other number. */
TEST(redis_queue, a_hand_over_to_an_attempt_that_is_a_hash_is_heard)
{
    const uint64_t hash = INT64_MAX;
    struct request req = server_request(VERB_WATCH, "job", 0, 0);
    begin();
    int64_t t = server_clock(&f);
    req.flags = REQ_QUEUE;
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    CHECK_INT(propose(1, 7, t, 0), V_GRANTED);
    CHECK_INT(propose(2, hash, t + 1, REQ_QUEUE), V_BUSY);
    req = server_request(VERB_RELEASE, "job", 7, t);
    snprintf(req.owner, sizeof req.owner, UUID ":1");
    CHECK_INT(server_do(&f, req, &a), V_GRANTED);
    for (int i = 0; i < FAKE_WAIT_MS / 5 && !f.handed; i++)
        server_pump_ms(&f, 5);
    CHECK_INT(f.handed, 1);
    CHECK(f.handed_attempt == hash);
    CHECK_STR(f.handed_owner, UUID ":2");
}
