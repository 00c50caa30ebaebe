/*
 * redis_permit_replay_test.c: the same random requests about permits, on a real
 * Redis and on the memory store.  One rule: they answer alike, with the same
 * fences and the same numbers.
 */
#include <string.h>

#include "rules/store.h"
#include "lib/rig.h"
#include "lib/rig_redis.h"
#include "lib/server.h"
#include "sys/clock.h"
#include "sys/random.h"

#define REQUESTS 1500

static struct lab_server r;
static struct fake_env f;
static struct fake_answer a;
static struct store *store;

static void store_end(void *arg)
{
    (void)arg;
    hf__rules_store_close(store);
    store = NULL;
}

static void begin(void)
{
    redis_begin(&r, NULL);
    rig_begin_at(r.url); /* its alarm */
    server_connect(&f, r.url);
    store = hf__rules_store_open(&hf__alloc_default);
    CHECK(store != NULL);
    test_cleanup(store_end, NULL);
}

static const char *const words[] = {[VERB_PROPOSE] = "propose",
                                    [VERB_RENEW] = "renew",
                                    [VERB_RELEASE] = "release",
                                    [VERB_INSPECT] = "inspect",
                                    [VERB_TALLY] = "tally"};

static struct request draw(enum lock_kind kind, uint64_t random)
{
    static const enum verb ops[] = {VERB_PROPOSE, VERB_PROPOSE, VERB_PROPOSE,
                                    VERB_RELEASE, VERB_RELEASE, VERB_RENEW,
                                    VERB_TALLY,   VERB_INSPECT};
    enum verb op = ops[random % 8];
    struct request req =
        server_request(op, "s", 1 + (random >> 3) % 12, server_clock(&f));
    if (kind == KIND_COUNT && (op == VERB_RENEW || op == VERB_INSPECT))
        req.verb = VERB_PROPOSE;
    req.kind = kind;
    req.flags = REQ_SERVER_FENCE;
    req.owner[strlen(req.owner) - 1] = (char)('1' + (random >> 12) % 3);
    /* Attempts are a client's: no two holders have the same. */
    req.attempt = 10 * req.attempt + (random >> 12) % 3;
    req.permits = 1 + (int32_t)(req.attempt / 10 % 3); /* as its copies */
    if (kind == KIND_PERMIT && (random >> 16) % 4 == 0) req.flags |= REQ_QUEUE;
    if (op == VERB_RELEASE && (random >> 48) % 4 == 0) req.flags |= REQ_UNSURE;
    if ((random >> 20) % 8 == 0) req.lease_us = 1000;
    /* One holder's are tickets, whose renewals may come from a forged one. */
    if (kind == KIND_PERMIT && req.attempt % 10 == 2) req.flags |= REQ_DETACHED;
    if (req.flags & REQ_DETACHED && op == VERB_RENEW && (random >> 51) % 3 == 0)
        req.attempt ^= UINT64_C(1) << 48;
    /* As of a semaphore that was opened with its permits, or was not. */
    if (req.verb == VERB_PROPOSE && (random >> 54) % 3 == 0)
        req.capacity = 1 + (int64_t)((random >> 57) % 5);
    if (op != VERB_TALLY) return req;
    req.ballot = 0;
    req.tally = (enum tally_do)((random >> 24) % 7);
    if (req.tally == TALLY_DOWN) req.tally = TALLY_READ;
    if (req.tally == TALLY_DRAIN && kind == KIND_PERMIT) req.tally = TALLY_ADD;
    if (req.tally == TALLY_DELETE && (random >> 32) % 4) req.tally = TALLY_SET;
    req.number = (int64_t)((random >> 36) % 8) - 2 * (req.tally == TALLY_ADD);
    req.attempt += 1000 * (1 + (uint64_t)req.tally) + (random >> 44) % 64 * 10;
    req.flags = (random >> 40) % 3 == 0 ? REQ_ANYWAY : 0;
    if ((random >> 42) % 3 == 0) req.flags |= REQ_IF_THERE;
    req.lease_us = 30 * US_PER_S;
    return req;
}

static void differ(const struct request *req, int i, const char *what,
                   int64_t redis, int64_t memory)
{
    if (redis == memory) return;
    TEST_FAIL("request %d, %s: %s: %lld on redis, %lld in memory", i,
              words[req->verb], what, (long long)redis, (long long)memory);
}

static void compare(const struct request *req, int i, const struct reply *mine)
{
    differ(req, i, "verdict", a.reply.verdict, mine->verdict);
    if (mine->verdict == V_ERROR)
        differ(req, i, "status", a.reply.status, mine->status);
    if (mine->verdict == V_GRANTED && req->verb == VERB_PROPOSE)
        differ(req, i, "fence", a.reply.fence, mine->fence);
    if (mine->verdict == V_BUSY || req->verb == VERB_RENEW)
        differ(req, i, "ttl", a.reply.ttl_us, mine->ttl_us);
    if (mine->verdict == V_BUSY)
        differ(req, i, "poll", a.reply.poll_us / 10000, mine->poll_us / 10000);
    if (mine->tally && a.reply.tally && mine->verdict != V_ERROR) {
        differ(req, i, "value", a.tally.value, mine->tally->value);
        differ(req, i, "capacity", a.tally.capacity, mine->tally->capacity);
        differ(req, i, "taken", a.tally.taken, mine->tally->taken);
        differ(req, i, "is there", a.tally.is_there, mine->tally->is_there);
    }
    if (mine->info && a.reply.info) {
        differ(req, i, "available", a.info.available, mine->info->available);
        differ(req, i, "permits", a.info.permits, mine->info->permits);
        differ(req, i, "locked", a.info.locked, mine->info->locked);
        differ(req, i, "mine", a.info.mine, mine->info->mine);
        differ(req, i, "queued", a.info.queued, mine->info->queued);
        differ(req, i, "position", a.info.position, mine->info->position);
        differ(req, i, "token", (int64_t)a.info.fence,
               (int64_t)mine->info->fence);
    }
}

/* A renewal names the token of its attempt, or another one. */
static int64_t fences[256];

static void fence_put(struct request *req, uint64_t random)
{
    if (req->verb == VERB_RENEW && random % 4 != 0)
        req->fence = fences[req->attempt % 256] + (random % 8 == 1);
}

static void replay(enum lock_kind kind, uint64_t seed)
{
    memset(fences, 0, sizeof fences);
    for (int i = 0; i < REQUESTS; i++) {
        struct request req = draw(kind, hf__random_next(&seed));
        struct reply mine;
        fence_put(&req, seed >> 56);
        /* Ask by owner: the memory store does not know the server's ids. */
        if (req.verb == VERB_INSPECT) req.attempt = 0;
        server_do(&f, req, &a);
        /* The server's time of the request: its answer has it, or the fence. */
        int64_t now_us = a.reply.node_us;
        if (!now_us && req.verb == VERB_PROPOSE) now_us = a.reply.fence;
        if (!now_us) now_us = hf__clock_wall_us();
        hf__rules_store_apply(store, now_us, &req, &mine);
        compare(&req, i, &mine);
        if (req.verb == VERB_PROPOSE && mine.verdict == V_GRANTED)
            fences[req.attempt % 256] = mine.fence;
        if (req.verb == VERB_PROPOSE && req.lease_us == 1000) rig_pause_ms(5);
    }
}

TEST(redis_permit_replay, permits_are_the_same_in_memory_and_on_redis)
{
    begin();
    replay(KIND_PERMIT, 7);
}

TEST(redis_permit_replay, counters_are_the_same_in_memory_and_on_redis)
{
    begin();
    replay(KIND_COUNT, 11);
}
