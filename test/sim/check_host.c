/*
 * check_host.c: what clients that fall back to their machine may rely on.
 *
 *   - two holders never both believe to hold the machine's lock of a name, and
 *     none believes it for longer than the machine keeps it;
 *   - of one client no two holders believe to hold a name, one by the store and
 *     one by the machine;
 *   - a store that speaks is not replaced, unless another holder of the client
 *     is at the machine; nor is one with which nothing is wrong;
 *   - and a holder is not sent there in vain, because another one of its client
 *     has the store's lock.
 */
#include <string.h>

#include "sim/sim.h"

/* ---- notes: what each node and client has heard -------------------------- */

/* A node has answered, or there will be no answer. */
void check_host_heard(const struct request *req, const struct reply *rep)
{
    if (req->user_kind != USER_SEAT || req->verb != VERB_PROPOSE) return;
    const struct seat *seat = req->user;
    struct errand *er = (struct errand *)seat->op; /* its first member */
    if (!er) return;
    if (rep->verdict <= V_OTHER)
        er->spoke |= UINT32_C(1) << req->node;
    else
        er->spoke &= ~(UINT32_C(1) << req->node);
}

/* It was sent to the machine, and not because of a silence. */
static void check_sense(struct sim_client *c, const struct actor *a)
{
    for (int i = 0; i < c->sim->k.actors; i++) {
        const struct actor *b = &c->actors[i];
        const struct seat *seat = b->name == a->name ? actor_seat(b) : NULL;
        if (b == a || !check_believes(b, seat) || seat->entry->is_host)
            continue;
        sim_fail(c->sim,
                 "host: c%d.%d asks there, and c%d.%d has the store's %s",
                 c->index, a->index, c->index, b->index, sim_names[a->name]);
    }
}

/* Somebody asks the machine for a lock: even if it is gone in the same step,
 * others may have seen it there. */
void check_host_asked(struct sim_client *c, const struct request *req)
{
    const struct seat *seat = req->user;
    if (req->user_kind != USER_SEAT || req->verb != VERB_PROPOSE) return;
    struct actor *a = &c->actors[seat->holder - 1];
    a->at_host_us[name_index(req->name)] = c->sim->now_us;
    if (seat->op && !seat->op->fell) check_sense(c, a);
}

static int is_there(const struct seat *seat)
{
    return seat && seat->hold.state != HOLD_LOST
           && seat->hold.state != HOLD_RELEASING
           && seat->hold.state != HOLD_DONE;
}

/* After every step, and before an operation begins. */
void check_host_note(struct sim_client *c)
{
    for (int i = 0; c->host.is_open && i < c->sim->k.actors; i++) {
        struct actor *a = &c->actors[i];
        struct seat *seat = actor_seat(a);
        if (!seat) continue;
        if (seat->entry->is_host && is_there(seat))
            a->at_host_us[a->name] = c->sim->now_us;
        if (a->phase == PHASE_HOLDING && seat->entry->is_host != a->is_local)
            sim_fail(c->sim, "host: c%d.%d was told %d of %s, and has another",
                     c->index, a->index, a->is_local, sim_names[a->name]);
    }
}

/* Was another holder of its client there since it began? */
static int is_drawn(const struct errand *er)
{
    const struct actor *a = er->actor;
    for (int i = 0; i < a->client->sim->k.actors; i++) {
        const struct actor *b = &a->client->actors[i];
        if (b != a && b->at_host_us[a->name] >= er->begun_us) return 1;
    }
    return 0;
}

/* ---- what it was told ---------------------------------------------------- */

static int words(const struct errand *er)
{
    int n = 0;
    for (uint32_t left = er->spoke; left; left &= left - 1) n++;
    return n;
}

void check_host_granted(const struct errand *er)
{
    const struct actor *a = er->actor;
    struct sim *s = a->client->sim;
    s->deeds[DEED_LOCAL]++;
    if (er->op.grant.fence != 0)
        sim_fail(s, "host: c%d.%d was told the token %llu", a->client->index,
                 a->index, (unsigned long long)er->op.grant.fence);
    if (is_drawn(er)) return;
    if (words(er) > s->k.nodes / 2)
        sim_fail(s, "host: c%d.%d was given %s there, and the store speaks",
                 a->client->index, a->index, sim_names[a->name]);
    if (check_is_well(er))
        sim_fail(s, "host: c%d.%d was given %s there although nothing is wrong",
                 a->client->index, a->index, sim_names[a->name]);
}

void check_host_entered(const struct errand *er)
{
    const struct actor *a = er->actor;
    int is_local = er->op.grant.guarantee == HF_GUARANTEE_LOCAL;
    if (is_local != a->is_local)
        sim_fail(a->client->sim,
                 "host: c%d.%d entered once more, and elsewhere",
                 a->client->index, a->index);
}

/* ---- what it believes --------------------------------------------------- */

static void lease_check(struct sim *s, struct actor *a, const struct seat *seat)
{
    struct store_view view;
    hf__rules_store_look(s->host, host_clock(s), sim_names[a->name], 1, &view);
    int is_its = view.locked && view.attempt == seat->hold.attempt
                 && !strncmp(view.owner, a->client->engine.uuid, 36);
    if (is_its && seat->hold.flags & HOLD_ETERNAL) return;
    int64_t until_us = client_true_us(a->client, seat->hold.valid_us);
    int64_t more_us =
        until_us - s->now_us - (is_its ? view.expires_us - host_clock(s) : 0);
    if (more_us > 1)
        sim_fail(s,
                 "host: c%d.%d believes to hold %s for %lld us more than it "
                 "may",
                 a->client->index, a->index, sim_names[a->name],
                 (long long)more_us);
}

/* A holder believes to hold something, anew or for longer. */
void check_host_rivals(struct actor *a, const struct seat *seat)
{
    struct sim *s = a->client->sim;
    int is_host = seat->entry->is_host;
    if (!s->k.falls) return;
    for (int i = 0; i < s->k.clients * s->k.actors; i++) {
        struct actor *b = &s->clients[i / s->k.actors].actors[i % s->k.actors];
        if (b == a || !b->claims || b->name != a->name || !b->client->alive)
            continue;
        const struct seat *other = actor_seat(b);
        if (!check_believes(b, other)) continue;
        int is_split = is_host != other->entry->is_host;
        if (is_split ? b->client != a->client : !is_host) continue;
        sim_fail(s, "host: c%d.%d and c%d.%d both hold %s%s", a->client->index,
                 a->index, b->client->index, b->index, sim_names[a->name],
                 is_split ? ", one there and one at the store" : " there");
    }
    if (is_host) lease_check(s, a, seat);
}

/* The last look of a run. */
void check_host_free(struct sim *s)
{
    for (int i = 0; s->host && i < s->k.names; i++)
        if (hf__rules_store_look(s->host, host_clock(s), sim_names[i], 1, NULL))
            sim_fail(s, "host: %s is still kept at the end", sim_names[i]);
}
