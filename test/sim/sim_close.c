/*
 * sim_close.c: clients that are closed in the middle of everything, as by
 * hf_client_close(): what is under way ends, what is held is released, the
 * answers are awaited for a moment, and another client comes.
 *
 * The rule: the steps are those of the pump (engine/pump_keeper.c), in its
 * order.  What is drawn here has dice of its own.
 */
#include <string.h>

#include "sim/sim.h"

/* In one of six seeds. */
void close_draw(struct sim *s, unsigned allowed)
{
    static const int64_t means_us[] = {30 * MS, 100 * MS, 300 * MS};
    struct knobs *k = &s->k;
    if (!(allowed & FAULT_CLOSE) || !sim_is_plain(s)
        || sim_dice(&s->close_random, 6))
        return;
    s->faults |= FAULT_CLOSE;
    k->close_us = means_us[sim_dice(&s->close_random, 3)];
}

static void close_act(struct sim *s, void *arg, uint64_t tag);

static void close_later(struct sim *s)
{
    uint64_t most_us = 2 * (uint64_t)s->k.close_us;
    int64_t after_us = (int64_t)sim_dice(&s->close_random, most_us) + 1;
    sim_at(s, s->now_us + after_us, close_act, NULL, 0);
}

static void close_return(struct sim *s, void *arg, uint64_t tag)
{
    struct sim_client *c = arg;
    if (!c->alive && c->serial == tag) client_start(s, c);
}

/* Its time is over, or nothing is owed any more. */
static void close_end(struct sim *s, void *arg, uint64_t tag)
{
    struct sim_client *c = arg;
    if (!c->alive || c->serial != tag || !c->closing) return;
    if (client_is_paused(c)) {
        sim_at(s, c->paused_until_us + MS, close_end, c, tag);
        return;
    }
    sim_trace(s, "c%d is closed", c->index);
    check_closed(c);
    client_end(s, c);
    int64_t after_us = (int64_t)sim_dice(&s->close_random, 60 * MS);
    sim_at(s, s->now_us + after_us, close_return, c, c->serial);
}

/* After a step. */
void close_settled(struct sim_client *c)
{
    if (!c->closing || hf__nodes_owe(&c->engine) != OWED_NOTHING) return;
    sim_at(c->sim, c->sim->now_us, close_end, c, c->serial);
}

static void client_close(struct sim *s, struct sim_client *c)
{
    int64_t limit_us = client_clock(c) + s->k.timeout_us;
    sim_trace(s, "c%d closes", c->index);
    s->deeds[DEED_CLOSE]++;
    client_enter(c);
    check_close_begins(c);
    c->closing = 1;
    hf__engine_shut(&c->engine, client_clock(c));
    client_settle(c);
    check_ended(c);
    sim_at(s, client_true_us(c, limit_us), close_end, c, c->serial);
}

static void close_act(struct sim *s, void *arg, uint64_t tag)
{
    struct sim_client *c =
        &s->clients[sim_dice(&s->close_random, (uint64_t)s->k.clients)];
    (void)arg;
    (void)tag;
    if (s->healed) return;
    if (client_is_working(c)) client_close(s, c);
    close_later(s);
}

void close_start(struct sim *s)
{
    if (s->faults & FAULT_CLOSE) close_later(s);
}
