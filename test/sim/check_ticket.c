/*
 * check_ticket.c: a ticket stands for one hold: it gives back the token that
 * was granted, is good as long as the hold's lease, also after its client is
 * gone, and is of no use once the hold was released or lost.
 *
 * The rule: that it is good is judged on one node, which alone decides; and not
 * if locks may have gone early there, as in check_exclusion.c.
 */
#include "sim/sim.h"

/* Attached. */
static void hold_check(const struct errand *er)
{
    const struct actor *a = er->actor;
    struct sim *s = a->client->sim;
    int was_set_back = 0;
    for (int i = 0; i < s->k.nodes; i++)
        was_set_back |= s->nodes[i].was_set_back;
    if (er->op.grant.fence != (uint64_t)a->ticket->t.fence)
        sim_fail(s, "ticket: c%d.%d attaches %s with %llu, and %lld was given",
                 a->client->index, a->index, sim_names[a->name],
                 (unsigned long long)er->op.grant.fence,
                 (long long)a->ticket->t.fence);
    if (a->is_spent && !was_set_back)
        sim_fail(s,
                 "ticket: c%d.%d attaches %s by the ticket of a hold that "
                 "is over",
                 a->client->index, a->index, sim_names[a->name]);
}

void check_ticket_used(const struct errand *er)
{
    const struct actor *a = er->actor;
    const struct passed_ticket *t = a->ticket;
    struct sim *s = a->client->sim;
    int status = er->op.status;
    if (er->op.type == OP_TYPE_ATTACH && status == HF_OK) {
        hold_check(er);
        return;
    }
    int is_denied = status == HF_LOST || status == HF_EXPIRED;
    if (er->op.type != OP_TYPE_ATTACH || !is_denied || a->is_spent
        || s->k.nodes > 1 || t->confirmed_us <= s->broke_us)
        return;
    if (s->now_us < t->valid_us)
        sim_fail(s,
                 "ticket: c%d.%d is told that %s is gone, %lld us before "
                 "its end",
                 a->client->index, a->index, sim_names[a->name],
                 (long long)(t->valid_us - s->now_us));
}
