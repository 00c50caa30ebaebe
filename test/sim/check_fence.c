/*
 * check_fence.c: a token is given once, and one that was asked for after
 * another had been given is higher; entering once more keeps it.  This holds
 * whatever clocks, pauses and networks do, as long as nodes keep their
 * counters, or their clocks were never set back; what is handed over in a
 * process is higher as long as the nodes have kept the lock.
 */
#include <stdlib.h>

#include "sim/sim.h"

static size_t place_of(const struct fence_book *b, uint64_t fence)
{
    size_t i = (size_t)(fence * UINT64_C(0x9e3779b97f4a7c15) >> 20);
    for (i &= b->size - 1; b->used[i] && b->used[i] != fence;)
        i = (i + 1) & (b->size - 1);
    return i;
}

static int book_grow(struct fence_book *b)
{
    struct fence_book bigger = *b;
    if (b->len * 2 < b->size) return 0;
    bigger.size = b->size ? 2 * b->size : 256;
    bigger.used = calloc(bigger.size, sizeof *bigger.used);
    if (!bigger.used) return -1;
    for (size_t i = 0; i < b->size; i++)
        if (b->used[i]) bigger.used[place_of(&bigger, b->used[i])] = b->used[i];
    free(b->used);
    *b = bigger;
    return 0;
}

void check_granted(struct errand *er)
{
    struct actor *a = er->actor;
    struct sim *s = a->client->sim;
    struct fence_book *b = &s->books[a->name];
    uint64_t fence = er->op.grant.fence;
    if (fence == 0) sim_fail(s, "fence: a grant without one");
    if (book_grow(b) != 0) sim_fail(s, "simulator: out of memory");
    if (s->reason[0] || s->fences_excused) return;
    size_t at = place_of(b, fence);
    if (b->used[at] == fence)
        sim_fail(s, "fence: %llu of %s was given twice",
                 (unsigned long long)fence, sim_names[a->name]);
    b->used[at] = fence;
    b->len++;
    if (fence <= er->fence_floor && !check_pass_excused(a))
        sim_fail(s, "fence: %llu of %s was asked for after %llu had been given",
                 (unsigned long long)fence, sim_names[a->name],
                 (unsigned long long)er->fence_floor);
    if (fence <= b->done_max) return;
    b->done_max = fence;
    b->done_us = s->now_us;
}

void check_entered(struct errand *er)
{
    struct actor *a = er->actor;
    struct sim *s = a->client->sim;
    if (er->op.grant.fence != a->fence)
        sim_fail(s, "fence: entering once more changed it from %llu to %llu",
                 (unsigned long long)a->fence,
                 (unsigned long long)er->op.grant.fence);
    if (er->op.grant.count != a->depth)
        sim_fail(s, "count: c%d.%d entered %lld times and is told %lld",
                 a->client->index, a->index, (long long)a->depth,
                 (long long)er->op.grant.count);
}
