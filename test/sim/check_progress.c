/*
 * check_progress.c: once the faults are over, every client gets the lock again
 * in bounded time, and a waiter for a lock that is free is woken soon.
 */
#include "sim/sim.h"

static int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The longest lease, the most that a clock was set back, and the queue. */
static int64_t limit_us(const struct sim *s)
{
    int64_t limit =
        2 * s->k.lease_max_us + 1600 * MS + 2 * US_PER_S + 5 * s->k.patience_us;
    /* The dead may be served, one after the other, until none is taken for
     * alive. */
    if (s->k.fair_percent)
        limit += 2 * (s->k.queue_live_us + s->k.queue_handoff_us);
    if (s->is_permit && s->k.fair_percent) limit += 2 * PLACE_US;
    if (s->is_session) limit += 2 * s->k.session_us;
    return s->k.nodes > 1 ? limit + 2 * sim_quarantine_us(s) : limit;
}

void check_progress(struct sim *s)
{
    if (s->now_us - s->healed_us < limit_us(s)) return;
    for (int i = 0; i < s->k.clients; i++)
        for (int k = 0; k < s->k.actors; k++)
            if (!s->clients[i].actors[k].done_since_heal)
                sim_fail(s,
                         "progress: c%d.%d got nothing for %lld ms without "
                         "faults",
                         i, k, (long long)((s->now_us - s->healed_us) / MS));
}

/* Since when every node has had it released; TIME_NEVER if one has not. */
static int64_t free_since_us(struct sim *s, int name)
{
    int64_t since = 0;
    for (int i = 0; i < s->k.nodes; i++) {
        struct sim_node *n = &s->nodes[i];
        if (n->free_since_us[name] < 0) return TIME_NEVER;
        since = max64(since, n->free_since_us[name]);
    }
    return since;
}

/* The longest sleep of a waiter: it polls at least this often. */
static int64_t sleep_us(const struct sim *s)
{
    return POLL_US_MAX + 50 * MS + 20 * s->k.delay_max_us;
}

/* Its own process may still believe to hold it: the waiter waits for that
 * first. */
static int is_held_at_home(const struct actor *a)
{
    for (int i = 0; i < a->client->sim->k.actors; i++) {
        const struct actor *b = &a->client->actors[i];
        if (b->name == a->name && b->phase != PHASE_IDLE) return 1;
    }
    return 0;
}

static void check_sleeper(struct sim *s, const struct actor *a, int64_t since)
{
    const struct errand *er = &a->errands[0];
    /* What waits for the machine's lock does not look at the store. */
    if (a->phase != PHASE_IDLE || !er->serial || er->op.named
        || is_held_at_home(a) || s->now_us - er->begun_us < sleep_us(s))
        return;
    sim_fail(s, "progress: c%d.%d sleeps, and %s is free since %lld us",
             a->client->index, a->index, sim_names[a->name], (long long)since);
}

void check_woken(struct sim *s)
{
    /* A quorum's waiters may hear from one node only, and look again when the
     * holder's lease is over; check_progress() is all there is for them. */
    if (s->k.nodes > 1) return;
    /* Until then what was sent before may still be under way; and a dead
     * waiter keeps its place for a while, although the lock is free for the
     * waiters behind it. */
    int64_t since_us = s->healed_us + US_PER_S + s->k.timeout_us;
    if (sim_shares(s)) since_us += s->k.queue_live_us + sleep_us(s);
    if (s->is_permit) since_us += PLACE_US;
    if (s->now_us < since_us) return;
    for (int name = 0; name < s->k.names; name++) {
        int64_t since = free_since_us(s, name);
        if (since == TIME_NEVER || s->now_us - since < sleep_us(s)) continue;
        for (int i = 0; i < s->k.clients * s->k.actors; i++) {
            const struct actor *a =
                &s->clients[i / s->k.actors].actors[i % s->k.actors];
            if (a->name == name) check_sleeper(s, a, since);
        }
    }
}
