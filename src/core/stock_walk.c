/*
 * stock_walk.c: the way of one reservation through the segments of a sale; the
 * picture and the rule are in stock_walk.h.
 */
#include "core/stock_walk.h"

#include <assert.h>

#include "base/math.h"

void hf__stock_walk_begin(struct stock_walk *w, uint32_t home,
                          uint32_t segments, int64_t units)
{
    assert(home < segments && segments <= HF_STOCK_SEGMENTS_MAX);
    *w =
        (struct stock_walk){.home = home, .segments = segments, .units = units};
}

uint32_t hf__stock_walk_jobs(const struct stock_walk *w)
{
    if (w->phase == WALK_OVER) return 0;
    return w->phase == WALK_LOOK ? w->segments : 1;
}

static const struct stock_carry *carry_now(const struct stock_walk *w)
{
    int is_own = w->phase == WALK_ACCEPT || w->phase == WALK_ACK;
    return is_own ? &w->moving : &w->carry[w->carried];
}

void hf__stock_walk_ask(const struct stock_walk *w, uint32_t i,
                        struct stock_job *job)
{
    *job = (struct stock_job){.segments = w->segments, .segment = w->home};
    switch (w->phase) {
    case WALK_RESERVE:
        job->what = STOCK_RESERVE;
        job->units = w->units;
        job->leads = w->rounds > 0;
        break;
    case WALK_LOOK:
        job->what = STOCK_LOOK;
        job->segment = i;
        break;
    case WALK_DONATE:
        job->what = STOCK_DONATE;
        job->segment = w->richest;
        job->peer = w->home;
        job->units = max64(w->units - w->here, 1);
        break;
    case WALK_CARRY_ACCEPT:
    case WALK_ACCEPT:
        job->what = STOCK_ACCEPT;
        job->segment = carry_now(w)->to;
        job->peer = carry_now(w)->from;
        job->number = carry_now(w)->number;
        job->units = carry_now(w)->units;
        break;
    case WALK_CARRY_ACK:
    case WALK_ACK:
        job->what = STOCK_ACK;
        job->segment = carry_now(w)->from;
        job->peer = carry_now(w)->to;
        job->number = carry_now(w)->number;
        break;
    default:
        assert(w->phase == WALK_GONE);
        job->what = STOCK_GONE;
    }
}

static void look_told(struct stock_walk *w, const struct stock_job *job)
{
    const struct stock_told *t = &job->told;
    if (job->segment == w->home) {
        w->here = t->avail;
    } else if (t->avail > w->most) {
        w->most = t->avail;
        w->richest = job->segment;
    }
    for (uint32_t i = 0; i < t->transfers_len; i++) {
        const struct stock_transfer *open = &t->transfers[i];
        if (w->carry_len == HF_STOCK_SEGMENTS_MAX || open->to >= w->segments)
            return;
        w->carry[w->carry_len++] = (struct stock_carry){
            job->segment, open->to, open->number, open->units};
    }
}

void hf__stock_walk_told(struct stock_walk *w, const struct stock_job *job)
{
    const struct stock_told *t = &job->told;
    if (w->phase == WALK_RESERVE) {
        w->says = t->says;
    } else if (t->says != STOCK_DONE) { /* the sale is gone, or was made anew */
        w->says = t->says;
        w->phase = WALK_OVER;
    } else if (w->phase == WALK_LOOK) {
        look_told(w, job);
    } else if (w->phase == WALK_DONATE) {
        w->moving =
            (struct stock_carry){w->richest, w->home, t->number, t->units};
    }
}

/* A look may miss units that are moving, and a later look finds them; but a
 * walk must end. */
static int is_weary(const struct stock_walk *w)
{
    return w->rounds > 2 * (int)w->segments + 4;
}

static enum stock_walk_phase look_begin(struct stock_walk *w)
{
    if (is_weary(w)) {
        w->says = STOCK_BUSY;
        return WALK_OVER;
    }
    w->rounds++;
    w->most = w->here = 0;
    w->carry_len = w->carried = 0;
    return WALK_LOOK;
}

static enum stock_walk_phase after(struct stock_walk *w)
{
    switch (w->phase) {
    case WALK_RESERVE:
        return w->says == STOCK_DRY ? look_begin(w) : WALK_OVER;
    case WALK_LOOK:
        if (w->carry_len) return WALK_CARRY_ACCEPT;
        if (w->here >= w->units) return WALK_RESERVE; /* came back */
        return w->most ? WALK_DONATE : WALK_GONE;
    case WALK_CARRY_ACCEPT:
        return WALK_CARRY_ACK;
    case WALK_CARRY_ACK:
        return ++w->carried < w->carry_len ? WALK_CARRY_ACCEPT : WALK_RESERVE;
    case WALK_DONATE:
        return w->moving.units ? WALK_ACCEPT : WALK_RESERVE;
    case WALK_ACCEPT:
        return WALK_ACK;
    case WALK_ACK:
        return WALK_RESERVE;
    default:
        w->says = STOCK_SOLD_OUT;
        return WALK_OVER;
    }
}

void hf__stock_walk_next(struct stock_walk *w)
{
    if (w->phase != WALK_OVER) w->phase = after(w);
}
