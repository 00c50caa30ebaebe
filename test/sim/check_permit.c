/*
 * check_permit.c: of a semaphore no more permits are out than there are, at the
 * node by its own records, and at any true moment in what holders believe.  The
 * node serves the first of its queue before all others.
 *
 * Excused are the holds that check_exclusion.c excuses.  The rest is judged as
 * of read/write locks: check_rw.c, check_rw_orphan.c.
 */
#include <stdio.h>
#include <string.h>

#include "sim/sim.h"

/* A node is about to answer: note the first owner in its queue. */
void check_permit_queue(const struct sim *s, struct sim_node *n,
                        const struct request *req)
{
    struct store_share share;
    n->first_waiter[0] = '\0';
    for (size_t i = 0;
         req->kind == KIND_PERMIT
         && hf__rules_store_share(n->store, node_clock(s, n), req->name,
                                  req->name_len, i, &share);
         i++) {
        if (!share.waits) continue;
        snprintf(n->first_waiter, sizeof n->first_waiter, "%s",
                 share.view.owner);
        return;
    }
}

/* A node has granted a proposal. */
void check_permits_out(struct sim *s, const struct sim_node *n,
                       const struct packet *p)
{
    int name = p->name;
    if (n->first_waiter[0] && strcmp(n->first_waiter, p->req.owner) != 0)
        sim_fail(s, "permits: n%d has given %s to %s, and %s is first",
                 n->index, sim_names[name], p->req.owner, n->first_waiter);
    struct store_share share;
    int64_t out = 0;
    for (size_t i = 0; hf__rules_store_share(n->store, node_clock(s, n),
                                             sim_names[name], 1, i, &share);
         i++)
        if (!share.waits) out += share.permits;
    if (out > s->k.permits[name])
        sim_fail(s, "permits: n%d has given %lld of %s, and there are %lld",
                 n->index, (long long)out, sim_names[name],
                 (long long)s->k.permits[name]);
}

/* A holder believes in more time than before. */
void check_permits_held(struct sim *s, const struct actor *a)
{
    int64_t held = check_excused(a) ? 0 : a->permits;
    if (!s->is_permit || !held) return;
    for (int i = 0; i < s->k.clients * s->k.actors; i++) {
        const struct sim_client *c = &s->clients[i / s->k.actors];
        const struct actor *b = &c->actors[i % s->k.actors];
        if (b == a || !c->alive || !b->claims || b->name != a->name
            || check_excused(b) || !check_believes(b, actor_seat(b)))
            continue;
        held += b->permits;
    }
    if (held > s->k.permits[a->name])
        sim_fail(s,
                 "permits: holders of %s believe in %lld, and there are %lld",
                 sim_names[a->name], (long long)held,
                 (long long)s->k.permits[a->name]);
}
