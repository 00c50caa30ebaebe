/*
 * redis_value_test.c: the scripts for values against the model store.  The same
 * seeded random requests go to a real server and to the store; one rule: after
 * every one of them both have said the same, versions to the microsecond.
 */
#include <string.h>

#include "rules/store.h"
#include "lib/rig_redis.h"
#include "lib/server.h"
#include "sys/random.h"
#include "test.h"

#define STEPS 1500
#define SLACK_US (2 * US_PER_S) /* a TTL and the TIME beside it */

static struct {
    struct lab_server server;
    struct fake_env real;
    struct store *model;
    uint64_t random;
    uint64_t attempt;
    uint64_t versions[4]; /* of late; repeated and out of date */
} rig;

static void rig_end(void *arg)
{
    (void)arg;
    hf__rules_store_close(rig.model);
}

static uint64_t draw(uint64_t n)
{
    return hf__random_next(&rig.random) % n;
}

static uint64_t version_draw(void)
{
    uint64_t n = draw(8);
    if (n < 4) return rig.versions[0];
    if (n < 6) return rig.versions[1 + draw(3)];
    return n == 6 ? 0 : HF_VALUE_ANY;
}

static struct request request_draw(void)
{
    static const char *const names[] = {"a", "b", "{c}"};
    static const char *const texts[] = {"", "x", "some bytes"};
    const char *text = texts[draw(3)];
    struct request req = {.verb = draw(4) ? VERB_VALUE_WRITE : VERB_VALUE_READ,
                          .name = names[draw(3)],
                          .version = version_draw(),
                          .data = text,
                          .data_len = strlen(text),
                          .owner = SERVER_OWNER};
    req.name_len = strlen(req.name);
    if (draw(6) == 0) req.flags = REQ_DELETE;
    if (draw(3) == 0) req.lease_us = (int64_t)(500 + draw(100)) * US_PER_S;
    /* Now and then the last one's number comes once more. */
    req.attempt = draw(6) ? ++rig.attempt : rig.attempt;
    return req;
}

static void step(int number, const struct request *req)
{
    struct fake_answer real;
    struct reply model;
    enum verdict verdict = server_do(&rig.real, *req, &real);
    hf__rules_store_apply(rig.model, real.reply.node_us, req, &model);
    if (verdict != model.verdict || real.reply.version != model.version
        || real.reply.data_len != model.data_len)
        TEST_FAIL("step %d: the server says %d, version %llu, %zu bytes; the "
                  "model %d, %llu, %zu",
                  number, verdict, (unsigned long long)real.reply.version,
                  real.reply.data_len, model.verdict,
                  (unsigned long long)model.version, model.data_len);
    int64_t apart_us = real.reply.ttl_us - model.ttl_us;
    CHECK(apart_us >= -SLACK_US && apart_us <= SLACK_US);
    if (!model.version) return;
    memmove(rig.versions + 1, rig.versions, 3 * sizeof rig.versions[0]);
    rig.versions[0] = model.version;
}

TEST(redis_value, server_and_model_agree_on_every_request)
{
    int seen[V_UNKNOWN + 1] = {0};
    memset(&rig, 0, sizeof rig);
    redis_begin(&rig.server, NULL);
    rig.model = hf__rules_store_open(&hf__alloc_default);
    CHECK(rig.model != NULL);
    test_cleanup(rig_end, NULL);
    server_connect(&rig.real, rig.server.url);
    rig.random = 1;
    for (int i = 0; i < STEPS; i++) {
        struct request req = request_draw();
        step(i, &req);
        struct request look = req;
        look.verb = VERB_VALUE_READ;
        step(i, &look);
        seen[req.verb == VERB_VALUE_WRITE && req.version == rig.versions[0]]++;
    }
    CHECK(seen[1] > STEPS / 20);
}
