/*
 * sim_session_link.c: the client's side of a session: heartbeats, and the keys
 * that it has or may have.
 *
 * The rules: no lease is longer than half of the session, so that a request
 * which was carried out proves all of it; and a key whose lease is over, or
 * that is to be deleted, is deleted as soon as there is a connection, for no
 * lease of the store ends it.
 */
#include <string.h>

#include "sim/sim.h"

static struct owned *owned_find(struct backend_conn *c, int name,
                                const char *owner, uint64_t attempt)
{
    for (int i = 0; i < OWNED_MAX; i++)
        if (c->owned[i].attempt == attempt && c->owned[i].name == name
            && !strcmp(c->owned[i].owner, owner))
            return &c->owned[i];
    return NULL;
}

static struct owned *owned_need(struct backend_conn *c,
                                const struct request *req)
{
    int name = name_index(req->name);
    struct owned *o = owned_find(c, name, req->owner, req->attempt);
    for (int i = 0; !o && i < OWNED_MAX; i++)
        if (!c->owned[i].attempt) o = &c->owned[i];
    if (!o) return NULL;
    if (!o->attempt) {
        memset(o, 0, sizeof *o);
        o->name = name;
        o->attempt = req->attempt;
        memcpy(o->owner, req->owner, sizeof o->owner);
    }
    return o;
}

static void owned_release(struct backend_conn *c, const struct owned *o)
{
    struct packet *p = net_packet(c->sim, c->command.life, PACKET_REQUEST);
    if (!p) return;
    memset(&p->req, 0, sizeof p->req);
    p->req.verb = VERB_RELEASE;
    p->req.attempt = o->attempt;
    p->req.name = sim_names[o->name];
    p->req.name_len = strlen(p->req.name);
    memcpy(p->req.owner, o->owner, sizeof p->req.owner);
    p->name = o->name;
    net_send(c->sim, p);
}

/* Connected: with the session of before, or with another one. */
void session_welcome(struct backend_conn *c, const struct packet *p)
{
    int up = LINK_IS_UP;
    if (p->is_other && c->had_session) up = LINK_IS_OTHER;
    if (p->is_other) memset(c->owned, 0, OWNED_MAX * sizeof *c->owned);
    c->had_session = 1;
    c->beat_us = c->env->now(c->env) + c->sim->k.session_us / 4;
    c->env->bound(c->env, c->sim->k.session_us / 2);
    c->env->link(c->env, up, p->rep.node_us, NULL);
    for (int i = 0; i < OWNED_MAX; i++)
        if (c->owned[i].attempt && c->owned[i].is_leaving)
            owned_release(c, &c->owned[i]);
}

/* A request goes out. */
void session_sent(struct backend_conn *c, const struct request *req)
{
    int64_t now_us = c->env->now(c->env);
    struct owned *o = owned_need(c, req);
    if (!o) {
        sim_fail(c->sim, "simulator: too many keys");
        return;
    }
    if (req->verb == VERB_RELEASE) o->is_leaving = 1;
    if (o->ends_us < now_us + req->lease_us)
        o->ends_us = now_us + req->lease_us;
    /* A place in the queue has no lease. */
    if (req->verb == VERB_PROPOSE && req->flags & REQ_QUEUE)
        o->ends_us = TIME_NEVER;
}

void session_answered(struct backend_conn *c, const struct packet *p)
{
    struct owned *o = owned_find(c, p->name, p->req.owner, p->req.attempt);
    enum verdict v = p->rep.verdict;
    if (!o) return;
    if (p->req.verb == VERB_PROPOSE && v == V_GRANTED)
        o->ends_us = c->env->now(c->env) + p->req.lease_us;
    int is_gone = p->req.verb == VERB_RELEASE
                  || (p->req.verb == VERB_RENEW && v != V_GRANTED)
                  || (p->req.verb == VERB_PROPOSE && v == V_BUSY
                      && !(p->req.flags & REQ_QUEUE));
    if (is_gone) memset(o, 0, sizeof *o);
}

int64_t session_due(const struct backend_conn *c)
{
    int64_t due_us = c->beat_us;
    if (!c->sim->is_session || c->sim->ended || c->command.state != CHAN_UP)
        return TIME_NEVER;
    for (int i = 0; i < OWNED_MAX; i++)
        if (c->owned[i].attempt && !c->owned[i].is_leaving
            && c->owned[i].ends_us < due_us)
            due_us = c->owned[i].ends_us;
    return due_us;
}

void session_process(struct backend_conn *c, int64_t now_us)
{
    if (!c->sim->is_session || c->command.state != CHAN_UP) return;
    for (int i = 0; i < OWNED_MAX; i++) {
        struct owned *o = &c->owned[i];
        if (!o->attempt || o->is_leaving || o->ends_us > now_us) continue;
        o->is_leaving = 1;
        owned_release(c, o);
    }
    if (c->beat_us > now_us) return;
    struct packet *p = net_packet(c->sim, c->command.life, PACKET_BEAT);
    if (p) net_send(c->sim, p);
    c->beat_us = now_us + c->sim->k.session_us / 4;
}
