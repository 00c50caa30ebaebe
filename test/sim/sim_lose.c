/*
 * sim_lose.c: members of a quorum that lose single keys, by eviction or by
 * hand, while holds are renewed.
 *
 * The rule: in one run the same minority of members loses keys, and nobody is
 * told.  A member keeps its counters, as a server does whose lock's key alone
 * is gone.  What is drawn here has dice of its own.
 */
#include "sim/sim.h"

/* A hold that is renewed often, over a slow line, is healed while the next
 * round is under way. */
static void lose_worst(struct sim *s)
{
    struct knobs *k = &s->k;
    k->names = 1;
    k->keep_percent = k->forever_percent = 100;
    k->cap_percent = k->feed_percent = k->cancel_percent = 0;
    k->hold_us = 8 * MS;
    k->delay_min_us = 3 * MS;
    k->delay_max_us = 6 * MS;
    if (k->timeout_us < 60 * MS) k->timeout_us = k->patience_us = 60 * MS;
    if (k->lease_min_us < 150 * MS) k->lease_min_us = 150 * MS;
    if (k->lease_max_us < k->lease_min_us) k->lease_max_us = k->lease_min_us;
}

/* In one of four seeds with a quorum; of two members none is a minority. */
void lose_draw(struct sim *s, unsigned allowed)
{
    static const int64_t means_us[] = {10 * MS, 30 * MS, 100 * MS};
    struct knobs *k = &s->k;
    if (!(allowed & FAULT_LOSE) || k->nodes < 3 || sim_lose_random(s, 4))
        return;
    s->faults |= FAULT_LOSE;
    k->lose_us = means_us[sim_lose_random(s, 3)];
    k->lose_first = (int)sim_lose_random(s, (uint64_t)k->nodes);
    k->lose_members = 1 + (int)sim_lose_random(s, (uint64_t)(k->nodes - 1) / 2);
    if (sim_lose_random(s, 2)) lose_worst(s);
}

static void lose_act(struct sim *s, void *arg, uint64_t tag);

static void lose_later(struct sim *s)
{
    int64_t after_us =
        (int64_t)sim_lose_random(s, 2 * (uint64_t)s->k.lose_us) + 1;
    sim_at(s, s->now_us + after_us, lose_act, NULL, 0);
}

static void lose_act(struct sim *s, void *arg, uint64_t tag)
{
    int at =
        s->k.lose_first + (int)sim_lose_random(s, (uint64_t)s->k.lose_members);
    struct sim_node *n = &s->nodes[at % s->k.nodes];
    int name = (int)sim_lose_random(s, (uint64_t)s->k.names);
    (void)arg;
    (void)tag;
    if (s->healed) return;
    if (n->up) node_evict(s, n, name, DEED_LOSE);
    lose_later(s);
}

void lose_start(struct sim *s)
{
    if (s->faults & FAULT_LOSE) lose_later(s);
}
