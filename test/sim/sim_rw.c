/*
 * sim_rw.c: worlds whose locks are read/write locks: which actor reads and
 * which one writes, in which order, and what a node keeps for each of them.
 *
 * The rule: nothing of this is drawn in other worlds, whose seeds tell the
 * stories that they told before.  There is one node, for a quorum has no
 * read/write locks.
 */
#include <string.h>

#include "sim/sim.h"

void rw_draw(struct sim *s, unsigned allowed)
{
    static const int writes[] = {10, 30, 50, 90};
    struct knobs *k = &s->k;
    k->write_percent = writes[sim_between(s, 0, 3)];
    k->writers_percent = (int)sim_between(s, 0, 2) * 50;
    /* Half of the worlds without an operator get one as well. */
    if (!(allowed & FAULT_TAKE) || s->faults & FAULT_TAKE || sim_chance(s, 500))
        return;
    s->faults |= FAULT_TAKE;
    k->take_us = sim_between(s, 20 * MS, 200 * MS);
    k->evict_percent = (int)sim_between(s, 0, 1) * 50;
}

/* 0, or -1: no memory. */
int rw_open(struct sim *s, struct sim_client *c)
{
    struct engine *e = &c->engine;
    for (int i = 0; i < s->k.names; i++) {
        c->entries[i] = hf__entry_get(e, KIND_WRITE, sim_names[i], 1);
        c->read_entries[i] = hf__entry_get(e, KIND_READ, sim_names[i], 1);
        if (!c->entries[i] || !c->read_entries[i]) return -1;
    }
    return 0;
}

void rw_choose(struct actor *a)
{
    struct sim *s = a->client->sim;
    a->reads = !sim_chance(s, 10 * s->k.write_percent);
    if (a->reads) a->entry = a->client->read_entries[a->name];
}

/* Some of those that queue put writers first. */
void rw_order(struct sim *s, struct op *op)
{
    if (op->order == HF_ORDER_FAIR && sim_chance(s, 10 * s->k.writers_percent))
        op->order = HF_ORDER_WRITERS;
}

/* ---- what a node has ---------------------------------------------------- */

static int share_find(const struct sim *s, const struct sim_node *n,
                      const struct request *req, struct store_view *out)
{
    int64_t now_us = node_clock(s, n);
    struct store_share share;
    hf__rules_store_look(n->store, now_us, req->name, req->name_len, out);
    for (size_t i = 0; hf__rules_store_share(n->store, now_us, req->name,
                                             req->name_len, i, &share);
         i++) {
        if (share.waits || share.writes != (req->kind == KIND_WRITE)
            || strcmp(share.view.owner, req->owner) != 0)
            continue;
        /* An owner may have permits that it has given up, besides others. */
        if (req->kind == KIND_PERMIT && share.view.attempt != req->attempt)
            continue;
        *out = share.view;
        return 1;
    }
    return 0;
}

/* What the request is about: of a plain lock its holder, of a read/write lock
 * the owner's hold of that side.  1 if there is one. */
int node_look(const struct sim *s, const struct sim_node *n,
              const struct request *req, struct store_view *out)
{
    if (s->is_session) return session_look(s, n, req, out);
    if (request_shares(req)) return share_find(s, n, req, out);
    return hf__rules_store_look(n->store, node_clock(s, n), req->name,
                                req->name_len, out);
}

/* The same of what an actor holds on the first node. */
int actor_look(const struct actor *a, struct store_view *out)
{
    const struct seat *seat = actor_seat(a);
    struct request req = {.kind = a->entry->kind,
                          .name = sim_names[a->name],
                          .name_len = strlen(sim_names[a->name])};
    if (seat) hf__seat_owner(&a->client->engine, seat, req.owner);
    if (seat) req.attempt = seat->hold.attempt;
    return node_look(a->client->sim, &a->client->sim->nodes[0], &req, out);
}

int node_is_shared(const struct sim *s, const struct sim_node *n, int name)
{
    struct store_share share;
    for (size_t i = 0; hf__rules_store_share(n->store, node_clock(s, n),
                                             sim_names[name], 1, i, &share);
         i++)
        if (!share.waits) return 1;
    return 0;
}
