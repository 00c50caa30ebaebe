/*
 * sim_client.c: one real engine, driven as the pump drives it.  The rule: a
 * client acts only when something arrives or a timer of its own is due, and
 * never while it is paused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/voter.h"
#include "sim/sim.h"

static void timer_fire(struct sim *s, void *arg, uint64_t tag);

/* ---- its clock -------------------------------------------------------- */

int64_t client_clock(const struct sim_client *c)
{
    int64_t now_us = c->sim->now_us;
    return c->base_us + now_us + now_us * c->ppm / 1000000;
}

/* The first true moment at which its clock shows `local_us` or more. */
int64_t client_true_us(const struct sim_client *c, int64_t local_us)
{
    int64_t left = local_us - c->base_us;
    if (left > INT64_C(1000000000000)) return TIME_NEVER;
    int64_t us = left * 1000000 / (1000000 + c->ppm) - 2;
    while (us + us * c->ppm / 1000000 < left) us++;
    return us;
}

/* ---- memory ----------------------------------------------------------- */

static void *counted_allocate(size_t size, void *user)
{
    struct sim_client *c = user;
    c->allocations++;
    return malloc(size);
}

static void *counted_resize(void *ptr, size_t size, void *user)
{
    struct sim_client *c = user;
    if (!ptr) c->allocations++;
    return realloc(ptr, size);
}

static void counted_release(void *ptr, void *user)
{
    struct sim_client *c = user;
    if (ptr) c->allocations--;
    free(ptr);
}

/* ---- stepping --------------------------------------------------------- */

void client_enter(struct sim_client *c)
{
    c->engine.now_us = client_clock(c);
    check_beliefs_before(c);
}

static void timer_plan(struct sim_client *c)
{
    struct sim *s = c->sim;
    int64_t next_us = hf__engine_next_us(&c->engine);
    if (next_us == TIME_NEVER) return;
    int64_t at_us = client_true_us(c, next_us);
    if (at_us < s->now_us) at_us = s->now_us;
    if (at_us >= c->timer_us) return; /* an earlier one looks again */
    c->timer_us = at_us;
    c->timer_serial = ++s->serials;
    sim_at(s, at_us, timer_fire, c, c->timer_serial);
}

static void op_done(struct sim_client *c, struct op *op)
{
    if (op->type == OP_TYPE_INSPECT || op->type == OP_TYPE_BREAK)
        ask_done(c, op);
    else
        actor_done(c, op);
}

/* After a step: let requests out, and tell the users. */
void client_settle(struct sim_client *c)
{
    struct engine *e = &c->engine;
    int again = 1;
    while (again) {
        struct hf_event ev = HF_EVENT_INIT;
        struct seat *about; /* nobody has an ear here */
        hf__engine_flush(e);
        struct op *list = hf__engine_take_done(e);
        again = list != NULL;
        while (list) {
            struct op *op = list;
            list = op->next;
            op_done(c, op);
        }
        while (hf__engine_take_notice(e, &ev, &about, client_clock(c))) {
            again = 1;
            actor_notice(c, &ev);
        }
    }
    check_host_note(c);
    check_beliefs(c);
    check_caps(c);
    timer_plan(c);
    close_settled(c);
}

static void timer_fire(struct sim *s, void *arg, uint64_t tag)
{
    struct sim_client *c = arg;
    if (!c->alive || tag != c->timer_serial) return;
    if (client_is_paused(c)) {
        sim_at(s, c->paused_until_us + MS, timer_fire, c, tag);
        return;
    }
    c->timer_us = TIME_NEVER;
    client_enter(c);
    hf__engine_tick(&c->engine, client_clock(c));
    client_settle(c);
}

/* ---- its life --------------------------------------------------------- */

int client_is_paused(const struct sim_client *c)
{
    return c->paused_until_us > c->sim->now_us;
}

/* It can begin something. */
int client_is_working(const struct sim_client *c)
{
    return c->alive && !c->closing && !client_is_paused(c)
           && !client_is_deaf(c);
}

/* What arrives has to wait. */
int client_is_deaf(const struct sim_client *c)
{
    return c->deaf_until_us > c->sim->now_us;
}

void client_pause(struct sim *s, struct sim_client *c, int64_t length_us)
{
    int64_t left_us = s->k.faults_us - s->now_us;
    if (client_is_paused(c)) return;
    if (length_us > left_us) length_us = left_us;
    sim_trace(s, "c%d stands still for %lld us", c->index,
              (long long)length_us);
    c->paused_until_us = s->now_us + length_us;
    /* What it does first when it goes on: its timers, or what arrived. */
    c->deaf_until_us = c->paused_until_us + (sim_chance(s, 500) ? 0 : 2 * MS);
}

static void engine_fill(struct sim *s, struct sim_client *c)
{
    struct engine *e = &c->engine;
    memset(e, 0, sizeof *e);
    e->alloc = &c->alloc;
    e->owner = c;
    e->info = "1 host sim";
    e->lease_us = s->k.lease_max_us;
    e->random = sim_random(s);
    e->caps = sim_backend.caps;
    if (s->is_session)
        e->caps = HF_CAP_FENCE | HF_CAP_LEASE | HF_CAP_WATCH | HF_CAP_QUEUE
                  | HF_CAP_IN_ORDER;
    e->conf.nodes = s->k.nodes;
    e->conf.quorum = s->k.nodes / 2 + 1;
    e->conf.request_flags = s->k.nodes == 1 ? REQ_SERVER_FENCE : REQ_QUORUM;
    e->group_lease_guess_us = s->k.lease_max_us;
    memcpy(e->group, s->group, sizeof e->group);
    e->conf.drift_ppm = DRIFT_PPM_DEFAULT;
    e->conf.window_us = s->k.window_us;
    e->conf.timeout_us = s->k.timeout_us;
    e->conf.patience_us = s->k.patience_us;
    e->conf.handover = s->k.handover;
    e->conf.handover_us = s->k.handover_us;
    e->backend_conf.timeout_us = s->k.timeout_us;
    e->backend_conf.uuid = e->uuid;
    if (s->k.falls) host_lend(c);
    ticket_seed(s, c);
    snprintf(e->uuid, sizeof e->uuid, "%08x-0000-4000-8000-%012x",
             (unsigned)c->index, (unsigned)c->serial);
}

static int engine_start(struct sim *s, struct sim_client *c)
{
    struct url url;
    memset(&url, 0, sizeof url);
    url.scheme = "sim";
    if (hf__engine_open(&c->engine, client_clock(c)) != HF_OK) return -1;
    hf__voters_begin(&c->engine);
    for (int i = 0; i < s->k.nodes; i++) {
        url.port = i;
        if (hf__node_open(&c->engine, &c->engine.nodes[i], i, &sim_backend,
                          &url, NULL)
            != HF_OK)
            return -1;
    }
    if (s->is_rw) return rw_open(s, c);
    if (s->is_permit) return permit_open(s, c);
    for (int i = 0; i < s->k.names; i++) {
        c->entries[i] = hf__entry_get(&c->engine, KIND_PLAIN, sim_names[i], 1);
        if (!c->entries[i]) return -1;
    }
    return 0;
}

void client_start(struct sim *s, struct sim_client *c)
{
    c->sim = s;
    c->alive = 1;
    c->serial++;
    c->allocations = 0;
    c->timer_us = TIME_NEVER;
    c->paused_until_us = c->deaf_until_us = 0;
    c->full = 0;
    c->closing = 0;
    memset(c->passed_attempt, 0, sizeof c->passed_attempt);
    memset(c->queries, 0, sizeof c->queries);
    check_clock_begin(c);
    c->alloc.fn = (struct hf_allocator){.allocate = counted_allocate,
                                        .resize = counted_resize,
                                        .release = counted_release,
                                        .user = c};
    sim_trace(s, "c%d starts", c->index);
    engine_fill(s, c);
    if (engine_start(s, c) != 0) {
        sim_fail(s, "simulator: out of memory");
        return;
    }
    for (int i = 0; i < s->k.actors; i++) {
        struct actor *a = &c->actors[i];
        int done = a->done_since_heal;
        memset(a, 0, sizeof *a);
        a->client = c;
        a->index = i;
        a->holder = (uint64_t)i + 1;
        a->name = -1;
        for (int k = 0; k < SIM_NAMES_MAX; k++) a->at_host_us[k] = -1;
        a->done_since_heal = done;
        actor_start(a);
    }
    client_settle(c);
}

/* Nothing more goes out, nobody is told anything: as after kill -9. */
void client_crash(struct sim *s, struct sim_client *c)
{
    struct engine *e = &c->engine;
    if (!c->alive) return;
    sim_trace(s, "c%d crashes", c->index);
    for (int i = 0; i < s->k.nodes; i++)
        if (e->nodes[i].conn) e->nodes[i].conn->is_dead = 1;
    hf__engine_shut(e, client_clock(c));
    hf__engine_take_done(e);
    c->alive = 0;
    ticket_drop(c);
    for (int i = 0; i < s->k.actors; i++) c->actors[i].claims = 0;
    hf__nodes_close(e);
    hf__engine_take_done(e);
    hf__engine_close(e);
    check_leak(c);
}

/* What its engine still has is told, and its memory given back. */
void client_end(struct sim *s, struct sim_client *c)
{
    struct engine *e = &c->engine;
    hf__nodes_close(e);
    for (struct op *op = hf__engine_take_done(e), *next; op; op = next) {
        next = op->next;
        op_done(c, op);
    }
    hf__engine_close(e);
    c->alive = 0;
    ticket_drop(c);
    for (int i = 0; i < s->k.actors; i++) c->actors[i].claims = 0;
    check_leak(c);
}

/* As a program that ends well; everything has been given back before. */
void client_stop(struct sim *s, struct sim_client *c)
{
    struct engine *e = &c->engine;
    if (!c->alive) return;
    if (e->inflight || e->ops_len || e->seats_len)
        sim_fail(s,
                 "leak: c%d is idle with %zu requests, %zu operations, %zu "
                 "holds",
                 c->index, e->inflight, e->ops_len, e->seats_len);
    client_crash(s, c);
}

struct seat *actor_seat(const struct actor *a)
{
    return a->name < 0
               ? NULL
               : hf__holder_seat(&a->client->engine, a->entry, a->holder);
}
