/*
 * memory_space_test.c: clients in several threads share a space.  Run with the
 * thread sanitizer it also shows that nothing is shared without its lock.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "lib/fake_env.h"
#include "sys/clock.h"
#include "test.h"

#define THREADS 4
#define ROUNDS 300

struct worker {
    struct fake_env f;
    pthread_t thread;
    char owner[16];
    uint64_t attempt;
    int64_t seen; /* highest number any reply told */
    int failed;   /* a CHECK belongs to the test's own thread */
};

static struct worker workers[THREADS];
static atomic_long counter; /* read and written apart: the lock must do it */
static atomic_llong last_fence;

static enum verdict worker_ask(struct worker *w, enum verb op,
                               struct fake_answer *a)
{
    struct request req = {.verb = op,
                          .flags = REQ_SERVER_FENCE,
                          .name = "job",
                          .name_len = 3,
                          .attempt = w->attempt,
                          .count = 1,
                          .lease_us = 60 * US_PER_S,
                          .window_us = BALLOT_WINDOW_US,
                          .user = a};
    memset(a, 0, sizeof *a);
    snprintf(req.owner, sizeof req.owner, "%s", w->owner);
    req.ballot = hf__clock_wall_us();
    if (req.ballot <= w->seen) req.ballot = w->seen + 1;
    if (op == VERB_RELEASE) req.ballot = 0;
    w->f.backend->submit(w->f.conn, &req);
    w->f.backend->flush(w->f.conn);
    if (!a->is_done) w->failed = 1; /* a direct backend answers at once */
    if (a->reply.counter > w->seen) w->seen = a->reply.counter;
    return a->reply.verdict;
}

static void worker_take(struct worker *w, struct fake_answer *a)
{
    w->attempt++;
    int64_t end_us = hf__clock_us() + 60 * US_PER_S;
    while (worker_ask(w, VERB_PROPOSE, a) != V_GRANTED && !w->failed) {
        if (a->reply.verdict == V_BUSY) fake_pump(&w->f, 1000);
        if (hf__clock_us() > end_us) w->failed = 1;
    }
}

static void *worker_run(void *arg)
{
    struct worker *w = arg;
    struct fake_answer a;
    if (worker_ask(w, VERB_WATCH, &a) != V_GRANTED) w->failed = 1;
    for (int i = 0; i < ROUNDS && !w->failed; i++) {
        worker_take(w, &a);
        long before = atomic_load_explicit(&counter, memory_order_relaxed);
        if (a.reply.fence <= atomic_load(&last_fence)) w->failed = 1;
        atomic_store(&last_fence, a.reply.fence);
        atomic_store_explicit(&counter, before + 1, memory_order_relaxed);
        if (worker_ask(w, VERB_RELEASE, &a) != V_GRANTED) w->failed = 1;
    }
    return NULL;
}

static void workers_stop(void *arg)
{
    (void)arg;
    for (int i = 0; i < THREADS; i++) fake_close(&workers[i].f);
}

TEST(space, threads_take_turns_and_fences_rise)
{
    struct hf_error err;
    test_cleanup(workers_stop, NULL);
    for (int i = 0; i < THREADS; i++) {
        struct worker *w = &workers[i];
        fake_init(&w->f, &hf__backend_memory);
        snprintf(w->owner, sizeof w->owner, "w:%d", i);
        CHECK_INT(fake_open(&w->f, "memory:crowd", &err), HF_OK);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(
            pthread_create(&workers[i].thread, NULL, worker_run, &workers[i]),
            0);
    for (int i = 0; i < THREADS; i++) pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < THREADS; i++) CHECK(!workers[i].failed);
    CHECK_INT(atomic_load(&counter), THREADS * ROUNDS);
}

static void *opener_run(void *arg)
{
    struct worker *w = arg;
    struct hf_error err;
    for (int i = 0; i < ROUNDS && !w->failed; i++) {
        struct fake_answer a;
        fake_init(&w->f, &hf__backend_memory);
        if (fake_open(&w->f, "memory:door", &err) != HF_OK) w->failed = 1;
        if (worker_ask(w, VERB_WATCH, &a) != V_GRANTED) w->failed = 1;
        worker_ask(w, VERB_PROPOSE, &a);
        worker_ask(w, VERB_RELEASE, &a);
        fake_close(&w->f);
        if (w->f.allocs_open != 0) w->failed = 1;
    }
    return NULL;
}

TEST(space, coming_and_going_leaves_nothing_behind)
{
    for (int i = 0; i < THREADS; i++) {
        struct worker *w = &workers[i];
        memset(w, 0, sizeof *w);
        snprintf(w->owner, sizeof w->owner, "w:%d", i);
        CHECK_INT(pthread_create(&w->thread, NULL, opener_run, w), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < THREADS; i++) CHECK(!workers[i].failed);
}
