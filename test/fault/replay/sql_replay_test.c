/*
 * sql_replay_test.c: the stores in a database against the rules.
 *
 * The same seeded random requests of every kind, repeated and out of order, go
 * to a database and to the pure store of src/rules.  The rules run in both, but
 * a database loads and saves a name for each request, and PostgreSQL decides
 * about plain locks in a statement of its own.  One rule: the model's clock is
 * the one that the reply tells, so both must agree exactly, also about the end
 * of a lease.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "backend/registry.h"
#include "lib/fake_env.h"
#include "lib/mixture.h"
#include "lib/rig.h"
#include "lib/traffic.h"
#include "rules/store.h"
#include "sys/clock.h"
#include "test.h"

#define SEEDS 6
#define STEPS 600
#define LEASE_US (600 * US_PER_S)
#define BRIEF_US (2 * US_PER_MS) /* ended after a few requests */
#define NAME_STEPS 25

static struct {
    struct fake_env real;
    struct store *model;
    struct traffic traffic;
    struct mixture mixture;
    int is_renamed;  /* see renamed() */
    int64_t node_us; /* the server's clock when it last told it */
    int step;
    uint64_t seed;
    int seen[KINDS_LEN][REQUEST_OPS];
    int verdicts[V_UNKNOWN + 1];
} at;

static void replay_end(void *arg)
{
    (void)arg;
    fake_close(&at.real);
    hf__rules_store_close(at.model);
}

static void link_await(void)
{
    int64_t end_us = hf__clock_us() + FAKE_WAIT_MS * US_PER_MS;
    while (!at.real.is_up) {
        if (hf__clock_us() > end_us) TEST_FAIL("%s", at.real.link_err.text);
        fake_pump(&at.real, 50);
    }
}

static void replay_begin(const char *scheme)
{
    struct hf_error err;
    const struct backend *backend = hf__backend_find(scheme, &err);
    if (!backend) test_skip("%s", err.text);
    memset(&at, 0, sizeof at);
    rig_begin_on(scheme);
    fake_init(&at.real, backend);
    at.real.conf.timeout_us = FAKE_WAIT_MS * US_PER_MS;
    test_cleanup(replay_end, NULL);
    at.model = hf__rules_store_open(&hf__alloc_default);
    CHECK(at.model != NULL);
    if (fake_open(&at.real, rig_url(), &err)) TEST_FAIL("%s", err.text);
    link_await();
    at.node_us = hf__clock_wall_us();
}

/* ---- comparing ----------------------------------------------------------- */

static void same(const struct request *req, const char *what, int64_t real,
                 int64_t model)
{
    if (real == model) return;
    TEST_FAIL("seed %d step %d: %s, verb %d, kind %d, flags 0x%x: %s is %lld "
              "in the database, %lld by the rules",
              (int)at.seed, at.step, req->name ? req->name : "", req->verb,
              req->kind, req->flags, what, (long long)real, (long long)model);
}

/* `waiters` is left out: a database cannot count them. */
static const struct number {
    const char *name;
    size_t at;
    int is_long;
} info_numbers[] = {
#define NUMBER(field)                                                          \
    {                                                                          \
#field, offsetof(struct hf_info, field),                               \
            sizeof((struct hf_info *)0)->field == 8                            \
    }
    NUMBER(locked),   NUMBER(shared),  NUMBER(mine),     NUMBER(foreign),
    NUMBER(detached), NUMBER(ttl_ms),  NUMBER(count),    NUMBER(owner_count),
    NUMBER(fence),    NUMBER(pid),     NUMBER(since_ms), NUMBER(now_ms),
    NUMBER(queued),   NUMBER(readers), NUMBER(position), NUMBER(permits),
    NUMBER(available)};

static int64_t number_of(const struct hf_info *info, const struct number *n)
{
    int64_t wide = 0;
    int narrow;
    memcpy(&wide, (const char *)info + n->at, n->is_long ? sizeof wide : 0);
    memcpy(&narrow, (const char *)info + n->at, sizeof narrow);
    return n->is_long ? wide : narrow;
}

static void infos_compare(const struct request *req, const struct hf_info *real,
                          const struct hf_info *model)
{
    same(req, "whether it is described", real != NULL, model != NULL);
    if (!real) return;
    for (size_t i = 0; i < sizeof info_numbers / sizeof *info_numbers; i++)
        same(req, info_numbers[i].name, number_of(real, &info_numbers[i]),
             number_of(model, &info_numbers[i]));
    CHECK_STR(real->owner, model->owner);
    CHECK_STR(real->host, model->host);
    CHECK_STR(real->label, model->label);
    CHECK_STR(real->layout, model->layout);
}

static void tallies_compare(const struct request *req,
                            const struct tally_told *real,
                            const struct tally_told *model)
{
    same(req, "whether it is counted", real != NULL, model != NULL);
    if (!real) return;
    same(req, "is_there", real->is_there, model->is_there);
    same(req, "value", real->value, model->value);
    same(req, "capacity", real->capacity, model->capacity);
    same(req, "taken", real->taken, model->taken);
}

/* The marker is the same, and so is what it means; what the server says of its
 * own identity is not. */
static void boots_compare(const struct request *req, const struct boot *real,
                          const struct boot *model)
{
    same(req, "whether it may boot", real != NULL, model != NULL);
    if (!real) return;
    same(req, "quarantine", real->left_us, model->left_us);
    same(req, "longest lease", real->lease_us, model->lease_us);
    same(req, "new", real->is_new, model->is_new);
    same(req, "known", real->is_known, model->is_known);
    CHECK_STR(real->group, model->group);
}

static void replies_compare(const struct request *req,
                            const struct fake_answer *a,
                            const struct reply *model)
{
    const struct reply *real = &a->reply;
    if (real->verdict > V_ERROR) TEST_FAIL("%s", a->text);
    same(req, "verdict", real->verdict, model->verdict);
    same(req, "status", real->status, model->status);
    same(req, "fence", real->fence, model->fence);
    same(req, "counter", real->counter, model->counter);
    same(req, "ttl", real->ttl_us, model->ttl_us);
    same(req, "poll", real->poll_us, model->poll_us);
    same(req, "version", (int64_t)real->version, (int64_t)model->version);
    same(req, "length", (int64_t)real->data_len, (int64_t)model->data_len);
    same(req, "bytes",
         model->data_len > 0
             && memcmp(a->data, model->data, model->data_len) != 0,
         0);
    infos_compare(req, real->info, model->info);
    tallies_compare(req, real->tally, model->tally);
    boots_compare(req, real->boot, model->boot);
}

/* ---- both at once -------------------------------------------------------- */

static void heard(const struct request *req, const struct fake_answer *a,
                  struct reply *model)
{
    if (a->reply.node_us) at.node_us = a->reply.node_us;
    hf__rules_store_apply(at.model, at.node_us, req, model);
    replies_compare(req, a, model);
    at.seen[req->kind][req->verb]++;
    at.verdicts[model->verdict]++;
}

/* A name of its own for every few steps: most rows are then without a break,
 * which is remembered beside the lock. */
static struct request renamed(const struct request *req)
{
    static char name[NAME_LEN_MAX];
    struct request as = *req;
    if (!at.is_renamed || req->verb == VERB_BOOT) return as;
    snprintf(name, sizeof name, "%s %d.%d", req->name, (int)at.seed,
             at.step / NAME_STEPS);
    as.name = name;
    as.name_len = strlen(name);
    return as;
}

static struct reply tell(const struct request *asked)
{
    static struct fake_answer a;
    struct request as = renamed(asked), *req = &as, sent = as;
    struct reply model;
    sent.deadline_us = 0;
    fake_call(&at.real, &sent, &a);
    heard(req, &a, &model);
    return model;
}

static void look(const struct request *of)
{
    struct request req = {.verb = VERB_INSPECT,
                          .kind = of->kind,
                          .name = of->name,
                          .name_len = of->name_len};
    memcpy(req.owner, of->owner, sizeof req.owner);
    (void)tell(&req);
}

/* Pages of both, in any order. */
static void list(void)
{
    struct request req = {.verb = VERB_LIST};
    static struct fake_answer a;
    struct reply model;
    at.real.rows_len = 0;
    fake_call(&at.real, &req, &a);
    CHECK_INT(a.reply.cursor, 0);
    hf__rules_store_apply(at.model, a.reply.node_us, &req, &model);
    same(&req, "length of the list", at.real.rows_len, (int64_t)model.rows_len);
    for (size_t i = 0; i < model.rows_len; i++) {
        int n = 0;
        while (n < at.real.rows_len
               && strcmp(at.real.rows[n].name, model.rows[i].name) != 0)
            n++;
        same(&req, "listed", n < at.real.rows_len, 1);
        infos_compare(&req, &at.real.rows[n].info, &model.rows[i].info);
    }
}

/* ---- the tests ----------------------------------------------------------- */

static void traffic_step(void)
{
    struct request req = traffic_next(&at.traffic, at.node_us);
    struct reply model = tell(&req);
    traffic_heard(&at.traffic, &req, &model);
    if (req.verb != VERB_BOOT && at.step % 4 == 0) look(&req);
}

static void mixture_step(void)
{
    struct request req = mixture_next(&at.mixture, at.node_us);
    struct reply model = tell(&req);
    mixture_heard(&at.mixture, &req, &model);
    if (req.verb == VERB_PROPOSE && at.step % 4 == 0) look(&req);
}

/* Renewals of all names at the same time, which may go out as one statement. */
static void renewals_step(void)
{
    static struct fake_answer a[TRAFFIC_NAMES];
    static struct request sent[TRAFFIC_NAMES];
    static char names[TRAFFIC_NAMES][NAME_LEN_MAX];
    struct reply model;
    for (size_t i = 0; i < TRAFFIC_NAMES; i++) {
        struct request req = {.verb = VERB_RENEW,
                              .name = traffic_name(i),
                              .name_len = strlen(traffic_name(i)),
                              .attempt = at.traffic.last[i][0].attempt,
                              .count = 2,
                              .lease_us = LEASE_US};
        snprintf(req.owner, sizeof req.owner, "%s", traffic_owner(0));
        sent[i] = renamed(&req);
        memcpy(names[i], sent[i].name, sent[i].name_len + 1);
        sent[i].name = names[i];
        fake_submit(&at.real, &sent[i], &a[i]);
    }
    at.real.backend->flush(at.real.conn);
    for (size_t i = 0; i < TRAFFIC_NAMES; i++) {
        fake_wait(&at.real, &a[i]);
        heard(&sent[i], &a[i], &model);
    }
}

/* It means something only if everything was met. */
static void replay_check(void)
{
    for (int v = V_GRANTED; v <= V_UNSETTLED; v++)
        if (at.verdicts[v] < SEEDS * STEPS / 100)
            TEST_FAIL("verdict %d was given %d times", v, at.verdicts[v]);
}

/* Nobody queues, so a row has nothing but its plain lock. */
static void replay_plain(void)
{
    for (at.seed = 1; at.seed <= SEEDS; at.seed++) {
        traffic_start(&at.traffic, at.seed, at.seed % 2 ? LEASE_US : BRIEF_US);
        at.traffic.is_plain = at.is_renamed = 1;
        for (at.step = 0; at.step < STEPS; at.step++) {
            traffic_step();
            if (at.step % 10 == 0) renewals_step();
        }
    }
    replay_check();
}

static void replay_all(void)
{
    for (at.seed = 1; at.seed <= SEEDS; at.seed++) {
        traffic_start(&at.traffic, at.seed, LEASE_US);
        mixture_start(&at.mixture, at.seed);
        for (at.step = 0; at.step < STEPS; at.step++) {
            traffic_step();
            mixture_step();
            if (at.step % 10 == 0) renewals_step();
            if (at.step % 50 == 0) list();
        }
    }
    replay_check();
    for (int kind = KIND_PLAIN; kind < KINDS_LEN; kind++)
        CHECK(at.seen[kind][VERB_PROPOSE] > SEEDS * STEPS / 100);
}

TEST(sql_replay, postgres_and_the_rules_agree_on_plain_locks)
{
    replay_begin("postgres");
    replay_plain();
}

TEST(sql_replay, postgres_and_the_rules_agree_on_every_kind)
{
    replay_begin("postgres");
    replay_all();
}

TEST(sql_replay, sqlite_and_the_rules_agree_on_plain_locks)
{
    replay_begin("sqlite");
    replay_plain();
}

TEST(sql_replay, sqlite_and_the_rules_agree_on_every_kind)
{
    replay_begin("sqlite");
    replay_all();
}
