/*
 * sim_ticket.c: holds that are detached, and tickets by which others take them
 * over or release them, also after the client that made them is gone.
 *
 * The rule: one actor at a time uses a ticket, as its users promise; but a
 * ticket of a hold that is over may be tried at any time.  All leases of
 * detached holds are of one length: a late request of one user of a ticket
 * would shorten the lease of the next.  What is drawn here has dice of its own.
 */
#include <string.h>

#include "base/math.h"
#include "sim/sim.h"

#define ATTEMPTS_COUNTED_BITS 40

int ticket_is_of(uint64_t attempt)
{
    return attempt >> ATTEMPTS_COUNTED_BITS != 0;
}

/* In one of six seeds; the locks of the machine know no tickets. */
void ticket_draw(struct sim *s, unsigned allowed)
{
    static const int percents[] = {20, 60, 100};
    struct knobs *k = &s->k;
    if (!(allowed & FAULT_TICKET) || !sim_is_plain(s) || k->falls
        || sim_dice(&s->ticket_random, 6))
        return;
    s->faults |= FAULT_TICKET;
    k->ticket_percent = percents[sim_dice(&s->ticket_random, 3)];
}

/* What a client makes its secrets of. */
void ticket_seed(struct sim *s, struct sim_client *c)
{
    unsigned char *seed = c->engine.conf.ticket_seed;
    for (int i = 0; s->faults & FAULT_TICKET && i < TICKET_SEED_LEN; i++)
        seed[i] = (unsigned char)sim_dice(&s->ticket_random, 256);
}

static int falls_within(struct sim *s, int percent)
{
    return (int)sim_dice(&s->ticket_random, 100) < percent;
}

/* Is this acquire to be detached? */
void ticket_plan(struct actor *a, struct op *op)
{
    struct sim *s = a->client->sim;
    if (!(s->faults & FAULT_TICKET) || s->healed
        || !falls_within(s, s->k.ticket_percent))
        return;
    op->flags = HF_ACQUIRE_FIXED | HF_ACQUIRE_DETACHED;
    op->lease_us = s->k.lease_max_us;
    memset(&op->plan, 0, sizeof op->plan);
}

/* ---- making one --------------------------------------------------------- */

static struct passed_ticket *slot_find(struct sim *s)
{
    for (int i = 0; i < TICKETS_MAX; i++)
        if (s->tickets[i].state == TICKET_NONE) return &s->tickets[i];
    for (int i = 0; i < TICKETS_MAX; i++)
        if (s->tickets[i].state == TICKET_SPENT
            || (s->tickets[i].state == TICKET_DOUBT
                && s->tickets[i].valid_us < s->now_us - OLD_US_MAX))
            return &s->tickets[i];
    return NULL;
}

/* As hf_hold_detach() does.  1 if the actor holds nothing any more. */
int ticket_detach(struct actor *a)
{
    struct sim_client *c = a->client;
    struct sim *s = c->sim;
    struct seat *seat = actor_seat(a);
    struct passed_ticket *to = a->ticket;
    struct ticket t;
    if (!a->is_detached || s->healed || !seat || !falls_within(s, 40)) return 0;
    if (!to) to = slot_find(s);
    int64_t valid_us = client_true_us(c, seat->hold.valid_us);
    if (!to
        || hf__engine_detach(&c->engine, seat, &t, client_clock(c)) != HF_OK)
        return 0;
    sim_trace(s, "c%d.%d detaches %s: attempt %llu", c->index, a->index,
              sim_names[a->name], (unsigned long long)t.attempt);
    t.number = min64(t.number, t.fence);
    *to = (struct passed_ticket){.state = TICKET_OUT,
                                 .t = t,
                                 .name = a->name,
                                 .confirmed_us = a->confirmed_us,
                                 .valid_us = valid_us};
    a->ticket = NULL;
    s->deeds[DEED_DETACH]++;
    return 1;
}

/* ---- using one ---------------------------------------------------------- */

static struct passed_ticket *ticket_pick(struct sim *s)
{
    uint64_t first = sim_dice(&s->ticket_random, TICKETS_MAX);
    int takes_spent = falls_within(s, 20);
    for (uint64_t i = 0; i < TICKETS_MAX; i++) {
        struct passed_ticket *t = &s->tickets[(first + i) % TICKETS_MAX];
        if (t->state == (takes_spent ? TICKET_SPENT : TICKET_OUT)) return t;
    }
    return NULL;
}

/* Attach, or release, instead of an acquire.  1 if it has begun. */
int ticket_take(struct actor *a)
{
    struct sim *s = a->client->sim;
    if (!(s->faults & FAULT_TICKET) || s->healed || !falls_within(s, 60))
        return 0;
    struct passed_ticket *t = ticket_pick(s);
    if (!t) return 0;
    int attaches = falls_within(s, 75);
    a->name = t->name;
    a->entry = a->client->entries[a->name];
    a->ticket = t;
    a->is_spent = t->state == TICKET_SPENT;
    a->let_go = a->dead_attempt = 0; /* it may renew this one again */
    t->state = TICKET_TAKEN;
    struct errand *er =
        errand_make(a, attaches ? OP_TYPE_ATTACH : OP_TYPE_TICKET_RELEASE);
    er->op.fall = FALL_NEVER;
    er->op.ticket = t->t;
    er->op.lease_us = s->k.lease_max_us;
    errand_begin(er);
    return 1;
}

/* Its hold was released, or was found to be gone; or that is not known. */
void ticket_over(struct actor *a, int is_released, int status)
{
    int is_spent = a->is_spent || status == HF_OK || status == HF_LOST
                   || status == HF_EXPIRED;
    enum ticket_state else_state = is_released ? TICKET_DOUBT : TICKET_OUT;
    if (a->ticket) a->ticket->state = is_spent ? TICKET_SPENT : else_state;
    a->ticket = NULL;
    a->is_spent = 0;
}

/* The client is gone; what its actors had written down is not. */
void ticket_drop(struct sim_client *c)
{
    for (int i = 0; i < c->sim->k.actors; i++)
        ticket_over(&c->actors[i], actor_is_busy(&c->actors[i]),
                    HF_UNAVAILABLE);
}

/* Members of a quorum that have it still when it is lost are not told: there
 * its lease ends it. */
int ticket_is_wanted(const struct sim *s, uint64_t attempt)
{
    if (!ticket_is_of(attempt)) return 0;
    if (s->k.nodes > 1) return 1;
    for (int i = 0; i < TICKETS_MAX; i++)
        if (s->tickets[i].t.attempt == attempt
            && s->tickets[i].state != TICKET_SPENT)
            return 1;
    return 0;
}
