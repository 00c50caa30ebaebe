/*
 * sim_actor.c: holders, and what they do all day: acquire, enter once more,
 * extend, write, release, cancel.  The rule: an actor uses the engine as the
 * API does, and believes nothing but what it was told.
 */
#include "sim/sim.h"

static void actor_act(struct sim *s, void *arg, uint64_t tag);
static void over(struct actor *a);

static struct sim *sim_of(const struct actor *a)
{
    return a->client->sim;
}

static void act_later(struct actor *a, int64_t after_us)
{
    struct sim *s = sim_of(a);
    a->serial = ++s->serials;
    sim_at(s, s->now_us + after_us, actor_act, a, a->serial);
}

static int64_t pause_us(struct sim *s, int64_t mean_us)
{
    return s->healed ? sim_between(s, 100, 8 * MS) : sim_about(s, mean_us);
}

void actor_start(struct actor *a)
{
    act_later(a, pause_us(sim_of(a), sim_of(a)->k.think_us));
}

int actor_is_busy(const struct actor *a)
{
    for (int i = 0; i < ERRANDS_MAX; i++)
        if (a->errands[i].serial) return 1;
    return 0;
}

/* ---- deeds ------------------------------------------------------------ */

static int64_t draw_lease(struct sim *s)
{
    int64_t least = s->k.lease_min_us, most = s->k.lease_max_us;
    if (sim_chance(s, 400)) return most;
    return sim_chance(s, 500) ? least : sim_between(s, least, most);
}

static void draw_wait(struct sim *s, struct op *op)
{
    op->wait_us = sim_between(s, 1, 200 * MS);
    if (sim_chance(s, 10 * s->k.try_percent)) op->wait_us = 0;
    if (sim_chance(s, 10 * s->k.forever_percent) || s->healed) op->wait_us = -1;
}

static void deed_acquire(struct actor *a, int is_enter)
{
    struct sim *s = sim_of(a);
    struct errand *er = errand_make(a, OP_TYPE_ACQUIRE);
    er->is_enter = is_enter;
    er->op.lease_us = draw_lease(s);
    if (!sim_chance(s, 10 * s->k.keep_percent)) er->op.flags = HF_ACQUIRE_FIXED;
    draw_wait(s, &er->op);
    if (sim_chance(s, 10 * s->k.fair_percent)) er->op.order = HF_ORDER_FAIR;
    if (s->is_rw) rw_order(s, &er->op);
    if (s->is_permit) permit_plan(a, &er->op);
    er->op.lease_any = s->is_session;
    plan_draw(s, &er->op);
    if (!is_enter) ticket_plan(a, &er->op);
    if (is_enter) a->fed_us = client_clock(a->client);
    errand_maybe_cancel(er);
    errand_begin(er);
}

static void deed_extend(struct actor *a)
{
    struct errand *er = errand_make(a, OP_TYPE_EXTEND);
    a->lease_us = 0;
    if (sim_chance(sim_of(a), 700)) er->op.lease_us = draw_lease(sim_of(a));
    if (a->is_detached) er->op.lease_us = sim_of(a)->k.lease_max_us;
    er->op.lease_any = sim_of(a)->is_session;
    errand_maybe_cancel(er);
    errand_begin(er);
}

static void deed_release(struct actor *a)
{
    struct errand *er = errand_make(a, OP_TYPE_RELEASE);
    if (a->depth == 1) a->phase = PHASE_LEAVING;
    errand_begin(er);
}

/* Between two writes: more of it, or less. */
static void act_holding(struct actor *a)
{
    struct sim *s = sim_of(a);
    guard_write(a);
    if (ticket_detach(a)) {
        over(a);
        act_later(a, pause_us(s, s->k.think_us));
    } else if (a->lost_told) {
        a->phase = PHASE_LEAVING;
        deed_release(a);
    } else if (a->feed_us && sim_chance(s, 400)) {
        plan_feed(a);
        act_later(a, pause_us(s, s->k.hold_us));
    } else if (!a->is_detached && !s->is_permit && a->depth < 3
               && sim_chance(s, 200)) {
        deed_acquire(a, 1);
    } else if (sim_chance(s, 200)) {
        deed_extend(a);
        if (sim_chance(s, 500)) deed_release(a); /* without waiting for it */
    } else {
        deed_release(a);
    }
}

static int is_at_rest(struct actor *a)
{
    struct sim *s = sim_of(a);
    if (s->stopping) return 1;
    if (!s->healed || a->done_since_heal < QUIET_HOLDS - 1) return 0;
    return a->done_since_heal >= QUIET_HOLDS || s->now_us < s->settled_us;
}

static void act_idle(struct actor *a)
{
    struct sim *s = sim_of(a);
    if (is_at_rest(a)) {
        if (!s->stopping && a->done_since_heal < QUIET_HOLDS)
            act_later(a, s->settled_us - s->now_us);
        return;
    }
    if (ticket_take(a)) return;
    a->name = (int)sim_between(s, 0, s->k.names - 1);
    a->entry = a->client->entries[a->name];
    if (s->is_rw) rw_choose(a);
    deed_acquire(a, 0);
}

static void actor_act(struct sim *s, void *arg, uint64_t tag)
{
    struct actor *a = arg;
    struct sim_client *c = a->client;
    if (!c->alive || c->closing || a->serial != tag) return;
    if (client_is_paused(c)) {
        sim_at(s, c->paused_until_us + MS, actor_act, a, tag);
        return;
    }
    if (actor_is_busy(a)) return; /* it goes on when that is over */
    client_enter(c);
    if (a->phase == PHASE_IDLE)
        act_idle(a);
    else if (a->phase == PHASE_HOLDING)
        act_holding(a);
    client_settle(c);
}

/* ---- what comes back -------------------------------------------------- */

static void over(struct actor *a)
{
    a->is_detached = 0;
    if (a->is_local) a->left_us = sim_of(a)->now_us;
    a->phase = PHASE_IDLE;
    a->depth = a->is_local = 0;
    a->risk_told = a->lost_told = 0;
    plan_over(a);
    a->name = -1;
}

static void acquired(struct actor *a, struct errand *er)
{
    if (er->op.status != HF_OK) {
        over(a);
        return;
    }
    a->phase = PHASE_HOLDING;
    a->depth = 1;
    a->fence = er->op.grant.fence;
    a->is_local = er->op.grant.guarantee == HF_GUARANTEE_LOCAL;
    a->is_kept = !(er->op.flags & HF_ACQUIRE_FIXED);
    a->is_detached = (er->op.flags & HF_ACQUIRE_DETACHED) != 0;
    a->lease_us = er->op.lease_us;
    plan_granted(a, &er->op);
    a->risk_told = a->lost_told = 0;
    sim_of(a)->acquired++;
    if (sim_of(a)->healed) a->done_since_heal++;
    if (a->is_local)
        check_host_granted(er);
    else
        check_granted(er);
    check_passed(er);
    guard_touch(a);
    check_told(er);
    check_count(a);
}

/* By a ticket. */
static void attached(struct actor *a, struct errand *er)
{
    check_ticket_used(er);
    if (er->op.status != HF_OK) {
        ticket_over(a, 0, er->op.status);
        over(a);
        return;
    }
    a->phase = PHASE_HOLDING;
    a->depth = 1;
    a->fence = er->op.grant.fence;
    a->is_detached = 1;
    a->is_kept = 0;
    a->lease_us = er->op.lease_us;
    plan_granted(a, &er->op);
    a->risk_told = a->lost_told = 0;
    sim_of(a)->deeds[DEED_ATTACH]++;
    guard_touch(a);
}

static void entered(struct actor *a, struct errand *er)
{
    if (er->op.status != HF_OK) return;
    a->depth++;
    check_entered(er);
    check_host_entered(er);
    check_count(a);
}

static void released(struct actor *a, struct errand *er)
{
    int status = er->op.status;
    a->depth--;
    if (status == HF_OK && er->op.released.count != a->depth)
        sim_fail(sim_of(a),
                 "count: c%d.%d holds it %lld times and is told "
                 "%lld",
                 a->client->index, a->index, (long long)a->depth,
                 (long long)er->op.released.count);
    if (status == HF_OK) check_count(a);
    if (a->depth > 0) return;
    ticket_over(a, 1, status);
    over(a);
}

void actor_done(struct sim_client *c, struct op *op)
{
    struct errand *er = (struct errand *)op; /* its first member */
    struct actor *a = er->actor;
    sim_trace(c->sim, "c%d.%d ends %d %s fence %llu count %lld", c->index,
              a->index, (int)op->type, hf_status_name(op->status),
              (unsigned long long)op->grant.fence,
              (long long)op->released.count);
    check_done(er);
    er->serial = 0;
    if (op->type == OP_TYPE_RELEASE)
        released(a, er);
    else if (op->type == OP_TYPE_ACQUIRE && er->is_enter)
        entered(a, er);
    else if (op->type == OP_TYPE_ACQUIRE)
        acquired(a, er);
    else if (op->type == OP_TYPE_ATTACH)
        attached(a, er);
    else if (op->type == OP_TYPE_TICKET_RELEASE) {
        check_ticket_used(er);
        check_ticket_released(sim_of(a), op);
        ticket_over(a, 1, op->status);
        over(a);
    }
    if (actor_is_busy(a)) return;
    if (a->phase == PHASE_LEAVING) a->phase = PHASE_HOLDING;
    act_later(a, pause_us(c->sim, a->phase == PHASE_IDLE ? c->sim->k.think_us
                                                         : c->sim->k.hold_us));
}

void actor_notice(struct sim_client *c, const struct hf_event *ev)
{
    struct actor *a = &c->actors[ev->holder - 1];
    sim_trace(c->sim, "c%d.%d is told %d %s", c->index, a->index, ev->state,
              hf_status_name(ev->status));
    if (check_is_overtaken(a, ev)) return;
    check_notice(a, ev);
    if (ev->state == HF_STATE_AT_RISK) a->risk_told = 1;
    if (ev->state == HF_STATE_HELD) a->risk_told = 0;
    if (ev->state == HF_STATE_LOST) {
        a->lost_told = 1;
        c->sim->lost++;
        if (!actor_is_busy(a)) act_later(a, pause_us(c->sim, 5 * MS));
    }
}
