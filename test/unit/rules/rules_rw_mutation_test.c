/*
 * rules_rw_mutation_test.c: every bug of read/write locks that can be built
 * into the store for the simulator is one that requests can show, and without
 * one nothing differs.
 *
 * As rules_mutation_test.c, for the one file that has these.
 */
#define HF_MUTATIONS 1
#include "rules/rw.c"

#include "lib/traffic.h"
#include "test.h"

#define NOW INT64_C(1700000000000000)
#define STEPS 10000
#define SEEDS 3
#define QUEUE_LIVE (150 * US_PER_MS)
/* Now and then the clock is set back, and numbers are ahead of it. */
#define SET_BACK_STEPS 300
#define SET_BACK (550 * US_PER_MS)

/* What is asked about plain locks, about read/write locks: every other attempt
 * reads. */
static struct request rw_next(struct traffic *t, int64_t now_us)
{
    struct request req = traffic_next(t, now_us);
    if (req.verb > VERB_RELEASE) return req;
    req.kind = req.attempt % 2 ? KIND_READ : KIND_WRITE;
    req.flags &= ~(REQ_QUORUM | REQ_DETACHED);
    return req;
}

static int replies_differ(const struct reply *a, const struct reply *b)
{
    return a->verdict != b->verdict || a->fence != b->fence
           || a->counter != b->counter || a->ttl_us != b->ttl_us;
}

static struct store *store_make(enum store_mutation mutation)
{
    struct store *s = hf__rules_store_open(&hf__alloc_default);
    CHECK(s);
    hf__rules_store_queue_times(s, US_PER_MS, QUEUE_LIVE, QUEUE_LIVE / 2,
                                QUEUE_LIVE / 8);
    s->mutation = mutation;
    return s;
}

/* 1 if some request shows a difference. */
static int traffic_tells(enum store_mutation mutation, uint64_t seed)
{
    struct store *right = store_make(STORE_MUT_NONE);
    struct store *wrong = store_make(mutation);
    static struct traffic t;
    int64_t now_us = NOW;
    int told = 0;
    traffic_start(&t, seed, 20 * US_PER_MS);
    for (int i = 0; i < STEPS && !told; i++) {
        struct reply a, b;
        struct request req = rw_next(&t, now_us);
        hf__rules_store_apply(right, now_us, &req, &a);
        hf__rules_store_apply(wrong, now_us, &req, &b);
        traffic_heard(&t, &req, &a);
        told = replies_differ(&a, &b);
        now_us += (int64_t)traffic_below(&t, 4 * US_PER_MS);
        if (i % SET_BACK_STEPS == SET_BACK_STEPS - 1) now_us -= SET_BACK;
    }
    hf__rules_store_close(right);
    hf__rules_store_close(wrong);
    return told;
}

TEST(rw_mutation, none_changes_nothing)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        CHECK(!traffic_tells(STORE_MUT_NONE, seed));
}

TEST(rw_mutation, every_other_one_shows)
{
    for (int m = STORE_MUT_RW; m < STORE_NMUTATIONS; m++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
            if (!traffic_tells((enum store_mutation)m, seed))
                TEST_FAIL("mutation %d survived seed %d", m, (int)seed);
}
