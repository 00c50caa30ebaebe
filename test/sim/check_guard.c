/*
 * check_guard.c: a resource that refuses tokens lower than one it has seen.
 * Writes may arrive late, and stale ones are refused then.  The rule: a client
 * that truly holds the lock is never refused, for its token is the highest.  A
 * reader writes nothing.
 */
#include "sim/sim.h"

static int guard_admits(struct fence_book *b, uint64_t fence)
{
    if (fence < b->guard) return 0;
    b->guard = fence;
    return 1;
}

/* A holder's write that nothing delayed. */
static void write_now(struct actor *a)
{
    struct sim *s = a->client->sim;
    struct seat *seat = actor_seat(a);
    if (a->is_local) return; /* it has no token */
    int admitted = guard_admits(&s->books[a->name], a->fence);
    if (admitted) return;
    s->refused_writes++;
    if (s->fences_excused || !seat) return;
    int view = hf__hold_view(&seat->hold, client_clock(a->client));
    if ((view == HF_STATE_HELD || view == HF_STATE_AT_RISK)
        && !check_excused(a))
        sim_fail(s, "guard: c%d.%d holds %s and its write with %llu is refused",
                 a->client->index, a->index, sim_names[a->name],
                 (unsigned long long)a->fence);
}

/* The first thing that a new holder does. */
void guard_touch(struct actor *a)
{
    check_beliefs(a->client);
    if (!a->reads) write_now(a);
}

static void write_arrives(struct sim *s, void *arg, uint64_t fence)
{
    if (!guard_admits(arg, fence)) s->refused_writes++;
}

void guard_write(struct actor *a)
{
    struct sim *s = a->client->sim;
    if (a->reads || a->is_local) return;
    if (sim_chance(s, 300))
        sim_at(s, s->now_us + sim_between(s, 0, 600 * MS), write_arrives,
               &s->books[a->name], a->fence);
    else if (!a->lost_told)
        write_now(a);
}
