/*
 * check_vote.c: a renewal of a quorum's hold is won by members that had the
 * hold when the round began, for its validity counts from then.  A member that
 * had lost it, and got it back only afterwards, must not be counted.
 *
 * The rule: since when a member has a hold is noted here from what it had
 * before and after each request; which members have said so, from the answers
 * that the holder was given.
 */
#include <stdio.h>
#include <string.h>

#include "sim/sim.h"

static int is_noted(const struct kept *k, const struct store_view *v)
{
    return k->attempt == v->attempt && !strcmp(k->owner, v->owner);
}

/* A request was carried out: note the holder, and since when it has it. */
void check_kept(struct sim *s, struct sim_node *n, struct packet *p,
                const struct store_view *before)
{
    struct kept *k = &n->kept[p->name];
    struct store_view after;
    hf__rules_store_look(n->store, node_clock(s, n), p->req.name,
                         p->req.name_len, &after);
    if (!before->locked || !after.locked) k->attempt = 0;
    if (after.locked && !is_noted(k, &after)) {
        k->attempt = after.attempt;
        k->since_us = s->now_us;
        snprintf(k->owner, sizeof k->owner, "%s", after.owner);
    }
    p->kept_us = k->since_us;
}

/* Before the engine hears the answer. */
void check_vote_heard(struct sim_client *c, int node, const struct packet *p)
{
    const struct request *req = p->origin;
    if (req->user_kind != USER_SEAT || req->verb != VERB_RENEW
        || p->rep.verdict != V_GRANTED)
        return;
    const struct seat *seat = req->user;
    c->actors[seat->holder - 1].votes[node] = (struct vote){
        .attempt = req->attempt, .round = req->round, .kept_us = p->kept_us};
}

/* A renewal was won, by a round that began at `a->confirmed_us`. */
void check_votes(struct sim *s, const struct actor *a, const struct hold *h)
{
    int votes = 0;
    if (s->k.nodes == 1) return;
    for (int i = 0; i < s->k.nodes; i++) {
        const struct vote *v = &a->votes[i];
        votes += v->attempt == h->attempt && v->round == h->round
                 && v->kept_us <= a->confirmed_us;
    }
    if (votes < h->conf->quorum)
        sim_fail(s,
                 "vote: c%d.%d renewed %s, and %d of %d members had it when "
                 "the round began",
                 a->client->index, a->index, sim_names[a->name], votes,
                 s->k.nodes);
}
