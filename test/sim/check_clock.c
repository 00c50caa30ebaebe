/*
 * check_clock.c: could a client have seen that a node's clock was set forward?
 * And does it suspect only clocks that were set?
 *
 * A reply shows it if the node's clock went on, since the reply before it, by
 * more than the client's own clock from sending for the first reply to hearing
 * the second.  The rule: exclusion is excused for a step that the clients could
 * not see, and for no other.
 */
#include "sim/sim.h"

#define SLACK_US MS /* as in engine/clocks.c */

void check_clock_begin(struct sim_client *c)
{
    for (int i = 0; i < SIM_NODES_MAX; i++)
        c->heard[i] = (struct heard){.forward_us = -1, .blind_us = -1};
}

/* Before the engine hears the answer. */
void check_clock_heard(struct sim_client *c, int node, const struct packet *p)
{
    struct heard *h = &c->heard[node];
    if (!p->rep.node_us || p->rep.verdict > V_ERROR) return;
    if (p->forward_us > h->forward_us) {
        int64_t most_us = c->engine.now_us - h->sent_us;
        int64_t went_us = p->rep.node_us - h->node_us;
        int is_shown =
            h->node_us && went_us > most_us + most_us / 100 + SLACK_US;
        if (!is_shown) h->blind_us = p->forward_us;
    }
    h->forward_us = p->forward_us;
    h->sent_us = p->origin->sent_us;
    h->node_us = p->rep.node_us;
}

/* After the engine has heard it: a clock that was never set is not suspect,
 * however slow the answers are in either direction. */
void check_clock_trusted(struct sim_client *c, int node)
{
    const struct sim_node *n = &c->sim->nodes[node];
    if (n->forward_us >= 0 || n->was_set_back || !c->engine.nodes[node].suspect)
        return;
    sim_fail(c->sim, "clock: c%d takes n%d's clock for set, and it was not",
             c->index, node);
}

/* Was a clock set forward, at that true time or later, unseen by the client? */
int check_clock_is_blind(const struct sim_client *c, int64_t since_us)
{
    for (int i = 0; i < c->sim->k.nodes; i++)
        if (c->heard[i].blind_us >= since_us) return 1;
    return 0;
}
