/*
 * check_queue.c: the first waiter is served first.  A lock goes to no client
 * while an earlier waiter is alive; a lock that is released while a waiter is
 * queued is given to that waiter; and no client has a place that it does not
 * want.
 *
 * The rule: the waiters are noted here from what the node answered, not from
 * what it stores.  One node only, for a quorum has no queues; and one whose
 * clock is not set, for only that node knows which waiters were dead by then.
 */
#include <stdio.h>
#include <string.h>

#include "sim/sim.h"

static struct place *place_find(struct sim_node *n, int name, const char *owner)
{
    struct line *l = &n->lines[name];
    for (int i = 0; i < l->len; i++)
        if (!strcmp(l->places[i].owner, owner)) return &l->places[i];
    return NULL;
}

static void place_remove(struct sim_node *n, int name, struct place *p)
{
    struct line *l = &n->lines[name];
    int i = (int)(p - l->places);
    memmove(p, p + 1, (size_t)(--l->len - i) * sizeof *p);
}

/* It has its place as long as it asks again in time. */
static int is_alive(const struct sim *s, const struct sim_node *n,
                    const struct place *p)
{
    return node_clock(s, n) <= p->deadline_us;
}

static void dead_remove(struct sim *s, struct sim_node *n, int name)
{
    struct line *l = &n->lines[name];
    for (int i = 0; i < l->len;)
        if (is_alive(s, n, &l->places[i]))
            i++;
        else
            place_remove(n, name, &l->places[i]);
}

/* The node told it to wait. */
static void place_keep(struct sim *s, struct sim_node *n,
                       const struct packet *p)
{
    struct line *l = &n->lines[p->name];
    struct place *at = place_find(n, p->name, p->req.owner);
    if (at && at->attempt != p->req.attempt) {
        place_remove(n, p->name, at);
        at = NULL;
    }
    if (!at && l->len == PLACES_MAX) {
        sim_fail(s, "simulator: too many wait");
        return;
    }
    if (!at) {
        at = &l->places[l->len++];
        *at = (struct place){.attempt = p->req.attempt};
        snprintf(at->owner, sizeof at->owner, "%s", p->req.owner);
    }
    at->ballot = p->req.ballot;
    at->deadline_us = node_clock(s, n) + s->k.queue_live_us;
    at->came_late = s->now_us - p->sent_us > p->req.lease_us / 2;
}

/* The lock went to `after`: no waiter that is alive came before it. */
static void order_check(struct sim *s, struct sim_node *n, int name,
                        const struct store_view *after)
{
    struct line *l = &n->lines[name];
    struct place *its = place_find(n, name, after->owner);
    if (its && its->attempt != after->attempt) its = NULL;
    int ahead = its ? (int)(its - l->places) : l->len;
    if (ahead > 0)
        sim_fail(s,
                 "queue: n%d gave %s to attempt %llu of %s%s, and %llu of %s "
                 "came before",
                 n->index, sim_names[name], (unsigned long long)after->attempt,
                 after->owner, its ? "" : ", which did not queue",
                 (unsigned long long)l->places[0].attempt, l->places[0].owner);
    if (!its) return;
    n->came_late[name] = its->came_late;
    place_remove(n, name, its);
}

static int is_same(const struct store_view *a, const struct store_view *b)
{
    return a->locked == b->locked && a->attempt == b->attempt
           && !strcmp(a->owner, b->owner);
}

/* What its owner gives up now, or followed by that. */
static void leave(struct sim_node *n, const struct packet *p)
{
    struct place *its = place_find(n, p->name, p->req.owner);
    if (its && its->ballot <= p->req.ballot && p->req.flags & REQ_QUEUE)
        place_remove(n, p->name, its);
}

/* What a request has changed. */
void check_queue(struct sim *s, struct sim_node *n, const struct packet *p,
                 const struct store_view *before)
{
    const struct request *req = &p->req;
    struct store_view after;
    struct handoff h;
    if (s->k.nodes > 1) return;
    int is_handed = hf__rules_store_handed(n->store, &h);
    if (is_handed) s->deeds[DEED_HANDED]++;
    if (is_handed && h.lease_us > s->k.queue_handoff_us) s->deeds[DEED_WHOLE]++;
    if (n->clock_max_us < node_clock(s, n)) n->clock_max_us = node_clock(s, n);
    /* A number that was too old once is not remembered, though it is young
     * again when a clock that was set forward is set back. */
    int was_old = is_handed && n->was_set_back
                  && h.ballot < n->clock_max_us - s->k.window_us;
    if (is_handed && !was_old && check_is_released(n, h.owner, h.attempt))
        sim_fail(s, "queue: n%d gave %s to attempt %llu, which was released",
                 n->index, req->name, (unsigned long long)h.attempt);
    if (s->faults & FAULT_JUMP) return;
    hf__rules_store_look(n->store, node_clock(s, n), req->name, req->name_len,
                         &after);
    dead_remove(s, n, p->name);
    if (req->verb == VERB_PROPOSE && p->rep.verdict == V_BUSY && p->rep.poll_us)
        place_keep(s, n, p);
    if (req->verb == VERB_RELEASE) leave(n, p);
    if (after.locked && !is_same(before, &after))
        order_check(s, n, p->name, &after);
    if (req->verb == VERB_RELEASE && p->rep.verdict == V_GRANTED
        && !after.locked && n->lines[p->name].len > 0)
        sim_fail(s, "queue: n%d has %s free, and %llu of %s waits", n->index,
                 req->name,
                 (unsigned long long)n->lines[p->name].places[0].attempt,
                 n->lines[p->name].places[0].owner);
}

/* It has lost what it knew. */
void check_queue_reset(struct sim_node *n)
{
    memset(n->lines, 0, sizeof n->lines);
}

/* ---- places that nobody wants ------------------------------------------- */

static int is_wanted(const struct sim_client *c, uint64_t attempt)
{
    for (int i = 0; i < c->sim->k.actors; i++) {
        const struct seat *seat = actor_seat(&c->actors[i]);
        if (seat && seat->hold.attempt == attempt
            && seat->hold.state <= HOLD_HELD)
            return 1;
    }
    return 0;
}

static int is_excused(const struct sim *s, const struct sim_node *n,
                      const struct sim_client *c)
{
    return check_is_cut_off(s, c, n) || n->wiped || n->was_set_back
           || s->now_us - c->broke_us[n->index] < check_patience_us(s);
}

static void squatter_check(struct sim *s, struct sim_node *n, int name,
                           const struct store_waiter *w)
{
    struct squatter *q = &n->squatters[name];
    struct sim_client *c = check_owner_of(s, w->owner);
    if (!c || is_excused(s, n, c) || is_wanted(c, w->attempt)) return;
    q->is_seen = 1;
    if (q->attempt != w->attempt) {
        q->attempt = w->attempt;
        q->since_us = s->now_us;
    }
    if (s->now_us - q->since_us > check_patience_us(s))
        sim_fail(s,
                 "orphan: n%d keeps a place for %s for attempt %llu of c%d, "
                 "which gave it up",
                 n->index, sim_names[name], (unsigned long long)w->attempt,
                 c->index);
}

void check_squatters(struct sim *s)
{
    struct sim_node *n = &s->nodes[0];
    struct store_waiter w;
    if (s->k.nodes > 1) return;
    for (int name = 0; name < s->k.names; name++) {
        struct squatter *q = &n->squatters[name];
        q->is_seen = 0;
        for (size_t i = 0;
             hf__rules_store_waiter(n->store, sim_names[name], 1, i, &w); i++)
            squatter_check(s, n, name, &w);
        if (!q->is_seen) q->attempt = 0;
    }
}

/* The last look: the dead may still have records, the living have left. */
void check_all_left(struct sim *s)
{
    struct store_waiter w;
    struct sim_node *n = &s->nodes[0];
    for (int name = 0; name < s->k.names; name++)
        for (size_t i = 0;
             hf__rules_store_waiter(n->store, sim_names[name], 1, i, &w); i++)
            if (w.deadline_us > node_clock(s, n) && !n->was_set_back)
                sim_fail(s, "orphan: n%d still keeps a place for %s", n->index,
                         sim_names[name]);
}
