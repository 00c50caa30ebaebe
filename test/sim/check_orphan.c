/*
 * check_orphan.c: a node keeps no lock for an attempt that its client has given
 * up, once the two can talk; and when everybody has let go, and the leases of
 * the dead are over, nothing is locked.
 */
#include <string.h>

#include "sim/sim.h"

struct sim_client *check_owner_of(struct sim *s, const char *owner)
{
    for (int i = 0; i < s->k.clients; i++)
        if (s->clients[i].alive
            && !strncmp(s->clients[i].engine.uuid, owner, 36))
            return &s->clients[i];
    return NULL;
}

/* Does the client still want this attempt? */
static int is_wanted(const struct sim_client *c, uint64_t attempt)
{
    if (ticket_is_wanted(c->sim, attempt)) return 1;
    for (int i = 0; i < c->sim->k.actors; i++) {
        const struct seat *seat = actor_seat(&c->actors[i]);
        if (!seat || seat->hold.attempt != attempt) continue;
        if (seat->hold.state == HOLD_TRYING || seat->hold.state == HOLD_HELD)
            return 1;
        /* Given to a queued waiter, which has not heard of it yet. */
        if (seat->hold.state == HOLD_WAITING && seat->hold.flags & HOLD_QUEUES)
            return 1;
    }
    return 0;
}

/* The client needs one time-out to see that a connection is dead, some time
 * for a new one, and then repeats.  A line that breaks soon begins it anew:
 * there are seeds in which none lives for long. */
int64_t check_patience_us(const struct sim *s)
{
    return s->k.timeout_us + 250 * MS + 8 * s->k.delay_max_us;
}

int check_is_cut_off(const struct sim *s, const struct sim_client *c,
                     const struct sim_node *n)
{
    if (!s->healed && s->faults & FAULT_SPIKE) return 1;
    return !n->up || client_is_paused(c) || n->frozen_until_us > s->now_us
           || c->partition_until_us[n->index] > s->now_us
           || way_until_us(c, n->index) > s->now_us;
}

/* Only RELEASES_MAX releases are kept for a quorum's node that cannot be
 * reached: all other locks there end with their leases. */
static int is_dropped(struct sim_client *c, const struct sim_node *n)
{
    if (c->engine.nodes[n->index].again_len >= RELEASES_MAX)
        c->full |= 1u << n->index;
    return c->full >> n->index & 1;
}

static void check_place(struct sim *s, struct sim_node *n, int name)
{
    struct store_view view;
    struct sim_client *c = NULL;
    if (hf__rules_store_look(n->store, node_clock(s, n), sim_names[name], 1,
                             &view))
        c = check_owner_of(s, view.owner);
    for (int i = 0; i < s->k.clients; i++)
        if (s->clients[i].alive) (void)is_dropped(&s->clients[i], n);
    if (!c || is_dropped(c, n) || n->came_late[name] || n->was_set_back
        || check_is_cut_off(s, c, n) || is_wanted(c, view.attempt)) {
        n->orphan[name] = 0;
        return;
    }
    if (n->orphan[name] != view.attempt) {
        n->orphan[name] = view.attempt;
        n->orphan_since_us[name] = s->now_us;
    }
    if (n->orphan_since_us[name] < c->broke_us[n->index])
        n->orphan_since_us[name] = c->broke_us[n->index];
    if (s->now_us - n->orphan_since_us[name] > check_patience_us(s))
        sim_fail(s,
                 "orphan: n%d keeps %s for attempt %llu of c%d, which gave "
                 "it up",
                 n->index, sim_names[name], (unsigned long long)view.attempt,
                 c->index);
}

void check_orphans(struct sim *s)
{
    for (int i = 0; i < s->k.nodes; i++)
        for (int k = 0; k < s->k.names; k++) check_place(s, &s->nodes[i], k);
}

/* The last look of a run. */
void check_all_free(struct sim *s)
{
    for (int i = 0; i < s->k.nodes; i++) {
        struct sim_node *n = &s->nodes[i];
        for (int k = 0; k < s->k.names; k++)
            if (hf__rules_store_look(n->store, node_clock(s, n), sim_names[k],
                                     1, NULL))
                sim_fail(s, "orphan: n%d still keeps %s at the end", n->index,
                         sim_names[k]);
    }
}
