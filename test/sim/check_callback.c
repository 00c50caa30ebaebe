/*
 * check_callback.c: each call is answered once, in time, with a status that
 * fits it; a holder is told LOST at most once, AT_RISK before it
 * unless it stood still, and nothing after it has let go.
 */
#include "sim/sim.h"

static int is_acquire_status(const struct errand *er, int status)
{
    switch (status) {
    case HF_OK:
        return 1;
    case HF_UNAVAILABLE:
        return 1;
    case HF_CANCELLED:
        return er->cancelled;
    case HF_TAKEN:
        return er->wait_us == 0 && !er->is_enter;
    case HF_TIMEOUT:
        return er->wait_us > 0 && !er->is_enter;
    case HF_LOST:
    case HF_EXPIRED:
        return er->is_enter;
    default:
        return 0;
    }
}

static int is_change_status(const struct errand *er, int status)
{
    const struct actor *a = er->actor;
    switch (status) {
    case HF_OK:
    case HF_UNAVAILABLE:
    case HF_LOST:
    case HF_EXPIRED:
        return 1;
    case HF_CANCELLED:
        return er->cancelled;
    case HF_NOT_OWNER:
        return a->depth == 0;
    default:
        return 0;
    }
}

/* A node whose clock was set may refuse our numbers for good, and another one
 * be in quarantine because of it; a client that asks rarely finds out long
 * after everything was mended. */
int check_is_well(const struct errand *er)
{
    const struct sim *s = er->actor->client->sim;
    int is_odd = s->k.nodes > 1 && s->faults & FAULT_JUMP;
    return s->healed && !is_odd && er->begun_us > s->settled_us;
}

void check_done(struct errand *er)
{
    struct actor *a = er->actor;
    struct sim *s = a->client->sim;
    int status = er->op.status;
    if (!er->serial) {
        sim_fail(s, "callbacks: c%d.%d: an operation was completed twice",
                 a->client->index, a->index);
        return;
    }
    int fits = er->op.type == OP_TYPE_ACQUIRE ? is_acquire_status(er, status)
                                              : is_change_status(er, status);
    fits |= status == HF_CLOSED && a->client->closing;
    if (!fits)
        sim_fail(s, "callbacks: c%d.%d: operation %d ended with %s",
                 a->client->index, a->index, (int)er->op.type,
                 hf_status_name(status));
    if (status == HF_UNAVAILABLE && check_is_well(er))
        sim_fail(s,
                 "callbacks: c%d.%d: operation %d: UNAVAILABLE although "
                 "nothing is wrong",
                 a->client->index, a->index, (int)er->op.type);
}

/* Granted when all was well: renewed since, or its lease is not over. */
static int is_kept_for_sure(const struct sim *s, const struct actor *a)
{
    int is_calm =
        !(s->faults & ~(unsigned)(FAULT_DRIFT | FAULT_DUP | FAULT_OLD))
        || (s->healed && a->granted_us > s->settled_us);
    int64_t lease_us = a->lease_us;
    if (s->is_session && lease_us > s->k.session_us / 2)
        lease_us = s->k.session_us / 2; /* what it was made */
    lease_us -= lease_us / 50 + 3 * MS;
    if (s->k.nodes > 1 || !is_calm || a->cap_us || a->feed_us) return 0;
    return a->is_kept || s->now_us - a->granted_us < lease_us;
}

static void check_lost(struct actor *a)
{
    struct sim *s = a->client->sim;
    struct seat *seat = actor_seat(a);
    if (a->lost_told)
        sim_fail(s, "callbacks: c%d.%d is told LOST twice", a->client->index,
                 a->index);
    if (seat && is_kept_for_sure(s, a))
        sim_fail(s, "callbacks: c%d.%d is told LOST although nothing is wrong",
                 a->client->index, a->index);
    if (a->risk_told || !seat) return;
    /* Lost because its time was over, not because a node said so? */
    int64_t valid_us = seat->hold.valid_us, now_us = client_clock(a->client);
    int stood_still = a->client->paused_until_us + 3 * MS > s->now_us;
    if (now_us >= valid_us && !stood_still)
        sim_fail(s, "callbacks: c%d.%d is told LOST and was not told AT_RISK",
                 a->client->index, a->index);
}

/* The machine answers at once: a release that was begun without waiting for the
 * operation before it is over in the same step, and before what that has
 * changed can be told. */
int check_is_overtaken(const struct actor *a, const struct hf_event *ev)
{
    return a->phase == PHASE_IDLE && ev->fence == 0
           && a->left_us == a->client->sim->now_us;
}

void check_notice(struct actor *a, const struct hf_event *ev)
{
    struct sim *s = a->client->sim;
    if (a->phase == PHASE_IDLE || a->name < 0) {
        sim_fail(s, "callbacks: c%d.%d is told %d and holds nothing",
                 a->client->index, a->index, ev->state);
        return;
    }
    if (ev->fence != a->fence)
        sim_fail(s, "callbacks: c%d.%d is told of fence %llu, not its own",
                 a->client->index, a->index, (unsigned long long)ev->fence);
    if (ev->state == HF_STATE_LOST) check_lost(a);
    if (ev->state != HF_STATE_LOST && a->lost_told)
        sim_fail(s, "callbacks: c%d.%d is told %d after LOST", a->client->index,
                 a->index, ev->state);
}

/* It should be over by now. */
void check_in_time(struct errand *er)
{
    struct actor *a = er->actor;
    sim_fail(a->client->sim,
             "callbacks: c%d.%d: operation %d, begun at %lld us, is not over",
             a->client->index, a->index, (int)er->op.type,
             (long long)er->begun_us);
}
