/*
 * redis_stock_test.c: the scripts for sales against the rules in C.  The same
 * seeded random jobs go to a real server and to the rules; one rule: after
 * every one of them both have said the same.
 */
#include <stdio.h>
#include <string.h>

#include "base/stock.h"
#include "lib/rig_redis.h"
#include "lib/server.h"
#include "rules/store.h"
#include "sys/random.h"
#include "test.h"

#define STEPS 4000
#define SEGMENTS 3
#define ORDERS 64

static struct {
    struct lab_server server;
    struct fake_env real;
    struct store *model;
    uint64_t random;
    unsigned nonces;
    struct {
        int64_t order;
        uint32_t segment;
        char user[8], nonce[STOCK_NONCE_LEN + 1];
    } orders[ORDERS]; /* of late */
    unsigned orders_len;
    struct stock_transfer moved[SEGMENTS][SEGMENTS]; /* from, to */
    int said[STOCK_OTHER + 1], states[HF_STOCK_EXPIRED + 1];
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

static void reserve_draw(struct stock_job *job, char *user, char *id)
{
    job->what = STOCK_RESERVE;
    snprintf(user, 8, "u%%2C%d", (int)draw(6));
    snprintf(id, 8, "r%d", (int)draw(60));
    snprintf(job->nonce, sizeof job->nonce, "%011u",
             draw(8) ? ++rig.nonces : rig.nonces);
    job->units = 1 + (int64_t)draw(3);
    job->leads = draw(4) == 0;
}

static void settle_draw(struct stock_job *job, char *user)
{
    static const enum stock_do dos[] = {STOCK_CONFIRM, STOCK_CANCEL,
                                        STOCK_EXTEND};
    unsigned len = rig.orders_len < ORDERS ? rig.orders_len : ORDERS;
    job->what = dos[draw(3)];
    job->ms = 1 + (int64_t)draw(60);
    if (!len) return;
    unsigned at = (unsigned)draw(len);
    job->segment = rig.orders[at].segment;
    job->order = rig.orders[at].order;
    snprintf(user, 8, "%s", rig.orders[at].user);
    memcpy(job->nonce, rig.orders[at].nonce, sizeof job->nonce);
    if (draw(12) == 0) job->nonce[0] = '!';
}

/* One end of the last transfer between two segments, or an older one. */
static void move_draw(struct stock_job *job)
{
    static const enum stock_do dos[] = {STOCK_DONATE, STOCK_ACCEPT, STOCK_ACK};
    job->what = dos[draw(3)];
    job->peer = (uint32_t)((job->segment + 1 + draw(SEGMENTS - 1)) % SEGMENTS);
    job->units = 1 + (int64_t)draw(4);
    if (job->what == STOCK_DONATE) return;
    const struct stock_transfer *t = job->what == STOCK_ACCEPT
                                         ? &rig.moved[job->peer][job->segment]
                                         : &rig.moved[job->segment][job->peer];
    job->number = t->number > 1 && draw(5) == 0 ? t->number - 1 : t->number;
    job->units = t->units;
}

static struct stock_job job_draw(char *user, char *id)
{
    struct stock_job job = {.segments = SEGMENTS,
                            .segment = (uint32_t)draw(SEGMENTS),
                            .user = user,
                            .id = id};
    uint64_t n = draw(100);
    if (n < 45)
        reserve_draw(&job, user, id);
    else if (n < 75)
        settle_draw(&job, user);
    else if (n < 88)
        move_draw(&job);
    else if (n < 92)
        job.what = STOCK_GONE;
    else if (n < 94) {
        job.what = STOCK_RESTOCK;
        job.units = 1 + (int64_t)draw(2);
        snprintf(id, 8, "m%d", (int)draw(20));
    } else
        job.what = STOCK_LOOK;
    if (draw(200) == 0) job.segments = SEGMENTS + 1;
    return job;
}

static void note(const struct stock_job *job)
{
    const struct stock_told *t = &job->told;
    rig.said[t->says]++;
    rig.states[t->state]++;
    if (job->what == STOCK_DONATE && t->units)
        rig.moved[job->segment][job->peer] =
            (struct stock_transfer){job->peer, t->number, t->units};
    if (job->what != STOCK_RESERVE || t->says != STOCK_RESERVED) return;
    unsigned at = rig.orders_len++ % ORDERS;
    rig.orders[at].order = t->order;
    rig.orders[at].segment = job->segment;
    snprintf(rig.orders[at].user, sizeof rig.orders[at].user, "%s", job->user);
    memcpy(rig.orders[at].nonce, t->nonce, sizeof t->nonce);
}

static int transfers_equal(const struct stock_told *a,
                           const struct stock_told *b)
{
    for (uint32_t i = 0; i < a->transfers_len; i++) {
        const struct stock_transfer *x = &a->transfers[i];
        const struct stock_transfer *y = &b->transfers[i];
        if (x->to != y->to || x->number != y->number || x->units != y->units)
            return 0;
    }
    return 1;
}

static int are_equal(const struct stock_job *a, const struct stock_job *b)
{
    const struct stock_told *r = &a->told, *m = &b->told;
    int has_units = a->what <= STOCK_EXTEND || a->what == STOCK_DONATE;
    return r->says == m->says && r->state == m->state
           && r->changed == m->changed && r->late == m->late
           && r->order == m->order && r->left_ms == m->left_ms
           && (!has_units || r->units == m->units)
           && (a->what != STOCK_DONATE || r->number == m->number)
           && !strcmp(r->nonce, m->nonce) && r->segments == m->segments
           && r->is_ended == m->is_ended && r->init == m->init && r->in == m->in
           && r->out == m->out && r->avail == m->avail && r->held == m->held
           && r->sold == m->sold && r->events == m->events
           && r->transfers_len == m->transfers_len && transfers_equal(r, m);
}

static void step(int number, struct stock_job *job)
{
    struct fake_answer real;
    struct reply model;
    struct stock_job copy = *job;
    char name[16];
    struct request req = {.verb = VERB_STOCK, .name = name, .stock = job};
    req.name_len = (size_t)snprintf(name, sizeof name, "{s}#%u", job->segment);
    CHECK_INT(server_do(&rig.real, req, &real), V_GRANTED);
    req.stock = &copy;
    hf__rules_store_apply(rig.model, real.reply.node_us, &req, &model);
    CHECK_INT(model.verdict, V_GRANTED);
    if (!are_equal(job, &copy))
        TEST_FAIL("step %d, job %d at segment %u: the server says %d, state "
                  "%d, order %lld, left %lld, avail %lld, held %lld; the rules "
                  "%d, %d, %lld, %lld, %lld, %lld",
                  number, job->what, job->segment, job->told.says,
                  job->told.state, (long long)job->told.order,
                  (long long)job->told.left_ms, (long long)job->told.avail,
                  (long long)job->told.held, copy.told.says, copy.told.state,
                  (long long)copy.told.order, (long long)copy.told.left_ms,
                  (long long)copy.told.avail, (long long)copy.told.held);
    note(job);
}

TEST(redis_stock, server_and_rules_agree_on_every_job)
{
    char user[8] = "u", id[8] = "r";
    memset(&rig, 0, sizeof rig);
    redis_begin(&rig.server, NULL);
    rig.model = hf__rules_store_open(&hf__alloc_default);
    CHECK(rig.model != NULL);
    test_cleanup(rig_end, NULL);
    server_connect(&rig.real, rig.server.url);
    rig.random = 1;
    for (uint32_t i = 0; i < SEGMENTS; i++) {
        struct stock_job job = {.what = STOCK_MAKE,
                                .segments = SEGMENTS,
                                .segment = i,
                                .units = 12,
                                .terms = {8, 30, 70, 0, 0}};
        struct stock_job other = job;
        other.what = STOCK_LOOK;
        step(0, &other);
        step(0, &job);
        step(0, &job);
        other.what = STOCK_MAKE;
        other.terms.limit = 3;
        step(0, &other);
    }
    for (int i = 1; i <= STEPS; i++) {
        struct stock_job job = job_draw(user, id), look = job;
        step(i, &job);
        look.what = STOCK_LOOK;
        step(i, &look);
    }
    for (uint32_t i = 0; i < SEGMENTS; i++) {
        struct stock_job job = {
            .what = STOCK_END, .segments = SEGMENTS, .segment = i};
        step(STEPS, &job);
        step(STEPS, &job);
        job.what = STOCK_RESERVE;
        job.user = "late";
        job.id = "r";
        job.units = 1;
        step(STEPS, &job);
    }
    for (int i = STOCK_DONE; i <= STOCK_OTHER; i++)
        if (!rig.said[i]) TEST_FAIL("no answer %d in all of them", i);
    for (int i = HF_STOCK_UNKNOWN; i <= HF_STOCK_EXPIRED; i++)
        if (!rig.states[i]) TEST_FAIL("no state %d in all of them", i);
}
