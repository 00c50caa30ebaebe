/*
 * barrier.c: barriers in a store; it follows barrier_wait.lua and
 * barrier_leave.lua, reply for reply.
 *
 * One rule: a party counts for as long as it is known to live, and no longer.
 */
#include <string.h>

#include "rules/barrier.h"
#include "rules/gate.h"
#include "rules/model.h"
#include "rules/pack.h"
#include "rules/table.h"
#include "base/math.h"

#define ROOM_MIN 8u

/* Of a party that waits, `until_ms` is the end of its lease.  Of a party that
 * went on or left, it is the time until which that is remembered; `number` is
 * its generation and index, or the T of its leaving.  Over once the clock shows
 * more, as Redis counts. */
struct party {
    char owner[OWNER_LEN_MAX];
    int64_t until_ms;
    int64_t number;
    int has_left;
};

struct parties {
    struct party *at;
    size_t len, room;
};

struct barrier {
    int64_t needs;
    int64_t last;     /* the highest number of those that went on; 0: none */
    int64_t until_ms; /* forgotten then, unless it is used again */
    struct parties waiting;
    struct parties gone; /* in the order in which they went */
};

/* ---- lists -------------------------------------------------------------- */

static int parties_reserve(struct store *s, struct parties *p, size_t more)
{
    if (p->len + more <= p->room) return 0;
    size_t room = p->room ? p->room : ROOM_MIN;
    while (room < p->len + more) room *= 2;
    struct party *at = hf__realloc(s->alloc, p->at, room * sizeof *at);
    if (!at) return -1;
    p->at = at;
    p->room = room;
    return 0;
}

static void party_set(struct party *p, const char *owner, int64_t until_ms,
                      int64_t number)
{
    *p = (struct party){.until_ms = until_ms, .number = number};
    memcpy(p->owner, owner, sizeof p->owner);
}

static struct party *party_find(const struct parties *list, const char *owner)
{
    for (size_t i = list->len; i-- > 0;)
        if (!strncmp(list->at[i].owner, owner, OWNER_LEN_MAX))
            return &list->at[i];
    return NULL;
}

/* A party that asks for the first time finds only what a late copy of its
 * request can be about. */
static const struct party *gone_find(const struct barrier *b, int64_t now_us,
                                     const struct request *req)
{
    int64_t since_ms =
        req->round > 1 ? 0 : us_to_ms(now_us - req->window_us) - 1;
    for (size_t i = b->gone.len; i-- > 0;) {
        const struct party *p = &b->gone.at[i];
        if (p->until_ms - BARRIER_KEPT_MS < since_ms) break;
        if (!strncmp(p->owner, req->owner, sizeof p->owner)) return p;
    }
    return NULL;
}

static void parties_sweep(struct parties *list, int64_t now_us)
{
    int64_t now_ms = us_to_ms(now_us);
    size_t kept = 0;
    for (size_t i = 0; i < list->len; i++)
        if (list->at[i].until_ms >= now_ms) list->at[kept++] = list->at[i];
    list->len = kept;
}

/* The oldest come first, and most of the time none is over. */
static void gone_sweep(struct parties *gone, int64_t now_us)
{
    if (gone->len > 0 && gone->at[0].until_ms < us_to_ms(now_us))
        parties_sweep(gone, now_us);
}

/* ---- the barrier -------------------------------------------------------- */

void hf__rules_barrier_free(struct store *s, struct entry *e)
{
    if (!e->barrier) return;
    hf__free(s->alloc, e->barrier->waiting.at);
    hf__free(s->alloc, e->barrier->gone.at);
    hf__free(s->alloc, e->barrier);
    e->barrier = NULL;
}

static struct barrier *barrier_now(struct store *s, struct entry *e,
                                   int64_t now_us)
{
    if (e && e->barrier && e->barrier->until_ms < us_to_ms(now_us))
        hf__rules_barrier_free(s, e);
    return e ? e->barrier : NULL;
}

int hf__rules_barrier_is_used(struct store *s, struct entry *e, int64_t now_us)
{
    return barrier_now(s, e, now_us) != NULL;
}

/* All parties have arrived: they go on, this one as the last. */
static void all_go(struct barrier *b, int64_t now_us, const struct request *req,
                   struct reply *rep)
{
    int64_t index = 0, now_ms = us_to_ms(now_us);
    int64_t until_ms = now_ms + BARRIER_KEPT_MS;
    int64_t number = max64(b->last - b->last % b->needs + b->needs,
                           now_us - now_us % b->needs);
    gone_sweep(&b->gone, now_us);
    for (size_t i = 0; i < b->waiting.len; i++) {
        const char *owner = b->waiting.at[i].owner;
        if (!strncmp(owner, req->owner, OWNER_LEN_MAX)) continue;
        party_set(&b->gone.at[b->gone.len++], owner, until_ms,
                  number + index++);
    }
    party_set(&b->gone.at[b->gone.len++], req->owner, until_ms, number + index);
    b->waiting.len = 0;
    b->last = number + b->needs - 1;
    rep->verdict = V_GRANTED;
    rep->fence = number + index;
}

static void stay(struct store *s, struct barrier *b, int64_t now_us,
                 const struct request *req, struct reply *rep)
{
    int64_t until_ms = us_to_ms(now_us) + PLACE_US / US_PER_MS;
    if (req->flags & REQ_QUEUE) {
        struct party *own = party_find(&b->waiting, req->owner);
        if (!own) own = &b->waiting.at[b->waiting.len++];
        party_set(own, req->owner, until_ms, 0);
        rep->poll_us = PLACE_POLL_US;
    }
    int64_t missing = b->needs - (int64_t)b->waiting.len;
    hf__rules_gate_text(s, "barrier: %lld still missing", missing);
    rep->verdict = V_BUSY;
    rep->status = HF_TAKEN;
    rep->text = s->text;
    rep->seen = now_us;
}

/* Has the party waited before, and may the store have forgotten how that
 * ended? */
static int is_forgotten(const struct barrier *b, int64_t now_us,
                        const struct request *req)
{
    if (req->seen == 0) return 0;
    if (!b) return 1;
    return req->seen < now_us - BARRIER_KEPT_MS * US_PER_MS
           && b->last >= req->seen;
}

static struct barrier *barrier_need(struct store *s, struct entry *e,
                                    const struct request *req)
{
    if (!e->barrier) e->barrier = hf__alloc_zero(s->alloc, sizeof *e->barrier);
    struct barrier *b = e->barrier;
    if (!b || parties_reserve(s, &b->waiting, 1) != 0
        || parties_reserve(s, &b->gone, b->waiting.len + 1) != 0)
        return NULL;
    if (b->waiting.len == 0) b->needs = req->permits;
    return b;
}

void hf__rules_barrier_wait(struct store *s, int64_t now_us, struct entry *e,
                            const struct request *req, struct reply *rep)
{
    struct barrier *b = barrier_now(s, e, now_us);
    const struct party *gone = b ? gone_find(b, now_us, req) : NULL;
    if (gone && !gone->has_left) {
        rep->verdict = V_GRANTED;
        rep->fence = gone->number;
        return;
    }
    if ((gone && req->ballot <= gone->number)
        || req->ballot < now_us - req->window_us) {
        rep->verdict = V_STALE;
        rep->counter = gone ? gone->number : 0;
        return;
    }
    if (is_forgotten(b, now_us, req)) {
        reply_refuse(rep, HF_LOST,
                     "barrier: it was forgotten while it was waited for");
        return;
    }
    if (b) parties_sweep(&b->waiting, now_us);
    b = barrier_need(s, e, req);
    if (!b) {
        reply_refuse(rep, HF_NOMEM, "barrier: out of memory");
        return;
    }
    b->until_ms = us_to_ms(now_us) + BARRIER_IDLE_MS;
    int is_in = party_find(&b->waiting, req->owner) != NULL;
    if (b->needs != req->permits) {
        hf__rules_gate_text(s, "barrier: others wait there for %lld parties",
                            b->needs);
        reply_refuse(rep, HF_CONFLICT, s->text);
    } else if ((int64_t)b->waiting.len + !is_in >= b->needs) {
        all_go(b, now_us, req, rep);
    } else {
        stay(s, b, now_us, req, rep);
    }
}

void hf__rules_barrier_leave(struct store *s, int64_t now_us, struct entry *e,
                             const struct request *req, struct reply *rep)
{
    struct barrier *b = barrier_now(s, e, now_us);
    struct party *gone = b ? party_find(&b->gone, req->owner) : NULL;
    rep->verdict = V_ABSENT;
    if (!b || (gone && !gone->has_left)) return;
    struct party *own = party_find(&b->waiting, req->owner);
    if (own) {
        *own = b->waiting.at[--b->waiting.len];
        rep->verdict = V_GRANTED;
    }
    gone_sweep(&b->gone, now_us);
    if (parties_reserve(s, &b->gone, 1) != 0) return; /* as if it came late */
    struct party *left = &b->gone.at[b->gone.len++];
    party_set(left, req->owner, us_to_ms(now_us) + BARRIER_KEPT_MS,
              req->ballot);
    left->has_left = 1;
}

void hf__rules_barrier_tally(struct store *s, int64_t now_us, struct entry *e,
                             const struct request *req, struct reply *rep)
{
    struct barrier *b = barrier_now(s, e, now_us);
    if (req->tally != TALLY_READ) {
        reply_refuse(rep, HF_UNSUPPORTED, "barrier: it can only be read");
        return;
    }
    if (b) parties_sweep(&b->waiting, now_us);
    s->tally = (struct tally_told){.is_there = b != NULL,
                                   .value = b ? (int64_t)b->waiting.len : 0,
                                   .capacity = b ? b->needs : 0,
                                   .waiters = -1};
    rep->verdict = V_GRANTED;
    rep->tally = &s->tally;
}

/* ---- as bytes ------------------------------------------------------------ */

static void parties_save(const struct parties *list, int64_t from_ms,
                         struct cell_bytes *b)
{
    uint64_t len = 0;
    for (size_t i = 0; i < list->len; i++)
        len += list->at[i].until_ms >= from_ms;
    hf__rules_pack_unsigned(b, len);
    for (size_t i = 0; i < list->len; i++) {
        const struct party *p = &list->at[i];
        if (p->until_ms < from_ms) continue;
        hf__rules_pack_text(b, p->owner);
        hf__rules_pack_signed(b, p->until_ms);
        hf__rules_pack_signed(b, p->number);
        hf__rules_pack_signed(b, p->has_left);
    }
}

void hf__rules_barrier_save(const struct store *s, int64_t now_us,
                            const struct entry *e, unsigned tag,
                            struct cell_bytes *b)
{
    const struct barrier *bar = e->barrier;
    (void)s;
    if (!bar || bar->until_ms < us_to_ms(now_us)) return;
    hf__rules_pack_unsigned(b, tag);
    hf__rules_pack_signed(b, bar->needs);
    hf__rules_pack_signed(b, bar->last);
    hf__rules_pack_signed(b, bar->until_ms);
    parties_save(&bar->waiting, 0, b);
    parties_save(&bar->gone, us_to_ms(now_us), b);
}

static void parties_load(struct store *s, struct parties *list,
                         struct unpack *u)
{
    uint64_t len = hf__rules_unpack_unsigned(u);
    for (; len > 0 && !u->is_bad; len--) {
        if (parties_reserve(s, list, 1) != 0) {
            u->is_short = 1;
            return;
        }
        struct party *p = &list->at[list->len++];
        *p = (struct party){0};
        hf__rules_unpack_text(u, p->owner, sizeof p->owner);
        p->until_ms = hf__rules_unpack_range(u, 0, PACK_MAX);
        p->number = hf__rules_unpack_range(u, 0, PACK_MAX);
        p->has_left = (int)hf__rules_unpack_range(u, 0, 1);
    }
}

void hf__rules_barrier_load(struct store *s, struct entry *e, struct unpack *u)
{
    struct barrier *bar = hf__rules_unpack_make(u, s, sizeof *bar);
    e->barrier = bar;
    if (!bar) return;
    bar->needs = hf__rules_unpack_range(u, 0, INT32_MAX);
    bar->last = hf__rules_unpack_range(u, 0, PACK_MAX);
    bar->until_ms = hf__rules_unpack_range(u, 0, PACK_MAX);
    parties_load(s, &bar->waiting, u);
    parties_load(s, &bar->gone, u);
    /* Parties wait for a number of them. */
    if (bar->waiting.len > 0 && bar->needs < 1) u->is_bad = 1;
}
