/*
 * sim_plan.c: what an acquire asks for beyond lease and wait, and the feeding
 * of holds that need it.  The rule: everything drawn here is what the API would
 * let through.
 */
#include "sim/sim.h"

static int64_t whole_ms(int64_t us)
{
    return us < MS ? MS : us / MS * MS;
}

static void spin_draw(struct sim *s, struct hold_backoff *b)
{
    b->kind =
        (int32_t)sim_between(s, HF_BACKOFF_EXPONENTIAL, HF_BACKOFF_JITTER);
    b->factor = (int32_t)sim_between(s, 1, 4);
    b->first_us = whole_ms(sim_between(s, MS, 20 * MS));
    b->most_us = whole_ms(sim_between(s, b->first_us, 120 * MS));
}

void plan_draw(struct sim *s, struct op *op)
{
    const struct knobs *k = &s->k;
    struct hold_plan *plan = &op->plan;
    int fixed = (op->flags & HF_ACQUIRE_FIXED) != 0;
    if (sim_chance(s, 10 * k->spin_percent)) spin_draw(s, &plan->backoff);
    /* Less than some round trips is of no use to anybody. */
    if (sim_chance(s, 10 * k->cap_percent))
        plan->max_hold_us =
            whole_ms(20 * k->delay_max_us + sim_between(s, 10 * MS, 400 * MS));
    if (fixed) return;
    if (sim_chance(s, 10 * k->renew_percent))
        plan->renew_us =
            whole_ms(sim_between(s, op->lease_us / 20, op->lease_us / 2));
    if (sim_chance(s, 10 * k->feed_percent))
        plan->feed_us =
            whole_ms(sim_between(s, op->lease_us / 10, op->lease_us));
}

/* ---- what its user knows of it ----------------------------------------- */

void plan_granted(struct actor *a, const struct op *op)
{
    int64_t now_us = client_clock(a->client);
    a->cap_us = op->plan.max_hold_us ? now_us + op->plan.max_hold_us : 0;
    a->feed_us = op->plan.feed_us;
    a->fed_us = now_us;
}

void plan_over(struct actor *a)
{
    a->cap_us = a->feed_us = 0;
}

/* As hf_hold_feed() does. */
void plan_feed(struct actor *a)
{
    struct hold_event ev = {.type = EV_FEED};
    struct seat *seat = actor_seat(a);
    int64_t now_us = client_clock(a->client);
    if (!seat || seat->hold.state != HOLD_HELD || now_us >= seat->hold.valid_us)
        return;
    sim_trace(a->client->sim, "c%d.%d feeds", a->client->index, a->index);
    a->fed_us = now_us;
    hf__seat_step(&a->client->engine, seat, &ev);
}
