/*
 * replay_test.c: the model node against a real server.
 *
 * The same seeded random requests, repeated and out of order, go through the
 * redis backend to a redis-server and to the pure store that the simulator
 * believes.  After every one of them both must have said the same and must
 * look the same.  One rule: the model's clock is what the server's replies say,
 * so that even numbers taken from the clock are compared exactly.
 *
 * The store is compiled into this file with the bugs it can be given, to show
 * that a model that is wrong would be found out.
 */
#define HF_MUTATIONS 1
#include "rules/hold.c"
#include "rules/queue.c"
#include "rules/store.c"

#include <poll.h>

#include "lib/fake_env.h"
#include "lib/rig_redis.h"
#include "lib/traffic.h"
#include "sys/clock.h"
#include "test.h"

#define SEEDS 4
#define STEPS 1500
#define LEASE_US (600 * US_PER_S) /* nothing ends by itself */
#define SLACK_MS 500 /* the machine may stand still between two requests */
#define BORDER_MS 20 /* this near the end of a lease both may be right */
#define LATE_MS 5000 /* a busy server may tell the time this much later */

struct rig {
    struct lab_server server;
    struct fake_env real;
    struct store *model;
    struct traffic traffic;
    int is_plain;            /* nobody queues */
    int64_t node_us;         /* the server's clock when it last told it */
    int seen[V_UNKNOWN + 1]; /* how often each verdict was given */
    char difference[512];    /* the first, or "" */
};

static void rig_stop(void *arg)
{
    struct rig *r = arg;
    fake_close(&r->real);
    hf__rules_store_close(r->model);
}

/* Its clock runs at a fiftieth: a lock that is handed to a queued waiter, for a
 * moment only, does not end between two requests. */
static const char *const slow_env[] = {"LD_PRELOAD=" TEST_CLOCK_SHIM,
                                       "HF_CLOCK_PPM=-980000", NULL};

/* `options` of the URL choose how the locks are stored. */
static void rig_start(struct rig *r, const char *options,
                      const char *const *env)
{
    struct hf_error err;
    char url[128];
    memset(r, 0, sizeof *r);
    r->is_plain = options[0] != '\0';
    r->server.env = env;
    redis_begin(&r->server, NULL);
    fake_init(&r->real, &hf__backend_redis);
    r->real.conf.timeout_us = 10 * US_PER_S;
    test_cleanup(rig_stop, r);
    r->model = hf__rules_store_open(&hf__alloc_default);
    CHECK(r->model != NULL);
    snprintf(url, sizeof url, "%s%s", r->server.url, options);
    if (fake_open(&r->real, url, &err)) TEST_FAIL("%s", err.text);
    r->node_us = hf__clock_wall_us();
}

static void rig_clear(struct rig *r, uint64_t seed)
{
    CHECK_STR(redis_say(&r->server, "FLUSHALL"), "OK");
    hf__rules_store_wipe(r->model, 0);
    traffic_start(&r->traffic, seed, LEASE_US);
    r->traffic.is_plain = r->is_plain;
    r->difference[0] = '\0';
}

/* ---- comparing -------------------------------------------------------- */

static void differ(struct rig *r, const char *what, long long real,
                   long long model)
{
    if (r->difference[0]) return;
    snprintf(r->difference, sizeof r->difference,
             "%s is %lld on the server, %lld in the model", what, real, model);
}

static void same(struct rig *r, const char *what, int64_t real, int64_t model)
{
    if (real != model) differ(r, what, real, model);
}

static void near(struct rig *r, const char *what, int64_t real_ms,
                 int64_t model_ms)
{
    int64_t apart = real_ms - model_ms;
    if (apart < -SLACK_MS || apart > SLACK_MS)
        differ(r, what, real_ms, model_ms);
}

static void same_text(struct rig *r, const char *what, const char *real,
                      const char *model)
{
    if (strcmp(real, model) == 0) return;
    differ(r, what, (long long)strlen(real), (long long)strlen(model));
}

static void replies_compare(struct rig *r, const struct request *req,
                            const struct reply *real, const struct reply *model)
{
    same(r, "verdict", real->verdict, model->verdict);
    same(r, "status", real->status, model->status);
    same(r, "fence", real->fence, model->fence);
    if (req->verb == VERB_BREAK && real->info && model->info)
        same(r, "broken", real->info->locked, model->info->locked);
    /* A grant that is repeated tells its own fence, not the counter. */
    if (real->counter && real->verdict != V_GRANTED)
        same(r, "counter", real->counter, model->counter);
    near(r, "ttl", real->ttl_us / US_PER_MS, model->ttl_us / US_PER_MS);
}

static void boots_compare(struct rig *r, const struct boot *real,
                          const struct boot *model)
{
    same(r, "whether it may boot", real != NULL, model != NULL);
    if (!real || !model) return;
    same(r, "quarantine", real->left_us, model->left_us);
    same(r, "longest lease", real->lease_us, model->lease_us);
    same(r, "new", real->is_new, model->is_new);
    same(r, "durable", real->is_durable, model->is_durable);
    same(r, "locks", real->has_locks, model->has_locks);
    same(r, "known", real->is_known, model->is_known);
    same_text(r, "group", real->group, model->group);
}

static void infos_compare(struct rig *r, const struct hf_info *real,
                          const struct hf_info *model)
{
    same(r, "locked", real->locked, model->locked);
    same(r, "mine", real->mine, model->mine);
    same(r, "foreign", real->foreign, model->foreign);
    same(r, "detached", real->detached, model->detached);
    same(r, "count", real->count, model->count);
    same(r, "owner's count", real->owner_count, model->owner_count);
    same(r, "highest token", (int64_t)real->fence, (int64_t)model->fence);
    near(r, "since", real->since_ms, model->since_ms);
    same(r, "now", real->now_ms, model->now_ms);
    same(r, "pid", real->pid, model->pid);
    near(r, "time left", real->ttl_ms, model->ttl_ms);
    same_text(r, "owner", real->owner, model->owner);
    same_text(r, "host", real->host, model->host);
    same_text(r, "label", real->label, model->label);
    same_text(r, "layout", real->layout, model->layout);
    same(r, "queued", real->queued, model->queued);
    same(r, "position", real->position, model->position);
}

/* ---- both at once ----------------------------------------------------- */

static struct request inspection_of(const struct request *of)
{
    struct request req = {
        .verb = VERB_INSPECT, .name = of->name, .name_len = of->name_len};
    memcpy(req.owner, of->owner, sizeof req.owner);
    return req;
}

/* Ask the server, then the model at the time that the server told.  A release
 * tells none, but only the end of a lease could make a difference to it; nor
 * does a grant under a number above the clock, so that is asked just before. */
static void rig_ask(struct rig *r, const struct request *req,
                    struct fake_answer *real, struct reply *model)
{
    struct request sent = *req;
    sent.deadline_us = 0;
    if (req->verb == VERB_PROPOSE) {
        struct request look = inspection_of(req);
        fake_call(&r->real, &look, real);
        if (real->reply.node_us) r->node_us = real->reply.node_us;
    }
    fake_call(&r->real, &sent, real);
    if (real->reply.verdict > V_ERROR) TEST_FAIL("%s", real->text);
    if (real->reply.node_us) r->node_us = real->reply.node_us;
    hf__rules_store_apply(r->model, r->node_us, req, model);
}

/* One request to both. */
static enum verdict rig_tell(struct rig *r, const struct request *req)
{
    struct fake_answer real;
    struct reply model;
    rig_ask(r, req, &real, &model);
    enum verdict verdict = real.reply.verdict;
    r->seen[verdict]++;
    replies_compare(r, req, &real.reply, &model);
    traffic_heard(&r->traffic, req, &model);
    if (req->verb == VERB_BOOT) boots_compare(r, real.reply.boot, model.boot);
    return verdict;
}

/* One request to both, and a look at what it left. */
static enum verdict rig_step(struct rig *r, const struct request *req)
{
    struct fake_answer real;
    struct reply model;
    enum verdict verdict = rig_tell(r, req);
    if (req->verb == VERB_BOOT) return verdict;
    struct request look = inspection_of(req);
    rig_ask(r, &look, &real, &model);
    infos_compare(r, &real.info, model.info);
    return verdict;
}

/* Both forget that they may vote. */
static void rig_unmark(struct rig *r)
{
    (void)redis_number(&r->server, "DEL holdfast:boot");
    r->model->marker = (struct marker){0};
}

static int rig_is_listed(const struct rig *r, const char *name)
{
    for (int i = 0; i < r->real.rows_len; i++)
        if (strcmp(r->real.rows[i].name, name) == 0) return 1;
    return 0;
}

static void rig_list(struct rig *r)
{
    struct request req = {.verb = VERB_LIST};
    struct fake_answer real;
    struct reply model;
    r->real.rows_len = 0;
    do {
        req.deadline_us = 0;
        fake_call(&r->real, &req, &real);
        req.cursor = real.reply.cursor;
    } while (req.cursor);
    hf__rules_store_apply(r->model, r->node_us, &req, &model);
    same(r, "length of the list", r->real.rows_len, (int64_t)model.rows_len);
    for (size_t i = 0; i < model.rows_len; i++)
        same(r, "listed", rig_is_listed(r, model.rows[i].name), 1);
}

/* ---- the tests -------------------------------------------------------- */

static void every_request(const char *options)
{
    static struct rig r;
    rig_start(&r, options, slow_env);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        rig_clear(&r, seed);
        for (int step = 0; step < STEPS; step++) {
            struct request req = traffic_next(&r.traffic, r.node_us);
            rig_step(&r, &req);
            if (step % 50 == 0) rig_list(&r);
            if (step % 150 == 100) rig_unmark(&r);
            if (r.difference[0])
                TEST_FAIL("seed %d step %d: %s", (int)seed, step, r.difference);
        }
    }
    /* It means something only if every verdict was met, and often. */
    for (int v = V_GRANTED; v < V_ERROR; v++)
        if (r.seen[v] <= SEEDS * STEPS / 200)
            TEST_FAIL("verdict %d was given %d times", v, r.seen[v]);
}

TEST(replay, server_and_model_agree_on_every_request)
{
    every_request("");
}

TEST(replay, strings_and_model_agree_on_every_request)
{
    every_request("?format=string");
}

/* Only passing time would show these bugs, and here no time passes. */
static int is_about_time(int mutation)
{
    return mutation == STORE_MUT_EXPIRED_RENEWED
           || mutation == STORE_MUT_COUNTER_AGED
           || mutation == STORE_MUT_QUEUE_DEAD_SERVED
           || mutation == STORE_MUT_QUEUE_FORGETS_EARLY;
}

TEST(replay, a_wrong_model_is_found_out)
{
    static struct rig r;
    rig_start(&r, "", NULL);
    for (int m = STORE_MUT_NONE + 1; m < STORE_MUT_PERMIT; m++) {
        if (is_about_time(m)) continue;
        rig_clear(&r, (uint64_t)m);
        hf__rules_store_mutate(r.model, (enum store_mutation)m);
        for (int step = 0; step < 20 * STEPS && !r.difference[0]; step++) {
            struct request req = traffic_next(&r.traffic, r.node_us);
            rig_step(&r, &req);
        }
        if (!r.difference[0]) TEST_FAIL("mutation %d was not noticed", m);
    }
}

/* Its number is above all that came before. */
static struct request short_proposal(uint64_t attempt)
{
    struct request req = {.verb = VERB_PROPOSE,
                          .flags = REQ_SERVER_FENCE,
                          .name = "brief",
                          .name_len = 5,
                          .attempt = attempt,
                          .ballot =
                              hf__clock_wall_us() + (int64_t)attempt * US_PER_S,
                          .count = 1,
                          .lease_us = (int64_t)(5 + attempt % 20) * US_PER_MS,
                          .window_us = BALLOT_WINDOW_US,
                          .info = "1 host label"};
    snprintf(req.owner, sizeof req.owner, "%s", traffic_owner(attempt % 2));
    return req;
}

/* Look at both until the server's lock is gone. */
static void rig_await_end(struct rig *r, const struct request *held)
{
    int64_t end_us = hf__clock_us() + FAKE_WAIT_MS * US_PER_MS;
    struct store_view view;
    struct fake_answer real;
    struct reply model;
    hf__rules_store_look(r->model, r->node_us, held->name, held->name_len,
                         &view);
    struct request look = inspection_of(held);
    do {
        CHECK(hf__clock_us() < end_us);
        poll(NULL, 0, 1);
        rig_ask(r, &look, &real, &model);
        int64_t apart_us = r->node_us - view.expires_us;
        if (apart_us < -BORDER_MS * US_PER_MS || apart_us > LATE_MS * US_PER_MS)
            infos_compare(r, &real.info, model.info);
    } while (real.info.locked);
    /* On the border the model may be a moment behind. */
    if (r->node_us < view.expires_us) r->node_us = view.expires_us;
    hf__rules_store_apply(r->model, r->node_us, &look, &model);
    same(r, "still locked", 0, model.info->locked);
}

static void ended_leases(const char *options)
{
    static struct rig r;
    rig_start(&r, options, NULL);
    rig_clear(&r, 1);
    for (uint64_t attempt = 1; attempt <= 40; attempt++) {
        struct request req = short_proposal(attempt);
        /* It may be over before one can look. */
        CHECK(rig_tell(&r, &req) == V_GRANTED);
        rig_await_end(&r, &req);
        struct request late = req;
        late.verb = VERB_RENEW;
        CHECK(rig_step(&r, &late) == V_ABSENT);
        late.verb = VERB_RELEASE;
        late.ballot = req.ballot + (int64_t)(attempt % 3);
        CHECK(rig_step(&r, &late) == V_ABSENT);
        /* The very same proposal, late: the tombstone must refuse it. */
        CHECK(rig_step(&r, &req) == V_STALE);
        if (r.difference[0])
            TEST_FAIL("attempt %d: %s", (int)attempt, r.difference);
    }
}

TEST(replay, server_and_model_agree_on_ended_leases)
{
    ended_leases("");
}

TEST(replay, strings_and_model_agree_on_ended_leases)
{
    ended_leases("?format=string");
}
