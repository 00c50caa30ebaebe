/*
 * check_rw.c: what a node answers about a read/write lock fits what it had.
 * A writer is alone, whatever the node has just granted; every token is
 * higher than all before it; a side is renewed and freed only for the attempt
 * that has it; and an attempt that was released is never granted again.
 *
 * That a hold is renewed only under the token that its holder was told, and
 * that nothing broken comes back, is in check_break.c; what holders believe is
 * in check_exclusion.c.
 */
#include <string.h>

#include "sim/sim.h"

static int is_same(const struct store_view *v, const struct request *req)
{
    return v->locked && v->attempt == req->attempt;
}

/* ---- the holders of both sides ------------------------------------------- */

/* Does another owner hold it beside `writer`? */
static void alone_check(struct sim *s, const struct sim_node *n, int name,
                        const struct store_view *writer)
{
    struct store_share share;
    for (size_t i = 0; hf__rules_store_share(n->store, node_clock(s, n),
                                             sim_names[name], 1, i, &share);
         i++)
        if (!share.waits && strcmp(share.view.owner, writer->owner) != 0)
            sim_fail(s, "rw: n%d lets %s write %s, and %s %s", n->index,
                     writer->owner, sim_names[name], share.view.owner,
                     share.writes ? "writes" : "reads");
}

static void sides_check(struct sim *s, const struct sim_node *n, int name)
{
    struct store_share share;
    for (size_t i = 0; hf__rules_store_share(n->store, node_clock(s, n),
                                             sim_names[name], 1, i, &share);
         i++)
        if (share.writes && !share.waits) alone_check(s, n, name, &share.view);
}

/* An owner that is let in gives up its place: others would wait behind it. */
static void place_check(struct sim *s, const struct sim_node *n,
                        const struct packet *p)
{
    struct store_share share;
    for (size_t i = 0;
         hf__rules_store_share(n->store, node_clock(s, n), p->req.name,
                               p->req.name_len, i, &share);
         i++)
        if (share.waits && share.writes == (p->req.kind == KIND_WRITE)
            && !strcmp(share.view.owner, p->req.owner))
            sim_fail(s, "rw: n%d let %s in to %s, and keeps its place",
                     n->index, p->req.owner, p->req.name);
}

static void mates_count(struct sim *s, const struct sim_node *n, int name)
{
    struct store_share share;
    int readers = 0;
    for (size_t i = 0; hf__rules_store_share(n->store, node_clock(s, n),
                                             sim_names[name], 1, i, &share);
         i++)
        readers += !share.waits && !share.writes;
    if (readers > 1) s->deeds[DEED_SHARED]++;
}

/* ---- answers ------------------------------------------------------------ */

static void lease_check(struct sim *s, const struct sim_node *n,
                        const struct packet *p, const struct store_view *after)
{
    int64_t ends_us = node_clock(s, n) + p->req.lease_us;
    if (!is_same(after, &p->req) || after->expires_us > ends_us + 2 * MS
        || after->expires_us < ends_us)
        sim_fail(s, "rw: n%d granted %s with a lease of its own", n->index,
                 p->req.name);
}

static void fence_check(struct sim *s, struct sim_node *n,
                        const struct packet *p)
{
    int64_t *last = &n->shared_fence[p->name];
    if (p->rep.fence <= *last)
        sim_fail(s, "rw: n%d gave %lld of %s after %lld", n->index,
                 (long long)p->rep.fence, p->req.name, (long long)*last);
    *last = p->rep.fence;
}

static void propose_check(struct sim *s, struct sim_node *n,
                          const struct packet *p,
                          const struct store_view *before,
                          const struct store_view *after)
{
    const struct request *req = &p->req;
    int64_t now_us = node_clock(s, n);
    if (is_same(before, req) && req->kind == KIND_PERMIT) {
        if (after->expires_us < before->expires_us
            || p->rep.fence != before->fence)
            sim_fail(s, "permits: a repeated proposal got something else");
        return;
    }
    if (is_same(before, req) && before->ballot == req->ballot) {
        if (after->expires_us != before->expires_us)
            sim_fail(s, "rw: a repeated proposal moved the lease");
        return;
    }
    if (req->ballot < now_us - req->window_us)
        sim_fail(s, "rw: n%d granted a number that is too old", n->index);
    lease_check(s, n, p, after);
    fence_check(s, n, p);
    place_check(s, n, p);
    if (req->kind == KIND_READ) mates_count(s, n, p->name);
    if (req->kind == KIND_PERMIT) check_permits_out(s, n, p);
    /* As in check_queue.c: too old once, and young again. */
    int was_old =
        n->was_set_back && req->ballot < n->clock_max_us - req->window_us;
    if (!was_old && check_is_released(n, req->owner, req->attempt))
        sim_fail(s, "rw: n%d granted %s to attempt %llu of %s, released before",
                 n->index, req->name, (unsigned long long)req->attempt,
                 req->owner);
}

static void change_check(struct sim *s, struct sim_node *n,
                         const struct packet *p,
                         const struct store_view *before,
                         const struct store_view *after)
{
    const struct request *req = &p->req;
    if (!is_same(before, req))
        sim_fail(s,
                 "rw: n%d carried out %d for attempt %llu of %s, which has "
                 "not got %s",
                 n->index, (int)req->verb, (unsigned long long)req->attempt,
                 req->owner, req->name);
    if (req->verb == VERB_RELEASE) {
        if (is_same(after, req))
            sim_fail(s, "rw: n%d released %s and has it still", n->index,
                     req->name);
        return;
    }
    lease_check(s, n, p, after);
    check_claims(&s->clients[p->life->client]);
    if (after->count != req->count)
        sim_fail(s, "rw: n%d counts %lld holds, not %lld", n->index,
                 (long long)after->count, (long long)req->count);
}

/* What a request has changed. */
void check_rw(struct sim *s, struct sim_node *n, const struct packet *p,
              const struct store_view *before)
{
    struct store_view after;
    if (n->clock_max_us < node_clock(s, n)) n->clock_max_us = node_clock(s, n);
    if (p->req.verb == VERB_RELEASE) check_release(s, n, p);
    if (p->rep.verdict != V_GRANTED) return;
    node_look(s, n, &p->req, &after);
    sides_check(s, n, p->name);
    if (p->req.verb == VERB_PROPOSE)
        propose_check(s, n, p, before, &after);
    else
        change_check(s, n, p, before, &after);
}

/* It has lost what it knew. */
void check_rw_reset(struct sim_node *n)
{
    memset(n->shared_fence, 0, sizeof n->shared_fence);
}

/* The last look: every holder has let go, and nobody waits. */
void check_rw_end(struct sim *s)
{
    struct sim_node *n = &s->nodes[0];
    struct store_share share;
    for (int name = 0; name < s->k.names; name++) {
        if (!hf__rules_store_share(n->store, node_clock(s, n), sim_names[name],
                                   1, 0, &share)
            || (share.waits && n->was_set_back))
            continue;
        sim_fail(s, "orphan: n%d still keeps %s %s for %s at the end", n->index,
                 share.waits ? "a place for" : "a side of", sim_names[name],
                 share.view.owner);
    }
}
