/*
 * check_plan.c: a hold is never valid beyond its cap, what is not fed is not
 * renewed, and nothing is renewed once it has been released.
 *
 * The rule: what is expected follows from what the holder did and was told, not
 * from the machine's own notes.
 */
#include "sim/sim.h"

/* After every step. */
void check_caps(struct sim_client *c)
{
    for (int i = 0; i < c->sim->k.actors; i++) {
        const struct actor *a = &c->actors[i];
        const struct seat *seat = a->cap_us ? actor_seat(a) : NULL;
        if (!seat || seat->hold.state != HOLD_HELD
            || seat->hold.valid_us <= a->cap_us)
            continue;
        sim_fail(c->sim, "plan: c%d.%d is valid %lld us beyond its cap",
                 c->index, a->index,
                 (long long)(seat->hold.valid_us - a->cap_us));
    }
}

static void check_renewal(struct actor *a, const struct seat *seat,
                          uint64_t attempt)
{
    struct sim *s = a->client->sim;
    int64_t hungry_us = client_clock(a->client) - a->fed_us;
    if (attempt == a->let_go && !a->is_spent)
        sim_fail(s, "plan: c%d.%d renews what it has released",
                 a->client->index, a->index);
    /* Without an operation it is the watchdog's own. */
    if (a->feed_us && !seat->op && hungry_us > a->feed_us)
        sim_fail(s, "plan: c%d.%d renews, and was not fed for %lld us",
                 a->client->index, a->index, (long long)hungry_us);
}

/* A request leaves the engine. */
void check_sent(struct sim_client *c, const struct request *req)
{
    if (req->user_kind != USER_SEAT || !c->alive) return;
    const struct seat *seat = req->user;
    struct actor *a = &c->actors[seat->holder - 1];
    if (req->verb == VERB_RELEASE) a->let_go = req->attempt;
    if (req->verb == VERB_RENEW) check_renewal(a, seat, req->attempt);
}
