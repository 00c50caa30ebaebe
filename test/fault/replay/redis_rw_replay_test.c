/*
 * redis_rw_replay_test.c: read/write locks: the model against a real server.
 *
 * The same seeded random requests of some confused holders (fresh, repeated,
 * late) go to both, and both must say the same.  One rule: the model's clock is
 * what the server's replies say; where a reply has no time, it is the last one
 * and the time since then.
 */
#include <stdio.h>
#include <string.h>

#include "rules/store.h"
#include "base/math.h"
#include "lib/rig_redis.h"
#include "lib/server.h"
#include "lib/traffic.h"
#include "sys/clock.h"
#include "test.h"

#define SEEDS 12
#define STEPS 400
#define OWNERS 4
#define PAST 24
#define LEASE_US (600 * US_PER_S)
#define SEED_US US_PER_S /* places and numbers must not end meanwhile */
/* The lock itself may last a little longer than its readers, and so may a hold
 * that a late release of its owner has met. */
#define NEAR_MS 1500

struct rig {
    struct lab_server server;
    struct fake_env real;
    struct store *model;
    struct traffic dice;
    int64_t told_us, told_at_us; /* the server's clock, and when it told it */
    uint64_t attempts;
    struct request held[OWNERS][2]; /* the last proposal of each side */
    struct request past[PAST];
    size_t past_len;
    int64_t fences[OWNERS][2]; /* granted last to each side */
    int seen[V_UNKNOWN + 1];
};

static struct rig r;

static void rig_stop(void *arg)
{
    (void)arg;
    hf__rules_store_close(r.model);
}

static void rig_begin(void)
{
    memset(&r, 0, sizeof r);
    redis_begin(&r.server, NULL);
    server_connect(&r.real, r.server.url);
    r.model = hf__rules_store_open(&hf__alloc_default);
    CHECK(r.model != NULL);
    test_cleanup(rig_stop, NULL);
}

static int64_t server_now(void)
{
    return r.told_us + (hf__clock_us() - r.told_at_us);
}

static void rig_clear(uint64_t seed)
{
    CHECK_STR(redis_say(&r.server, "FLUSHALL"), "OK");
    hf__rules_store_wipe(r.model, 0);
    traffic_start(&r.dice, seed, LEASE_US);
    memset(r.held, 0, sizeof r.held);
    r.past_len = 0;
    struct fake_answer a;
    CHECK_INT(server_do(&r.real, server_request(VERB_INSPECT, "a", 1, 1), &a),
              V_GRANTED);
    r.told_us = a.reply.node_us;
    r.told_at_us = hf__clock_us();
}

/* ---- requests ---------------------------------------------------------- */

static unsigned order_flags(void)
{
    static const unsigned orders[] = {0, 0, REQ_QUEUE, REQ_WRITERS,
                                      REQ_QUEUE | REQ_WRITERS};
    return orders[traffic_below(&r.dice, 5)];
}

static struct request request_fresh(void)
{
    size_t owner = (size_t)traffic_below(&r.dice, OWNERS);
    int writes = (int)traffic_below(&r.dice, 2);
    struct request *last = &r.held[owner][writes], req;
    uint64_t what = traffic_below(&r.dice, 40);
    enum verb op = what < 20   ? VERB_PROPOSE
                   : what < 24 ? VERB_RENEW
                   : what < 36 ? VERB_RELEASE
                   : what < 39 ? VERB_INSPECT
                               : VERB_BREAK;
    req = server_request(op, "a", last->attempt, last->ballot);
    if (op == VERB_PROPOSE) {
        req.attempt = ++r.attempts;
        req.ballot = server_now() - (int64_t)traffic_below(&r.dice, 100000);
    }
    req.kind = writes ? KIND_WRITE : KIND_READ;
    req.flags = REQ_SERVER_FENCE | order_flags();
    if (writes && traffic_below(&r.dice, 4) == 0) req.flags |= REQ_UPGRADE;
    snprintf(req.owner, sizeof req.owner,
             "01234567-89ab-4def-8123-456789abcdef:%zu", owner + 1);
    req.lease_us = LEASE_US;
    if (op == VERB_RENEW && traffic_below(&r.dice, 4))
        req.fence =
            r.fences[owner][writes] + (traffic_below(&r.dice, 4) == 0 ? 1 : 0);
    if (op == VERB_PROPOSE) *last = req;
    return req;
}

static struct request request_next(void)
{
    if (r.past_len == PAST && traffic_below(&r.dice, 8) == 0)
        return r.past[traffic_below(&r.dice, PAST)];
    struct request req = request_fresh();
    r.past[r.past_len < PAST ? r.past_len++ : traffic_below(&r.dice, PAST)] =
        req;
    return req;
}

/* ---- comparing --------------------------------------------------------- */

static void same(const char *what, const struct request *req, int64_t real,
                 int64_t model, int64_t slack)
{
    int64_t apart = real - model;
    if (apart >= -slack && apart <= slack) return;
    TEST_FAIL("op %d kind %d flags 0x%x: %s is %lld on the server, %lld in the "
              "model",
              req->verb, req->kind, req->flags, what, (long long)real,
              (long long)model);
}

static void infos_compare(const struct request *req, const struct hf_info *real,
                          const struct hf_info *model)
{
    same("locked", req, real->locked, model->locked, 0);
    same("shared", req, real->shared, model->shared, 0);
    same("mine", req, real->mine, model->mine, 0);
    same("count", req, real->count, model->count, 0);
    same("readers", req, real->readers, model->readers, 0);
    same("queued", req, real->queued, model->queued, 0);
    same("position", req, real->position, model->position, 0);
    same("foreign", req, real->foreign, model->foreign, 0);
    same("highest token", req, (int64_t)real->fence, (int64_t)model->fence, 0);
    CHECK_STR(real->owner, model->owner);
}

/* Which token a renewal has to name. */
static void granted_note(const struct request *req, int64_t fence)
{
    size_t owner = (size_t)(req->owner[strlen(req->owner) - 1] - '1');
    r.fences[owner][req->kind == KIND_WRITE] = fence;
}

static void step(void)
{
    struct fake_answer a;
    struct reply model;
    struct request req = request_next();
    server_do(&r.real, req, &a);
    int64_t now_us = a.reply.node_us ? a.reply.node_us : server_now();
    r.told_us = now_us;
    r.told_at_us = hf__clock_us();
    hf__rules_store_apply(r.model, now_us, &req, &model);
    if (req.verb == VERB_PROPOSE && model.verdict == V_GRANTED)
        granted_note(&req, model.fence);
    r.seen[a.reply.verdict]++;
    same("verdict", &req, a.reply.verdict, model.verdict, 0);
    same("status", &req, a.reply.status, model.status, 0);
    if (a.reply.node_us) same("fence", &req, a.reply.fence, model.fence, 0);
    same("poll", &req, a.reply.poll_us, model.poll_us, 0);
    same("ttl", &req, a.reply.ttl_us / US_PER_MS, model.ttl_us / US_PER_MS,
         NEAR_MS);
    if (req.verb == VERB_BREAK)
        same("broken", &req, a.reply.info->locked, model.info->locked, 0);
    else if (a.reply.info && model.info)
        infos_compare(&req, a.reply.info, model.info);
}

TEST(redis_rw_replay, the_model_says_what_the_server_says)
{
    rig_begin();
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        rig_clear(seed);
        int64_t began_us = hf__clock_us();
        for (int i = 0; i < STEPS && hf__clock_us() - began_us < SEED_US; i++)
            step();
    }
    CHECK(r.seen[V_GRANTED] > 100 && r.seen[V_BUSY] > 100);
    CHECK(r.seen[V_STALE] > 5 && r.seen[V_OTHER] > 5);
}
