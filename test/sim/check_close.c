/*
 * check_close.c: a client that is closed ends all its operations at once, and
 * leaves no lock and no place in a queue at a node that it could talk to all
 * the time.
 *
 * The rule: a node is judged if its connection stood when the client was closed
 * and stands when the last answer has come, and if nothing had to be repeated
 * to it.
 */
#include <string.h>

#include "sim/sim.h"

/* Right before. */
void check_close_begins(struct sim_client *c)
{
    for (int i = 0; i < c->sim->k.nodes; i++) {
        const struct node *n = &c->engine.nodes[i];
        int is_sure = n->conn && n->conn->command.state == CHAN_UP
                      && n->conn->command.life->open && !n->again;
        c->close_life[i] = is_sure ? n->conn->command.life : NULL;
    }
}

/* Only what a hold waits for ends at once. */
static int is_going_on(const struct actor *a)
{
    for (int i = 0; i < ERRANDS_MAX; i++)
        if (a->errands[i].serial
            && a->errands[i].op.type != OP_TYPE_TICKET_RELEASE)
            return 1;
    return 0;
}

/* Right after. */
void check_ended(const struct sim_client *c)
{
    for (int i = 0; i < c->sim->k.actors; i++)
        if (is_going_on(&c->actors[i]))
            sim_fail(c->sim,
                     "close: c%d is closed, and an operation of c%d.%d goes "
                     "on",
                     c->index, c->index, i);
}

static void name_check(const struct sim_client *c, const struct sim_node *n,
                       int name)
{
    struct sim *s = c->sim;
    struct store_view view;
    struct store_waiter waiter;
    if (n->came_late[name] || n->was_set_back) return;
    if (hf__rules_store_look(n->store, node_clock(s, n), sim_names[name], 1,
                             &view)
        && !strncmp(view.owner, c->engine.uuid, 36)
        && !ticket_is_of(view.attempt))
        sim_fail(s,
                 "close: c%d is closed, and n%d keeps %s for its attempt "
                 "%llu",
                 c->index, n->index, sim_names[name],
                 (unsigned long long)view.attempt);
    for (size_t i = 0;
         hf__rules_store_waiter(n->store, sim_names[name], 1, i, &waiter); i++)
        if (!strncmp(waiter.owner, c->engine.uuid, 36))
            sim_fail(s,
                     "close: c%d is closed, and has a place in n%d's queue "
                     "for %s",
                     c->index, n->index, sim_names[name]);
}

/* At the end. */
void check_closed(const struct sim_client *c)
{
    const struct sim *s = c->sim;
    if (c->engine.inflight) return; /* the time for answers was over */
    for (int i = 0; i < s->k.nodes; i++) {
        const struct node *n = &c->engine.nodes[i];
        if (!c->close_life[i] || n->conn->command.life != c->close_life[i]
            || !c->close_life[i]->open || !s->nodes[i].up)
            continue;
        for (int k = 0; k < s->k.names; k++) name_check(c, &s->nodes[i], k);
    }
}
