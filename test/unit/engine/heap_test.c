/* heap_test.c: the timers come out in order, whatever is done to them. */
#include "engine/heap.h"

#include "base/limits.h"
#include "sys/random.h"
#include "test.h"

#define TIMERS 500

static struct timer timers[TIMERS];
static struct heap heap;

static void heap_begin(void)
{
    heap = (struct heap){NULL, 0, 0};
    for (int i = 0; i < TIMERS; i++) timers[i] = (struct timer){0, 0};
    CHECK(hf__heap_reserve(&heap, &hf__alloc_default, TIMERS) == 0);
}

static void heap_end(int expected)
{
    int64_t last = -1;
    int n = 0;
    for (struct timer *t; (t = hf__heap_top(&heap)); n++) {
        CHECK(t->due_us >= last);
        last = t->due_us;
        hf__heap_set(&heap, t, TIME_NEVER);
    }
    CHECK_INT(n, expected);
    hf__heap_free(&heap, &hf__alloc_default);
}

TEST(heap, is_empty_at_first)
{
    heap_begin();
    CHECK(hf__heap_top(&heap) == NULL);
    heap_end(0);
}

TEST(heap, gives_the_earliest_first)
{
    uint64_t seed = 1;
    heap_begin();
    for (int i = 0; i < TIMERS; i++)
        hf__heap_set(&heap, &timers[i],
                     (int64_t)(hf__random_next(&seed) % 1000));
    heap_end(TIMERS);
}

TEST(heap, stays_in_order_when_timers_move_and_go)
{
    uint64_t seed = 2;
    int armed = 0;
    heap_begin();
    for (int i = 0; i < 20000; i++) {
        struct timer *t = &timers[hf__random_next(&seed) % TIMERS];
        int go = hf__random_next(&seed) % 3 == 0;
        hf__heap_set(&heap, t,
                     go ? TIME_NEVER : (int64_t)(hf__random_next(&seed) % 100));
    }
    for (int i = 0; i < TIMERS; i++) armed += timers[i].index != 0;
    heap_end(armed);
}
