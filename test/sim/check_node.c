/*
 * check_node.c: what a node answers fits what it had.  A lock is given only if
 * it was free, renewed and freed only for the attempt that has it; an attempt
 * that was released is never granted again.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

/* An attempt that a node was told to release. */
struct released {
    uint64_t key;   /* of owner and attempt; 0: empty */
    uint64_t wipes; /* how often the node had lost its data by then */
};

/* ---- the set of released attempts ------------------------------------- */

static uint64_t key_of(const char *owner, uint64_t attempt)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (const char *c = owner; *c; c++)
        h = (h ^ (unsigned char)*c) * UINT64_C(1099511628211);
    return (h ^ attempt * UINT64_C(0x9e3779b97f4a7c15)) | 1;
}

static uint64_t released_key(const struct packet *p)
{
    return key_of(p->req.owner, p->req.attempt);
}

static struct released *released_place(const struct sim_node *n, uint64_t key)
{
    size_t mask = n->released_room - 1, i = (size_t)(key >> 8) & mask;
    while (n->released[i].key && n->released[i].key != key) i = (i + 1) & mask;
    return &n->released[i];
}

static int released_grow(struct sim_node *n)
{
    struct released *old = n->released;
    size_t room = n->released_room;
    if (n->released_len * 2 < room) return 0;
    n->released_room = room ? 2 * room : 256;
    n->released = calloc(n->released_room, sizeof *old);
    if (!n->released) {
        n->released = old;
        n->released_room = room;
        return -1;
    }
    for (size_t i = 0; i < room; i++)
        if (old[i].key) *released_place(n, old[i].key) = old[i];
    free(old);
    return 0;
}

void check_node_reset(struct sim_node *n)
{
    free(n->released);
    n->released = NULL;
    n->released_len = n->released_room = 0;
}

static void release_note(struct sim *s, struct sim_node *n, uint64_t key)
{
    if (released_grow(n) != 0) {
        sim_fail(s, "simulator: out of memory");
        return;
    }
    struct released *r = released_place(n, key);
    if (!r->key) n->released_len++;
    r->key = key;
    r->wipes = n->wipes;
}

/* By ticket, a node that has nothing is told the number only when another one
 * has compared the secret. */
void check_release(struct sim *s, struct sim_node *n, const struct packet *p)
{
    if (p->req.ballot == 0 && p->rep.verdict != V_GRANTED) return;
    release_note(s, n, released_key(p));
}

/* A release by ticket has ended well: nodes that said that they have nothing
 * do not grant it later. */
void check_ticket_released(struct sim *s, const struct op *op)
{
    uint32_t nodes = op->status == HF_OK ? op->gone & op->heard : 0;
    for (int i = 0; i < s->k.nodes; i++)
        if (nodes >> i & 1)
            release_note(s, &s->nodes[i],
                         key_of(op->ticket.owner, op->ticket.attempt));
}

int check_is_released(const struct sim_node *n, const char *owner,
                      uint64_t attempt)
{
    if (!n->released_room) return 0;
    const struct released *r = released_place(n, key_of(owner, attempt));
    return r->key && r->wipes == n->wipes;
}

/* ---- answers ---------------------------------------------------------- */

static int is_same(const struct store_view *v, const struct request *req)
{
    return v->locked && !strcmp(v->owner, req->owner)
           && v->attempt == req->attempt;
}

/* Its client may have stopped repeating the release by now: only the lease
 * ends what this does. */
static int is_late(const struct sim *s, const struct packet *p)
{
    return s->now_us - p->sent_us > p->req.lease_us / 2;
}

static void check_propose(struct sim *s, struct sim_node *n,
                          const struct packet *p,
                          const struct store_view *before,
                          const struct store_view *after)
{
    const struct request *req = &p->req;
    int64_t now_us = node_clock(s, n);
    if (is_same(before, req) && before->ballot == req->ballot) {
        if (after->expires_us != before->expires_us)
            sim_fail(s, "node: a repeated proposal moved the lease");
        return;
    }
    /* The same attempt under a new number: it asks for the rest of a quorum. */
    if (before->locked && !is_same(before, req))
        sim_fail(s, "node: n%d gave %s to %.12s, and %.12s had it", n->index,
                 req->name, req->owner, before->owner);
    if (!after->locked || after->expires_us > now_us + req->lease_us + 2 * MS
        || after->expires_us < now_us + req->lease_us)
        sim_fail(s, "node: n%d granted %s with a lease of its own", n->index,
                 req->name);
    if (req->ballot < now_us - req->window_us)
        sim_fail(s, "node: n%d granted a number that is too old", n->index);
    if (after->counter < p->rep.fence + req->block)
        sim_fail(s, "node: n%d gave %lld and %lld more, and counts %lld",
                 n->index, (long long)p->rep.fence, (long long)req->block,
                 (long long)after->counter);
    n->came_late[p->name] = is_late(s, p);
    if (!n->released_room) return;
    const struct released *r = released_place(n, released_key(p));
    /* It was told, and has lost what it was told: the lease ends it. */
    if (r->key && r->wipes != n->wipes) n->came_late[p->name] = 1;
    int is_old = req->ballot < now_us - req->window_us;
    if (r->key && (r->wipes == n->wipes || is_old))
        sim_fail(s,
                 "orphan: n%d granted %s to attempt %llu of %s, released "
                 "there before",
                 n->index, req->name, (unsigned long long)req->attempt,
                 req->owner);
}

void check_applied(struct sim *s, struct sim_node *n, const struct packet *p,
                   const struct store_view *before)
{
    const struct request *req = &p->req;
    struct store_view after;
    if (req->verb == VERB_RELEASE) check_release(s, n, p);
    hf__rules_store_look(n->store, node_clock(s, n), req->name, req->name_len,
                         &after);
    if (req->verb == VERB_RELEASE) check_chain_end(s, p, &after);
    if (p->rep.verdict != V_GRANTED) return;
    if (req->verb == VERB_PROPOSE) {
        check_propose(s, n, p, before, &after);
        return;
    }
    if (!is_same(before, req))
        sim_fail(s,
                 "node: n%d carried out %d for attempt %llu of %s, which "
                 "has not got %s",
                 n->index, (int)req->verb, (unsigned long long)req->attempt,
                 req->owner, req->name);
    else if (req->verb == VERB_RENEW)
        check_claims(&s->clients[p->life->client]);
    if (req->verb == VERB_RENEW && is_late(s, p)) n->came_late[p->name] = 1;
    if (req->verb == VERB_RENEW && after.count != req->count)
        sim_fail(s, "node: n%d counts %lld holds, not %lld", n->index,
                 (long long)after.count, (long long)req->count);
    else if (req->verb == VERB_RELEASE && is_same(&after, req))
        sim_fail(s, "node: n%d released %s and has it still", n->index,
                 req->name);
}

/* A holder is told what the node gave; unless the node has lost that since, and
 * has given it to the same attempt once more: then the next renewal tells. */
void check_told(const struct errand *er)
{
    const struct actor *a = er->actor;
    struct sim *s = a->client->sim;
    struct seat *seat = actor_seat(a);
    struct store_view view;
    if (!seat || a->is_local || s->k.nodes > 1 || check_excused(a)) return;
    actor_look(a, &view);
    if (!view.locked || view.attempt != seat->hold.attempt
        || strncmp(view.owner, a->client->engine.uuid, 36) != 0)
        return;
    if ((uint64_t)(view.fence + hf__hold_passes(&seat->hold))
        != er->op.grant.fence)
        sim_fail(s, "fence: c%d.%d is told %llu, and the node gave %llu",
                 a->client->index, a->index,
                 (unsigned long long)er->op.grant.fence,
                 (unsigned long long)view.fence);
}

/* ---- counts ----------------------------------------------------------- */

/* Once all is quiet, the node counts as its holder does. */
void check_count(struct actor *a)
{
    struct sim *s = a->client->sim;
    struct seat *seat = actor_seat(a);
    struct store_view view;
    if (!seat || a->is_local || s->k.nodes > 1 || !s->healed
        || s->now_us < s->settled_us)
        return;
    actor_look(a, &view);
    if (!view.locked || view.attempt != seat->hold.attempt) return;
    if (view.count != a->depth)
        sim_fail(s, "count: c%d.%d holds it %lld times, the node says %lld",
                 a->client->index, a->index, (long long)a->depth,
                 (long long)view.count);
}
