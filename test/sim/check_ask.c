/*
 * check_ask.c: a client that asks about a lock is told what is true: a holder
 * that the node had, with its token; of a quorum a holder that a majority may
 * have had, and not "free" while a majority had one.  And a holder that is told
 * by its store that it has the lock no more, as after a break, believes in it
 * no more.
 *
 * The rule: what is true is noted at the nodes, at the moments at which they
 * were asked; the answer must fit one of these moments at each node.
 */
#include <stdio.h>
#include <string.h>

#include "sim/sim.h"

/* ---- notes --------------------------------------------------------------- */

static void said_note(struct query *q, const struct sim_node *n,
                      const struct store_view *view)
{
    struct said *w = &q->said[q->said_len % SAID_MAX];
    q->said_len++;
    w->node = n->index;
    w->locked = view->locked;
    w->fence = view->fence;
    snprintf(w->owner, sizeof w->owner, "%s", view->locked ? view->owner : "");
}

/* A node is about to answer. */
void check_ask_said(struct sim *s, const struct sim_node *n,
                    const struct packet *p)
{
    struct sim_client *c = &s->clients[p->life->client];
    enum op_type type =
        p->req.verb == VERB_BREAK ? OP_TYPE_BREAK : OP_TYPE_INSPECT;
    struct store_view view;
    hf__rules_store_look(n->store, node_clock(s, n), p->req.name,
                         p->req.name_len, &view);
    for (int i = 0; i < QUERIES_MAX; i++) {
        struct query *q = &c->queries[i];
        if (q->serial && q->name == p->name && q->op.type == type)
            said_note(q, n, &view);
    }
}

/* ---- answers ------------------------------------------------------------- */

/* What may the node have said, by bit? */
#define SAID_NOTHING 1 /* it was not asked, as far as we know */
#define SAID_FREE 2
#define SAID_OWNER 4 /* this one */
#define SAID_FENCE 8 /* with this token */
#define SAID_ANOTHER 16

static unsigned said_by(const struct query *q, int node, const char *owner,
                        int64_t fence)
{
    unsigned bits = 0;
    for (int i = 0; i < q->said_len; i++) {
        const struct said *w = &q->said[i];
        if (w->node != node) continue;
        int is_owner = w->locked && !strcmp(w->owner, owner);
        bits |= !w->locked ? SAID_FREE : is_owner ? SAID_OWNER : SAID_ANOTHER;
        if (is_owner && w->fence == fence) bits |= SAID_FENCE;
    }
    return bits ? bits : SAID_NOTHING;
}

/* Handed over within the client that asks: no node knows this token. */
static int is_passed(const struct query *q, const struct hf_info *info)
{
    const struct sim_client *c = q->client;
    for (int i = 0; i < c->sim->k.actors; i++) {
        const struct seat *seat = actor_seat(&c->actors[i]);
        if (seat && seat->entry == q->op.entry
            && (uint64_t)seat->hold.fence == info->fence)
            return 1;
    }
    return 0;
}

static void holder_check(const struct query *q, const struct hf_info *info)
{
    struct sim *s = q->client->sim;
    int nodes = 0, has_fence = is_passed(q, info);
    for (int i = 0; i < s->k.nodes; i++) {
        unsigned bits = said_by(q, i, info->owner, (int64_t)info->fence);
        int is_heard = s->k.nodes == 1 || q->op.done >> i & 1;
        nodes += !is_heard || bits & (SAID_OWNER | SAID_NOTHING);
        has_fence |= (bits & SAID_FENCE) != 0;
    }
    if (nodes < s->k.nodes / 2 + 1)
        sim_fail(s,
                 "ask: c%d is told that %s has %s, and %d of %d nodes may "
                 "have said so",
                 q->client->index, info->owner, sim_names[q->name], nodes,
                 s->k.nodes);
    else if (!has_fence)
        sim_fail(s,
                 "ask: c%d is told that %s has %s with %llu, which no node "
                 "gave",
                 q->client->index, info->owner, sim_names[q->name],
                 (unsigned long long)info->fence);
    if (info->mine && strncmp(info->owner, q->client->engine.uuid, 36) != 0)
        sim_fail(s, "ask: c%d is told that %s is its own, and %s has it",
                 q->client->index, sim_names[q->name], info->owner);
}

/* Free: no majority had one holder, whenever it was asked. */
static void free_check(const struct query *q)
{
    struct sim *s = q->client->sim;
    for (int i = 0; i < q->said_len; i++) {
        const char *owner = q->said[i].owner;
        int nodes = 0;
        for (int k = 0; k < s->k.nodes; k++)
            nodes +=
                (said_by(q, k, owner, 0) & ~(unsigned)SAID_FENCE) == SAID_OWNER;
        if (q->said[i].locked && nodes >= s->k.nodes / 2 + 1)
            sim_fail(s, "ask: c%d is told that %s is free, and %s has it",
                     q->client->index, sim_names[q->name], owner);
    }
}

static void break_check(const struct query *q)
{
    struct sim *s = q->client->sim;
    for (int i = 0; i < q->said_len; i++)
        if (q->said[i].locked == (q->op.was_locked != 0)) return;
    /* Of some nodes only those that answered count. */
    if (s->k.nodes > 1 && !q->op.was_locked) return;
    sim_fail(s, "ask: c%d breaks %s and is told that it was %s",
             q->client->index, sim_names[q->name],
             q->op.was_locked ? "locked" : "free");
}

/* Answered with HF_OK. */
void check_asked(const struct query *q)
{
    if (q->said_len > SAID_MAX) return;
    if (q->op.type == OP_TYPE_BREAK)
        break_check(q);
    else if (q->look.info.locked)
        holder_check(q, &q->look.info);
    else
        free_check(q);
}

/* ---- what a holder hears ------------------------------------------------- */

static int is_refusal(const struct packet *p)
{
    return p->req.verb == VERB_RENEW
           && (p->rep.verdict == V_ABSENT || p->rep.verdict == V_OTHER);
}

/* An answer to a round of renewals that is still open is about to be heard. */
void check_refusal_comes(struct sim_client *c, int node, const struct packet *p)
{
    for (int i = 0; is_refusal(p) && i < c->sim->k.actors; i++) {
        struct actor *a = &c->actors[i];
        const struct seat *seat = actor_seat(a);
        if (!seat || seat->hold.attempt != p->req.attempt
            || seat->hold.round != p->req.round || !seat->hold.round_open)
            continue;
        int is_same = a->refused_attempt == p->req.attempt
                      && a->refused_round == p->req.round;
        a->refused_attempt = p->req.attempt;
        a->refused_round = p->req.round;
        a->refused_by = (is_same ? a->refused_by : 0) | 1u << node;
    }
}

/* It was heard: once too few nodes are left, there is no hold. */
void check_refused(struct sim_client *c, const struct packet *p)
{
    for (int i = 0; is_refusal(p) && i < c->sim->k.actors; i++) {
        const struct actor *a = &c->actors[i];
        const struct seat *seat = actor_seat(a);
        int gone = 0, nodes = c->sim->k.nodes;
        if (!seat || seat->hold.state != HOLD_HELD
            || seat->hold.attempt != a->refused_attempt
            || seat->hold.round != a->refused_round)
            continue;
        for (unsigned bits = a->refused_by; bits; bits &= bits - 1) gone++;
        if (nodes - gone < nodes / 2 + 1)
            sim_fail(c->sim,
                     "ask: c%d.%d hears from %d of %d nodes that it does not "
                     "have %s, and goes on",
                     c->index, a->index, gone, nodes, sim_names[a->name]);
    }
}
