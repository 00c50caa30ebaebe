/*
 * sim_world.c: a run, from its seed to its verdict.
 *
 *   faults ... healed ... everybody acquires again ... nothing is left
 *
 * The rule: a run leaves nothing behind; the next seed finds an empty world.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

const char *const sim_names[SIM_NAMES_MAX] = {"a", "b", "c"};

#define LOOK_US (40 * MS) /* between looks at the whole */
#define QUIET_US_MAX (30 * US_PER_S)

struct sim *sim_new(void)
{
    return calloc(1, sizeof(struct sim));
}

static void world_clear(struct sim *s)
{
    net_delete(s);
    for (int i = 0; i < s->k.nodes; i++) node_close(&s->nodes[i]);
    host_end(s);
    for (int i = 0; i < SIM_NAMES_MAX; i++) free(s->books[i].used);
}

void sim_delete(struct sim *s)
{
    if (!s) return;
    free(s->queue);
    free(s);
}

static void world_make(struct sim *s, uint64_t seed, unsigned allowed,
                       int mutation)
{
    struct event *queue = s->queue;
    size_t room = s->queue_room;
    int trace = s->trace, nodes = s->nodes_wanted, is_rw = s->rw_wanted;
    memset(s, 0, sizeof *s);
    s->queue = queue;
    s->queue_room = room;
    s->trace = trace;
    s->nodes_wanted = nodes;
    s->rw_wanted = s->is_rw = is_rw;
    s->seed = seed;
    s->random = seed * UINT64_C(0x2545f4914f6cdd1d) + 1;
    s->take_random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    s->host_random = seed * UINT64_C(0xd1342543de82ef95) + 1;
    s->lose_random = seed * UINT64_C(0xda942042e4dd58b5) + 1;
    s->even_random = seed * UINT64_C(0xaef17502108ef2d9) + 1;
    s->way_random = seed * UINT64_C(0xc2b2ae3d27d4eb4f) + 1;
    s->old_random = seed * UINT64_C(0x910a2dec89025cc1) + 1;
    s->freeze_random = seed * UINT64_C(0x905c768ad49f146d) + 1;
    s->ask_random = seed * UINT64_C(0xbea225f9eb34556d) + 1;
    s->close_random = seed * UINT64_C(0xe220a8397b1dcdaf) + 1;
    s->ticket_random = seed * UINT64_C(0xa24baed4963ee407) + 1;
    s->permit_random = seed * UINT64_C(0x9fb21c651e98df25) + 1;
    s->session_random = seed * UINT64_C(0xd6e8feb86659fd93) + 1;
    s->mutation = mutation;
    s->broke_us = s->hidden_us = -1;
    sim_draw(s, allowed);
    snprintf(s->group, sizeof s->group, "sim-%d", s->k.nodes);
    for (int i = 0; i < s->k.nodes; i++)
        if (node_open(s, i) != 0) sim_fail(s, "simulator: out of memory");
    if (host_begin(s) != 0) sim_fail(s, "simulator: out of memory");
    mutant_plant(s);
    for (int i = 0; i < s->k.clients; i++) {
        struct sim_client *c = &s->clients[i];
        c->index = i;
        c->base_us = sim_between(s, US_PER_S, 1000 * US_PER_S);
        if (s->faults & FAULT_DRIFT) c->ppm = sim_between(s, -4000, 4000);
    }
}

/* ---- phases ----------------------------------------------------------- */

static int is_quiet(struct sim *s)
{
    if (s->now_us < s->settled_us) return 0;
    for (int i = 0; i < s->k.clients; i++) {
        struct sim_client *c = &s->clients[i];
        if (c->engine.inflight || c->engine.ops_len || c->engine.seats_len)
            return 0;
        for (int k = 0; k < s->k.actors; k++) {
            struct actor *a = &c->actors[k];
            if (a->phase != PHASE_IDLE || actor_is_busy(a)
                || a->done_since_heal < QUIET_HOLDS)
                return 0;
        }
    }
    return 1;
}

static void look_around(struct sim *s, void *arg, uint64_t tag)
{
    (void)arg;
    (void)tag;
    check_orphans(s);
    check_squatters(s);
    check_rw_orphans(s);
    check_session_keys(s);
    if (!s->healed) {
        sim_at(s, s->now_us + LOOK_US, look_around, NULL, 0);
        return;
    }
    check_woken(s);
    check_progress(s);
    if (s->now_us > s->healed_us + QUIET_US_MAX)
        sim_fail(s, "progress: something is still going on");
    if (is_quiet(s))
        s->stopping = 1;
    else
        sim_at(s, s->now_us + LOOK_US, look_around, NULL, 0);
}

static void heal(struct sim *s, void *arg, uint64_t tag)
{
    (void)arg;
    (void)tag;
    nemesis_stop(s);
}

static void final_look(struct sim *s, void *arg, uint64_t tag)
{
    (void)arg;
    (void)tag;
    check_all_free(s);
    check_all_left(s);
    check_rw_end(s);
    check_session_end(s);
    check_host_free(s);
    s->ended = 1;
}

/* Everybody has let go: the leases of the dead end, engines close. */
static void world_end(struct sim *s)
{
    int64_t last_us =
        s->now_us + s->k.lease_max_us + s->k.lease_max_us / 50 + 1700 * MS;
    if (s->reason[0]) return;
    /* A late proposal may have got a place that nobody wants. */
    if (sim_shares(s)) last_us += s->k.queue_live_us;
    if (s->is_permit) last_us += PLACE_US;
    if (s->is_session) last_us += s->k.session_us;
    sim_at(s, last_us, final_look, NULL, 0);
    while (sim_step(s)) continue;
    for (int i = 0; i < s->k.clients; i++) client_stop(s, &s->clients[i]);
}

static void world_drop(struct sim *s)
{
    for (int i = 0; i < s->k.clients; i++) client_crash(s, &s->clients[i]);
    world_clear(s);
}

/* 0 if nothing was violated; else s->reason says what. */
int sim_run(struct sim *s, uint64_t seed, unsigned allowed, int mutation)
{
    world_make(s, seed, allowed, mutation);
    nemesis_start(s);
    session_start(s);
    for (int i = 0; i < s->k.clients; i++) client_start(s, &s->clients[i]);
    sim_at(s, s->k.faults_us, heal, NULL, 0);
    sim_at(s, LOOK_US, look_around, NULL, 0);
    while (!s->stopping && sim_step(s)) continue;
    if (!s->stopping) sim_fail(s, "progress: everything stands still");
    world_end(s);
    world_drop(s);
    s->queue_len = 0;
    return s->reason[0] != '\0';
}
