/*
 * sim_nemesis.c: the faults that are not a packet's own.  The rule: it stops
 * when its time is over, and leaves everything able to work.
 */
#include "sim/sim.h"

#define NEMESIS_KINDS                                                          \
    ((unsigned)(FAULT_BREAK | FAULT_PARTITION | FAULT_PAUSE | FAULT_CRASH      \
                | FAULT_RESTART | FAULT_FLUSH | FAULT_JUMP))

static void nemesis_act(struct sim *s, void *arg, uint64_t tag);

static struct sim_client *any_client(struct sim *s)
{
    return &s->clients[sim_random(s) % (uint64_t)s->k.clients];
}

static struct sim_node *any_node(struct sim *s)
{
    return &s->nodes[sim_random(s) % (uint64_t)s->k.nodes];
}

static void break_one(struct sim *s)
{
    int client = any_client(s)->index, node = any_node(s)->index;
    for (struct life *l = s->lives; l; l = l->all_next)
        if (l->open && l->client == client && l->node == node)
            net_break(s, l, NEWS_SOON);
}

/* ---- partitions ------------------------------------------------------- */

/* Some connections do not survive it. */
static void partition_end(struct sim *s, void *arg, uint64_t node)
{
    struct sim_client *c = arg;
    if (c->partition_until_us[node] > s->now_us) return;
    for (struct life *l = s->lives; l; l = l->all_next)
        if (l->open && l->client == c->index && l->node == (int)node
            && sim_chance(s, 500))
            net_break(s, l, NEWS_SOON);
}

static void partition(struct sim *s)
{
    int64_t until_us = s->now_us + sim_between(s, 5 * MS, 800 * MS);
    uint64_t links = sim_random(s);
    if (until_us > s->k.faults_us) until_us = s->k.faults_us;
    for (int i = 0; i < s->k.clients; i++) {
        for (int k = 0; k < s->k.nodes; k++) {
            struct sim_client *c = &s->clients[i];
            links = links >> 1 | links << 63;
            if (links & 1) continue;
            sim_trace(s, "c%d-n%d nothing comes through until %lld us", i, k,
                      (long long)until_us);
            if (until_us < c->partition_until_us[k]) continue;
            c->partition_until_us[k] = until_us;
            sim_at(s, until_us, partition_end, c, (uint64_t)k);
        }
    }
}

/* ---- clients and nodes ------------------------------------------------ */

static void client_return(struct sim *s, void *arg, uint64_t tag)
{
    struct sim_client *c = arg;
    if (!c->alive && c->serial == tag) client_start(s, c);
}

static void crash(struct sim *s)
{
    struct sim_client *c = any_client(s);
    if (!c->alive) return;
    client_crash(s, c);
    s->deeds[DEED_CRASH]++;
    sim_at(s, s->now_us + sim_between(s, 0, 200 * MS), client_return, c,
           c->serial);
}

static void node_return(struct sim *s, void *arg, uint64_t tag)
{
    struct sim_node *n = arg;
    if (n->epoch == tag) node_start(s, n);
}

static void restart(struct sim *s)
{
    struct sim_node *n = any_node(s);
    int wipe = s->faults & FAULT_WIPE && sim_chance(s, 500);
    if (!n->up) return;
    node_stop(s, n, wipe);
    /* Tokens are safe if a node that lost its data was away for longer than
     * clocks may differ. */
    int64_t away = sim_between(s, wipe ? 120 * MS : MS, 400 * MS);
    sim_at(s, s->now_us + away, node_return, n, n->epoch);
}

/* A quorum's node that is ahead of the others by more than the window refuses
 * every number; so in one seed of three it stays within half of that, and may
 * still grant what it should not. */
static int64_t jump_scaled(const struct sim *s, int64_t to_us)
{
    if (s->k.nodes == 1 || s->seed % 3 != 1) return to_us;
    return to_us * (s->k.window_us / MS) / 1600;
}

/* Clocks are set to within 0.8 s of the truth, not ever farther away. */
static void jump(struct sim *s)
{
    struct sim_node *n = any_node(s);
    int64_t to_us = jump_scaled(s, sim_between(s, -800 * MS, 800 * MS));
    if (to_us < n->offset_us && !s->k.set_back) return;
    node_set_clock(s, n, to_us - n->offset_us);
}

/* Short, long, or about as long as a lease: just too long. */
static int64_t pause_length(struct sim *s)
{
    int64_t lease_us = s->k.lease_min_us;
    if (sim_chance(s, 400)) return sim_between(s, lease_us / 2, lease_us);
    if (sim_chance(s, 500)) return sim_between(s, MS, 60 * MS);
    return sim_between(s, 20 * MS, 900 * MS);
}

/* ---- its day ---------------------------------------------------------- */

static void one_deed(struct sim *s)
{
    unsigned kinds = s->faults & NEMESIS_KINDS, which;
    if (!kinds) return;
    do which = 1u << sim_random(s) % 12;
    while (!(which & kinds));
    switch (which) {
    case FAULT_BREAK:
        break_one(s);
        break;
    case FAULT_PARTITION:
        partition(s);
        s->deeds[DEED_PARTITION]++;
        break;
    case FAULT_PAUSE:
        client_pause(s, any_client(s), pause_length(s));
        s->deeds[DEED_PAUSE]++;
        break;
    case FAULT_CRASH:
        crash(s);
        break;
    case FAULT_RESTART:
        restart(s);
        break;
    case FAULT_FLUSH:
        node_flush(s, any_node(s));
        break;
    case FAULT_JUMP:
        jump(s);
        break;
    default:
        break;
    }
}

static void nemesis_act(struct sim *s, void *arg, uint64_t tag)
{
    (void)arg;
    (void)tag;
    if (s->healed) return;
    one_deed(s);
    if (sim_chance(s, 300)) one_deed(s);
    sim_at(s, s->now_us + sim_about(s, s->k.nemesis_us), nemesis_act, NULL, 0);
}

/* ---- locks that are taken away ------------------------------------------ */

static void take_act(struct sim *s, void *arg, uint64_t tag);

static void take_later(struct sim *s)
{
    int64_t after_us =
        (int64_t)sim_take_random(s, 2 * (uint64_t)s->k.take_us) + 1;
    sim_at(s, s->now_us + after_us, take_act, NULL, 0);
}

/* From all nodes that can be reached, as the command does it. */
static void take_act(struct sim *s, void *arg, uint64_t tag)
{
    int name = (int)sim_take_random(s, (uint64_t)s->k.names);
    int is_evicted = (int)sim_take_random(s, 100) < s->k.evict_percent;
    (void)arg;
    (void)tag;
    if (s->healed) return;
    for (int i = 0; i < s->k.nodes; i++)
        if (s->nodes[i].up && is_evicted)
            node_evict(s, &s->nodes[i], name, DEED_TAKE);
        else if (s->nodes[i].up)
            node_break(s, &s->nodes[i], name);
    take_later(s);
}

void nemesis_start(struct sim *s)
{
    if (s->faults & FAULT_TAKE) take_later(s);
    lose_start(s);
    way_start(s);
    freeze_start(s);
    ask_start(s);
    close_start(s);
    if (s->faults)
        sim_at(s, sim_about(s, s->k.nemesis_us), nemesis_act, NULL, 0);
}

/* Everything may work again. */
void nemesis_stop(struct sim *s)
{
    sim_trace(s, "the faults are over");
    s->healed = 1;
    s->healed_us = s->now_us;
    s->settled_us = s->now_us + 2200 * MS;
    if (s->faults & FAULT_OLD) s->settled_us += OLD_US_MAX;
    if (s->k.nodes > 1) s->settled_us += sim_quarantine_us(s);
    for (int i = 0; i < s->k.nodes; i++) node_start(s, &s->nodes[i]);
    for (int i = 0; i < s->k.clients; i++) {
        struct sim_client *c = &s->clients[i];
        for (int k = 0; k < s->k.nodes; k++)
            c->partition_until_us[k] = c->way_until_us[k][0] =
                c->way_until_us[k][1] = 0;
        if (!c->alive) client_start(s, c);
    }
}
