/*
 * queue.c: the waiters for a lock, in the order in which they came.
 *
 * A waiter keeps its place as long as it asks again in time.  When the lock is
 * free it is given to the first one, for a moment in which it must be taken, or
 * for its lease if it has asked just before the release.
 * One rule: a proposal that its owner has given up, or followed by a later one,
 * or whose hold was broken, neither gets a place nor moves one; so an owner
 * that leaves in doubt, and a break, are remembered for as long as such a
 * proposal may come.
 */
#include <stdio.h>
#include <string.h>

#include "rules/hold.h"
#include "rules/model.h"
#include "rules/pack.h"
#include "rules/queue.h"
#include "rules/rw.h"
#include "rules/store.h"
#include "rules/table.h"
#include "base/math.h"

/* A waiter, or an owner that has left and is remembered. */
struct waiter {
    struct waiter *next; /* the next one that came */
    char owner[OWNER_LEN_MAX];
    uint64_t attempt;
    int64_t ballot; /* the highest it has asked with */
    int64_t lease_us;
    int64_t asked_us;    /* alive for a while from then on */
    int64_t deadline_ms; /* if it has left: remembered until then */
    int is_in;           /* it has a place */
    int detached;
    char info[HELD_INFO_MAX];
};

static void waiter_drop(struct store *s, struct waiter **at)
{
    struct waiter *w = *at;
    *at = w->next;
    hf__free(s->alloc, w);
}

static struct waiter **waiter_find(struct entry *e, const char *owner,
                                   int is_in)
{
    struct waiter **at = &e->queue;
    while (*at && ((*at)->is_in != is_in || strcmp((*at)->owner, owner) != 0))
        at = &(*at)->next;
    return at;
}

static int is_dead(const struct store *s, const struct waiter *w,
                   int64_t now_us)
{
    return now_us > w->asked_us + s->queue_live_us
           && !MUTATED(s, QUEUE_DEAD_SERVED);
}

/* The first place, without earlier ones that were not asked for in time. */
static struct waiter **head_find(struct store *s, struct entry *e,
                                 int64_t now_us, const struct waiter *except)
{
    struct waiter **at = &e->queue;
    while (*at) {
        if (!(*at)->is_in)
            at = &(*at)->next;
        else if (*at != except && is_dead(s, *at, now_us))
            waiter_drop(s, at);
        else
            break;
    }
    return at;
}

static struct waiter *waiter_append(struct store *s, struct entry *e,
                                    const struct request *req, int is_in)
{
    struct waiter **end = &e->queue;
    struct waiter *w = hf__alloc_zero(s->alloc, sizeof *w);
    if (!w) return NULL;
    snprintf(w->owner, sizeof w->owner, "%s", req->owner);
    w->is_in = is_in;
    while (*end) end = &(*end)->next;
    *end = w;
    return w;
}

/* Has its owner asked with a higher number since, or given it up? */
static int is_late(const struct store *s, struct entry *e,
                   const struct request *req)
{
    const struct waiter *w = *waiter_find(e, req->owner, 1);
    const struct waiter *left = *waiter_find(e, req->owner, 0);
    if (MUTATED(s, QUEUE_LATE_JOINS)) return 0;
    if (left && req->ballot <= left->ballot) return 1;
    if (!w || w->attempt != req->attempt)
        if (req->ballot <= e->broken) return 1;
    if (!w || req->ballot > w->ballot) return 0;
    return req->ballot < w->ballot || req->attempt != w->attempt;
}

/* Give it a place, or keep the one it has.  HF_OK or HF_NOMEM. */
static int queue_enter(struct store *s, struct entry *e, int64_t now_us,
                       const struct request *req, int is_kept)
{
    struct waiter **at = waiter_find(e, req->owner, 1);
    if (*at && !is_kept) waiter_drop(s, at);
    struct waiter *w = *waiter_find(e, req->owner, 1);
    if (!w) w = waiter_append(s, e, req, 1);
    if (!w) return HF_NOMEM;
    w->attempt = req->attempt;
    w->ballot = req->ballot;
    w->lease_us = req->lease_us;
    w->detached = (req->flags & REQ_DETACHED) != 0;
    w->asked_us = now_us;
    snprintf(w->info, sizeof w->info, "%s", req->info ? req->info : "");
    return HF_OK;
}

/* ---- giving ----------------------------------------------------------- */

/* Above everything that was given or given up. */
static int64_t fence_next(const struct store *s, const struct entry *e,
                          int64_t now_us, int64_t ballot)
{
    int64_t least = MUTATED(s, QUEUE_TOKEN_OLD) ? 0 : e->counter + 1;
    return max64(max64(now_us, ballot), least);
}

static void handoff_note(struct store *s, const struct entry *e,
                         int64_t lease_us)
{
    s->handoff = (struct handoff){.name = e->name,
                                  .name_len = e->name_len,
                                  .kind = KIND_PLAIN,
                                  .owner = e->held->owner,
                                  .attempt = e->held->attempt,
                                  .ballot = e->held->ballot,
                                  .fence = e->held->fence,
                                  .lease_us = lease_us};
}

static struct waiter **waiter_next(struct store *s, struct entry *e,
                                   int64_t now_us)
{
    struct waiter **first = head_find(s, e, now_us, NULL);
    if (!MUTATED(s, QUEUE_LIFO) || !*first) return first;
    for (struct waiter **at = first; *at; at = &(*at)->next)
        if ((*at)->is_in) first = at;
    return first;
}

/* A waiter that has asked just now gets it as if this was the answer; any other
 * may be dead, and is waited for a moment. */
static int64_t lease_of(const struct store *s, const struct waiter *w,
                        int64_t now_us, int is_released)
{
    if (is_released && now_us <= w->asked_us + s->queue_fresh_us)
        return w->lease_us;
    return min64(w->lease_us, s->queue_handoff_us);
}

int hf__rules_queue_give(struct store *s, struct entry *e, int64_t now_us,
                         int is_released)
{
    struct waiter **at = waiter_next(s, e, now_us), *w = *at;
    if (!w || e->held || MUTATED(s, QUEUE_NOT_GIVEN)) return 0;
    if (hf__rules_rw_is_held(e, now_us)) return 0; /* of another kind by now */
    struct request like = {.verb = VERB_PROPOSE,
                           .flags = w->detached ? REQ_DETACHED : 0,
                           .attempt = w->attempt,
                           .ballot = w->ballot,
                           .count = 1,
                           .lease_us = lease_of(s, w, now_us, is_released),
                           .info = w->info};
    memcpy(like.owner, w->owner, sizeof like.owner);
    int64_t fence = fence_next(s, e, now_us, w->ballot);
    if (hf__rules_hold_give(s, e, now_us, &like, fence) != HF_OK) return 0;
    e->counter = fence;
    e->held->is_marked = 1;
    handoff_note(s, e, like.lease_us);
    if (!MUTATED(s, QUEUE_PLACE_STAYS)) waiter_drop(s, at);
    return 1;
}

/* ---- requests --------------------------------------------------------- */

static void told_to_wait(struct store *s, struct entry *e, int64_t now_us,
                         const struct request *req, int is_kept,
                         struct reply *rep)
{
    if (queue_enter(s, e, now_us, req, is_kept) != HF_OK) {
        rep->verdict = V_ERROR;
        rep->status = HF_NOMEM;
        rep->text = "propose: out of memory";
        return;
    }
    /* How long the holder has it is told to a waiter that asks again. */
    int is_told = is_kept || !e->held;
    if (!e->held) (void)hf__rules_queue_give(s, e, now_us, 0);
    if (e->held) e->held->is_marked = 1;
    rep->verdict = V_BUSY;
    rep->counter = e->counter;
    rep->poll_us = s->queue_poll_us;
    if (is_told && e->held)
        rep->ttl_us = hf__rules_hold_ttl_us(e->held, now_us);
}

static void granted(struct entry *e, struct reply *rep)
{
    rep->verdict = V_GRANTED;
    rep->fence = e->held->fence;
    rep->counter = e->counter;
}

/* The owner has it already: it missed the hand-over, or the answer was lost. */
static void propose_again(struct store *s, struct entry *e, int64_t now_us,
                          const struct request *req, struct reply *rep)
{
    rep->verdict = V_STALE;
    if (req->ballot < e->held->ballot || req->ballot < now_us - req->window_us)
        return;
    e->held->ballot = req->ballot;
    e->held->is_marked = 1;
    hf__rules_hold_lease(s, e->held, now_us, req->lease_us);
    e->counter = max64(e->counter, req->ballot);
    granted(e, rep);
}

/* It is the first, and the lock is free. */
static void propose_first(struct store *s, struct entry *e, int64_t now_us,
                          const struct request *req, struct reply *rep)
{
    int64_t fence = fence_next(s, e, now_us, req->ballot);
    if (hf__rules_hold_give(s, e, now_us, req, fence) != HF_OK) {
        rep->status = HF_NOMEM;
        rep->text = "propose: out of memory";
        return;
    }
    e->counter = fence;
    e->held->is_marked = 1;
    waiter_drop(s, waiter_find(e, req->owner, 1));
    granted(e, rep);
}

static int is_stale(const struct store *s, struct entry *e, int64_t now_us,
                    const struct request *req)
{
    const struct held *held = e->held;
    int is_its = held && !strcmp(held->owner, req->owner);
    return is_late(s, e, req) || (is_its && req->ballot <= held->ballot)
           || req->ballot < now_us - req->window_us;
}

int hf__rules_queue_propose(struct store *s, struct entry *e, int64_t now_us,
                            const struct request *req, struct reply *rep)
{
    const struct held *held = e->held;
    if (held && !strcmp(held->owner, req->owner)
        && held->attempt == req->attempt) {
        propose_again(s, e, now_us, req, rep);
        return 1;
    }
    if (is_stale(s, e, now_us, req)) {
        rep->verdict = V_STALE;
        return 1;
    }
    const struct waiter *w = *waiter_find(e, req->owner, 1), *head = NULL;
    int is_kept = w && w->attempt == req->attempt && !is_dead(s, w, now_us)
                  && !MUTATED(s, QUEUE_PLACE_LOST);
    if (!held || is_kept) head = *head_find(s, e, now_us, w);
    if (!held && !head) return 0; /* an ordinary proposal */
    if (!held && head == w && is_kept)
        propose_first(s, e, now_us, req, rep);
    else
        told_to_wait(s, e, now_us, req, is_kept, rep);
    return 1;
}

/* Forget those whose proposals are too old by now. */
static void left_sweep(struct store *s, struct entry *e, int64_t now_us)
{
    struct waiter **at = &e->queue;
    while (*at) {
        if (!(*at)->is_in && us_to_ms(now_us) > (*at)->deadline_ms)
            waiter_drop(s, at);
        else
            at = &(*at)->next;
    }
}

void hf__rules_queue_leave(struct store *s, struct entry *e, int64_t now_us,
                           const struct request *req)
{
    struct waiter **at = waiter_find(e, req->owner, 1);
    if (MUTATED(s, QUEUE_LEAVE_IGNORED)) return;
    /* A place that the owner asked for later stays. */
    if (*at && (*at)->ballot <= req->ballot) waiter_drop(s, at);
    if (!(req->flags & REQ_UNSURE) || MUTATED(s, QUEUE_FORGETS)) return;
    left_sweep(s, e, now_us);
    struct waiter *left = *waiter_find(e, req->owner, 0);
    if (!left) left = waiter_append(s, e, req, 0);
    if (!left)
        return; /* no memory: a late proposal gets a place, and soon loses it */
    left->ballot = max64(left->ballot, req->ballot);
    /* A number ahead of the clock is accepted for longer. */
    int64_t from_us =
        MUTATED(s, QUEUE_FORGETS_EARLY) ? now_us : max64(now_us, left->ballot);
    left->deadline_ms = us_to_ms(from_us + s->queue_live_us);
}

void hf__rules_queue_break(struct store *s, struct entry *e)
{
    if (e->held && !MUTATED(s, QUEUE_BREAK_FORGOTTEN)) e->broken = e->counter;
}

/* ---- what is told ----------------------------------------------------- */

int64_t hf__rules_queue_count(const struct entry *e, const char *owner,
                              int64_t *position)
{
    int64_t n = 0;
    *position = 0;
    for (const struct waiter *w = e->queue; w; w = w->next) {
        n += w->is_in;
        if (w->is_in && owner && !strcmp(w->owner, owner)) *position = n;
    }
    return n;
}

int hf__rules_store_waiter(const struct store *s, const char *name,
                           size_t name_len, size_t place,
                           struct store_waiter *out)
{
    const struct entry *e = hf__rules_table_find(&s->table, name, name_len);
    const struct waiter *w = e ? e->queue : NULL;
    for (; w; w = w->next)
        if (w->is_in && place-- == 0) break;
    if (!w) return 0;
    *out = (struct store_waiter){.owner = w->owner,
                                 .attempt = w->attempt,
                                 .ballot = w->ballot,
                                 .deadline_us = w->asked_us + s->queue_live_us};
    return 1;
}

void hf__rules_queue_free(struct store *s, struct entry *e)
{
    while (e->queue) waiter_drop(s, &e->queue);
}

/* ---- as bytes ------------------------------------------------------------ */

#define KEPT_US (60 * US_PER_S) /* longer than any window */

/* A waiter that does not ask any more keeps its place until another one comes
 * to the head; saved for a while, so that both stores agree about it. */
static int is_forgotten(const struct store *s, const struct waiter *w,
                        int64_t now_us)
{
    if (!w->is_in) return us_to_ms(now_us) > w->deadline_ms;
    return is_dead(s, w, now_us - KEPT_US) && w->ballot < now_us - KEPT_US;
}

static void waiter_save(const struct waiter *w, struct cell_bytes *b)
{
    hf__rules_pack_text(b, w->owner);
    hf__rules_pack_unsigned(b, w->attempt);
    hf__rules_pack_signed(b, w->ballot);
    hf__rules_pack_signed(b, w->lease_us);
    hf__rules_pack_signed(b, w->asked_us);
    hf__rules_pack_signed(b, w->deadline_ms);
    hf__rules_pack_signed(b, w->is_in);
    hf__rules_pack_signed(b, w->detached);
    hf__rules_pack_text(b, w->info);
}

void hf__rules_queue_save(const struct store *s, int64_t now_us,
                          const struct entry *e, unsigned tag,
                          struct cell_bytes *b)
{
    int64_t broken = e->broken < now_us - KEPT_US ? 0 : e->broken;
    uint64_t len = 0;
    for (const struct waiter *w = e->queue; w; w = w->next)
        len += !is_forgotten(s, w, now_us);
    if (len == 0 && !broken) return;
    hf__rules_pack_unsigned(b, tag);
    hf__rules_pack_signed(b, broken);
    hf__rules_pack_unsigned(b, len);
    for (const struct waiter *w = e->queue; w; w = w->next)
        if (!is_forgotten(s, w, now_us)) waiter_save(w, b);
}

static void waiter_load(struct waiter *w, struct unpack *u)
{
    hf__rules_unpack_text(u, w->owner, sizeof w->owner);
    w->attempt = hf__rules_unpack_unsigned(u);
    w->ballot = hf__rules_unpack_range(u, 0, BALLOT_MAX);
    w->lease_us = hf__rules_unpack_range(u, 0, PACK_MAX);
    w->asked_us = hf__rules_unpack_range(u, 0, PACK_MAX);
    w->deadline_ms = hf__rules_unpack_range(u, 0, PACK_MAX);
    w->is_in = (int)hf__rules_unpack_range(u, 0, 1);
    w->detached = (int)hf__rules_unpack_range(u, 0, 1);
    hf__rules_unpack_text(u, w->info, sizeof w->info);
}

void hf__rules_queue_load(struct store *s, struct entry *e, struct unpack *u)
{
    struct waiter **end = &e->queue;
    e->broken = hf__rules_unpack_range(u, 0, PACK_MAX);
    uint64_t len = hf__rules_unpack_unsigned(u);
    for (; len > 0; len--) {
        struct waiter *w = hf__rules_unpack_make(u, s, sizeof *w);
        if (!w) return;
        waiter_load(w, u);
        *end = w;
        end = &w->next;
    }
}
