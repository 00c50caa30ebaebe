/*
 * stock.c: the answers of one segment of a sale.
 *
 * The rule: made + received - given = available + held + sold, after every
 * answer; and a request that is repeated gets the same answer, whatever came
 * between.
 */
#include "rules/stock.h"

#include <string.h>

#include "base/limits.h"
#include "base/math.h"
#include "rules/stock_book.h"

struct stock_segment *hf__rules_stock_open(const struct allocator *alloc)
{
    struct stock_segment *s = hf__alloc_zero(alloc, sizeof *s);
    if (s) s->alloc = alloc;
    return s;
}

void hf__rules_stock_close(struct stock_segment *s)
{
    if (!s) return;
    hf__rules_book_free(s);
    hf__free(s->alloc, s);
}

void hf__rules_stock_mutate(struct stock_segment *s, enum stock_mutation bug)
{
    s->bug = bug;
}

int hf__rules_stock_event(const struct stock_segment *s, int64_t number,
                          int64_t *order, int64_t *units)
{
    if (number < 1 || number > s->events_len) return 0;
    *order = s->events[number - 1].order;
    *units = s->events[number - 1].units;
    return s->events[number - 1].kind;
}

/* ---- the sale ---- */

static int terms_equal(const struct stock_terms *a, const struct stock_terms *b)
{
    return a->limit == b->limit && a->hold_ms == b->hold_ms
           && a->max_hold_ms == b->max_hold_ms && a->opens_ms == b->opens_ms
           && a->closes_ms == b->closes_ms;
}

static int make(struct stock_segment *s, struct stock_job *job)
{
    struct stock_told *t = &job->told;
    if (s->is_made) {
        int same = s->segments == job->segments && s->first == job->units
                   && terms_equal(&s->terms, &job->terms);
        t->says = same ? STOCK_DONE : STOCK_OTHER;
        return HF_OK;
    }
    s->is_made = 1;
    s->segments = job->segments;
    s->terms = job->terms;
    s->first = s->init = s->avail = job->units;
    s->due_ms = TIME_NEVER;
    t->changed = 1;
    return HF_OK;
}

static int look(struct stock_segment *s, struct stock_job *job)
{
    struct stock_told *t = &job->told;
    t->segments = s->segments;
    t->is_ended = s->is_ended;
    t->terms = s->terms;
    t->first = s->first;
    t->init = s->init;
    t->in = s->in;
    t->out = s->out;
    t->avail = s->avail;
    t->held = s->held;
    t->sold = s->sold;
    t->events = s->events_len;
    for (uint32_t i = 0; i < s->segments; i++)
        if (s->aside[i].units) t->transfers[t->transfers_len++] = s->aside[i];
    return HF_OK;
}

static int end(struct stock_segment *s, struct stock_job *job)
{
    job->told.changed = !s->is_ended;
    s->is_ended = 1;
    return look(s, job);
}

static int restock(struct stock_segment *s, struct stock_job *job)
{
    struct stock_told *t = &job->told;
    struct stock_restock *r = s->restocks;
    while (r && strcmp(r->id, job->id) != 0) r = r->next;
    if (r) {
        t->says = r->units == job->units ? STOCK_DONE : STOCK_REUSED;
        return HF_OK;
    }
    if (s->is_ended) {
        t->says = STOCK_NOT_OPEN;
        return HF_OK;
    }
    size_t len = strlen(job->id);
    r = hf__alloc_zero(s->alloc, sizeof *r + len + 1);
    if (!r) return HF_NOMEM;
    memcpy(r->id, job->id, len + 1);
    r->units = job->units;
    r->next = s->restocks;
    s->restocks = r;
    s->init += job->units;
    s->avail += job->units;
    s->dry_ms = s->gone_ms = 0;
    t->changed = 1;
    return HF_OK;
}

static int is_open(const struct stock_segment *s, int64_t now_ms)
{
    return !s->is_ended && now_ms >= s->terms.opens_ms
           && (!s->terms.closes_ms || now_ms < s->terms.closes_ms);
}

/* ---- reservations ---- */

static enum hf_stock_state state_of(const struct stock_hold *h)
{
    switch (h->stage) {
    case STAGE_SOLD:
        return HF_STOCK_SOLD;
    case STAGE_CANCELLED:
        return HF_STOCK_CANCELLED;
    case STAGE_EXPIRED:
    case STAGE_REFUSED:
        return HF_STOCK_EXPIRED;
    default:
        return HF_STOCK_HELD;
    }
}

static void hold_tell(const struct stock_hold *h, int64_t now_ms,
                      struct stock_told *t)
{
    t->state = state_of(h);
    t->order = h->order;
    t->units = h->units;
    if (hf__rules_book_is_held(h)) t->left_ms = max64(h->until_ms - now_ms, 0);
    memcpy(t->nonce, h->nonce, sizeof t->nonce);
}

static void again(const struct stock_hold *h, int64_t now_ms,
                  struct stock_job *job)
{
    struct stock_told *t = &job->told;
    t->says = STOCK_REUSED;
    if (h->units != job->units) return;
    /* Is the reservation this very call's, whose answer was lost, or another
     * call's? */
    int is_own = hf__rules_book_is_held(h) && !strcmp(h->nonce, job->nonce);
    t->says = is_own ? STOCK_RESERVED : STOCK_DUPLICATE;
    hold_tell(h, now_ms, t);
}

/* Not over, and no further away than it was set: the clock may be set back. */
static int is_near(int64_t until_ms, int64_t now_ms, int64_t most_ms)
{
    return until_ms > now_ms && until_ms <= now_ms + most_ms;
}

/* Too few units are available: choose the reason that is told. */
static void too_few(struct stock_segment *s, int64_t now_ms,
                    struct stock_job *job)
{
    struct stock_told *t = &job->told;
    if (s->due_ms <= now_ms) {
        t->says = STOCK_BUSY; /* more may have expired than was looked at */
    } else if (s->segments == 1 || is_near(s->gone_ms, now_ms, STOCK_GONE_MS)) {
        t->says = STOCK_SOLD_OUT;
    } else if (is_near(s->dry_ms, now_ms, STOCK_DRY_MS) && !job->leads) {
        t->says = STOCK_BUSY;
        t->left_ms = s->dry_ms - now_ms;
    } else {
        s->dry_ms = now_ms + STOCK_DRY_MS;
        t->says = STOCK_DRY;
    }
}

static int hold_make(struct stock_segment *s, int64_t now_ms,
                     struct stock_job *job)
{
    struct stock_buyer *b = hf__rules_book_buyer_need(s, job->user);
    struct stock_hold *h = b ? hf__rules_book_hold_add(s, b, job) : NULL;
    if (!h) return HF_NOMEM;
    if (STOCK_BUG(s, HALF_TAKEN) && h->units > 1)
        s->avail += h->units - h->units / 2;
    s->avail -= h->units;
    s->held += h->units;
    b->units += h->units;
    hf__rules_book_event_add(s, now_ms, STOCK_EVENT_RESERVED, h);
    h->order = s->events_len;
    h->born_ms = s->last_ms;
    h->until_ms = h->born_ms + s->terms.hold_ms;
    s->due_ms = min64(s->due_ms, h->until_ms);
    job->told.says = STOCK_RESERVED;
    job->told.changed = 1;
    hold_tell(h, now_ms, &job->told);
    return HF_OK;
}

static int reserve(struct stock_segment *s, int64_t now_ms,
                   struct stock_job *job)
{
    struct stock_told *t = &job->told;
    hf__rules_book_sweep(s, now_ms, STOCK_SWEEP);
    if (s->avail < job->units)
        hf__rules_book_sweep(s, now_ms, STOCK_SWEEP_MOST);
    const struct stock_buyer *b = hf__rules_book_buyer_find(s, job->user);
    const struct stock_hold *h = hf__rules_book_hold_by_id(b, job->id);
    int64_t units = b ? b->units : 0;
    int records = b ? b->records - b->ended : 0;
    if (h && !STOCK_BUG(s, NO_DEDUPE)) {
        again(h, now_ms, job);
    } else if (!is_open(s, now_ms)) {
        t->says = STOCK_NOT_OPEN;
        t->left_ms = !s->is_ended && now_ms < s->terms.opens_ms
                         ? s->terms.opens_ms - now_ms
                         : -1;
    } else if ((s->terms.limit && units + job->units > s->terms.limit)
               || records >= HF_STOCK_RECORDS_MAX) {
        t->says = STOCK_LIMIT;
    } else if (s->avail < job->units) {
        too_few(s, now_ms, job);
    } else {
        return hold_make(s, now_ms, job);
    }
    return HF_OK;
}

/* ---- settling ---- */

static void sell(struct stock_segment *s, int64_t now_ms, struct stock_hold *h,
                 struct stock_told *t)
{
    s->held -= h->units;
    s->sold += h->units;
    hf__rules_book_event_add(s, now_ms, STOCK_EVENT_SOLD, h);
    hf__rules_book_stage_set(s, h, STAGE_SOLD);
    t->changed = 1;
}

/* A confirm of an expired reservation: take the units again, or refuse it for
 * good. */
static void sell_late(struct stock_segment *s, int64_t now_ms,
                      struct stock_hold *h, struct stock_told *t)
{
    struct stock_buyer *b = h->buyer;
    int fits = !s->terms.limit || b->units + h->units <= s->terms.limit;
    t->changed = 1;
    if (!is_open(s, now_ms) || s->avail < h->units || !fits) {
        hf__rules_book_event_add(s, now_ms, STOCK_EVENT_REFUSED, h);
        if (!STOCK_BUG(s, SELL_REFUNDED))
            hf__rules_book_stage_set(s, h, STAGE_REFUSED);
        return;
    }
    s->avail -= h->units;
    s->sold += h->units;
    b->units += h->units;
    b->ended--;
    hf__rules_book_event_add(s, now_ms, STOCK_EVENT_LATE, h);
    hf__rules_book_stage_set(s, h, STAGE_SOLD);
    t->late = 1;
}

static void confirm(struct stock_segment *s, int64_t now_ms,
                    struct stock_hold *h, struct stock_job *job)
{
    int is_bug = h->stage == STAGE_SOLD && STOCK_BUG(s, SETTLE_TWICE);
    if (hf__rules_book_is_held(h) || is_bug)
        sell(s, now_ms, h, &job->told);
    else if (h->stage == STAGE_EXPIRED)
        sell_late(s, now_ms, h, &job->told);
}

static void cancel(struct stock_segment *s, int64_t now_ms,
                   struct stock_hold *h, struct stock_job *job)
{
    int is_bug = h->stage == STAGE_SOLD && STOCK_BUG(s, CANCEL_SOLD);
    if (hf__rules_book_is_held(h) || is_bug) {
        hf__rules_book_give_back(s, h);
        if (!STOCK_BUG(s, EVENT_LOST))
            hf__rules_book_event_add(s, now_ms, STOCK_EVENT_CANCELLED, h);
        job->told.changed = 1;
        /* Fill in the answer now: the record may be freed with the other ended
         * ones. */
        hold_tell(h, now_ms, &job->told);
        hf__rules_book_hold_end(s, h, STAGE_CANCELLED);
    } else if (h->stage == STAGE_EXPIRED) {
        hf__rules_book_stage_set(s, h, STAGE_CANCELLED);
        job->told.changed = 1;
    }
}

static void extend(struct stock_segment *s, int64_t now_ms,
                   struct stock_hold *h, struct stock_job *job)
{
    int64_t most_ms = h->born_ms + s->terms.max_hold_ms;
    int64_t until_ms = min64(now_ms + job->ms, most_ms);
    if (STOCK_BUG(s, EXTEND_FOREVER)) until_ms = now_ms + job->ms;
    if (!hf__rules_book_is_held(h) || until_ms <= h->until_ms) return;
    h->until_ms = until_ms;
    hf__rules_book_stage_set(s, h, STAGE_EXTENDED);
    s->due_ms = min64(s->due_ms, until_ms);
    job->told.changed = 1;
}

static int settle(struct stock_segment *s, int64_t now_ms,
                  struct stock_job *job)
{
    const struct stock_buyer *b = hf__rules_book_buyer_find(s, job->user);
    struct stock_hold *h = hf__rules_book_hold_by_order(b, job->order);
    job->told.state = HF_STOCK_UNKNOWN;
    if (!h || (strcmp(h->nonce, job->nonce) && !STOCK_BUG(s, NONCE_IGNORED)))
        return HF_OK;
    if (job->what == STOCK_CANCEL) {
        int was_held = hf__rules_book_is_held(h);
        cancel(s, now_ms, h, job);
        if (was_held) { /* h may be freed by now */
            job->told.state = HF_STOCK_CANCELLED;
            job->told.left_ms = 0;
            return HF_OK;
        }
    } else if (job->what == STOCK_CONFIRM) {
        confirm(s, now_ms, h, job);
    } else {
        extend(s, now_ms, h, job);
    }
    hold_tell(h, now_ms, &job->told);
    return HF_OK;
}

/* ---- from segment to segment ---- */

/* Put aside at least half of what is available, so that few transfers are
 * needed. */
static int donate(struct stock_segment *s, int64_t now_ms,
                  struct stock_job *job)
{
    struct stock_transfer *aside = &s->aside[job->peer];
    struct stock_told *t = &job->told;
    if (!aside->units || STOCK_BUG(s, DONATE_FORGETS)) {
        int64_t units = min64(s->avail, max64(job->units, s->avail / 2));
        if (units <= 0) return HF_OK;
        s->avail -= units;
        s->out += units;
        /* Of the clock, so that a number which a failover lost is not used
         * again. */
        int64_t number = max64(now_ms, s->given[job->peer] + 1);
        s->given[job->peer] = number;
        *aside = (struct stock_transfer){job->peer, number, units};
        t->changed = 1;
    }
    t->number = aside->number;
    t->units = aside->units;
    return HF_OK;
}

static int accept_units(struct stock_segment *s, struct stock_job *job)
{
    if (job->number <= s->taken[job->peer] && !STOCK_BUG(s, ACCEPT_TWICE))
        return HF_OK;
    s->taken[job->peer] = job->number;
    s->avail += job->units;
    s->in += job->units;
    s->dry_ms = s->gone_ms = 0;
    job->told.changed = 1;
    return HF_OK;
}

static int ack(struct stock_segment *s, struct stock_job *job)
{
    struct stock_transfer *aside = &s->aside[job->peer];
    if (!aside->units) return HF_OK;
    if (aside->number != job->number && !STOCK_BUG(s, ACK_ANY)) return HF_OK;
    *aside = (struct stock_transfer){0};
    job->told.changed = 1;
    return HF_OK;
}

/* ---- one job ---- */

int hf__rules_stock_apply(struct stock_segment *s, int64_t now_ms,
                          struct stock_job *job)
{
    job->told = (struct stock_told){.says = STOCK_DONE};
    if (job->what == STOCK_MAKE) return make(s, job);
    if (!s->is_made) {
        job->told.says = STOCK_ABSENT;
        return HF_OK;
    }
    if (job->segments && job->segments != s->segments) {
        job->told.says = STOCK_OTHER;
        return HF_OK;
    }
    int status = hf__rules_book_events_need(s, 4 * STOCK_SWEEP_MOST);
    if (status != HF_OK) return status;
    switch (job->what) {
    case STOCK_RESERVE:
        return reserve(s, now_ms, job);
    case STOCK_CONFIRM:
    case STOCK_CANCEL:
    case STOCK_EXTEND:
        return settle(s, now_ms, job);
    case STOCK_RESTOCK:
        return restock(s, job);
    case STOCK_ACCEPT:
        return accept_units(s, job);
    case STOCK_ACK:
        return ack(s, job);
    case STOCK_GONE:
        s->gone_ms = now_ms + STOCK_GONE_MS;
        s->dry_ms = 0;
        return HF_OK;
    default: /* MAKE is done above */
        break;
    }
    hf__rules_book_sweep(s, now_ms, STOCK_SWEEP_MOST);
    if (job->what == STOCK_DONATE) return donate(s, now_ms, job);
    return job->what == STOCK_END ? end(s, job) : look(s, job);
}
