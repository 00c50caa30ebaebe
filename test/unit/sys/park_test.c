/* park_test.c: a wake-up is never lost, whichever comes first. */
#include "sys/park.h"

#include <pthread.h>
#include <sched.h>

#include "test.h"

static struct park park;
static atomic_int woken;

static void *waker(void *arg)
{
    int rounds = *(int *)arg;
    for (int i = 0; i < rounds; i++) {
        if (hf__park_nudge(&park)) hf__park_kick(&park);
        while (atomic_load(&woken) <= i) sched_yield();
    }
    hf__park_done(&park);
    return NULL;
}

TEST(park, nudge_before_the_sleep_counts)
{
    hf__park_init(&park);
    CHECK(!hf__park_nudge(&park));
    CHECK(hf__park_wait(&park) == PARK_NUDGED);
    hf__park_free(&park);
}

TEST(park, done_is_stronger_than_a_nudge)
{
    hf__park_init(&park);
    hf__park_nudge(&park);
    hf__park_done(&park);
    CHECK(!hf__park_nudge(&park));
    CHECK(hf__park_wait(&park) == PARK_DONE);
    hf__park_free(&park);
}

TEST(park, sees_every_nudge_and_the_end)
{
    pthread_t thread;
    int rounds = 2000;
    hf__park_init(&park);
    atomic_store(&woken, 0);
    CHECK(pthread_create(&thread, NULL, waker, &rounds) == 0);
    for (int i = 0; i < rounds; i++) {
        CHECK(hf__park_wait(&park) == PARK_NUDGED);
        atomic_fetch_add(&woken, 1);
    }
    CHECK(hf__park_wait(&park) == PARK_DONE);
    pthread_join(thread, NULL);
    hf__park_free(&park);
}
