/*
 * sim_permit.c: worlds whose names are semaphores, on one node: how many
 * permits each has, and how many an acquire asks for.
 *
 * The rule: all clients say the same number of permits, so that the first
 * acquire settles it, also after the node has lost its data.  What is drawn
 * here has dice of its own.
 */
#include "sim/sim.h"

/* Of the seeds with one node, one of eight plays read/write locks and one of
 * seven others permits. */
void shared_draw(struct sim *s, unsigned allowed)
{
    if (s->k.nodes > 1 || s->nodes_wanted || s->is_rw) return;
    if (allowed & FAULT_RW && sim_dice(&s->permit_random, 8) == 0)
        s->is_rw = 1;
    else if (allowed & FAULT_PERMIT && sim_dice(&s->permit_random, 7) == 0)
        s->is_permit = 1;
    if (s->is_permit) s->deeds[DEED_PERMITS]++;
}

void permit_draw(struct sim *s)
{
    struct knobs *k = &s->k;
    /* What takes locks away knows plain locks and read/write locks only. */
    s->faults &= ~(unsigned)FAULT_TAKE;
    for (int i = 0; i < SIM_NAMES_MAX; i++)
        k->permits[i] = 1 + (int64_t)sim_dice(&s->permit_random, 5);
}

int permit_open(struct sim *s, struct sim_client *c)
{
    for (int i = 0; i < s->k.names; i++) {
        c->entries[i] = hf__entry_get(&c->engine, KIND_PERMIT, sim_names[i], 1);
        if (!c->entries[i]) return -1;
    }
    return 0;
}

void permit_plan(struct actor *a, struct op *op)
{
    struct sim *s = a->client->sim;
    int64_t most = s->k.permits[a->name];
    a->reads = 1; /* others may have some, too */
    a->permits = 1;
    if (sim_dice(&s->permit_random, 2))
        a->permits += (int64_t)sim_dice(&s->permit_random, (uint64_t)most);
    op->permits = a->permits;
    op->capacity = most;
}
