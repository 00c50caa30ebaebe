/*
 * sim_net.c: connections and packets.
 *
 * The rule: what one connection carries arrives in order and without gaps; it
 * may break at any point, and then what was sent before that point may still
 * arrive, even after packets of the connection that replaced it.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

#define SHORT_US (100 * MS) /* too short a life to repeat much in */

static void packet_arrive(struct sim *s, void *arg, uint64_t tag);

struct life *net_connect(struct backend_conn *conn, enum channel channel)
{
    struct sim *s = conn->sim;
    struct life *l = calloc(1, sizeof *l);
    if (!l) {
        sim_fail(s, "simulator: out of memory");
        return NULL;
    }
    l->conn = conn;
    l->client = conn->client->index;
    l->node = conn->node;
    l->channel = channel;
    l->open = 1;
    l->epoch = s->nodes[conn->node].epoch;
    l->born_us = s->now_us;
    l->cut = UINT64_MAX;
    l->all_next = s->lives;
    s->lives = l;
    return l;
}

struct packet *net_packet(struct sim *s, struct life *l, enum packet_kind kind)
{
    struct packet *p = s->spare;
    if (p) {
        s->spare = p->next;
    } else {
        p = malloc(sizeof *p);
        if (!p) {
            sim_fail(s, "simulator: out of memory");
            return NULL;
        }
        p->all_next = s->packets;
        s->packets = p;
    }
    p->life = l;
    p->kind = kind;
    p->number = 0;
    p->was_delayed = p->is_copy = 0;
    p->name = -1;
    p->origin = NULL;
    return p;
}

void net_free(struct sim *s, struct packet *p)
{
    p->next = s->spare;
    s->spare = p;
}

void net_delete(struct sim *s)
{
    while (s->packets) {
        struct packet *p = s->packets;
        s->packets = p->all_next;
        free(p);
    }
    while (s->lives) {
        struct life *l = s->lives;
        s->lives = l->all_next;
        free(l);
    }
    s->spare = NULL;
}

static int64_t delay_us(struct sim *s)
{
    int64_t delay = sim_between(s, s->k.delay_min_us, s->k.delay_max_us);
    if (!s->healed && s->faults & FAULT_SPIKE
        && sim_chance(s, s->k.spike_permille)) {
        delay += sim_between(s, 0, s->k.spike_us);
        s->deeds[DEED_SPIKE]++;
    }
    return delay;
}

static int is_to_node(const struct packet *p)
{
    return p->kind == PACKET_HELLO || p->kind == PACKET_REQUEST
           || p->kind == PACKET_SUBSCRIBE || p->kind == PACKET_UNSUBSCRIBE
           || p->kind == PACKET_BEAT;
}

/* Plan its arrival, behind what went before it. */
static void packet_launch(struct sim *s, struct packet *p)
{
    int64_t *last_us = &p->life->last_us[is_to_node(p)];
    int64_t at_us = s->now_us + delay_us(s);
    if (at_us < *last_us) at_us = *last_us;
    *last_us = at_us;
    sim_at(s, at_us, packet_arrive, p, 0);
}

static void life_break(struct sim *s, void *arg, uint64_t tag)
{
    (void)tag;
    net_break(s, arg, NEWS_SOON);
}

static void maybe_break(struct sim *s, struct life *l)
{
    if (s->healed || !(s->faults & FAULT_BREAK)
        || !sim_chance(s, s->k.break_permille))
        return;
    sim_at(s, s->now_us + sim_between(s, 0, 2 * s->k.delay_max_us), life_break,
           l, 0);
}

/* From the client. */
void net_send(struct sim *s, struct packet *p)
{
    p->number = ++p->life->sent;
    p->sent_us = s->now_us;
    packet_launch(s, p);
    maybe_break(s, p->life);
}

/* From the node, to the client. */
void net_reply(struct sim *s, struct packet *p)
{
    packet_launch(s, p);
    maybe_break(s, p->life);
}

static int64_t copy_delay_us(struct sim *s)
{
    if (!(s->faults & FAULT_OLD)) return sim_between(s, 0, 400 * MS);
    int64_t delay_us = (int64_t)sim_dice(&s->old_random, OLD_US_MAX);
    s->deeds[DEED_OLD] += delay_us > US_PER_S;
    return delay_us;
}

/* The same request once more, out of order. */
void net_copy_later(struct sim *s, const struct packet *p)
{
    struct packet *copy = net_packet(s, p->life, p->kind);
    if (!copy) return;
    copy->req = p->req;
    copy->name = p->name;
    copy->number = p->number;
    copy->sent_us = p->sent_us;
    copy->is_copy = 1;
    sim_at(s, s->now_us + copy_delay_us(s), packet_arrive, copy, 0);
}

static void client_hears(struct sim *s, void *arg, uint64_t tag)
{
    struct life *l = arg;
    struct sim_client *c = &s->clients[l->client];
    (void)tag;
    if (!l->conn) return;
    if (client_is_deaf(c)) {
        sim_at(s, c->deaf_until_us, client_hears, l, 0);
        return;
    }
    client_enter(c);
    link_lost(l->conn, l);
    client_settle(c);
}

static void watcher_remove(struct sim_node *n, struct life *l)
{
    struct life **at = &n->watchers;
    while (*at && *at != l) at = &(*at)->node_next;
    if (*at) *at = l->node_next;
    l->names = 0;
}

/* It is over; what is under way is cut off somewhere. */
void net_break(struct sim *s, struct life *l, enum news news)
{
    if (!l->open) return;
    l->open = 0;
    if (sim_chance(s, 600))
        l->cut = l->sent - sim_random(s) % (l->sent < 4 ? l->sent + 1 : 4);
    s->deeds[DEED_BREAK]++;
    if (!s->healed && s->faults & FAULT_LATE && sim_chance(s, 600)) {
        l->late_us =
            sim_between(s, 0, sim_chance(s, 500) ? 40 * MS : 1000 * MS);
        s->deeds[DEED_LATE]++;
    }
    if (l->cut < l->arrived) l->cut = l->arrived;
    watcher_remove(&s->nodes[l->node], l);
    if (l->channel == CHANNEL_COMMAND && s->now_us - l->born_us < SHORT_US)
        s->clients[l->client].broke_us[l->node] = s->now_us;
    sim_trace(s, "net c%d-n%d %s breaks, cut %lld of %lld, late %lld us",
              l->client, l->node,
              l->channel == CHANNEL_WATCH ? "watch" : "command",
              (long long)(l->cut == UINT64_MAX ? l->sent : l->cut),
              (long long)l->sent, (long long)l->late_us);
    /* Late: it takes an unanswered request, or keep-alives, to find out. */
    if (news == NEWS_SOON)
        sim_at(s, s->now_us + sim_between(s, 0, s->k.delay_max_us),
               client_hears, l, 0);
    if (news == NEWS_LATE)
        sim_at(s, s->now_us + sim_between(s, 50 * MS, 700 * MS), client_hears,
               l, 0);
}

/* ---- arriving --------------------------------------------------------- */

static void arrive_node(struct sim *s, struct packet *p)
{
    struct life *l = p->life;
    struct sim_node *n = &s->nodes[l->node];
    if (!l->open && (p->number > l->cut || l->epoch != n->epoch)) {
        net_free(s, p);
        return;
    }
    if (!l->open && l->late_us && !p->was_delayed) {
        p->was_delayed = 1;
        sim_at(s, s->now_us + l->late_us, packet_arrive, p, 0);
        return;
    }
    if (p->number > l->arrived) l->arrived = p->number;
    node_receive(s, p);
}

static void arrive_client(struct sim *s, struct packet *p)
{
    struct life *l = p->life;
    struct sim_client *c = &s->clients[l->client];
    if (!l->open || !l->conn) {
        net_free(s, p);
        return;
    }
    if (client_is_deaf(c)) {
        sim_at(s, c->deaf_until_us, packet_arrive, p, 0);
        return;
    }
    client_enter(c);
    link_receive(l->conn, p);
    net_free(s, p);
    client_settle(c);
}

static void packet_arrive(struct sim *s, void *arg, uint64_t tag)
{
    struct packet *p = arg;
    struct life *l = p->life;
    int64_t closed_until_us = s->clients[l->client].partition_until_us[l->node];
    int64_t way_us = s->clients[l->client].way_until_us[l->node][is_to_node(p)];
    (void)tag;
    if (way_us > closed_until_us) closed_until_us = way_us;
    int64_t frozen_until_us = s->nodes[l->node].frozen_until_us;
    if (closed_until_us > s->now_us) {
        sim_at(s, closed_until_us, packet_arrive, p, 0);
        return;
    }
    if (is_to_node(p) && frozen_until_us > s->now_us) {
        s->deeds[DEED_BACKLOG]++;
        sim_at(s, frozen_until_us, packet_arrive, p, 0);
        return;
    }
    if (is_to_node(p))
        arrive_node(s, p);
    else
        arrive_client(s, p);
}
