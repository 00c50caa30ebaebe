/*
 * redis_gate_test.c: the scripts for latches and barriers against the model
 * store.  The same seeded random requests, repeated and out of order, go to a
 * real server and to the store; one rule: after every one of them both have
 * said the same.
 */
#include <stdio.h>
#include <string.h>

#include "rules/store.h"
#include "lib/rig_redis.h"
#include "lib/server.h"
#include "sys/random.h"
#include "test.h"

#define STEPS 2000
#define OWNERS 5
#define PAST 64 /* answers, however long they took */

static struct {
    struct lab_server server;
    struct fake_env real;
    struct store *model;
    uint64_t random;
    uint64_t attempt;
    int64_t node_us, past[PAST]; /* `seen` of the last answers */
    unsigned pasts;
    int seen[V_UNKNOWN + 1];
    struct {
        int life; /* part of the owner's name: another wait of it */
        int64_t seen, ballot;
        uint32_t round;
    } waits[OWNERS];
    int64_t parties; /* of the barrier; 0: it is a latch */
} rig;

static void rig_end(void *arg)
{
    (void)arg;
    hf__rules_store_close(rig.model);
}

static void rig_begin_gate(uint64_t seed)
{
    memset(&rig, 0, sizeof rig);
    redis_begin(&rig.server, NULL);
    rig.model = hf__rules_store_open(&hf__alloc_default);
    CHECK(rig.model != NULL);
    test_cleanup(rig_end, NULL);
    server_connect(&rig.real, rig.server.url);
    rig.node_us = server_clock(&rig.real);
    rig.random = seed;
}

static int64_t draw(uint64_t n)
{
    return (int64_t)(hf__random_next(&rig.random) % n);
}

/* Without the index: the two may order the parties differently. */
static int64_t generation_of(int64_t fence)
{
    return rig.parties > 0 ? fence - fence % rig.parties : fence;
}

static struct fake_answer step(int number, const struct request *req)
{
    struct fake_answer real;
    struct reply model;
    struct request sent = *req;
    enum verdict verdict = server_do(&rig.real, sent, &real);
    if (real.reply.node_us) rig.node_us = real.reply.node_us;
    hf__rules_store_apply(rig.model, rig.node_us, req, &model);
    rig.seen[verdict]++;
    if (verdict == V_BUSY) rig.past[rig.pasts++ % PAST] = real.reply.seen;
    int64_t told = real.reply.tally ? real.reply.tally->value : -1;
    int64_t model_told = model.tally ? model.tally->value : -1;
    int64_t went = generation_of(real.reply.fence);
    int64_t model_went = generation_of(model.fence);
    if (verdict != model.verdict || real.reply.status != model.status
        || told != model_told || went != model_went
        || real.reply.poll_us != model.poll_us || real.reply.seen != model.seen)
        TEST_FAIL("step %d, request %d: the server says %d (%s), %lld, %lld; "
                  "the model %d (%s), %lld, %lld",
                  number, req->verb, verdict, real.text, (long long)told,
                  (long long)went, model.verdict, model.text ? model.text : "",
                  (long long)model_told, (long long)model_went);
    return real;
}

/* ---- latches ------------------------------------------------------------ */

static struct request latch_draw(void)
{
    static const enum tally_do whats[] = {TALLY_DOWN, TALLY_DOWN,   TALLY_DOWN,
                                          TALLY_OPEN, TALLY_DELETE, TALLY_READ};
    struct request req =
        server_request(draw(4) ? VERB_TALLY : VERB_PROPOSE,
                       draw(2) ? "a" : "{b}", ++rig.attempt, rig.node_us);
    req.kind = KIND_LATCH;
    req.flags = 0;
    if (req.verb == VERB_PROPOSE) {
        req.seen = draw(2) ? rig.past[draw(PAST)] : 0;
        return req;
    }
    req.tally = whats[draw(6)];
    req.number = 1 + draw(4);
    return req;
}

TEST(redis_gate, server_and_model_agree_on_latches)
{
    static struct request last;
    rig_begin_gate(1);
    for (int i = 0; i < STEPS; i++) {
        struct request req = latch_draw();
        if (i > 0 && draw(6) == 0) {
            /* Now and then the last one comes once more. */
            req = last;
            req.flags |= REQ_REPEATED;
        }
        last = req;
        step(i, &req);
        struct request look = req;
        look.verb = VERB_TALLY;
        look.tally = TALLY_READ;
        step(i, &look);
    }
    CHECK(rig.seen[V_GRANTED] > STEPS / 20 && rig.seen[V_BUSY] > STEPS / 20);
    CHECK(rig.seen[V_OTHER] > STEPS / 20 && rig.seen[V_ABSENT] > STEPS / 20);
    CHECK(rig.seen[V_ERROR] > STEPS / 50); /* deleted */
}

/* ---- barriers ----------------------------------------------------------- */

static struct request barrier_draw(int party)
{
    static const enum verb ops[] = {VERB_PROPOSE, VERB_PROPOSE, VERB_PROPOSE,
                                    VERB_PROPOSE, VERB_RELEASE, VERB_TALLY};
    struct request req =
        server_request(ops[draw(6)], "a", ++rig.attempt, rig.node_us + draw(3));
    snprintf(req.owner, sizeof req.owner,
             "01234567-89ab-4def-8123-456789abcdef:%d",
             party * 1000000 + rig.waits[party].life);
    req.kind = KIND_BARRIER;
    req.permits = draw(30) ? 3 : 2;
    req.flags = draw(8) ? REQ_QUEUE : 0;
    req.seen = rig.waits[party].seen;
    req.round = ++rig.waits[party].round;
    req.tally = TALLY_READ;
    /* Now and then the number of an earlier one: a late copy. */
    if (draw(6) == 0 && rig.waits[party].ballot)
        req.ballot = rig.waits[party].ballot - draw(2);
    if (draw(40) == 0) req.ballot = rig.node_us - 2 * BALLOT_WINDOW_US;
    rig.waits[party].ballot = req.ballot;
    return req;
}

TEST(redis_gate, server_and_model_agree_on_barriers)
{
    rig_begin_gate(2);
    for (int i = 0; i < STEPS; i++) {
        int party = (int)draw(OWNERS);
        struct request req = barrier_draw(party);
        if (i == 0) {
            req.verb = VERB_PROPOSE; /* so that there is one */
            rig.parties = req.permits;
        }
        struct fake_answer answer = step(i, &req);
        if (answer.reply.verdict == V_BUSY)
            rig.waits[party].seen = answer.reply.seen;
        int went =
            req.verb == VERB_PROPOSE && answer.reply.verdict == V_GRANTED;
        if ((went && draw(3)) || (req.verb == VERB_RELEASE && draw(2))) {
            rig.waits[party].life++;
            rig.waits[party].seen = rig.waits[party].ballot = 0;
            rig.waits[party].round = 0;
        }
    }
    CHECK(rig.seen[V_GRANTED] > STEPS / 20 && rig.seen[V_BUSY] > STEPS / 20);
    CHECK(rig.seen[V_STALE] > STEPS / 50 && rig.seen[V_ABSENT] > STEPS / 50);
    CHECK(rig.seen[V_ERROR] > STEPS / 200); /* other parties */
}
