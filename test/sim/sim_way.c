/*
 * sim_way.c: links that are closed in one direction only, while the connection
 * lives: requests arrive and no answer does, or messages arrive and no request
 * does.
 *
 * The rule: nothing is lost, as long as the connection is not: what waited
 * arrives when the link opens, or is cut off with it.  What is drawn here has
 * dice of its own.
 */
#include "sim/sim.h"

/* In one of six seeds. */
void way_draw(struct sim *s, unsigned allowed)
{
    static const int64_t means_us[] = {40 * MS, 120 * MS, 400 * MS};
    struct knobs *k = &s->k;
    if (!(allowed & FAULT_ONEWAY) || sim_dice(&s->way_random, 6)) return;
    s->faults |= FAULT_ONEWAY;
    k->way_us = means_us[sim_dice(&s->way_random, 3)];
}

static void way_open(struct sim *s, void *arg, uint64_t node)
{
    struct sim_client *c = arg;
    if (way_until_us(c, (int)node) > s->now_us) return;
    for (struct life *l = s->lives; l; l = l->all_next)
        if (l->open && l->client == c->index && l->node == (int)node
            && sim_dice(&s->way_random, 4) == 0)
            net_break(s, l, NEWS_SOON);
}

static void way_close(struct sim *s, struct sim_client *c, int node,
                      int is_to_node, int64_t until_us)
{
    sim_trace(s, "c%d-n%d nothing comes %s until %lld us", c->index, node,
              is_to_node ? "to the node" : "back", (long long)until_us);
    if (until_us <= c->way_until_us[node][is_to_node]) return;
    c->way_until_us[node][is_to_node] = until_us;
    sim_at(s, until_us, way_open, c, (uint64_t)node);
}

static void way_act(struct sim *s, void *arg, uint64_t tag);

static void way_later(struct sim *s)
{
    int64_t mean_us = s->k.way_us;
    int64_t after_us =
        (int64_t)sim_dice(&s->way_random, 2 * (uint64_t)mean_us) + 1;
    sim_at(s, s->now_us + after_us, way_act, NULL, 0);
}

static void way_act(struct sim *s, void *arg, uint64_t tag)
{
    int is_to_node = (int)sim_dice(&s->way_random, 2);
    int64_t until_us =
        s->now_us + 5 * MS + (int64_t)sim_dice(&s->way_random, 800 * MS);
    (void)arg;
    (void)tag;
    if (s->healed) return;
    if (until_us > s->k.faults_us) until_us = s->k.faults_us;
    s->deeds[DEED_ONEWAY]++;
    for (int i = 0; i < s->k.clients * s->k.nodes; i++)
        if (sim_dice(&s->way_random, 2))
            way_close(s, &s->clients[i / s->k.nodes], i % s->k.nodes,
                      is_to_node, until_us);
    way_later(s);
}

void way_start(struct sim *s)
{
    if (s->faults & FAULT_ONEWAY) way_later(s);
}

/* Until when one of the two directions is closed. */
int64_t way_until_us(const struct sim_client *c, int node)
{
    const int64_t *until_us = c->way_until_us[node];
    return until_us[0] > until_us[1] ? until_us[0] : until_us[1];
}
