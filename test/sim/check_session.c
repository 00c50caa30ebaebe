/*
 * check_session.c: a store with sessions carries out nothing that comes on a
 * connection from which the session has moved on; it keeps no key that its
 * client has given up, once the two can talk; and none when all sessions are
 * over.  The rest is judged as everywhere: tokens, beliefs, progress.
 */
#include "sim/sim.h"

void check_session_served(struct sim *s, const struct session *session,
                          const struct packet *p)
{
    if (session->life != p->life)
        sim_fail(s, "session: c%d's request of an older connection is served",
                 p->life->client);
}

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

static void key_check(struct sim *s, struct session_key *key, int name)
{
    const struct sim_node *n = &s->nodes[0];
    const struct sim_client *c = &s->clients[key->session->client];
    if (!c->alive || c->serial != key->session->serial
        || check_is_cut_off(s, c, n) || is_wanted(c, key->attempt)) {
        key->unwanted_us = 0;
        return;
    }
    if (!key->unwanted_us) key->unwanted_us = s->now_us;
    if (key->unwanted_us < c->broke_us[0]) key->unwanted_us = c->broke_us[0];
    if (s->now_us - key->unwanted_us > check_patience_us(s))
        sim_fail(s,
                 "session: n%d keeps %s for attempt %llu of c%d, which gave "
                 "it up",
                 n->index, sim_names[name], (unsigned long long)key->attempt,
                 c->index);
}

void check_session_keys(struct sim *s)
{
    for (int name = 0; s->is_session && name < s->k.names; name++) {
        struct session_line *line = &s->nodes[0].sessions->lines[name];
        for (int i = 0; i < line->len; i++) key_check(s, &line->keys[i], name);
    }
}

void check_session_end(struct sim *s)
{
    for (int name = 0; s->is_session && name < s->k.names; name++)
        if (s->nodes[0].sessions->lines[name].len)
            sim_fail(s, "session: a key of %s is left at the end",
                     sim_names[name]);
}
