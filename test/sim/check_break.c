/*
 * check_break.c: what was taken away from its holder never comes back.  A node
 * that was told to break a lock does not keep it again for the attempt that had
 * it, by a number that is no higher; and it renews only the grant that the
 * holder was told of.
 *
 * The rule: what was broken is written down here from what the node had, and
 * forgotten only with the node's data.
 */
#include <stdio.h>
#include <string.h>

#include "sim/sim.h"

/* `view` is what an operator takes away now. */
void check_broken(struct sim_node *n, int name, const struct store_view *view)
{
    struct broken_book *b = &n->broken[name];
    struct broken *at = &b->last[b->len++ % BROKEN_MAX];
    at->attempt = view->attempt;
    at->ballot = view->ballot;
    snprintf(at->owner, sizeof at->owner, "%s", view->owner);
}

void check_broken_reset(struct sim_node *n)
{
    memset(n->broken, 0, sizeof n->broken);
}

static int was_broken(const struct broken_book *b,
                      const struct store_view *view)
{
    for (int i = 0; i < BROKEN_MAX; i++)
        if (b->last[i].attempt == view->attempt
            && b->last[i].ballot >= view->ballot
            && !strcmp(b->last[i].owner, view->owner))
            return 1;
    return 0;
}

/* The token that the node gave to the holder of this attempt; 0: nobody of this
 * client holds it. */
static int64_t fence_held(const struct sim_client *c, uint64_t attempt)
{
    for (int i = 0; i < c->sim->k.actors; i++) {
        const struct seat *seat = actor_seat(&c->actors[i]);
        if (seat && seat->hold.attempt == attempt
            && seat->hold.state == HOLD_HELD)
            return seat->hold.fence - hf__hold_passes(&seat->hold);
    }
    return 0;
}

static void renewal_check(struct sim *s, const struct sim_node *n,
                          const struct packet *p, const struct store_view *view)
{
    const struct sim_client *c = &s->clients[p->life->client];
    int64_t fence = 0;
    if (s->k.nodes > 1 || !c->alive
        || strncmp(c->engine.uuid, p->req.owner, 36) != 0)
        return;
    fence = fence_held(c, p->req.attempt);
    if (fence && fence != view->fence)
        sim_fail(s,
                 "break: n%d renewed %s for c%d, which has %lld, and gave %lld",
                 n->index, p->req.name, c->index, (long long)fence,
                 (long long)view->fence);
}

/* What a request has left: of a plain lock all there is, of a read/write lock
 * what its owner has. */
void check_revived(struct sim *s, const struct sim_node *n,
                   const struct packet *p)
{
    struct store_view view;
    if (!node_look(s, n, &p->req, &view)) return;
    if (was_broken(&n->broken[p->name], &view))
        sim_fail(s, "break: n%d has %s for attempt %llu of %s again", n->index,
                 p->req.name, (unsigned long long)view.attempt, view.owner);
    if (p->req.verb == VERB_RENEW && p->rep.verdict == V_GRANTED)
        renewal_check(s, n, p, &view);
}
