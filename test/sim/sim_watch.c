/*
 * sim_watch.c: subscriptions.  The rule: a watched name is woken by every
 * message, and once more whenever messages may have been missed.
 */
#include "sim/sim.h"

/* The two sides of a read/write lock are watched each for itself. */
static int topic_of(const struct request *req)
{
    int side = req->kind == KIND_WRITE ? SIM_NAMES_MAX : 0;
    return name_index(req->name) + side;
}

int topic_is_in(unsigned topics, int name)
{
    return (topics >> name | topics >> (name + SIM_NAMES_MAX)) & 1;
}

static void subscribe(struct backend_conn *c, int name, enum packet_kind kind)
{
    struct packet *p = net_packet(c->sim, c->watch.life, kind);
    if (!p) return;
    p->name = name;
    p->queues = c->queued >> name & 1;
    net_send(c->sim, p);
}

/* VERB_WATCH and VERB_UNWATCH, from flush(). */
void watch_request(struct backend_conn *c, struct request *req)
{
    struct reply done = {.verdict = V_GRANTED, .ttl_us = -1, .waiters = -1};
    int name = topic_of(req);
    if (req->verb == VERB_WATCH) {
        if (c->asked[name]) sim_fail(c->sim, "engine: a name watched twice");
        c->watched |= 1u << name;
        if (req->flags & REQ_QUEUE) c->queued |= 1u << name;
        c->asked[name] = req;
        if (c->watch.state == CHAN_UP)
            subscribe(c, name, PACKET_SUBSCRIBE);
        else if (c->watch.state == CHAN_DOWN && c->watch.due_us == TIME_NEVER)
            chan_start(c, &c->watch);
        return;
    }
    struct request *asked = c->asked[name];
    c->watched &= ~(1u << name);
    c->queued &= ~(1u << name);
    c->asked[name] = NULL;
    if (c->watch.state == CHAN_UP) subscribe(c, name, PACKET_UNSUBSCRIBE);
    if (asked) link_answer(c, asked, V_UNSENT);
    c->env->reply(c->env, req, &done);
}

void watch_up(struct backend_conn *c)
{
    c->watch.state = CHAN_UP;
    c->watch.failures = 0;
    c->watch.due_us = TIME_NEVER;
    for (int i = 0; i < SIM_TOPICS_MAX; i++)
        if (c->watched >> i & 1) subscribe(c, i, PACKET_SUBSCRIBE);
}

/* Watches that were never confirmed are given back; the others are renewed
 * with the next connection. */
void watch_down(struct backend_conn *c)
{
    chan_down(c, &c->watch);
    for (int i = 0; i < SIM_TOPICS_MAX; i++) {
        struct request *asked = c->asked[i];
        if (!asked) continue;
        c->asked[i] = NULL;
        c->watched &= ~(1u << i);
        c->queued &= ~(1u << i);
        link_answer(c, asked, V_UNKNOWN);
    }
    if (!c->watched) c->watch.due_us = TIME_NEVER;
}

static void subscribed(struct backend_conn *c, int name)
{
    struct reply done = {.verdict = V_GRANTED, .ttl_us = -1, .waiters = -1};
    struct request *asked = c->asked[name];
    c->asked[name] = NULL;
    if (asked)
        c->env->reply(c->env, asked, &done);
    else if (c->watched >> name & 1)
        c->env->wake(c->env, sim_names[name % SIM_NAMES_MAX], 1);
}

void watch_receive(struct backend_conn *c, struct packet *p)
{
    sim_trace(c->sim, "c%d-n%d watch: packet %d name %d", c->client->index,
              c->node, (int)p->kind, p->name);
    switch (p->kind) {
    case PACKET_WELCOME:
        watch_up(c);
        break;
    case PACKET_REFUSED:
        watch_down(c);
        break;
    case PACKET_SUBSCRIBED:
        subscribed(c, p->name);
        break;
    case PACKET_MESSAGE:
        if (topic_is_in(c->watched, p->name))
            c->env->wake(c->env, sim_names[p->name], 1);
        break;
    case PACKET_HANDED:
        if (c->queued >> p->name & 1) c->env->handed(c->env, &p->handed);
        break;
    default:
        break;
    }
}

int64_t watch_due(const struct backend_conn *c)
{
    int64_t due = TIME_NEVER;
    for (int i = 0; i < SIM_TOPICS_MAX; i++)
        if (c->asked[i] && c->asked[i]->deadline_us < due)
            due = c->asked[i]->deadline_us;
    return due;
}

void watch_expire(struct backend_conn *c, int64_t now_us)
{
    if (watch_due(c) <= now_us) watch_down(c);
    if (c->watch.due_us > now_us) return;
    if (c->watch.state == CHAN_CONNECTING)
        watch_down(c);
    else
        chan_start(c, &c->watch);
}
