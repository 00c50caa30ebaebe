/*
 * check_exclusion.c: at no true moment do two holders of a name both believe,
 * each by its own clock, that they hold it; and a belief that has ended never
 * comes back.  Readers do not bar each other.
 *
 * Excused is a hold that no node has confirmed since locks may have gone early
 * (a clock set forward, lost data): for it only the fence speaks.  A clock of a
 * quorum's node that was set forward is an excuse only if a client could not
 * see it (check_clock.c).  The locks of the machine are check_host.c's.
 */
#include <string.h>

#include "sim/sim.h"

int check_believes(const struct actor *a, const struct seat *seat)
{
    int view = seat ? hf__hold_view(&seat->hold, client_clock(a->client))
                    : HF_STATE_NONE;
    return view == HF_STATE_HELD || view == HF_STATE_AT_RISK;
}

/* Before a step: whose time has run out? */
void check_beliefs_before(struct sim_client *c)
{
    for (int i = 0; i < c->sim->k.actors; i++) {
        struct actor *a = &c->actors[i];
        struct seat *seat = a->claims ? actor_seat(a) : NULL;
        if (seat && !check_believes(a, seat))
            a->dead_attempt = seat->hold.attempt;
    }
}

/* A hold of several nodes is excused for its life: each may have lost it after
 * it had voted, and was healed on the word of the others. */
int check_excused(const struct actor *a)
{
    const struct sim *s = a->client->sim;
    int64_t since_us = s->k.nodes > 1 ? a->granted_us : a->confirmed_us;
    return since_us <= s->broke_us;
}

/* A round that began when somebody else had a higher token is not won: unless
 * the nodes forgot their locks one after the other. */
static void renewal_check(struct sim *s, const struct actor *a)
{
    const struct fence_book *b = &s->books[a->name];
    int is_odd = s->faults & (FAULT_JUMP | FAULT_LOSE)
                 || (s->faults & FAULT_FLUSH && s->k.flush == FLUSH_LOCKS);
    if (is_odd || s->k.nodes == 1 || s->fences_excused) return;
    if (a->fence < b->done_max && a->confirmed_us > b->done_us)
        sim_fail(s, "exclusion: c%d.%d renewed %s with %llu after %llu",
                 a->client->index, a->index, sim_names[a->name],
                 (unsigned long long)a->fence, (unsigned long long)b->done_max);
}

/* Of several nodes, a clock that was set forward is no excuse if both clients
 * could see it: what one of them lost there, the other must not be given. */
static int are_excused(const struct actor *a, const struct actor *b)
{
    const struct sim *s = a->client->sim;
    int64_t since_us =
        a->granted_us < b->granted_us ? a->granted_us : b->granted_us;
    if (!check_excused(a) && !check_excused(b)) return 0;
    return s->k.nodes == 1 || since_us <= s->hidden_us
           || check_clock_is_blind(a->client, since_us)
           || check_clock_is_blind(b->client, since_us);
}

static void rivals_check(struct sim *s, struct actor *a)
{
    for (int i = 0; i < s->k.clients; i++) {
        for (int k = 0; k < s->k.actors; k++) {
            struct actor *b = &s->clients[i].actors[k];
            if (b == a || !b->claims || b->name != a->name
                || !s->clients[i].alive)
                continue;
            const struct seat *seat = actor_seat(b);
            if (!check_believes(b, seat) || seat->entry->is_host) continue;
            if ((a->reads && b->reads) || are_excused(a, b)) continue;
            sim_fail(s,
                     "exclusion: c%d.%d and c%d.%d both hold %s, fences "
                     "%llu and %llu",
                     a->client->index, a->index, b->client->index, b->index,
                     sim_names[a->name], (unsigned long long)a->fence,
                     (unsigned long long)b->fence);
        }
    }
}

/* One node: what its holder believes ends before the node lets go. */
static void claim_check(struct sim *s, struct actor *a)
{
    struct sim_node *n = &s->nodes[0];
    struct seat *seat = actor_seat(a);
    struct store_view view;
    if (s->k.nodes > 1 || check_excused(a) || !check_believes(a, seat)
        || seat->entry->is_host)
        return;
    actor_look(a, &view);
    int is_its =
        view.locked && view.attempt == seat->hold.attempt
        && (seat->attached || !strncmp(view.owner, a->client->engine.uuid, 36));
    int64_t until_us = client_true_us(a->client, seat->hold.valid_us);
    int64_t more_us = until_us - s->now_us
                      - (is_its ? node_left_us(s, n, view.expires_us) : 0);
    if (more_us > 1)
        sim_fail(s,
                 "exclusion: c%d.%d believes to hold %s for %lld us more "
                 "than the node grants",
                 a->client->index, a->index, sim_names[a->name],
                 (long long)more_us);
}

/* A node has changed a lease. */
void check_claims(struct sim_client *c)
{
    for (int i = 0; c->alive && i < c->sim->k.actors; i++)
        if (c->actors[i].claims) claim_check(c->sim, &c->actors[i]);
}

static void belief_check(struct sim *s, struct actor *a)
{
    struct seat *seat = actor_seat(a);
    int claims = check_believes(a, seat);
    if (!claims) {
        a->claims = 0;
        return;
    }
    const struct hold *h = &seat->hold;
    if (a->claims && a->claim_attempt == h->attempt
        && a->claim_valid_us == h->valid_us)
        return;
    int is_new = !a->claims || a->claim_attempt != h->attempt;
    int is_longer = is_new || h->valid_us > a->claim_valid_us;
    a->claims = 1;
    a->claim_attempt = h->attempt;
    a->claim_valid_us = h->valid_us;
    if (!is_longer) return;
    /* If the next round has begun in the same step, the start of the last one
     * is not known any more: the one before it is early enough. */
    if (is_new) a->confirmed_us = -1;
    if (is_new && hf__hold_passes(h) > 0)
        a->confirmed_us = check_pass_confirmed_us(a);
    else if (!h->round_open)
        a->confirmed_us = client_true_us(a->client, h->round_start_us);
    if (is_new) {
        a->granted_us = a->confirmed_us;
    } else if (!h->round_open && !seat->entry->is_host) {
        renewal_check(s, a);
        check_votes(s, a, h);
    }
    if (a->dead_attempt == h->attempt)
        sim_fail(s, "exclusion: c%d.%d: a hold that had ended came back",
                 a->client->index, a->index);
    check_host_rivals(a, seat);
    if (seat->entry->is_host) return;
    rivals_check(s, a);
    check_permits_held(s, a);
    claim_check(s, a);
}

void check_beliefs(struct sim_client *c)
{
    for (int i = 0; i < c->sim->k.actors; i++) {
        struct actor *a = &c->actors[i];
        if (a->name >= 0)
            belief_check(c->sim, a);
        else
            a->claims = 0;
    }
}
