/*
 * check_pass.c: what is handed over in a process is still valid, and when the
 * last of such a chain of holders lets go, no node takes a number that one of
 * them has had as its token.
 *
 * The rule: the highest token of a chain is what its holders were told.
 */
#include <string.h>

#include "sim/sim.h"

/* A holder was told that it has it. */
void check_passed(const struct errand *er)
{
    const struct actor *a = er->actor;
    struct sim_client *c = a->client;
    const struct seat *seat = actor_seat(a);
    if (!seat) return;
    int view = hf__hold_view(&seat->hold, client_clock(c));
    if (view != HF_STATE_HELD && view != HF_STATE_AT_RISK)
        sim_fail(c->sim, "pass: c%d.%d was given %s when its time was over",
                 c->index, a->index, sim_names[a->name]);
    if (hf__hold_passes(&seat->hold) == 0) return;
    c->sim->passed++;
    c->passed_attempt[a->name] = seat->hold.attempt;
    c->passed_fence[a->name] = er->op.grant.fence;
}

/* True time: no later than the start of the last round that counted, whichever
 * holder of the chain has made it. */
int64_t check_pass_confirmed_us(const struct actor *a)
{
    const struct hold *h = &actor_seat(a)->hold;
    return client_true_us(a->client, h->valid_us - h->longest_us);
}

/* Handed over, and not confirmed since locks may have gone early: it is not in
 * order with what others were given meanwhile, but still nobody else's. */
int check_pass_excused(const struct actor *a)
{
    const struct seat *seat = actor_seat(a);
    if (!seat || hf__hold_passes(&seat->hold) == 0) return 0;
    return check_pass_confirmed_us(a) <= a->client->sim->broke_us;
}

/* A node was told to release. */
void check_chain_end(struct sim *s, const struct packet *p,
                     const struct store_view *after)
{
    const struct sim_client *c = &s->clients[p->life->client];
    if (c->passed_attempt[p->name] != p->req.attempt
        || strncmp(c->engine.uuid, p->req.owner, 36) != 0)
        return;
    if ((uint64_t)after->counter < c->passed_fence[p->name])
        sim_fail(s, "pass: c%d let go of %s, and n%d would take %llu again",
                 c->index, sim_names[p->name], p->life->node,
                 (unsigned long long)c->passed_fence[p->name]);
}
