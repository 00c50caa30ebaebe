/*
 * rules_mutation_test.c: every bug that can be built into the store for the
 * simulator is one that requests can show, and without one nothing differs.
 *
 * The store is compiled into this file with its bugs; the library's own copy
 * has none of them.
 */
#define HF_MUTATIONS 1
#include "rules/hold.c"
#include "rules/queue.c"
#include "rules/store.c"

#include "lib/traffic.h"
#include "test.h"

#define NOW INT64_C(1700000000000000)
#define STEPS 10000
#define SEEDS 3
#define QUEUE_LIVE (150 * US_PER_MS)
/* Now and then the clock is set back, and numbers are ahead of it. */
#define SET_BACK_STEPS 300
#define SET_BACK (550 * US_PER_MS)
/* Now and then nothing is asked for longer than a second. */
#define SILENCE_STEPS 700
#define SILENCE (1200 * US_PER_MS)

struct pair {
    struct store *right, *wrong;
};

static void pair_stop(void *arg)
{
    struct pair *p = arg;
    hf__rules_store_close(p->right);
    hf__rules_store_close(p->wrong);
}

static int replies_differ(const struct reply *a, const struct reply *b)
{
    if (a->boot && b->boot && a->boot->left_us != b->boot->left_us) return 1;
    return a->verdict != b->verdict || a->fence != b->fence
           || a->counter != b->counter || a->ttl_us != b->ttl_us;
}

static int stores_differ(const struct pair *p, int64_t now_us)
{
    for (size_t i = 0; i < TRAFFIC_NAMES; i++) {
        const char *name = traffic_name(i);
        struct store_view a, b;
        hf__rules_store_look(p->right, now_us, name, strlen(name), &a);
        hf__rules_store_look(p->wrong, now_us, name, strlen(name), &b);
        if (a.locked != b.locked || a.count != b.count
            || strcmp(a.owner, b.owner) != 0)
            return 1;
    }
    return 0;
}

/* 1 if some request shows a difference. */
static int traffic_tells(enum store_mutation mutation, uint64_t seed)
{
    static struct pair p;
    static struct traffic t;
    int64_t now_us = NOW;
    p.right = hf__rules_store_open(&hf__alloc_default);
    p.wrong = hf__rules_store_open(&hf__alloc_default);
    CHECK(p.right && p.wrong);
    hf__rules_store_queue_times(p.right, US_PER_MS, QUEUE_LIVE, QUEUE_LIVE / 2,
                                QUEUE_LIVE / 8);
    hf__rules_store_queue_times(p.wrong, US_PER_MS, QUEUE_LIVE, QUEUE_LIVE / 2,
                                QUEUE_LIVE / 8);
    hf__rules_store_mutate(p.wrong, mutation);
    traffic_start(&t, seed, 20 * US_PER_MS);
    int told = 0;
    for (int i = 0; i < STEPS && !told; i++) {
        struct reply a, b;
        struct request req = traffic_next(&t, now_us);
        /* A break refuses it even if the queue was forgotten. */
        if (mutation == STORE_MUT_QUEUE_FORGETS_EARLY && req.verb == VERB_BREAK)
            continue;
        hf__rules_store_apply(p.right, now_us, &req, &a);
        hf__rules_store_apply(p.wrong, now_us, &req, &b);
        traffic_heard(&t, &req, &a);
        told = replies_differ(&a, &b) || stores_differ(&p, now_us);
        if (i % 150 == 100)
            p.right->marker = p.wrong->marker = (struct marker){0};
        now_us += (int64_t)traffic_below(&t, 4 * US_PER_MS);
        if (i % SET_BACK_STEPS == SET_BACK_STEPS - 1) now_us -= SET_BACK;
        if (i % SILENCE_STEPS == SILENCE_STEPS - 1) now_us += SILENCE;
    }
    pair_stop(&p);
    return told;
}

TEST(mutation, none_changes_nothing)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        CHECK(!traffic_tells(STORE_MUT_NONE, seed));
}

TEST(mutation, every_other_one_shows)
{
    for (int m = STORE_MUT_NONE + 1; m < STORE_MUT_PERMIT; m++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
            if (!traffic_tells((enum store_mutation)m, seed))
                TEST_FAIL("mutation %d survived seed %d", m, (int)seed);
}
