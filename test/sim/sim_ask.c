/*
 * sim_ask.c: clients that ask about locks at random times, and break them, in
 * the middle of everything else.
 *
 * The rule: a client may ask about any lock and break any, whichever holder has
 * it, itself included.  What is drawn here has dice of its own.
 */
#include <string.h>

#include "sim/sim.h"

/* In one of five seeds; in a third of those nothing is broken. */
void ask_draw(struct sim *s, unsigned allowed)
{
    static const int64_t means_us[] = {5 * MS, 20 * MS, 80 * MS};
    static const int percents[] = {0, 10, 50};
    struct knobs *k = &s->k;
    if (!(allowed & FAULT_ASK) || !sim_is_plain(s)
        || sim_dice(&s->ask_random, 5))
        return;
    s->faults |= FAULT_ASK;
    k->ask_us = means_us[sim_dice(&s->ask_random, 3)];
    k->ask_break_percent = percents[sim_dice(&s->ask_random, 3)];
}

static void ask_act(struct sim *s, void *arg, uint64_t tag);

static void ask_later(struct sim *s)
{
    uint64_t most_us = 2 * (uint64_t)s->k.ask_us;
    int64_t after_us = (int64_t)sim_dice(&s->ask_random, most_us) + 1;
    sim_at(s, s->now_us + after_us, ask_act, NULL, 0);
}

/* By now the store has answered, or has been silent for too long. */
static void ask_late(struct sim *s, void *arg, uint64_t tag)
{
    const struct query *q = arg;
    const struct sim_client *c = q->client;
    int64_t slack_us = 2 * (s->k.timeout_us + s->k.patience_us);
    if (q->serial != tag || !c->alive) return;
    if (c->paused_until_us && c->paused_until_us + slack_us > s->now_us) {
        sim_at(s, c->paused_until_us + slack_us, ask_late, arg, tag);
        return;
    }
    sim_fail(s, "callbacks: c%d asks about %s, and is not told", c->index,
             sim_names[q->name]);
}

static struct query *query_free(struct sim_client *c)
{
    for (int i = 0; i < QUERIES_MAX; i++)
        if (!c->queries[i].serial) return &c->queries[i];
    return NULL;
}

static void query_begin(struct sim *s, struct sim_client *c, struct query *q)
{
    int breaks = (int)sim_dice(&s->ask_random, 100) < s->k.ask_break_percent;
    int64_t limit_us = 2 * (s->k.timeout_us + s->k.patience_us) + MS;
    memset(q, 0, sizeof *q);
    q->client = c;
    q->serial = ++s->serials;
    q->name = (int)sim_dice(&s->ask_random, (uint64_t)s->k.names);
    q->op.type = breaks ? OP_TYPE_BREAK : OP_TYPE_INSPECT;
    q->op.entry = c->entries[q->name];
    q->op.holder = sim_dice(&s->ask_random, (uint64_t)s->k.actors + 1);
    if (!breaks) q->op.look = &q->look;
    if (!breaks) q->op.info = &q->look.info;
    sim_trace(s, "c%d %s %s", c->index, breaks ? "breaks" : "asks about",
              sim_names[q->name]);
    sim_at(s, client_true_us(c, client_clock(c) + limit_us) + MS, ask_late, q,
           q->serial);
    client_enter(c);
    hf__engine_begin(&c->engine, &q->op, client_clock(c));
    client_settle(c);
}

static void ask_act(struct sim *s, void *arg, uint64_t tag)
{
    struct sim_client *c =
        &s->clients[sim_dice(&s->ask_random, (uint64_t)s->k.clients)];
    (void)arg;
    (void)tag;
    if (s->healed) return;
    struct query *q = query_free(c);
    if (q && client_is_working(c)) query_begin(s, c, q);
    ask_later(s);
}

void ask_start(struct sim *s)
{
    if (s->faults & FAULT_ASK) ask_later(s);
}

/* The engine is through with it. */
void ask_done(struct sim_client *c, struct op *op)
{
    struct query *q = (struct query *)op; /* its first member */
    struct sim *s = c->sim;
    int is_known = op->status == HF_OK || op->status == HF_UNAVAILABLE
                   || (op->status == HF_CLOSED && c->engine.closing);
    sim_trace(s, "c%d is told of %s: %s", c->index, sim_names[q->name],
              hf_status_name(op->status));
    if (!q->serial)
        sim_fail(s, "callbacks: c%d is told twice of %s", c->index,
                 sim_names[q->name]);
    if (!is_known)
        sim_fail(s, "callbacks: c%d asks about %s and is told %s", c->index,
                 sim_names[q->name], hf_status_name(op->status));
    if (op->status == HF_OK) s->deeds[DEED_ASK]++;
    if (op->status == HF_OK && op->type == OP_TYPE_BREAK && op->was_locked)
        s->deeds[DEED_FREED]++;
    if (op->status == HF_OK) check_asked(q);
    q->serial = 0;
}
