/*
 * sim_freeze.c: nodes that stand still for a while, as a process that is
 * stopped: what arrives waits in line, and when the node goes on, it works
 * all of it off at once, also what came over connections that are over by then.
 *
 * The rule: its clock does not stand still.  What is drawn here has dice of its
 * own.
 */
#include "sim/sim.h"

/* In one of six seeds. */
void freeze_draw(struct sim *s, unsigned allowed)
{
    static const int64_t means_us[] = {60 * MS, 200 * MS, 600 * MS};
    struct knobs *k = &s->k;
    if (!(allowed & FAULT_FREEZE) || sim_dice(&s->freeze_random, 6)) return;
    s->faults |= FAULT_FREEZE;
    k->freeze_us = means_us[sim_dice(&s->freeze_random, 3)];
}

static void freeze_act(struct sim *s, void *arg, uint64_t tag);

static void freeze_later(struct sim *s)
{
    uint64_t most_us = 2 * (uint64_t)s->k.freeze_us;
    int64_t after_us = (int64_t)sim_dice(&s->freeze_random, most_us) + 1;
    sim_at(s, s->now_us + after_us, freeze_act, NULL, 0);
}

/* Short, or longer than most leases. */
static int64_t freeze_length(struct sim *s)
{
    uint64_t most_us = sim_dice(&s->freeze_random, 2) ? 60 * MS : 900 * MS;
    return MS + (int64_t)sim_dice(&s->freeze_random, most_us);
}

static void freeze_act(struct sim *s, void *arg, uint64_t tag)
{
    struct sim_node *n =
        &s->nodes[sim_dice(&s->freeze_random, (uint64_t)s->k.nodes)];
    int64_t until_us = s->now_us + freeze_length(s);
    (void)arg;
    (void)tag;
    if (s->healed) return;
    if (until_us > s->k.faults_us) until_us = s->k.faults_us;
    if (n->up && n->frozen_until_us < s->now_us) {
        sim_trace(s, "n%d stands still until %lld us", n->index,
                  (long long)until_us);
        n->frozen_until_us = until_us;
        s->deeds[DEED_FREEZE]++;
    }
    freeze_later(s);
}

void freeze_start(struct sim *s)
{
    if (s->faults & FAULT_FREEZE) freeze_later(s);
}
