/*
 * check_rw_orphan.c: a node keeps no side of a read/write lock, and no place in
 * its queue, for an attempt that its client has given up, once the two can
 * talk.
 *
 * The rule: what a late request has made is excused, for only its lease ends
 * it; as in check_orphan.c.
 */
#include <string.h>

#include "sim/sim.h"

#define UUID_LEN 36

/* What is noted of an owner's hold, or place; NULL: its client is gone. */
static struct share_note *note_of(struct sim *s, const char *owner, int name,
                                  int writes, int waits)
{
    const struct sim_client *c = check_owner_of(s, owner);
    int64_t number = 0;
    if (hf__number_parse(owner + UUID_LEN + 1, 0, SIM_ACTORS_MAX, &number))
        return NULL;
    int holder = (int)number - 1;
    if (!c || holder < 0 || holder >= SIM_ACTORS_MAX) return NULL;
    struct share_note *note =
        &s->nodes[0].shares[c->index][holder][name][writes][waits];
    if (note->client != c->serial)
        *note = (struct share_note){.client = c->serial};
    return note;
}

/* A request was carried out; it may have made a hold or a place, or moved the
 * end of one. */
void check_rw_came(struct sim *s, const struct packet *p)
{
    const struct request *req = &p->req;
    int is_busy = p->rep.verdict == V_BUSY && req->verb == VERB_PROPOSE;
    struct share_note *note;
    if ((p->rep.verdict != V_GRANTED && !is_busy) || req->verb == VERB_RELEASE)
        return;
    note = note_of(s, req->owner, p->name, req->kind == KIND_WRITE, is_busy);
    if (!note) return;
    int is_late = p->is_copy || s->now_us - p->sent_us > req->lease_us / 2;
    if (note->attempt != req->attempt)
        *note = (struct share_note){.client = note->client,
                                    .attempt = req->attempt};
    note->came_late |= is_late;
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

static void share_check(struct sim *s, int name, const struct store_share *sh)
{
    struct sim_node *n = &s->nodes[0];
    const struct store_view *v = &sh->view;
    struct share_note *note = note_of(s, v->owner, name, sh->writes, sh->waits);
    const struct sim_client *c = check_owner_of(s, v->owner);
    if (!note) return;
    if (check_is_cut_off(s, c, n) || n->was_set_back || note->came_late
        || note->attempt != v->attempt || is_wanted(c, v->attempt)) {
        note->since_us = 0;
        return;
    }
    if (!note->since_us) note->since_us = s->now_us;
    if (note->since_us < c->broke_us[0]) note->since_us = c->broke_us[0];
    if (s->now_us - note->since_us > check_patience_us(s))
        sim_fail(s,
                 "orphan: n%d keeps %s %s for attempt %llu of c%d, which gave "
                 "it up",
                 n->index, sh->waits ? "a place for" : "a side of",
                 sim_names[name], (unsigned long long)v->attempt, c->index);
}

void check_rw_orphans(struct sim *s)
{
    const struct sim_node *n = &s->nodes[0];
    struct store_share share;
    for (int name = 0; name < s->k.names; name++)
        for (size_t i = 0; hf__rules_store_share(n->store, node_clock(s, n),
                                                 sim_names[name], 1, i, &share);
             i++)
            share_check(s, name, &share);
}
